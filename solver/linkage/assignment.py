"""One-to-one linkage: every record gets a candidate of its own, at the smallest total distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from linkrisk.errors import called
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.run.errors import UsageError

LARGEST_MATRIX = 100_000_000
"""Most cells of a distance matrix: 800 MB."""


def check_assignable(pair: LinkagePair) -> None:
    """UsageError if the matrix of distances would have more than `LARGEST_MATRIX` cells."""
    cells = pair.blocks * len(pair.candidates)
    if cells > LARGEST_MATRIX:
        raise UsageError(
            f"one-to-one assignment needs a matrix of {pair.blocks:,} x {len(pair.candidates):,} distances, "
            f"more than the {LARGEST_MATRIX:,} that are allowed: take a sample, or leave "
            f"{called('one_to_one')} out",
            option="one_to_one",
        )


def distance_matrix(pair: LinkagePair, form: DistanceForm) -> NDArray[np.float64]:
    """Distance of every block to every candidate, shape (blocks, candidates); inf for impossible pairs.

    Raises
    ------
    UsageError
        If it is too large (`check_assignable`).
    """
    check_assignable(pair)
    matrix = np.empty((pair.blocks, len(pair.candidates)))
    for part, distances in pair.chunks(form.differences):
        matrix[part] = form(distances)
        possible = pair.possible(np.arange(pair.blocks)[part, None], np.arange(len(pair.candidates)))
        matrix[part][~possible] = np.inf
    return matrix


def assigned_links(pair: LinkagePair, form: DistanceForm, random: np.random.Generator | None = None) -> int:
    """Number of correct links of the assignment with the smallest total distance (`assigned_blocks`)."""
    return int(assigned_blocks(pair, form, random).sum())


def assigned_blocks(
    pair: LinkagePair, form: DistanceForm, random: np.random.Generator | None = None
) -> NDArray[np.bool_]:
    """Find whom the assignment with the smallest total distance links rightly (Hungarian method).

    With fewer candidates than blocks some blocks stay without a link.

    Parameters
    ----------
    pair : LinkagePair
    form : DistanceForm
    random : numpy.random.Generator, optional
        Puts the candidates into a random order first. Of assignments with the same total the method gives one
        that goes by position, and in many files the partner is where the record is.

    Returns
    -------
    ndarray of bool, shape (blocks,)
    """
    matrix, partner = distance_matrix(pair, form), pair.partner
    if random is not None:
        order = random.permutation(len(pair.candidates))
        matrix, partner = matrix[:, order], np.argsort(order)[partner]
    possible = np.isfinite(matrix)
    if not possible.all():
        # Beyond the total of any assignment of possible pairs: no more impossible ones than there must be.
        matrix[~possible] = 2.0 * min(matrix.shape) * max(float(matrix[possible].max(initial=0.0)), 1.0)
    rows, columns = linear_sum_assignment(matrix)
    right = np.zeros(pair.blocks, dtype=np.bool_)
    right[rows] = (partner[rows] == columns) & possible[rows, columns]
    return right
