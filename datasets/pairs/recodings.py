"""Recodings of attributes: inferred from the two files, or known of dates."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.registry import masking_method, names_files
from linkrisk.datasets.microdata.dates import at_level, read_dates
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import in_order
from linkrisk.datasets.pairs.categorical import (
    INFERRED,
    NOT_INFERRED,
    CategoricalAttribute,
    KnownRecoding,
    Masking,
    check_listed,
)

_EVIDENCE = 10.0
"""Bits: a map that chance would show once in a thousand such columns is none."""

_REPEATED = 2.0
"""Records for each value that has changed, on average, where values of a code are not neighbours."""

_NEW_CODES = 3
"""Records that share a category of text which the original does not have, beyond the first of each."""

_FILL = "*?_#-.xX0 "
"""What takes the place of characters that are cut off."""


@dataclass(frozen=True)
class NumberRecoding:
    """What became of the values of an attribute: of numbers each one other, of categories mostly."""

    attribute: str
    # from which value on they became which one, ascending; None where they stay what they are. Values below
    # the first step belong to it. Categories are their positions
    steps: tuple[tuple[float, float | None], ...]

    def apply(self, values: FloatArray) -> FloatArray:
        """Recode values as the release does; what is missing (NaN) stays missing."""
        begins = np.array([begin for begin, _ in self.steps])
        becomes = np.array([np.nan if one is None else one for _, one in self.steps])
        at = np.maximum(np.searchsorted(begins, values, side="right") - 1, 0)
        return np.where(np.isnan(values) | np.isnan(becomes[at]), values, becomes[at])


@dataclass(frozen=True, eq=False)
class ValueMap:
    """A function from the values of an attribute to those of its masked version, over all partners."""

    values: FloatArray  # (v,) The different values, ascending
    becomes: FloatArray  # (v,) What each becomes
    records: IndexArray  # (v,) How many partners show it

    @classmethod
    def of(cls, before: FloatArray, after: FloatArray) -> ValueMap | None:
        """The map of values side by side; None where one value has become several."""
        known = ~(np.isnan(before) | np.isnan(after))
        before, after = before[known], after[known]
        values, place, records = np.unique(before, return_inverse=True, return_counts=True)
        becomes = np.empty(values.size)
        becomes[place] = after
        if not np.array_equal(becomes[place], after):
            return None
        return cls(values, becomes, records.astype(np.intp))

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Which values have become others."""
        return np.asarray(self.values != self.becomes)

    @property
    def coarser(self) -> bool:
        """Whether something has changed, and values have become the same."""
        return bool(self.changed.any()) and self.codes < self.values.size

    @property
    def by_evidence(self) -> bool:
        """Whether the values in their order are evidence enough that it is no chance."""
        return self.evidence(np.arange(self.values.size)) >= _EVIDENCE

    @property
    def codes(self) -> int:
        """How many different values are left."""
        return int(np.unique(self.becomes).size)

    def evidence(self, order: IndexArray) -> float:
        """Bits that speak against chance: neighbours that share a code, and values that repeat."""
        size, codes = self.values.size, max(2, self.codes)
        merged = size - self.codes
        ordered = self.becomes[order]
        runs = 1 + int((ordered[1:] != ordered[:-1]).sum())
        changed = self.changed
        many, repeated = int(self.records[changed].sum()), int((self.records - 1)[changed].sum())
        bits = math.log2(codes)
        if runs == self.codes:
            # The ways to cut the values into runs, among at least codes ** merged ways to give them codes.
            return (merged + repeated) * bits - _log2_choose(size - 1, self.codes - 1)
        return repeated * bits if many >= _REPEATED * int(changed.sum()) else 0.0


def _log2_choose(n: int, k: int) -> float:
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2.0)


def inferred_recodings(
    values: tuple[FloatArray, FloatArray],
    partner: IndexArray,
    attributes: tuple[str, ...],
    categorical: Mapping[str, CategoricalAttribute],
) -> tuple[dict[str, CategoricalAttribute], dict[str, NumberRecoding]]:
    """Recodings that two files show of attributes of whose masking nothing is known.

    `values` (n, a): the attributes of original and masked records, categories by their positions.
    `partner` (n,): the masked row of each original record, -1 where it has none.
    """
    rows = np.flatnonzero(partner >= 0)
    found: dict[str, CategoricalAttribute] = dict(categorical)
    numbers: dict[str, NumberRecoding] = {}
    for at, name in enumerate(attributes):
        before, after = values[0][rows, at], values[1][partner[rows], at]
        attribute = categorical.get(name)
        if attribute is None:
            one = ValueMap.of(before, after)
            if one is not None and one.coarser and one.by_evidence:
                numbers[name] = NumberRecoding(name, _steps(one))
        elif attribute.possible is None:
            becomes = _of_categories(attribute, before, after)
            if becomes is not None:
                found[name] = replace(attribute, possible=_table(becomes), masking=INFERRED)
            elif (mostly := _mostly(attribute, before, after)) is not None:
                numbers[name] = mostly
    return found, numbers


def without_common(
    values: tuple[FloatArray, FloatArray],
    attributes: tuple[str, ...],
    categorical: Mapping[str, CategoricalAttribute],
) -> tuple[str, ...]:
    """Name the categorical attributes without a category in common and without a recoding that is known.

    Every two of their categories are equally far apart: distances say nothing of them, and so does a bound on
    distances of an intruder who knows what became of what.
    """
    found = []
    for at, name in enumerate(attributes):
        attribute = categorical.get(name)
        if attribute is None or attribute.possible is not None:
            continue
        size = len(attribute.categories)
        sides = [np.unique(side[:, at][side[:, at] < size]) for side in values]
        if not np.isin(sides[0], sides[1]).any():
            found.append(name)
    return tuple(found)


def _of_categories(
    attribute: CategoricalAttribute, before: FloatArray, after: FloatArray
) -> IndexArray | None:
    """What each category has become, -1 where no partner shows it; None where there is no recoding."""
    size = len(attribute.categories)
    sides = [np.where(codes == size, np.nan, codes) for codes in (before, after)]
    one = ValueMap.of(sides[0], sides[1])
    if one is None or not one.changed.any() or not _shows(one, attribute):
        return None
    becomes = np.full(size, -1, dtype=np.intp)
    becomes[one.values.astype(np.intp)] = one.becomes.astype(np.intp)
    return becomes


def _mostly(attribute: CategoricalAttribute, before: FloatArray, after: FloatArray) -> NumberRecoding | None:
    """What most records of a category have become where codes are new, and some records have others.

    So it is where categories were recoded, and then changed by chance. None where that does not show.
    """
    size = len(attribute.categories)
    known = (before < size) & (after < size)
    if not known.any():
        return None
    often = np.zeros((size, size))
    np.add.at(often, (before[known].astype(np.intp), after[known].astype(np.intp)), 1.0)
    records, most = often.sum(axis=1), often.argmax(axis=1)
    new = (2.0 * often.max(axis=1) > records) & (records[most] == 0.0)
    if not new.any() or _bits(often) < _EVIDENCE:
        return None
    steps = [(float(at), float(most[at]) if new[at] else None) for at in range(size)]
    return NumberRecoding(attribute.name, (*steps, (float(size), None)))


def _bits(often: FloatArray) -> float:
    """Bits of evidence in a table of categories before and after, less those to say what became what."""
    rows, columns = often.sum(axis=1), often.sum(axis=0)
    some = often > 0.0
    chance = np.outer(rows, columns)[some] / often.sum()
    told = float((often[some] * np.log2(often[some] / chance)).sum())
    return told - float((rows > 0.0).sum()) * math.log2(max(2.0, float((columns > 0.0).sum())))


def _shows(one: ValueMap, attribute: CategoricalAttribute) -> bool:
    """Whether a map of categories is a recoding: codes are new or cut off, or the records are evidence."""
    names = np.array(attribute.categories, dtype=object)
    changed = one.changed
    pairs = list(
        zip(
            names[one.values[changed].astype(np.intp)],
            names[one.becomes[changed].astype(np.intp)],
            strict=True,
        )
    )
    new = np.unique(one.becomes[changed])
    many = int(one.records[changed].sum())
    if not np.isin(new, one.values).any() and many >= max(_REPEATED * new.size, new.size + _NEW_CODES):
        return True
    if not one.coarser:
        return False
    if all(_cut_off(code, left) for code, left in pairs):
        return True
    order = np.arange(one.values.size)
    if attribute.scale is Scale.NOMINAL:
        place = {name: at for at, name in enumerate(in_order(attribute.categories))}
        order = np.argsort([place[name] for name in names[one.values.astype(np.intp)]]).astype(np.intp)
    return one.evidence(order) >= _EVIDENCE


def _cut_off(code: str, left: str) -> bool:
    """Whether a code is the beginning of another one, with or without something in the place of the rest."""
    beginning = left.rstrip(_FILL) if len(left) == len(code) else left
    return 0 < len(beginning) < len(code) and code.startswith(beginning)


def _table(becomes: IndexArray) -> npt.NDArray[np.bool_]:
    """What each category can have become: anything where no partner shows it."""
    table = np.asarray(becomes[:, None] == np.arange(becomes.size)[None, :])
    table[becomes < 0] = True
    return table


def _steps(one: ValueMap) -> tuple[tuple[float, float | None], ...]:
    """The map as steps, one for each run of values that become the same or stay what they are."""
    steps: list[tuple[float, float | None]] = []
    for value, becomes, changed in zip(
        one.values.tolist(), one.becomes.tolist(), one.changed.tolist(), strict=True
    ):
        target = becomes if changed else None
        if steps and (steps[-1][1] == becomes or (target is None and steps[-1][1] is None)):
            continue
        steps.append((value, target))
    return tuple(steps)


def date_recodings(
    masking: Masking, original: Table, dates: Collection[str]
) -> tuple[Masking, dict[str, NumberRecoding]]:
    """What levels of dates make of the days of an original table, and the masking methods that are left."""
    check_listed(masking)
    left: list[str | KnownRecoding] = []
    found: dict[str, NumberRecoding] = {}
    for item in masking:
        level, names = level_of(item, dates)
        if level is None:
            left.append(item)
            continue
        found |= {name: _recoding(name, original.frame[name], level) for name in names}
    return tuple(left), found


def level_of(item: object, dates: Collection[str]) -> tuple[str | None, tuple[str, ...]]:
    """The level that a method recodes dates to, and which; None where it does something else."""
    if not isinstance(item, str) or item == NOT_INFERRED or names_files(item):
        return None, ()
    from linkrisk.datasets.masking.recoding import Recode

    method = masking_method(item)
    if not isinstance(method, Recode) or method.level is None:
        return None, ()
    names = tuple(dates) if method.attributes is None else tuple(method.attributes)
    return (str(method.level), names) if names and set(names) <= set(dates) else (None, ())


def _recoding(name: str, column: pd.Series, level: str) -> NumberRecoding:
    days = np.unique(column.dropna().to_numpy(dtype=np.float64))
    codes = pd.Series([at_level(day, level) for day in days.tolist()], dtype=object)
    became = read_dates([(codes, name)])[0].days
    return NumberRecoding(name, tuple(zip(days.tolist(), became.tolist(), strict=True)))
