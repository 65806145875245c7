"""Local search for controlled rounding: flips inner cells between multiples until all totals are feasible.

A state is ``z`` in {0, 1} for each inner cell (`ControlledRounding`) and the sum of each total in steps of
the base; a total is wrong by its distance from its neighbouring multiples. An infeasible total is drawn at
random, and its cell whose flip has the least penalty and cost is flipped, even if these increase; the cell is
tabu for some flips then (Selman, Kautz and Cohen 1994, Noise strategies for improving local search; Glover
1989, Tabu search).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel

_LOOKS = 100
"""Cells of a total that are tried, from a random one on: better flips against speed."""

_REST = 3
"""Longest tabu time of a cell, in flips: short ones intensify, long ones diversify."""


class Flippable(NamedTuple):
    """Data that flips do not change, for k inner cells and t totals.

    Attributes
    ----------
    row_starts, row_cells : ndarray of int64, shapes (t + 1,) and (e,)
        The inner cells of each total.
    starts, totals, times : ndarray of int64, shapes (k + 1,), (e,) and (e,)
        The totals of each inner cell, and how often it is in them.
    may : ndarray of bool, shape (k,)
        Whether a cell is between two multiples.
    gain : ndarray of float64, shape (k,)
        What it costs at the upper of them, less what it costs at the lower.
    low, high : ndarray of int64, shape (t,)
        Multiples that a total may have, in steps.
    value, weight : ndarray of float64, shape (t,)
    base : float
    wrong : float
        What a total that is wrong counts, for each step.
    """

    row_starts: LongArray
    row_cells: LongArray
    starts: LongArray
    totals: LongArray
    times: LongArray
    may: BoolArray
    gain: FloatArray
    low: LongArray
    high: LongArray
    value: FloatArray
    weight: FloatArray
    base: float
    wrong: float


class Wrongs(NamedTuple):
    """Infeasible totals: `held` of them in `listed`, with the place of each, or -1; shape (t,)."""

    listed: LongArray
    place: LongArray
    held: LongArray


@kernel
def _beyond(table: Flippable, total: int, steps: int) -> int:
    """Return by how many steps a total is infeasible."""
    return int(max(0, table.low[total] - steps, steps - table.high[total]))


@kernel
def _flip(table: Flippable, upper: LongArray, steps: LongArray, wrongs: Wrongs, cell: int) -> float:
    """Flip a cell; return the change of cost and penalties."""
    by = 1 - 2 * upper[cell]
    cost = by * table.gain[cell]
    upper[cell] += by
    for at in range(table.starts[cell], table.starts[cell + 1]):
        total = table.totals[at]
        before = abs(table.base * steps[total] - table.value[total])
        steps[total] += by * table.times[at]
        cost += table.weight[total] * (abs(table.base * steps[total] - table.value[total]) - before)
        _note(table, steps, wrongs, total)
    return float(cost)


@kernel
def _note(table: Flippable, steps: LongArray, wrongs: Wrongs, total: int) -> None:
    """Record whether a total is infeasible."""
    listed, place, held = wrongs
    wrong = _beyond(table, total, steps[total]) > 0
    if wrong and place[total] < 0:
        place[total] = held[0]
        listed[held[0]] = total
        held[0] += 1
    elif not wrong and place[total] >= 0:
        held[0] -= 1
        last = listed[held[0]]
        listed[place[total]] = last
        place[last] = place[total]
        place[total] = -1


@kernel
def _best(
    table: Flippable,
    upper: LongArray,
    steps: LongArray,
    total: int,
    rests: LongArray,
    now: int,
    first: int,
) -> int:
    """Return the cell whose flip repairs a total at the least penalty and cost; -1 if there is none.

    Cells whose `rests` exceed `now` are tabu.
    """
    begin = table.row_starts[total]
    many = table.row_starts[total + 1] - begin
    by = -1 if steps[total] > table.high[total] else 1
    chosen, least = -1, np.inf
    for look in range(min(many, _LOOKS)):
        cell = table.row_cells[begin + (first + look) % many]
        if not table.may[cell] or upper[cell] != (by < 0) or rests[cell] > now:
            continue
        score = by * table.gain[cell]
        for at in range(table.starts[cell], table.starts[cell + 1]):
            other = table.totals[at]
            before, after = steps[other], steps[other] + by * table.times[at]
            more = _beyond(table, other, after) - _beyond(table, other, before)
            away = abs(table.base * after - table.value[other])
            away -= abs(table.base * before - table.value[other])
            score += table.wrong * more + table.weight[other] * away
        if score < least:
            chosen, least = cell, score
    return chosen


@kernel
def mended(
    table: Flippable, upper: LongArray, steps: LongArray, flips: int, random: np.random.Generator
) -> int:
    """Flip cells until all totals are feasible, up to a limit; return the number of infeasible ones.

    Parameters
    ----------
    table : Flippable
    upper, steps : ndarray of int64, shapes (k,) and (t,)
        The state, which is changed.
    flips : int
    random : numpy.random.Generator
    """
    totals = table.low.size
    wrongs = Wrongs(np.empty(totals, np.int64), np.full(totals, -1), np.zeros(1, np.int64))
    rests = np.zeros(upper.size, np.int64)
    for total in range(totals):
        _note(table, steps, wrongs, total)
    for now in range(flips):
        if wrongs.held[0] == 0:
            break
        total = wrongs.listed[random.integers(0, wrongs.held[0])]
        first = random.integers(0, table.row_starts[total + 1] - table.row_starts[total])
        cell = _best(table, upper, steps, total, rests, now, first)
        if cell >= 0:
            _flip(table, upper, steps, wrongs, cell)
            rests[cell] = now + 1 + random.integers(0, _REST)
    return int(wrongs.held[0])


@kernel
def cheaper(
    table: Flippable, upper: LongArray, steps: LongArray, tries: int, depth: int, random: np.random.Generator
) -> float:
    """Move cells to their nearer multiple, repair the totals in few flips, and return the savings.

    Parameters
    ----------
    table : Flippable
    upper, steps : ndarray of int64, shapes (k,) and (t,)
        A state where no total is wrong, as it is afterwards; changed.
    tries, depth : int
        How many cells are taken, and flips for each.
    random : numpy.random.Generator
    """
    totals, saved = table.low.size, 0.0
    wrongs = Wrongs(np.empty(totals, np.int64), np.full(totals, -1), np.zeros(1, np.int64))
    rests, flipped = np.zeros(upper.size, np.int64), np.empty(depth, np.int64)
    for now in range(1, tries + 1):
        cell, many, cost = int(random.integers(0, upper.size)), 0, 0.0
        if not table.may[cell] or (1 - 2 * upper[cell]) * table.gain[cell] > 0.0:
            continue
        while cell >= 0 and many < depth:
            cost += _flip(table, upper, steps, wrongs, cell)
            flipped[many], rests[cell] = cell, now
            many += 1
            if wrongs.held[0] == 0:
                break
            total = wrongs.listed[random.integers(0, wrongs.held[0])]
            first = random.integers(0, table.row_starts[total + 1] - table.row_starts[total])
            cell = _best(table, upper, steps, total, rests, now - 1, first)
        if wrongs.held[0] == 0 and cost <= 0.0:
            saved -= cost
            continue
        for at in range(many):
            _flip(table, upper, steps, wrongs, flipped[many - 1 - at])
    return saved
