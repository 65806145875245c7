"""Code two files by distinct values, and find the values that agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray, IntArray, LongArray
from linkrisk.datasets.microdata.schema import Attribute, Scale
from linkrisk.errors import called
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.comparisons import (
    DIFFERENCES,
    SIMILARITIES,
    Comparison,
    Measure,
    similar_texts,
)
from linkrisk.solver.linkage.probabilistic.kernels import MOST_ATTRIBUTES, Blocks, Coded, Weights
from linkrisk.solver.linkage.score_ranks import Kinds
from linkrisk.solver.run.errors import UsageError

_ROUNDING = 4 * np.finfo(np.float64).eps
"""Factor on the size of two numbers that bounds the rounding error of their difference."""


class Segments(NamedTuple):
    """Ranges of candidate values that agree with each query value (see `kernels`)."""

    number: NDArray[np.int64]  # (distinct query values,): number of segments of each
    # (segments,): half-open ranges `start` to `stop` of distinct candidate values
    start: NDArray[np.integer]
    stop: NDArray[np.integer]
    level: NDArray[np.uint8]  # (segments,): 1 disagreement, higher ones agreement
    similarity: FloatArray  # (segments,): of the two texts; NaN where numbers are compared


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One coded attribute of both files."""

    query_code: IntArray  # (queries,), (candidates,): index of the distinct value, -1 missing
    candidate_slot: IntArray
    # (distinct query values,), (slots,): the numbers; NaN unless their differences are compared
    query_value: FloatArray
    slot_value: FloatArray
    segments: Segments


def code_column(queries: pd.Series, candidates: pd.Series, comparison: Comparison) -> CodedColumn:
    """Code one attribute and find the values that agree."""
    first, query_code = distinct_values(queries)
    second, candidate_slot = distinct_values(candidates)
    if comparison.measure in DIFFERENCES:
        numbers, others = first.astype(np.float64), second.astype(np.float64)
        segments = _within(numbers, others, comparison)
        return CodedColumn(query_code, candidate_slot, numbers, others, segments)
    similar = comparison.measure in SIMILARITIES
    segments = _similar(first, second, comparison) if similar else _equal(first, second)
    nowhere = np.full(first.size, np.nan), np.full(second.size, np.nan)
    return CodedColumn(query_code, candidate_slot, nowhere[0], nowhere[1], segments)


def distinct_values(column: pd.Series) -> tuple[NDArray[np.generic], IntArray]:
    """List the distinct known values, ascending, and each row's position among them, -1 where missing."""
    known = column.notna().to_numpy()
    values = column[known].to_numpy()
    values = values.astype(np.float64) if pd.api.types.is_numeric_dtype(column) else values.astype(np.str_)
    distinct, place = np.unique(values, return_inverse=True)
    code = np.full(len(column), -1, dtype=np.int32)
    code[known] = place
    return distinct, code


def _equal(first: NDArray[np.generic], second: NDArray[np.generic]) -> Segments:
    start, stop = np.searchsorted(second, first), np.searchsorted(second, first, side="right")
    level = np.full(first.size, 2, dtype=np.uint8)
    return Segments(np.ones(first.size, dtype=np.int64), start, stop, level, np.ones(first.size))


def _similar(first: NDArray[np.generic], second: NDArray[np.generic], comparison: Comparison) -> Segments:
    number, start, similarity = similar_texts(first, second, comparison)
    level = np.ones(start.size, dtype=np.uint8)
    for threshold in comparison.thresholds:
        level += similarity >= threshold
    return Segments(number, start, start + 1, level, similarity)


def _within(first: FloatArray, second: FloatArray, comparison: Comparison) -> Segments:
    """Find the ranges of the sorted values of `second` within each threshold, the widest first."""
    reach = np.array(comparison.knots[::-1])
    values = first[:, None]
    slack = _ROUNDING * (np.abs(values) + reach)
    start = np.searchsorted(second, (values - reach - slack).ravel())
    stop = np.searchsorted(second, (values + reach + slack).ravel(), side="right")
    level = np.arange(1, comparison.levels + 1)[-reach.size :]
    number = np.full(first.size, reach.size, dtype=np.int64)
    return Segments(
        number, start, stop, np.tile(level, first.size).astype(np.uint8), np.full(start.size, np.nan)
    )


def readable_columns(
    task: LinkageTask, comparisons: Mapping[str, Comparison]
) -> dict[str, tuple[pd.Series, pd.Series]]:
    """Convert the columns of every attribute for its comparison: to numbers, or text."""
    if task.query_attributes != task.candidate_attributes:
        raise UsageError("probabilistic linkage compares attributes that both files have; name common ones")
    if not task.query_attributes:
        raise UsageError("probabilistic linkage needs at least one attribute that both files have")
    if len(task.query_attributes) > MOST_ATTRIBUTES:
        raise UsageError(
            f"probabilistic linkage compares at most {MOST_ATTRIBUTES} attributes, not "
            f"{len(task.query_attributes)}; choose some with {called('attributes')}",
            option="attributes",
        )
    columns = {}
    for name in task.query_attributes:
        pair = (task.queries[name], task.candidates[name])
        columns[name] = _readable(pair, task.schema[name], comparisons[name].measure)
        for column, source in zip(columns[name], task.sources, strict=True):
            if not column.notna().any():
                raise UsageError(f"{source} has no value of attribute {name!r}; leave it out")
    return columns


def _readable(
    pair: tuple[pd.Series, pd.Series], attribute: Attribute, measure: Measure
) -> tuple[pd.Series, pd.Series]:
    numbers = all(pd.api.types.is_numeric_dtype(column) for column in pair)
    if measure in DIFFERENCES and attribute.scale is Scale.ORDINAL:
        first, second = (_places(column, attribute) for column in pair)
        return first, second
    if measure in DIFFERENCES and not numbers:
        raise UsageError(
            f"attribute {attribute.name!r} is text and has no differences; compare it by equal, "
            "jaro-winkler or levenshtein"
        )
    if numbers and measure not in SIMILARITIES:
        if any(np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan)).any() for column in pair):
            raise UsageError(
                f"attribute {attribute.name!r} has an infinite number; replace it or leave it out"
            )
        return pair
    first, second = (as_text(column) for column in pair)
    return first, second


def _places(column: pd.Series, attribute: Attribute) -> pd.Series:
    """Convert ordered categories to their positions."""
    place = {category: float(at) for at, category in enumerate(attribute.categories or ())}
    text = as_text(column)
    unknown = text[text.notna() & ~text.isin(list(place))]
    if len(unknown):
        raise UsageError(
            f"attribute {attribute.name!r} has the value {unknown.iloc[0]!r}, which is none of its categories"
        )
    return text.map(place).astype(np.float64)


def as_text(column: pd.Series) -> pd.Series:
    """Convert values to text; numbers as usually written, so that 2.0 is 2."""
    if pd.api.types.is_numeric_dtype(column):
        return column.map(lambda value: f"{value:.17g}", na_action="ignore").astype(object)
    return column.map(str, na_action="ignore").astype(object)


def in_units(comparison: Comparison, queries: pd.Series, candidates: pd.Series) -> Comparison:
    """Convert thresholds to units of the attribute, relative ones by both files together."""
    if not comparison.relative:
        return comparison
    values = np.concatenate([np.asarray(column.dropna(), np.float64) for column in (queries, candidates)])
    # In units of the range: squares of huge numbers would overflow, those of tiny ones vanish.
    extent = float(np.ptp(values))
    deviation = extent * float(((values - values.min()) / extent).std()) if extent else 0.0
    return comparison.in_units(deviation, extent)


def code_files(columns: Sequence[CodedColumn]) -> Coded:
    """Combine the coded attributes, with codes numbered through all of them."""
    slots = np.array([column.slot_value.size + 1 for column in columns])
    slot_first = np.concatenate([[0], np.cumsum(slots)])
    value_first = np.concatenate([[0], np.cumsum([column.query_value.size for column in columns])])
    query_code, candidate_slot, start, stop = [], [], [], []
    for k, column in enumerate(columns):
        code = column.query_code
        slot = column.candidate_slot
        query_code.append(np.where(code >= 0, code + value_first[k], -1))
        candidate_slot.append(np.where(slot >= 0, slot, slots[k] - 1) + slot_first[k])
        start.append(column.segments.start + slot_first[k])
        stop.append(column.segments.stop + slot_first[k])
    number = np.concatenate([column.segments.number for column in columns])
    slot_value = [np.append(column.slot_value, np.nan) for column in columns]
    return Coded(
        query_code=np.ascontiguousarray(np.stack(query_code, axis=1), dtype=np.int32),
        candidate_slot=np.ascontiguousarray(np.stack(candidate_slot), dtype=np.int32),
        slot_first=slot_first.astype(np.int64),
        segment_first=np.concatenate([[0], np.cumsum(number)]).astype(np.int64),
        start=np.concatenate(start).astype(np.int32),
        stop=np.concatenate(stop).astype(np.int32),
        level=np.concatenate([column.segments.level for column in columns]),
        query_value=np.concatenate([column.query_value for column in columns]).astype(np.float64),
        slot_value=np.concatenate(slot_value).astype(np.float64),
        query_times=np.ones(len(query_code[0]), dtype=np.int64),
        candidate_times=np.ones(len(candidate_slot[0]), dtype=np.int64),
    )


def of_kinds(coded: Coded, queries: Kinds, candidates: Kinds) -> Coded:
    """Select the codes of the first record of each kind; all values stay."""
    if queries.apart and candidates.apart:
        return coded
    return coded._replace(
        query_code=coded.query_code[queries.first],
        candidate_slot=np.ascontiguousarray(coded.candidate_slot[:, candidates.first]),
        query_times=queries.times,
        candidate_times=candidates.times,
    )


Code = TypeVar("Code", np.int32, np.int64)


class Codes(NamedTuple):
    """Two coded files for compiled code."""

    coded: Coded
    blocks: Blocks
    weights: Weights | None = None  # Where pairs are to be scored


def cut_codes(codes: Codes, rows: IndexArray, candidates: IndexArray) -> Codes:
    """Restrict coded files to some queries and candidates, renumbered from 0.

    `rows, candidates`: of queries and of candidates; the latter in ascending order.
    """
    coded, weights = codes.coded, codes.weights
    code, slot = coded.query_code[rows], coded.candidate_slot[:, candidates]
    values = np.unique(code[code >= 0])
    slots = np.unique(np.concatenate([slot.ravel(), coded.slot_first[1:] - 1]))  # missing ones always
    segments, first = members_of(coded.segment_first, values)
    start, stop = (np.searchsorted(slots, end[segments]) for end in (coded.start, coded.stop))
    met = start < stop
    segments = segments[met]
    cut = Coded(
        query_code=placed(values, code),
        candidate_slot=np.ascontiguousarray(np.searchsorted(slots, slot), dtype=np.int32),
        slot_first=np.searchsorted(slots, coded.slot_first).astype(np.int64),
        segment_first=counted_to(first, met),
        start=start[met].astype(np.int32),
        stop=stop[met].astype(np.int32),
        level=coded.level[segments],
        query_value=coded.query_value[values],
        slot_value=coded.slot_value[slots],
        query_times=coded.query_times[rows],
        candidate_times=coded.candidate_times[candidates],
    )
    blocks = Blocks(*cut_groups(*codes.blocks, rows, candidates))
    return Codes(
        cut, blocks, None if weights is None else weights._replace(segment=weights.segment[segments])
    )


def cut_groups(
    key: NDArray[Code],
    first: LongArray,
    member: NDArray[np.int32],
    rows: IndexArray,
    candidates: IndexArray,
) -> tuple[NDArray[Code], LongArray, NDArray[np.int32]]:
    """Restrict blocks to some queries and candidates (see `Blocks`)."""
    own = key[rows]
    kept = np.unique(own[own >= 0])
    places, begin = members_of(first, kept)
    members = member[places]
    at = np.searchsorted(candidates, members)
    inside = at < np.searchsorted(candidates, members, side="right")
    return placed(kept, own), counted_to(begin, inside), at[inside].astype(np.int32)


def met_by(
    key: NDArray[np.integer], first: LongArray, member: NDArray[np.int32], rows: IndexArray
) -> IndexArray:
    """List the candidates that share a key with one of some queries, in ascending order."""
    own = key[rows]
    places, _ = members_of(first, np.unique(own[own >= 0]))
    return np.unique(member[places]).astype(np.intp)


def members_of(first: LongArray, kept: NDArray[np.integer]) -> tuple[IndexArray, LongArray]:
    """List the positions of the members of some groups, group by group, and where each group begins."""
    size = first[kept + 1] - first[kept]
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return np.arange(begin[-1]) + np.repeat(first[kept] - begin[:-1], size), begin


def counted_to(first: LongArray, kept: NDArray[np.bool_]) -> LongArray:
    """Compute where groups begin when only some of their members are kept."""
    return np.asarray(np.concatenate([[0], np.cumsum(kept)])[first], dtype=np.int64)


def placed(kept: NDArray[Code], code: NDArray[Code]) -> NDArray[Code]:
    """Renumber codes by those that are kept; -1 stays -1."""
    place = np.where(code >= 0, np.searchsorted(kept, code), -1)
    return np.ascontiguousarray(place, dtype=code.dtype)
