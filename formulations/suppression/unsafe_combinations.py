"""Finds unsafe combinations of key variables: checked tables, and minimal unsafe combinations (MINUC).

A checked table is a set of key variables with a threshold; a combination of their values that occurs, but no
more often than the threshold, is unsafe. mu-ARGUS makes the sets by levels of identification (Hundepool and
Willenborg 1997; mu-ARGUS user's manual, section 2.1); k-anonymity is one table of all key variables with the
threshold k - 1.

Minimal are those without an unsafe proper subset: if a municipality alone is rare, nothing is gained by
taking out the occupation. The parts of the checked tables are gone through by dimension. A record is
counted in a table only while no part of its combination there was unsafe, so that tables of many dimensions
are made of few records: all records of one combination drop out together, and what is left of a combination
is counted in full. A combination of missing values alone is never unsafe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import (
    MISSING,
    KeyTable,
    MissingMeaning,
    RowTypes,
    frequencies,
    members,
    numbered_rows,
    size_of,
)
from linkrisk.formulations.suppression.posterior_risk import RiskThreshold

MOST_TABLES = 200_000
"""Sets of key variables to check, tables and their parts."""


@dataclass(frozen=True)
class CheckedTables:
    """Sets of key variables, as bits, with their thresholds."""

    # the tables asked for: a combination that occurs at most so often is unsafe; or, with a
    # `RiskThreshold`, one that is riskier
    thresholds: Mapping[int, float]
    # thresholds of the parts of these tables by their number of variables; a part whose dimension is
    # not named has the largest threshold of the tables that it belongs to
    by_dimension: Mapping[int, float]

    def __post_init__(self) -> None:
        if not self.thresholds:
            raise FormulationError("there is no table to check: name key variables")
        if 0 in self.thresholds:
            raise FormulationError("a table to check has no variables: name at least one")
        for threshold in (*self.thresholds.values(), *self.by_dimension.values()):
            check_threshold(threshold)

    def __len__(self) -> int:
        return len(self.thresholds)

    def parts(self) -> dict[int, float]:
        """Every table and every part of one, by dimension and then by its bits, with its threshold."""
        found: dict[int, float] = {}
        for table, threshold in self.thresholds.items():
            if size_of(table) >= MOST_TABLES.bit_length():
                raise _too_many(1 << size_of(table))
            for part in _parts(table):
                limit = self.by_dimension.get(size_of(part), threshold)
                found[part] = max(found.get(part, limit), limit)
            if len(found) > MOST_TABLES:
                raise _too_many(len(found))
        found.update(self.thresholds)
        return {part: found[part] for part in sorted(found, key=lambda part: (size_of(part), part))}

    def without(self, untouched: int) -> CheckedTables:
        """The tables that have a variable outside a set."""
        kept = {table: limit for table, limit in self.thresholds.items() if table & ~untouched}
        return CheckedTables(kept, self.by_dimension)


def check_threshold(threshold: float) -> None:
    """Raise a `FormulationError` unless a threshold is at least 1 and finite, or one of risk."""
    if not isinstance(threshold, RiskThreshold) and not 1 <= threshold < float("inf"):
        raise FormulationError(f"a threshold of {threshold:g} finds nothing unsafe; give at least 1")


def by_levels(levels: Sequence[int], threshold: float) -> CheckedTables:
    """Tables by the levels of identification of the key variables, as mu-ARGUS makes them.

    A variable of level 1 identifies most, one of level 0 not at all. With d levels, a table has d
    variables: one of level 1, another of level 1 or 2, and so on to one of level 1 to d.
    """
    if min(levels, default=0) < 0:
        raise FormulationError(f"the level of identification {min(levels)} is negative; give 0, 1, 2, ...")
    if 1 not in levels:
        raise FormulationError("no variable is of identification level 1; give one")
    tables = {frozenset[int]()}
    for level in range(1, max(levels) + 1):
        upto = [at for at, of in enumerate(levels) if 0 < of <= level]
        tables = {table | {at} for table in tables for at in upto if at not in table}
        if not tables:  # fewer variables than levels
            tables = {frozenset(at for at, of in enumerate(levels) if of > 0)}
            break
        if len(tables) > MOST_TABLES:
            raise _too_many(len(tables))
    return CheckedTables({_bits(table): threshold for table in sorted(map(sorted, tables))}, {})


def up_to_dimension(keys: int, dimension: int, threshold: Mapping[int, float] | float) -> CheckedTables:
    """All tables of at most `dimension` of `keys` variables, with one threshold or one by dimension."""
    if not 1 <= dimension <= keys:
        raise FormulationError(f"tables of {dimension} dimensions of {keys} key variables: give 1 to {keys}")
    limits = (
        threshold if isinstance(threshold, Mapping) else dict.fromkeys(range(1, dimension + 1), threshold)
    )
    lacking = [size for size in range(1, dimension + 1) if size not in limits]
    if lacking:
        raise FormulationError(f"there is no threshold for tables of {lacking[0]} dimensions; give one")
    found: dict[int, float] = {}
    for size in range(1, dimension + 1):
        for chosen in combinations(range(keys), size):
            found[_bits(chosen)] = limits[size]
            if len(found) > MOST_TABLES:
                raise _too_many(len(found))
    return CheckedTables(found, {size: limits[size] for size in range(1, dimension + 1)})


def k_anonymity(keys: int, k: int) -> CheckedTables:
    """The table of all key variables, in which fewer than k records are unsafe."""
    if k < 2:
        raise FormulationError(f"k = {k} asks for nothing; give at least 2")
    return CheckedTables({(1 << keys) - 1: k - 1}, {})


def individual_risk(keys: int, risk: float) -> CheckedTables:
    """The table of all key variables, in which combinations of more individual risk are unsafe."""
    return CheckedTables({(1 << keys) - 1: RiskThreshold(risk)}, {})


def _parts(table: int) -> Iterator[int]:
    """Every nonempty subset of a table."""
    part = table
    while part:
        yield part
        part = (part - 1) & table


def _bits(places: Sequence[int]) -> int:
    return sum(1 << at for at in places)


def _too_many(many: int) -> FormulationError:
    return FormulationError(
        f"{many:,} or more sets of variables to look at are too many; check tables of fewer dimensions"
    )


@dataclass(frozen=True, eq=False)
class TableCheck:
    """Unsafe combinations of one table."""

    table: int  # its key variables, as bits
    threshold: float
    combinations: int  # different combinations that are unsafe
    unsafe: BoolArray  # (T,): row types whose combination is


@dataclass(frozen=True, eq=False)
class MinimalUnsafe:
    """The minimal unsafe combinations of every row type."""

    start: LongArray  # (T + 1,): those of type t are ``sets[start[t] : start[t + 1]]``
    sets: LongArray  # sets of key variables as bits, by dimension
    frequency: FloatArray  # how often each occurs

    def of(self, row_type: int) -> LongArray:
        """Sets of one row type."""
        return self.sets[self.start[row_type] : self.start[row_type + 1]]

    @property
    def unsafe(self) -> BoolArray:
        """Row types (T,) with a minimal unsafe combination."""
        return np.diff(self.start) > 0


def unsafe_in(types: RowTypes, table: int, threshold: float, meaning: MissingMeaning) -> TableCheck:
    """Check one table, a set of key variables as bits."""
    places = list(members(table))
    unsafe, _ = _unsafe(types, places, threshold, meaning, np.arange(len(types)))
    different = numbered_rows(types.codes[unsafe][:, places])[1]
    return TableCheck(table, threshold, len(different), unsafe)


def minimal_unsafe(types: RowTypes, tables: CheckedTables, meaning: MissingMeaning) -> MinimalUnsafe:
    """Find the minimal unsafe combinations of all row types."""
    found: dict[int, tuple[LongArray, FloatArray]] = {}
    unsafe_at: dict[int, BoolArray] = {}  # of a set: types with an unsafe part of it, itself included
    nothing = np.zeros(len(types), dtype=np.bool_)
    parts = tables.parts()
    deepest = max(part.bit_count() for part in parts)
    for part, threshold in parts.items():
        places = members(part)
        before = nothing.copy()
        for at in places:
            before |= unsafe_at.get(part & ~(1 << at), nothing)
        active = np.flatnonzero(~before)
        if active.size:
            unsafe, frequency = _unsafe(types, list(places), threshold, meaning, active)
            rows = np.flatnonzero(unsafe)
            if rows.size:
                found[part] = rows, frequency[rows]
                before |= unsafe
        if part.bit_count() < deepest and before.any():
            unsafe_at[part] = before
    return _by_type(len(types), found)


def _unsafe(
    types: RowTypes, places: list[int], threshold: float, meaning: MissingMeaning, active: LongArray
) -> tuple[BoolArray, FloatArray]:
    """Unsafe types (T,) among the active ones, and frequencies (T,) of their combinations.

    Where a missing value matches loosely, types that dropped out still count.
    """
    there = active if meaning.alpha == 0.0 else np.arange(len(types))
    codes = types.codes[there][:, places]

    def counts(weight: FloatArray) -> FloatArray:
        found = frequencies(codes, weight[there], meaning)
        return found if meaning.alpha == 0.0 else found[active]

    counted = counts(types.weight)
    if isinstance(threshold, RiskThreshold):
        rare = threshold.unsafe(counts(types.count.astype(np.float64)), counted)
    else:
        rare = counted <= threshold
    lacking = types.codes[active][:, places] == MISSING
    # A combination without any value discloses nothing, and has nothing to suppress.
    rare &= ~(lacking.any(axis=1) if meaning.safe else lacking.all(axis=1))
    unsafe = np.zeros(len(types), dtype=np.bool_)
    unsafe[active] = rare
    frequency = np.zeros(len(types))
    frequency[active] = counted
    return unsafe, frequency


def _by_type(many: int, found: dict[int, tuple[LongArray, FloatArray]]) -> MinimalUnsafe:
    """Sets found by table, sorted by type; within a type by dimension."""
    if not found:
        return MinimalUnsafe(np.zeros(many + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    rows = np.concatenate([rows for rows, _ in found.values()])
    sets = np.repeat(np.array(list(found), dtype=np.int64), [len(rows) for rows, _ in found.values()])
    frequency = np.concatenate([frequency for _, frequency in found.values()])
    order = np.argsort(rows, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=many))]).astype(np.int64)
    return MinimalUnsafe(start, sets[order], frequency[order])


def unsafe_per_variable(table: KeyTable, minimal: MinimalUnsafe) -> tuple[LongArray, list[LongArray]]:
    """Minimal unsafe combinations of records by variable (q,), and by code of each variable.

    The last code is for a missing value.
    """
    types = table.types
    rows = np.repeat(np.arange(len(types)), np.diff(minimal.start))
    many = types.count[rows]
    by_variable = np.zeros(len(table.names), dtype=np.int64)
    by_category = []
    for at in range(len(table.names)):
        codes = types.codes[:, at].astype(np.int64)
        levels = int(codes.max(initial=MISSING)) + 2
        inside = (minimal.sets >> at & 1).astype(bool)
        codes = np.where(codes == MISSING, levels - 1, codes)
        counted = np.zeros(levels, dtype=np.int64)
        np.add.at(counted, codes[rows[inside]], many[inside])
        by_category.append(counted)
        by_variable[at] = int(counted.sum())
    return by_variable, by_category
