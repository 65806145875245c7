"""Minimal unsafe combinations (MINUC): those no proper part of which is unsafe already.

Hundepool and Willenborg (1997): a municipality, a sex and an occupation. If the municipality alone is rare,
nothing is gained by taking out the occupation. The parts of the checked tables are gone through by dimension.
A record is looked at in a table only while no part of its combination there was unsafe, so that tables of
many dimensions are made of few records: all records of one combination drop out together, and what is left
of a combination is counted whole. A combination without any value, of missing ones alone, is never unsafe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.suppression.checked_tables import CheckedTables
from linkrisk.formulations.suppression.counting import MissingMeaning, frequencies
from linkrisk.formulations.suppression.key_table import MISSING, KeyTable, RowTypes, members, numbered_rows
from linkrisk.formulations.suppression.posterior_risk import RiskThreshold


@dataclass(frozen=True, eq=False)
class TableCheck:
    """What one table has of unsafe combinations.

    Attributes
    ----------
    table : int
        Its key variables, as bits.
    threshold : float
    combinations : int
        Different combinations that are unsafe.
    unsafe : ndarray of bool, shape (T,)
        Row types whose combination is.
    """

    table: int
    threshold: float
    combinations: int
    unsafe: BoolArray


@dataclass(frozen=True, eq=False)
class MinimalUnsafe:
    """The minimal unsafe combinations of every row type.

    Attributes
    ----------
    start : ndarray of int64, shape (T + 1,)
        Those of type t are ``sets[start[t] : start[t + 1]]``.
    sets : ndarray of int64
        Sets of key variables as bits, by dimension.
    frequency : ndarray of float64
        How often each occurs.
    """

    start: LongArray
    sets: LongArray
    frequency: FloatArray

    def of(self, row_type: int) -> LongArray:
        """Those of one type."""
        return self.sets[self.start[row_type] : self.start[row_type + 1]]

    @property
    def unsafe(self) -> BoolArray:
        """Which types have one."""
        return np.diff(self.start) > 0


def unsafe_in(types: RowTypes, table: int, threshold: float, meaning: MissingMeaning) -> TableCheck:
    """Check one table.

    Parameters
    ----------
    types : RowTypes
    table : int
        Key variables, as bits.
    threshold : float
        At most so many is unsafe, or more than so much risk.
    meaning : MissingMeaning
    """
    places = list(members(table))
    unsafe, _ = _unsafe(types, places, threshold, meaning, np.arange(len(types)))
    different = numbered_rows(types.codes[unsafe][:, places])[1]
    return TableCheck(table, threshold, len(different), unsafe)


def minimal_unsafe(
    types: RowTypes,
    tables: CheckedTables,
    meaning: MissingMeaning,
    *,
    expired: Callable[[], bool] = lambda: False,
) -> MinimalUnsafe | None:
    """Find the minimal unsafe combinations of all row types.

    Parameters
    ----------
    types : RowTypes
    tables : CheckedTables
    meaning : MissingMeaning
    expired : callable
        Asked before every table; True ends the search.

    Returns
    -------
    MinimalUnsafe or None
        None where it was ended.

    Raises
    ------
    FormulationError
        If there are too many tables (`CheckedTables.parts`).
    """
    found: dict[int, tuple[LongArray, FloatArray]] = {}
    unsafe_at: dict[int, BoolArray] = {}  # of a set: types with an unsafe part of it, itself included
    nothing = np.zeros(len(types), dtype=np.bool_)
    parts = tables.parts()
    deepest = max(part.bit_count() for part in parts)
    for part, threshold in parts.items():
        if expired():
            return None
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
    """Which of the active types have an unsafe combination, and how often each combination occurs.

    Where a missing value matches loosely, what dropped out still counts.
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
    # Of a combination without any value nothing could be taken, and nothing is told by it.
    rare &= ~(lacking.any(axis=1) if meaning.safe else lacking.all(axis=1))
    unsafe = np.zeros(len(types), dtype=np.bool_)
    unsafe[active] = rare
    frequency = np.zeros(len(types))
    frequency[active] = counted
    return unsafe, frequency


def _by_type(many: int, found: dict[int, tuple[LongArray, FloatArray]]) -> MinimalUnsafe:
    """What was found by table, sorted by type; within a type by dimension."""
    if not found:
        return MinimalUnsafe(np.zeros(many + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    rows = np.concatenate([rows for rows, _ in found.values()])
    sets = np.repeat(np.array(list(found), dtype=np.int64), [len(rows) for rows, _ in found.values()])
    frequency = np.concatenate([frequency for _, frequency in found.values()])
    order = np.argsort(rows, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=many))]).astype(np.int64)
    return MinimalUnsafe(start, sets[order], frequency[order])


def unsafe_per_variable(table: KeyTable, minimal: MinimalUnsafe) -> tuple[LongArray, list[LongArray]]:
    """How many records have a minimal unsafe combination with each variable, and with each category of it.

    Parameters
    ----------
    table : KeyTable
    minimal : MinimalUnsafe

    Returns
    -------
    by_variable : ndarray of int64, shape (q,)
        Combinations of records that the variable is in.
    by_category : list of ndarray of int64
        For every variable, the same by code; the last entry is for a missing value.
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
