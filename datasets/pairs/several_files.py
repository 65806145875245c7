"""Several releases side by side, and several sources of an intruder joined by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.pairs.categorical import CategoricalAttribute, category_frequencies
from linkrisk.datasets.pairs.cells import are_numeric, match_ids, record_ids
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.survey_design import UNKNOWN, SurveyDesign
from linkrisk.errors import called


def joined_sources(sources: Sequence[Table], id_column: str) -> Table:
    """All that several sources know of a record, side by side.

    Every record of any source is one of the result: an intruder knows whom he knows from anywhere. What no
    source says of a record is missing. Where two sources say something of the same, they must agree.
    """
    for table in sources:
        check_known([id_column], table.columns, table.source, option="id")
    own = [record_ids(table.frame, id_column, table.source) for table in sources]
    ids = pd.Index(list(dict.fromkeys(each for listed in own for each in listed)), dtype=object)
    columns: dict[str, pd.Series] = {id_column: pd.Series(ids)}
    said_by: dict[str, str] = {}
    for table, listed in zip(sources, own, strict=True):
        rows = pd.Index(listed, dtype=object).get_indexer(ids)
        for name in table.columns:
            if name == id_column:
                continue
            found = table.frame[name].reindex(rows).reset_index(drop=True)
            if name in said_by:
                _check_agreement(columns[name], found, ids, (said_by[name], table.source))
                found = _both(columns[name], found)
            columns[name] = found
            said_by.setdefault(name, table.source)
    notes: dict[str, ColumnNotes] = {}
    for table in reversed(sources):
        notes |= table.notes
    return Table(
        pd.DataFrame(columns),
        " with ".join(table.source for table in sources),
        notes=notes,
        remarks=_remarks(sources, own),
    )


def _remarks(sources: Sequence[Table], own: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What was said of each source, and how many records are not in all of them."""
    said = tuple(dict.fromkeys(remark for table in sources for remark in table.remarks))
    sets = [set(listed) for listed in own]
    everybody, everywhere = set.union(*sets), set.intersection(*sets)
    if (alone := len(everybody) - len(everywhere)) == 0:
        return said
    return (*said, f"{alone:,} of {len(everybody):,} records are not in every source")


def _check_agreement(first: pd.Series, second: pd.Series, ids: pd.Index, who: tuple[str, str]) -> None:
    """Raise a DataError for the first record of which two sources say different things."""
    known = (first.notna() & second.notna()).to_numpy(dtype=bool)
    apart = np.zeros(len(first), dtype=bool)
    apart[known] = _differ(first[known], second[known])
    if apart.any():
        at = int(np.argmax(apart))
        values = (spelled(series.iloc[at]) for series in (first, second))
        raise DataError(
            f"{who[0]} and {who[1]} disagree on column {str(second.name)!r} of record {ids[at]!r}: "
            f"{' and '.join(map(repr, values))}; correct one of them, rename the column if it is another "
            f"attribute, or give versions of one file with {called('versions', True)}",
            option="versions",
        )


def _differ(first: pd.Series, second: pd.Series) -> npt.NDArray[np.bool_]:
    """Where two columns of known values differ; 7, 7.0 and "7" are the same."""
    if are_numeric(first, second):
        return np.asarray(first.to_numpy(dtype=np.float64) != second.to_numpy(dtype=np.float64))
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([spelled(one) != spelled(other) for one, other in pairs], dtype=bool)


def _both(first: pd.Series, second: pd.Series) -> pd.Series:
    """What the first column says, and where it says nothing, what the second one does."""
    if first.dtype != second.dtype:
        kind = np.float64 if are_numeric(first, second) else object
        first, second = first.astype(kind), second.astype(kind)
    return first.where(first.notna(), second)


Column = npt.NDArray[Any]


def check_alike(pairs: Sequence[FilePair]) -> None:
    """Raise a DataError where releases are aligned with their originals in different ways."""
    for pair in pairs[1:]:
        if pair.alignment != pairs[0].alignment:
            raise DataError(
                f"releases are aligned in different ways, {pairs[0].alignment} ({pairs[0].name}) and "
                f"{pair.alignment} ({pair.name}), so it is not known who is in both; name the column that "
                f"identifies the records of all files with {called('id')}",
                option="id",
            )


def side_by_side(pairs: Sequence[FilePair], numbers: Sequence[int] | None = None) -> FilePair:
    """One file pair whose attributes are those of all releases.

    A released record is whatever the releases hold of one record; what a release does not hold of it is
    missing. The same on the original side, where each release is compared with its own original: so an
    attribute that every release has is there as often, ``income`` first and then ``income (release 2)``.
    Where both sides of it are those of an earlier release, it says nothing new and is left out.
    """
    check_alike(pairs)
    known = _everybody([pair.original_labels for pair in pairs])
    released = _everybody([pair.masked_labels for pair in pairs])
    partner = np.full(len(known), -1, dtype=np.intp)
    seen: dict[str, list[_Compared]] = {}
    columns: dict[str, _Compared] = {}
    for number, pair in zip(numbers or range(1, len(pairs) + 1), pairs, strict=True):
        rows = match_ids(known, pair.original_labels), match_ids(released, pair.masked_labels)
        own = np.flatnonzero(pair.partner >= 0)
        here = match_ids(tuple(pair.original_labels[row] for row in own), known)
        there = match_ids(tuple(pair.masked_labels[row] for row in pair.partner[own]), released)
        partner[here] = there
        for attribute in pair.attributes:
            one = _compared(pair, attribute, rows)
            if any(one.same(other) for other in seen.setdefault(attribute, [])):
                continue
            seen[attribute].append(one)
            columns[_free(attribute, number, columns)] = one
    frames = [
        pd.DataFrame({name: one.sides[side] for name, one in columns.items()}, index=pd.RangeIndex(size))
        for side, size in enumerate((len(known), len(released)))
    ]
    return FilePair(
        original=frames[0],
        masked=frames[1],
        partner=partner,
        attributes=tuple(columns),
        original_labels=known,
        masked_labels=released,
        name=pairs[-1].name,
        categorical=_categorical(columns, (Table(frames[0], "original"), Table(frames[1], "masked"))),
        masking=tuple(dict.fromkeys(text for pair in pairs for text in pair.masking)),
        alignment=pairs[0].alignment,
        design=_design(pairs, known, partner),
    )


def same_files(first: FilePair, second: FilePair) -> bool:
    """Whether two pairs have the same records, in the same order, the same attributes and the same truth."""
    if (first.attributes, *_shapes(first)) != (second.attributes, *_shapes(second)):
        return False
    kinds = [(pair.categorical.keys(), _recodings(pair)) for pair in (first, second)]
    weights = [np.ones(0) if pair.design.weight is None else pair.design.weight for pair in (first, second)]
    return (
        kinds[0] == kinds[1]
        and np.array_equal(first.partner, second.partner)
        and np.array_equal(first.compared_values, second.compared_values, equal_nan=True)
        and np.array_equal(first.masked_values, second.masked_values, equal_nan=True)
        and np.array_equal(weights[0], weights[1], equal_nan=True)
    )


def _shapes(pair: FilePair) -> tuple[int, int]:
    return len(pair.original), len(pair.masked)


def _recodings(pair: FilePair) -> list[tuple[Any, ...]]:
    """Scale, categories and possible recodings of the categorical attributes."""
    return [
        (one.scale, one.categories, None if one.possible is None else one.possible.tobytes())
        for one in pair.categorical.values()
    ]


@dataclass(frozen=True, eq=False)
class _Compared:
    """One attribute of one release: values of all known and of all released records.

    Numbers, NaN where one is missing; or names of categories, None where one is missing.
    """

    sides: tuple[Column, Column]
    category: CategoricalAttribute | None

    def same(self, other: _Compared) -> bool:
        """Whether both sides are equal."""
        numeric = self.category is None
        if numeric != (other.category is None):
            return False
        return all(
            np.array_equal(one, two, equal_nan=numeric)
            for one, two in zip(self.sides, other.sides, strict=True)
        )


def _compared(pair: FilePair, attribute: str, rows: tuple[IndexArray, IndexArray]) -> _Compared:
    at, category = pair.attributes.index(attribute), pair.categorical.get(attribute)
    sides = []
    for values, row in zip((pair.compared_values, pair.masked_values), rows, strict=True):
        column: Column = values[:, at]
        if category is not None:  # the position behind all categories is a missing one
            column = np.array([*category.categories, None], dtype=object)[column.astype(np.intp)]
        nothing: Any = np.nan if category is None else None
        sides.append(np.where(row >= 0, column[row], nothing))
    return _Compared((sides[0], sides[1]), category)


def _categorical(
    columns: Mapping[str, _Compared], tables: tuple[Table, Table]
) -> dict[str, CategoricalAttribute]:
    """The attributes that are categories, by their new names; how often each occurs is counted again."""
    found = {}
    for name, one in columns.items():
        if one.category is not None:
            renamed = replace(one.category, name=name)
            found[name] = replace(renamed, frequencies=category_frequencies(renamed, tables))
    return found


def _everybody(labels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Who is in any release, in the order in which they first are."""
    return tuple(dict.fromkeys(label for listed in labels for label in listed))


def _free(attribute: str, number: int, taken: Mapping[str, Any]) -> str:
    """What to call an attribute of a release: as it is, as long as no earlier one has the name."""
    name = attribute
    while name in taken:
        name = f"{name} (release {number})"
    return name


def _design(pairs: Sequence[FilePair], known: tuple[str, ...], partner: IndexArray) -> SurveyDesign:
    """Weights and strata, each of the last release that knows them."""
    weight: npt.NDArray[np.float64] | None = None
    stratum: Column | None = None
    for pair in pairs:
        rows, design = match_ids(known, pair.original_labels), pair.design
        if design.weight is not None:
            found = np.where(rows >= 0, design.weight[rows], np.nan)
            weight = found if weight is None else np.where(np.isnan(found), weight, found)
        if design.stratum is not None:
            names = np.where(rows >= 0, np.array(design.stratum, dtype=object)[rows], UNKNOWN)
            stratum = names if stratum is None else np.where(names == UNKNOWN, stratum, names)
    if weight is not None and (lost := np.isnan(weight) & (partner >= 0)).any():
        raise DataError(
            f"the sampling weight of record {known[int(np.argmax(lost))]!r} is in none of the files; give "
            "the weights in the original file"
        )
    columns = [pair.design for pair in pairs]
    return SurveyDesign(
        next((one.weight_column for one in columns if one.weight_column is not None), None),
        weight,
        next((one.stratum_column for one in columns if one.stratum_column is not None), None),
        None if stratum is None else tuple(stratum.tolist()),
    )
