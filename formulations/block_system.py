"""The strict inequalities of all blocks in unit length: what every engine and attack works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from formulations.aggregators.base import Aggregator
from formulations.pair import LinkagePair
from formulations.rows import block_rows

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


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
    matrix : scipy.sparse.csr_array, shape (rows, dimension)
        ``features(rival) - features(partner) - tie * unit``, each row divided by its length; the `unit` of
        the aggregator is one for all parameters.
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
    """

    aggregator: Aggregator
    pair: LinkagePair
    open_blocks: IndexArray
    lost: NDArray[np.bool_]
    matrix: sparse.csr_array
    length: FloatArray
    row_open: IndexArray
    rival: IndexArray
    excess: FloatArray
    data_rows: sparse.csr_array | None

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
    def sure_weight(self) -> float:
        """Weight of the blocks that every parameter links."""
        return self.total_weight - self.lost_weight - float(self.open_weight.sum())


def block_system(pair: LinkagePair, aggregator: Aggregator, *, reduce: bool = True) -> BlockSystem:
    """Build the inequalities of every open block.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    reduce : bool
        Leave out rows that another row of the same block implies.

    Returns
    -------
    BlockSystem
    """
    rows = block_rows(pair, aggregator, reduce=reduce)
    own = rows.partner[rows.block]
    matrix = sparse.csr_array(
        aggregator.features(rows.distances)
        - aggregator.features(own)
        - sparse.csr_array(rows.tie[:, None]) @ sparse.csr_array(aggregator.unit[None, :])
    )
    length = _lengths(matrix)
    matrix.data /= np.repeat(length, np.diff(matrix.indptr))
    open_blocks, row_open = np.unique(rows.block, return_inverse=True)
    return BlockSystem(
        aggregator=aggregator,
        pair=pair,
        open_blocks=open_blocks,
        lost=rows.lost,
        matrix=matrix,
        length=length,
        row_open=row_open.astype(np.intp),
        rival=rows.rival,
        excess=(aggregator.largest_excess(own, rows.distances) + rows.tie) / length,
        data_rows=_unit(aggregator.data_rows(rows.partner[open_blocks])),
    )


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
