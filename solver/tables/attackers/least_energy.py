"""Computes least-energy movements: one matrix moves all cells, instead of one linear program per cell.

The energy of a movement is the sum of its squares times the resistance of their cells. The movement of least
energy that moves a cell by 1 is a column of an inverse, as for currents in a network of resistors. All
movements are combinations of few (`formulations.tables.kernel`), so that the matrix is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import cast

import numpy as np
from scipy import linalg, sparse
from threadpoolctl import threadpool_limits

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.kernel import kernel
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.pieces import Piece


def one_thread() -> AbstractContextManager[object]:
    """Restrict linear algebra to one thread: several are slower if processors are shared."""
    return cast("AbstractContextManager[object]", threadpool_limits(limits=1, user_api="blas"))


def may_do(relations: sparse.csr_array) -> bool:
    """Estimate whether the matrices fit."""
    return (
        relations.shape[1] <= steering.LEAST_ENERGY_MOST_CELLS
        and relations.shape[1] - relations.shape[0] <= steering.LEAST_ENERGY_MOVEMENTS
    )


def basis_of(relations: sparse.csr_array) -> sparse.csr_array | None:
    """Return a basis of all movements (`kernel`); None if there are none or too many."""
    if not may_do(relations):
        return None
    basis = kernel(relations)
    return basis if 0 < basis.shape[1] <= steering.LEAST_ENERGY_MOVEMENTS else None


def factor_of(basis: sparse.csr_array, resistance: FloatArray) -> FloatArray:
    """Return the Cholesky factor of the energy of all movements."""
    if basis.nnz < steering.SPARSE_DENSITY * basis.shape[0] * basis.shape[1]:
        energy = (sparse.csr_array(basis.T) @ (sparse.diags_array(resistance) @ basis)).toarray()
    else:
        rows = basis.toarray()
        energy = rows.T @ (resistance[:, None] * rows)
    energy[np.diag_indices_from(energy)] *= 1.0 + tolerances.TINY
    found: FloatArray = linalg.cholesky(energy, lower=True, overwrite_a=True, check_finite=False)
    return found


def flows(basis: sparse.csr_array, factor: FloatArray, places: LongArray) -> FloatArray:
    """Compute the movements of all cells when some cells are moved by 1, one column for each."""
    half = linalg.solve_triangular(factor, basis[places].toarray().T, lower=True, check_finite=False)
    own = np.maximum(np.einsum("ij,ij->j", half, half), tolerances.TINY)
    force = linalg.solve_triangular(factor, half, lower=True, trans="T", check_finite=False)
    moved: FloatArray = np.asarray(basis @ (force / own), dtype=np.float64)
    return moved


def within_bounds(below: FloatArray, above: FloatArray) -> FloatArray:
    """Choose resistances that keep movements within bounds as far as possible."""
    bound = np.minimum(above, below)
    resistance: FloatArray = (
        np.maximum(bound, max(tolerances.LEAST_BOUND * float(np.median(bound)), tolerances.TINY)) ** -2.0
    )
    return resistance


def farthest(piece: Piece, places: LongArray, clock: Clock) -> Iterator[FloatArray]:
    """Move some cells up and down as far as bounds allow; none if the piece is too large."""
    basis = basis_of(piece.relations)
    if basis is None:
        return
    with one_thread():
        factor = factor_of(basis, within_bounds(piece.below, piece.above))
    for start in range(0, places.size, steering.MOVEMENTS_AT_ONCE):
        if clock.expired:
            return
        with one_thread():
            found = flows(basis, factor, places[start : start + steering.MOVEMENTS_AT_ONCE])
        for way in (found, -found):
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(way > 0, piece.above[:, None] / way, -piece.below[:, None] / way)
            share = np.where(way == 0, np.inf, room).min(axis=0)
            yield from (way[:, np.isfinite(share)] * share[np.isfinite(share)]).T
