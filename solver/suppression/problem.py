"""What is asked of a suppression, and the problem that it makes of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.values import spelled
from linkrisk.formulations.suppression.checked_tables import (
    CheckedTables,
    by_levels,
    individual_risk,
    k_anonymity,
    up_to_dimension,
)
from linkrisk.formulations.suppression.counting import MATCHES_ANYTHING, OWN_CATEGORY, MissingMeaning
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.suppression.answer import SCALE

COVER, RECOUNT, JOINT = "cover", "recount", "joint"
KINDS = (COVER, RECOUNT, JOINT)
"""Whether unsafe combinations of the input lose a value; or the output is safe when it is counted again; or
that by levels of recoding and suppression together."""

ONE, ENTROPY, PRIORITY = "one", "entropy", "priority"
COSTS = (ONE, ENTROPY, PRIORITY)
"""What taking a value out costs: one each; the entropy of its variable; what the user says of that."""

_MOST_COST = 10_000.0

_DIGITS = 3
"""Of an entropy: costs that are multiples of something can be told apart."""


Tables = Sequence[Sequence[str]] | Mapping[tuple[str, ...], float | None]
"""Tables by their key variables, each with a threshold of its own or None."""

Threshold = float | Mapping[int, float]
"""One for all tables, or by their number of variables."""


@dataclass(frozen=True)
class TablesAsked:
    """Which tables of key variables are to be checked: exactly one way of saying so.

    Attributes
    ----------
    k : int, optional
        k-anonymity on all key variables; with `dimension` on all sets of so many or fewer.
    levels : mapping of str to int, optional
        Levels of identification of key variables, as mu-ARGUS has them.
    dimension : int, optional
        All tables of so many key variables or fewer.
    listed : sequence of sequence of str, or mapping of these to float
        Tables by the names of their key variables; a mapping has the threshold of each.
    threshold : float or mapping of int to float
        Of all but `k`: combinations that occur no more often are unsafe; one for all, or by the number of
        variables, for parts of tables, too.
    risk : float, optional
        Of all key variables: combinations of more individual risk are unsafe.
    """

    k: int | None = None
    levels: Mapping[str, int] | None = None
    dimension: int | None = None
    listed: Tables = ()
    threshold: Threshold = 1.0
    risk: float | None = None

    def tables(self, names: tuple[str, ...]) -> CheckedTables:
        """The tables of these key variables.

        Raises
        ------
        UsageError, FormulationError
            If it is said in no way or in several, or names what is no key variable.
        """
        some = self.dimension is not None and self.k is None
        said = [self.k is not None, bool(self.levels), some, bool(self.listed)]
        if sum([*said, self.risk is not None]) != 1:
            raise UsageError("say in one way what is unsafe: by k, risk, levels, dimension, or tables")
        if self.risk is not None:
            return individual_risk(len(names), self.risk)
        if self.k is not None:
            whole = k_anonymity(len(names), self.k)
            some = self.dimension is not None
            return up_to_dimension(len(names), self.dimension or 0, self.k - 1) if some else whole
        if self.dimension is not None:
            return up_to_dimension(len(names), self.dimension, self.threshold)
        if self.levels:
            _check_known(self.levels, names, "levels")
            found = by_levels([self.levels.get(name, 0) for name in names], 1.0)
            return self._with_thresholds(dict.fromkeys(found.thresholds))
        for table in self.listed:
            _check_known(table, names, "tables")
        own = self.listed if isinstance(self.listed, Mapping) else {}
        masks = {sum(1 << names.index(name) for name in set(table)): table for table in self.listed}
        return self._with_thresholds({mask: own.get(tuple(table)) for mask, table in masks.items()})

    def _with_thresholds(self, own: Mapping[int, float | None]) -> CheckedTables:
        """Tables with their own thresholds, or else those of all or of their dimension."""
        by_dimension = dict(self.threshold) if isinstance(self.threshold, Mapping) else {}
        found: dict[int, float] = {}
        for mask, threshold in own.items():
            size = mask.bit_count()
            if threshold is None and isinstance(self.threshold, Mapping) and size not in by_dimension:
                raise UsageError(f"there is no threshold for tables of {size} dimensions; give one")
            usual = by_dimension.get(size, 1.0) if isinstance(self.threshold, Mapping) else self.threshold
            found[mask] = usual if threshold is None else threshold
        return CheckedTables(found, by_dimension)


@dataclass(frozen=True, eq=False)
class Problem:
    """A table whose unsafe combinations are to lose values.

    Attributes
    ----------
    table : KeyTable
    tables : CheckedTables
    meaning : MissingMeaning
    cost : ndarray of int64, shape (q,)
        Of one value of each key variable, in parts of `SCALE`.
    untouched : int
        Key variables that keep all values, as bits.
    household : ndarray of int64, shape (n,), or None
        Number of each record's household, from 0.
    shared : int
        Key variables of the household, as bits: taken from all members or from none.
    kind : str
        One of `KINDS`.
    k : int
        How many records are alike in the output; of all but `COVER`.
    dimension : int
        On how many key variables at most; 0 for all.
    """

    table: KeyTable
    tables: CheckedTables
    meaning: MissingMeaning
    cost: LongArray
    untouched: int = 0
    household: LongArray | None = None
    shared: int = 0
    kind: str = COVER
    k: int = 0
    dimension: int = 0

    @property
    def allowed(self) -> int:
        """Key variables that may lose values, as bits."""
        return ((1 << len(self.table.names)) - 1) & ~self.untouched


def check_kind(
    kind: str, asked: TablesAsked, meaning: MissingMeaning, *, household: str | None, weight: str | None
) -> None:
    """Raise a UsageError where there is no such problem, or it cannot be asked so."""
    if kind == COVER:
        return
    about = f"the problem {kind!r}"
    if asked.k is None:
        raise UsageError(f"{about} is to have k records alike: say k, not levels or tables")
    if kind == JOINT and asked.dimension is not None:
        raise UsageError(f"{about} is about all key variables: leave the dimension out")
    meanings = (OWN_CATEGORY, MATCHES_ANYTHING) if kind == RECOUNT else (OWN_CATEGORY,)
    if str(meaning) not in meanings and meaning.code is None:
        raise UsageError(f"{about} counts a missing value as {' or '.join(meanings)}, not as {meaning}")
    for what, column in (("households", household), ("weights", weight)):
        if column is not None:
            raise UsageError(f"{about} knows no {what}: leave {column!r} out")


def check_ghosts(ghosts: Mapping[str, Sequence[str]], names: tuple[str, ...], known: pd.DataFrame) -> None:
    """Raise a UsageError unless ghosts are columns of a table, but no key variables, of key variables."""
    _check_known(ghosts, names, "ghosts")
    seen: list[str] = []
    for name, others in ghosts.items():
        for ghost in others:
            if ghost in names:
                raise UsageError(f"ghosts: {ghost!r} is a key variable itself; leave it out")
            if ghost not in known.columns:
                raise UsageError(f"ghosts: there is no column {ghost!r} to lose its value with {name!r}")
            seen.append(ghost)
    if len(set(seen)) < len(seen):
        twice = next(ghost for ghost in seen if seen.count(ghost) > 1)
        raise UsageError(f"ghosts: {twice!r} is named twice; name it with one key variable")


def key_codes(known: pd.DataFrame, names: Sequence[str]) -> NDArray[np.int32]:
    """Values as 0, 1, 2, ... by column, -1 where one is missing; shape (n, q)."""
    codes = np.empty((len(known), len(names)), dtype=np.int32)
    for at, name in enumerate(names):
        codes[:, at] = pd.factorize(known[name])[0]
    return codes


def weights_of(known: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Sampling weights as numbers; DataError where one is none, or not positive."""
    values = pd.to_numeric(known[column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise DataError(f"column {column!r}, row {row}: a sampling weight must be a positive number")
    return values


def costs(how: str, table: KeyTable, priorities: Mapping[str, float]) -> LongArray:
    """The cost of a value of each key variable, in parts of `SCALE`.

    The entropy of a variable is ``- sum of p log2 p`` over its values: what is most informative costs most
    (mu-ARGUS user's manual, section 2.5).

    Raises
    ------
    UsageError
        If there is no such way, or a priority is not between 0 and 10,000 or of no key variable.
    """
    if priorities and how != PRIORITY:
        raise UsageError(f"priorities are for the cost {PRIORITY!r}, not {how!r}: leave one of them out")
    _check_known(priorities, table.names, "priorities")
    if how == ENTROPY:
        found = [_entropy(column) for column in table.codes.T]
    else:
        found = [float(priorities.get(name, 1.0)) for name in table.names]
    for name, value in zip(table.names, found, strict=True):
        if not 0.0 <= value <= _MOST_COST:
            raise UsageError(f"the priority {value:g} of {name!r} is not between 0 and {_MOST_COST:,.0f}")
    return np.round(np.array(found) * SCALE).astype(np.int64)


def _entropy(codes: NDArray[np.int32]) -> float:
    counts = np.bincount(codes[codes >= 0])
    share = counts[counts > 0] / max(counts.sum(), 1)
    return round(float(-(share * np.log2(share)).sum()), _DIGITS) + 0.0


def households(known: pd.DataFrame, column: str, table: KeyTable, shared: int) -> LongArray:
    """Number the households, and see that their members agree in the variables of the household.

    Raises
    ------
    DataError
        If a record has none, or two members differ.
    """
    numbers, values = pd.factorize(known[column])
    if (numbers < 0).any():
        raise DataError(f"column {column!r}, row {int(np.argmax(numbers < 0)) + 1}: no household number")
    for at, name in enumerate(table.names):
        if shared >> at & 1:
            codes = pd.Series(table.codes[:, at])
            mixed = (codes != codes.groupby(numbers).transform("first")).to_numpy()
            if mixed.any():
                row = int(np.argmax(mixed))
                raise DataError(
                    f"household {values[numbers[row]]} has several values of {name!r} (row {row + 1}): "
                    "correct them, or leave the variable out of the household's"
                )
    return numbers.astype(np.int64)


def check_heads(known: pd.DataFrame, household: str | None, head: str) -> None:
    """See that every household has one head: whose column has the value, as in ``relation=1``.

    Raises
    ------
    UsageError
        If that is no column and value, or there are no households.
    DataError
        If a household has no head, or several.
    """
    name, mark, value = head.rpartition("=")
    if not mark or not name or not value:
        raise UsageError(f"head: {head!r} says not who is the head; write COLUMN=VALUE, such as relation=1")
    if household is None:
        raise UsageError("head: there are no households; say in which column their numbers are")
    if name not in known.columns:
        raise UsageError(f"head: there is no column {name!r}")
    heads = known[name].map(spelled, na_action="ignore").eq(value).to_numpy(dtype=bool)
    many = pd.Series(heads.astype(int)).groupby(known[household].to_numpy()).sum()
    for number, found in many[many != 1].items():
        row = int(np.argmax((known[household] == number).to_numpy(dtype=bool))) + 1
        what = "no head" if found == 0 else f"{found} heads"
        raise DataError(
            f"household {number} (row {row}) has {what}: members whose {name!r} is {value}; correct them, or "
            "do not ask for heads"
        )


def named_mask(wanted: Sequence[str], names: tuple[str, ...], what: str) -> int:
    """A set of key variables as bits; UsageError where one is no key variable."""
    _check_known(wanted, names, what)
    return sum(1 << names.index(name) for name in set(wanted))


def _check_known(wanted: Sequence[str] | Mapping[str, object], names: Sequence[str], what: str) -> None:
    for name in wanted:
        if name not in names:
            raise UsageError(f"{what}: {name!r} is no key variable; these are {', '.join(names)}")
