"""Which blocks given parameters link: by doubles where their error cannot matter, else exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.certificates.checking.cores import Rows

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

ERROR = 2.0**-50
"""Times `Family.roundings`, the sum of absolute parameters and `Family.size`, the largest attribute distance
(squared for a quadratic form): more than the rounding error of a distance in double precision. Attribute
distances are off by four roundings (``2**-53`` each) of their size, of which every family's distance makes at
most that times the sum of the absolute parameters, or twice that times the number of attributes; its own
terms add one or two roundings each."""

_UNDERFLOW = 1e-290


@dataclass(frozen=True)
class Settled:
    """What parameters make of a block.

    Attributes
    ----------
    linked : bool
        Exact.
    rank, ties : (int, int)
        Least and largest 1 + number of strictly nearer rivals, and number of rivals that tie with the
        partner, as far as doubles can tell.
    distance, nearest : float
        To the partner and to the nearest rival, in double precision; inf where none is possible.
    error : float
        More than the rounding error of either.
    """

    linked: bool
    rank: tuple[int, int]
    ties: tuple[int, int]
    distance: float
    nearest: float
    error: float


def linked_blocks(rows: Rows, theta: list[Fraction]) -> list[bool]:
    """Whether each block is linked by exact parameters."""
    return [settled.linked for settled in settled_blocks(rows, theta)]


def settled_blocks(rows: Rows, theta: list[Fraction]) -> list[Settled]:
    """What exact parameters make of each block."""
    # Doubles, and differences of few of them, have powers of two as denominators: the largest fits all.
    unit = max(value.denominator for value in theta)
    whole = [int(value * unit) for value in theta]
    rounded = np.array([float(value) for value in theta])
    return [_settled(rows, block, whole, rounded) for block in range(rows.records.blocks)]


def _settled(rows: Rows, block: int, whole: list[int], rounded: FloatArray) -> Settled:
    records = rows.records
    rivals = records.rivals(block)
    many = int(rivals.size)
    if not records.reachable(block):
        nearest, error = np.inf, 0.0
        if many:  # beside any of them, as ties do not matter
            distances, _, errors = _compared(rows, block, np.append(rivals, rivals[:1]), rounded)
            nearest, error = float(distances.min()), float(errors.max())
        return Settled(False, (1 + many, 1 + many), (0, 0), np.inf, nearest, error)
    own = np.array([records.partner[block]])
    distances, tie, errors = _compared(rows, block, np.append(rivals, own), rounded)
    mine, error = float(distances[-1]), float(errors.max())
    if many == 0:
        return Settled(True, (1, 1), (0, 0), mine, np.inf, error)
    farther, unsure = distances[:-1] - mine, 2.0 * (errors[:-1] + errors[-1])
    with np.errstate(invalid="ignore"):
        rank = _least_and_most(farther + tie, unsure)
        ties = _least_and_most(np.abs(farther) - tie, unsure)
        kept_apart = bool((farther - tie < -unsure).any())
        doubtful = rivals[~(farther - tie > unsure)]
    linked = not kept_apart and _all_farther(rows, block, doubtful.tolist(), whole)
    return Settled(linked, (1 + rank[0], 1 + rank[1]), ties, mine, float(distances[:-1].min()), error)


def _least_and_most(values: FloatArray, unsure: FloatArray) -> tuple[int, int]:
    """How many values are below zero, at least and at most."""
    return int((values < -unsure).sum()), int((values <= unsure).sum())


def _compared(
    rows: Rows, block: int, candidates: IndexArray, rounded: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distances of candidates, ties of all but the last with it, and more than the error of each distance."""
    family, records = rows.family, rows.records
    with np.errstate(all="ignore"):  # what overflows is undecided
        c = records.rounded_distances(block, candidates)
        distance = family.distance(rounded, c)
        tied = records.rounded_ties(block, squares=family.squares)
        tie = family.slack(rounded, c[-1], tied, c[:-1])
        unit = ERROR * family.roundings * np.abs(rounded).sum()
        error = unit * family.size(c) + _UNDERFLOW
        # A partner widened from next to nothing has an error of its own.
        error[-1] = max(error[-1], unit * tied.max())
    return distance, tie, error


def _all_farther(rows: Rows, block: int, rivals: list[int], whole: list[int]) -> bool:
    """Whether none of these rivals keeps the block from being linked, in whole numbers."""
    factors = (rows.family.coefficients(rows.row(block, rival)) for rival in rivals)
    return all(sum(a * b for a, b in zip(row, whole, strict=True)) > 0 for row in factors)
