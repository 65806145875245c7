"""Categorical attributes of two files: spellings, one list of categories, possible recodings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import spelled_recodings
from linkrisk.datasets.microdata.categories import coded, occurring
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.numeric import check_no_duplicates
from linkrisk.datasets.microdata.roles import CATEGORICAL
from linkrisk.datasets.microdata.scale_inference import MOST_CATEGORIES, undeclared_scale
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import are_numbers, in_order, spelled
from linkrisk.errors import called

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LOGICAL = {"true", "false"}


def spelled_alike(tables: Sequence[Table], listed: Mapping[str, Sequence[str]]) -> list[Table]:
    """Tables whose categories have one spelling where they can only mean the same.

    A spreadsheet writes the code 007 as 7, other programs write 7 as 7.0, or True as TRUE. Such a spelling is
    replaced by the one of the schema, or else of the first table, unless a table or the schema has both and
    so tells them apart.
    """
    made = list(tables)
    for name, categories in listed.items():
        holders = [at for at, table in enumerate(made) if name in table.columns]
        columns = [made[at].frame[name] for at in holders]
        for at, column in zip(holders, _alike(columns, categories), strict=True):
            if column is not made[at].frame[name]:
                made[at] = replace(made[at], frame=with_columns(made[at].frame, {name: column}))
    return made


def _alike(columns: Sequence[pd.Series], listed: Sequence[str]) -> list[pd.Series]:
    chosen: dict[str, str] = {}
    told_apart: set[str] = set()
    for names in (listed, *([spelled(value) for value in _values(column)] for column in columns)):
        meanings: dict[str, str] = {}
        for name in names:
            if meanings.setdefault(_meaning(name), name) != name:
                told_apart.add(_meaning(name))
        chosen = {**meanings, **chosen}
    one = {meaning: name for meaning, name in chosen.items() if meaning not in told_apart}
    changed = []
    for column in columns:
        cells = {value: spelled(value) for value in _values(column)}
        renamed = {value: one.get(_meaning(cell), cell) for value, cell in cells.items()}
        changed.append(column if renamed == cells else _renamed(column, renamed))
    return changed


def _values(column: pd.Series) -> Iterable[object]:
    """The different values of a column, those of its type where it is categorical."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.dtype.categories)
    values = column.dropna().unique()
    # Texts that Arrow holds become Python's one by one otherwise, which takes ten times as long.
    return (
        np.asarray(values, dtype=object).tolist()
        if isinstance(column.dtype, pd.StringDtype)
        else list(values)
    )


def _renamed(column: pd.Series, names: Mapping[object, str]) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories({value: names.get(value, value) for value in _values(column)})
    codes, values = pd.factorize(column)
    cells = [names.get(value, value) for value in values] + [None]
    return pd.Series([cells[code] for code in codes.tolist()], column.index, dtype=object, name=column.name)


def _meaning(name: str) -> str:
    """Equal for spellings of the same number, or of the same logical value."""
    text = name.strip()
    if text.lower() in _LOGICAL:
        return text.lower()
    return repr(float(text)) if _NUMBER.fullmatch(text) else name


@dataclass(frozen=True, eq=False)
class CategoricalAttribute:
    """An attribute whose values are categories, in both files."""

    name: str  # its column
    scale: Scale  # ordinal or nominal
    categories: tuple[str, ...]  # all categories of both files, in their order
    # (categories, categories) Whether masking can have turned the first category, of an original record, into
    # the second one
    possible: npt.NDArray[np.bool_] | None = None
    masking: str | None = None  # the method that is known to have done it, as text
    # (ndarray of float64, ndarray of float64) How many original and how many masked records have each
    # category, where it is missing in some record; the category of these is one more, behind all others
    frequencies: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None

    def codes(self, table: Table) -> npt.NDArray[np.float64]:
        """The category of each record as its position, shape (n,); behind all others where it is missing."""
        codes = coded(table.frame[self.name], self.categories, table.source).codes
        return np.where(codes < 0, len(self.categories), codes).astype(np.float64)

    def image(self, codes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What categories have become where the files show it (`INFERRED`), else themselves; shape (n,)."""
        if self.masking != INFERRED or self.possible is None:
            return codes
        size = len(self.categories)
        becomes = np.where(self.possible.all(axis=1), np.arange(size), self.possible.argmax(axis=1))
        return np.append(becomes, size)[codes.astype(np.intp)].astype(np.float64)


def listed_categories(
    nominal: Sequence[str], ordinal: Sequence[str], schema: Schema | None
) -> dict[str, tuple[str, ...]]:
    """The columns that hold names and not numbers, with the categories that a schema lists."""
    attributes = () if schema is None else schema.attributes
    listed = {
        each.name: each.categories or () for each in attributes if each.scale not in (None, Scale.NUMERIC)
    }
    return {**dict.fromkeys((*nominal, *ordinal), ()), **listed}


Scales = Mapping[str, tuple[Scale, tuple[str, ...]]]
"""Scale and listed categories, in their order, of attributes that are not numeric; no list when empty."""


def scales_of(
    attributes: Sequence[str], nominal: Sequence[str], ordinal: Sequence[str], schema: Schema | None
) -> Scales:
    """Those of `attributes` that are categorical, with the categories that the schema lists.

    The lists `nominal` and `ordinal` come before the schema; what neither of them names is numeric.
    """
    found: dict[str, tuple[Scale, tuple[str, ...]]] = {}
    for attribute in () if schema is None else schema.attributes:
        if attribute.name in attributes and attribute.scale in CATEGORICAL:
            found[attribute.name] = (attribute.scale, attribute.categories or ())
    check_scales(attributes, nominal, ordinal)
    for names, scale in ((nominal, Scale.NOMINAL), (ordinal, Scale.ORDINAL)):
        for name in names:
            found[name] = (scale, found[name][1] if name in found else ())
    return {name: found[name] for name in attributes if name in found}


def check_scales(attributes: Collection[str], nominal: Sequence[str], ordinal: Sequence[str]) -> None:
    """Refuse lists of nominal and ordinal attributes that name others than those compared, or one twice."""
    for option, names in (("nominal", nominal), ("ordinal", ordinal)):
        if isinstance(names, str):  # a sequence of letters, which are seldom meant
            raise DataError(
                f"{called(option)} is the text {names!r}; give a list of column names", option=option
            )
        check_no_duplicates(names, option=option)
        for name in names:
            if name not in attributes:
                raise DataError(
                    f"{called(option)}: {name!r} is not among the attributes to compare", option=option
                )
            if name in nominal and name in ordinal:
                raise DataError(
                    f"{name!r} is both in {called('nominal')} and in {called('ordinal')}; choose one",
                    option="ordinal",
                )


def with_undeclared(
    scales: Scales, attributes: Sequence[str], schema: Schema | None, tables: tuple[Table, Table]
) -> Scales:
    """The scales with those of text of which nobody has said what it is (`undeclared_scale`)."""
    found = dict(scales)
    for name in attributes:
        declared = None if schema is None else schema.get(name).scale
        if name in scales or declared is not None:
            continue  # dates are numbers by now
        scale = undeclared_scale(name, tables, recoded=True)
        if scale in CATEGORICAL:
            found[name] = (scale, ())
    return {name: found[name] for name in attributes if name in found}


@dataclass(frozen=True, eq=False)
class KnownRecoding:
    """What masking can have made of the categories of an attribute."""

    attribute: str
    masking: str  # the method, as text
    # the n categories of the original attribute, and the m that the masked one can have
    before: tuple[str, ...]
    after: tuple[str, ...]
    possible: npt.NDArray[np.bool_]  # (n, m) Whether each category can have become each other one


Masking = Sequence[str | KnownRecoding]
"""Methods as text (`datasets.masking.registry`), or what they make of the categories of an attribute."""

INFERRED = "inferred"
"""The masking of an attribute whose recoding the two files show (`datasets.pairs.recodings`)."""

NOT_INFERRED = "none"
"""In the place of a method: no masking is known but that of other methods, whatever the files show."""


def check_listed(masking: Masking) -> None:
    """Refuse methods that are one text, which would be taken letter by letter, with a DataError."""
    if isinstance(masking, str):
        raise DataError(f"masking is the text {masking!r}; give a list of methods")


def known_recodings(masking: Masking, original: Table, scales: Scales) -> dict[str, KnownRecoding]:
    """What is known of the masking of categorical attributes."""
    check_listed(masking)
    rows = [
        # Without a list the order is that of the codes, for the method as for the distance.
        Attribute(name, scale=scale if listed else Scale.NOMINAL, categories=listed or None)
        for name, (scale, listed) in scales.items()
    ]
    schema = Schema(tuple(rows))
    found: dict[str, KnownRecoding] = {}
    for item in masking:
        if item == NOT_INFERRED:
            continue
        for known in [item] if isinstance(item, KnownRecoding) else _spelled(item, original, schema):
            if known.attribute in found:
                raise DataError(f"two masking methods are given for {known.attribute!r}; give one")
            if known.attribute in scales:
                found[known.attribute] = known
    return found


def _spelled(text: str, original: Table, schema: Schema) -> list[KnownRecoding]:
    return [
        KnownRecoding(name, text, recoding.before, recoding.after, recoding.possible)
        for name, recoding in spelled_recodings([text], original.frame, schema).items()
    ]


def categorical_attributes(
    tables: tuple[Table, Table], scales: Scales, recodings: Mapping[str, KnownRecoding]
) -> dict[str, CategoricalAttribute]:
    """The categories of both files, and the recodings that are possible."""
    found = {}
    for name, (scale, listed) in scales.items():
        recoding = recodings.get(name)
        if scale is Scale.NOMINAL:
            categories = _nominal_categories(tables, name, listed, recoding)
        else:
            categories = listed or _ordinal_categories(tables, name)
        if len(categories) > MOST_CATEGORIES:
            raise DataError(
                f"{name!r} has {len(categories)} categories, more than {MOST_CATEGORIES}; leave it out, or "
                "compare it as a number"
            )
        possible = None if recoding is None else _possible(categories, recoding)
        how = None if recoding is None else recoding.masking
        attribute = CategoricalAttribute(name, scale, categories, possible, how)
        found[name] = replace(attribute, frequencies=category_frequencies(attribute, tables))
    return found


def category_frequencies(
    attribute: CategoricalAttribute, tables: tuple[Table, Table]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
    """How often categories occur in both files, where one is missing; None where all are known."""
    size = len(attribute.categories)
    first, second = (_often(attribute, attribute.codes(table)) for table in tables)
    if not (first[size] or second[size]):
        return None
    for table, often in zip(tables, (first, second), strict=True):
        if not often[:size].any():
            raise DataError(
                f"{table.source}, column {attribute.name!r} has no value at all and cannot be compared; "
                f"choose other {called('attributes')}",
                option="attributes",
            )
    return first[:size].astype(np.float64), second[:size].astype(np.float64)


def with_frequencies(
    attribute: CategoricalAttribute, original: npt.NDArray[np.float64], masked: npt.NDArray[np.float64]
) -> CategoricalAttribute:
    """The attribute ready for missing categories, with the frequencies of its codes in two files."""
    first, second = (_often(attribute, codes)[:-1].astype(np.float64) for codes in (original, masked))
    return replace(attribute, frequencies=(first, second))


def _often(attribute: CategoricalAttribute, codes: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """How often each category occurs, and behind them how often it is missing."""
    return np.bincount(codes.astype(np.intp), minlength=len(attribute.categories) + 1)


def _nominal_categories(
    tables: tuple[Table, Table], name: str, listed: tuple[str, ...], recoding: KnownRecoding | None
) -> tuple[str, ...]:
    """Those that are listed or occur, and those that masking makes."""
    extra = () if recoding is None else (*recoding.before, *recoding.after)
    if listed:
        return tuple(dict.fromkeys((*listed, *extra)))
    return in_order({category for table in tables for category in _occurring(table, name)} | set(extra))


def _ordinal_categories(tables: tuple[Table, Table], name: str) -> tuple[str, ...]:
    """Those of ordered categorical columns, or codes that are numbers."""
    kinds = [table.frame[name].dtype for table in tables]
    if all(isinstance(kind, pd.CategoricalDtype) and kind.ordered for kind in kinds):
        first, second = (_occurring(table, name) for table in tables)
        if first == second:
            return first
    names = {category for table in tables for category in _occurring(table, name)}
    if not are_numbers(names):
        text = next(category for category in sorted(names) if not are_numbers([category]))
        raise DataError(
            f"the ordinal attribute {name!r} has categories in words ({text!r}, for example), whose order is "
            f"not known; list them in ascending order in {called('schema')}",
            option="schema",
        )
    return in_order(names)


def _occurring(table: Table, name: str) -> tuple[str, ...]:
    return occurring(table.frame[name]).names


def _possible(categories: Sequence[str], recoding: KnownRecoding) -> npt.NDArray[np.bool_]:
    """The table of a recoding on a list of categories; what the recoding does not know is impossible."""
    possible = np.zeros((len(categories), len(categories)), dtype=np.bool_)
    position = {name: at for at, name in enumerate(categories)}
    rows = [at for at, name in enumerate(recoding.before) if name in position]
    columns = [at for at, name in enumerate(recoding.after) if name in position]
    possible[
        np.ix_(
            [position[recoding.before[at]] for at in rows], [position[recoding.after[at]] for at in columns]
        )
    ] = recoding.possible[np.ix_(rows, columns)]
    return possible
