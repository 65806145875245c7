"""The strict inequalities of all blocks in unit length: what every engine and attack works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators.base import Aggregator
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.rows import block_rows
from linkrisk.formulations.linkage.ties import Partners

_DENSE = 0.3
"""Rows with more than this share of non-zeros are held dense."""

_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class BlockSystem:
    """``matrix @ theta > 0`` row by row; a block is linked when all of its rows hold.

    The rows say what the evaluator checks, ties included, so that a bound on them is a bound on its count.

    Attributes
    ----------
    aggregator : Aggregator
        Whose parameters ``theta`` are.
    pair : LinkagePair
        The blocks and their candidates.
    open_blocks : ndarray of int, shape (open,)
        Blocks that some parameters may link and others may not. All others are lost or always linked.
    lost : ndarray of bool, shape (blocks,)
        Blocks that no parameters can link.
    values : ndarray of float64 or scipy.sparse.csr_array, shape (rows, dimension)
        `Aggregator.rows`, each row divided by its length. Dense unless most of it is zero.
    length : ndarray of float64, shape (rows,)
        The lengths.
    row_open : ndarray of int, shape (rows,)
        Position in `open_blocks` of each row's block; ascending.
    rival : ndarray of int, shape (rows,)
        The candidate of each row.
    excess : ndarray of float64, shape (rows,)
        Largest ``-row @ theta`` over the domain, for rows of unit length.
    data_rows : scipy.sparse.csr_array or None
        Rows of unit length that must be non-negative on the data, where the aggregator has such.
    complete : bool
        Whether all rows that matter are there. If not, some blocks look linked that are not: what bounds
        the linked weight is still a bound, and the evaluator alone says what is linked.
    """

    aggregator: Aggregator
    pair: LinkagePair
    open_blocks: IndexArray
    lost: BoolArray
    values: FloatArray | sparse.csr_array
    length: FloatArray
    row_open: IndexArray
    rival: IndexArray
    excess: FloatArray
    data_rows: sparse.csr_array | None
    complete: bool = True

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """All rows as one sparse matrix; for a large dense system a copy, which `part` avoids."""
        return sparse.csr_array(self.values)

    def part(self, rows: IndexArray) -> sparse.csr_array:
        """Some rows of `matrix`."""
        return sparse.csr_array(self.values[rows])

    @property
    def block(self) -> IndexArray:
        """The block of each row, shape (rows,)."""
        return np.asarray(self.open_blocks[self.row_open])

    @property
    def rows(self) -> int:
        """Number of block rows."""
        return int(self.length.size)

    @property
    def open_weight(self) -> FloatArray:
        """What linking each open block counts, shape (open,)."""
        return np.asarray(self.pair.weight[self.open_blocks])

    @property
    def total_weight(self) -> float:
        """Weight of all blocks."""
        return float(self.pair.weight.sum())

    @property
    def lost_weight(self) -> float:
        """Weight of the lost blocks."""
        return float(self.pair.weight[self.lost].sum())

    @property
    def kept_weight(self) -> float:
        """Weight of the blocks that are not lost: of light ones beside heavy ones no difference would do."""
        return float(self.pair.weight[~self.lost].sum())

    @property
    def sure_weight(self) -> float:
        """Weight of the blocks that every parameter links (or that have no rows yet)."""
        sure = ~self.lost
        sure[self.open_blocks] = False
        return float(self.pair.weight[sure].sum())


def block_system(
    pair: LinkagePair,
    aggregator: Aggregator,
    *,
    reduce: bool = True,
    expired: Callable[[], bool] | None = None,
) -> BlockSystem:
    """Build the inequalities of every open block.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    reduce : bool
        Leave out rows that another row of the same block implies.
    expired : callable, optional
        Asked again and again whether to stop; the system is not `complete` then.

    Returns
    -------
    BlockSystem
    """
    rows = block_rows(pair, aggregator, reduce=reduce, expired=expired)
    return system_of(pair, aggregator, rows.block, rows.rival, rows.lost, complete=rows.complete)


def system_of(
    pair: LinkagePair,
    aggregator: Aggregator,
    block: IndexArray,
    rival: IndexArray,
    lost: BoolArray,
    *,
    complete: bool,
) -> BlockSystem:
    """Build the inequalities of given rivals.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    block, rival : ndarray of int, shape (rows,)
        The block, ascending, and the candidate of each row.
    lost : ndarray of bool, shape (blocks,)
        Blocks that no parameters can link; they have no rows.
    complete : bool
        Whether these are all rows that matter.

    Returns
    -------
    BlockSystem
    """
    partners = aggregator.partners(pair)
    length, excess = np.empty(block.size), np.empty(block.size)
    values: FloatArray | None = None
    parts: list[sparse.csr_array] = []
    # Piece by piece: all rows at once would be there several times over while they are made.
    for first in range(0, block.size, _ROWS_AT_ONCE):
        at = slice(first, first + _ROWS_AT_ONCE)
        rivals = pair.distances(block[at], rival[at], aggregator.differences)
        piece, length[at], excess[at] = _unit_rows(aggregator, partners[block[at]], rivals)
        if first == 0 and piece.nnz > _DENSE * piece.shape[0] * piece.shape[1]:
            values = np.empty((block.size, aggregator.dimension))
        if values is None:
            parts.append(piece)
        else:
            values[at] = piece.toarray()
    nothing = sparse.csr_array((0, aggregator.dimension))
    open_blocks, row_open = np.unique(block, return_inverse=True)
    return BlockSystem(
        aggregator=aggregator,
        pair=pair,
        open_blocks=open_blocks,
        lost=lost,
        values=sparse.csr_array(sparse.vstack([nothing, *parts], "csr")) if values is None else values,
        length=length,
        row_open=row_open.astype(np.intp),
        rival=rival,
        excess=excess,
        data_rows=_unit(aggregator.data_rows(partners.distances[open_blocks])),
        complete=complete,
    )


def _unit_rows(
    aggregator: Aggregator, partners: Partners, rivals: FloatArray
) -> tuple[sparse.csr_array, FloatArray, FloatArray]:
    """Rows of unit length, their lengths and their largest excess, from attribute distances."""
    matrix = aggregator.rows(partners, rivals)
    length = _lengths(matrix)
    matrix.data /= np.repeat(length, np.diff(matrix.indptr))
    return matrix, length, -aggregator.least(partners, rivals) / length


def _lengths(matrix: sparse.csr_array) -> FloatArray:
    """Euclidean length of each row, in any unit: squares of the entries may leave the range of doubles."""
    largest = np.asarray(abs(matrix).max(axis=1).todense(), dtype=np.float64).ravel()
    shares = matrix.data / np.repeat(largest, np.diff(matrix.indptr))
    square = sparse.csr_array((shares**2, matrix.indices, matrix.indptr), shape=matrix.shape)
    return largest * np.sqrt(np.asarray(square.sum(axis=1)).ravel())


def _unit(rows: sparse.csr_array | None) -> sparse.csr_array | None:
    """Rows that must be non-negative in unit length; those without any entry say nothing and stay."""
    if rows is None:
        return None
    rows = sparse.csr_array(rows)
    length = _lengths(rows)
    rows.data /= np.repeat(length, np.diff(rows.indptr))
    return rows
