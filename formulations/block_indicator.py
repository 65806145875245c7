"""The big-C block-indicator model of any aggregator (D11.2, Eq. 6 to 9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from formulations.aggregators.base import Aggregator
from formulations.distances import TIE_TOLERANCE
from formulations.errors import FormulationError
from formulations.milp import MilpModel
from formulations.pair import LinkagePair
from formulations.rows import BlockRows, block_rows

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

DEFAULT_MARGIN = 1e-5


@dataclass(frozen=True)
class IndicatorOptions:
    """How the strict inequality and the constant C are modelled.

    Attributes
    ----------
    margin : float
        The strict inequality as ``>= margin``. On scaled rows it is the sine-like distance of ``theta``
        from the row's boundary; the bound of the model holds for parameters that keep this margin.
    big_c : float or None
        The paper's constant C; None for the smallest C of each row that cuts off no parameter.
    scale : bool
        Scale rows to unit length.
    reduce : bool
        Leave out rows that others imply.
    """

    margin: float = DEFAULT_MARGIN
    big_c: float | None = None
    scale: bool = True
    reduce: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.margin < 1.0:
            raise FormulationError(f"the margin must be between 0 and 1, not {self.margin}")
        if self.big_c is not None and not 0.0 < self.big_c < np.inf:
            raise FormulationError(f"the constant C must be positive and finite, not {self.big_c}")


PAPER = IndicatorOptions(margin=1e-4, big_c=10.0, scale=False, reduce=False)
"""As in the authors' own script: every row, C = 10, the strict inequality as ``>= 0.0001``."""


@dataclass(frozen=True)
class IndicatorModel:
    """The model and how to read its solutions.

    Columns are ``theta``, then one K for each of `open_blocks`: K = 1 says that the block is given up.

    Attributes
    ----------
    milp : MilpModel
        Minimises the weight of the blocks that are not linked.
    dimension : int
        Length of ``theta``.
    open_blocks : ndarray of int, shape (K columns,)
        Blocks that some parameters may link and others may not.
    total_weight : float
        Weight of all blocks.
    row_column : ndarray of int, shape (block rows,)
        For each block row, the position of its K among `open_blocks`.
    block_matrix : scipy.sparse.csr_array, shape (block rows, dimension)
        The block rows without their K.
    margin : float
        Right-hand side of the block rows.
    """

    milp: MilpModel
    dimension: int
    open_blocks: IndexArray
    total_weight: float
    row_column: IndexArray
    block_matrix: sparse.csr_array
    margin: float

    def linked_weight(self, objective: float) -> float:
        """Weight of linked blocks at a value of the objective (a solution's, or a dual bound)."""
        return self.total_weight - objective

    def point(self, theta: FloatArray) -> FloatArray:
        """The model's best point with the parameters `theta`: K = 1 just where a row needs it."""
        short = (self.block_matrix @ theta) < self.margin
        given_up = np.zeros(self.open_blocks.size)
        given_up[self.row_column[short]] = 1.0
        return np.concatenate([theta, given_up])


def indicator_model(
    pair: LinkagePair, aggregator: Aggregator, options: IndicatorOptions | None = None
) -> IndicatorModel:
    """Build the model.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    options : IndicatorOptions, optional

    Returns
    -------
    IndicatorModel
    """
    options = options or IndicatorOptions()
    rows = block_rows(pair, aggregator, reduce=options.reduce)
    return _assemble(pair, aggregator, rows, options)


def _scaled_rows(
    aggregator: Aggregator, rows: BlockRows, options: IndicatorOptions
) -> tuple[sparse.csr_array, FloatArray, NDArray[np.bool_]]:
    """Rows in units of the margin, the C of each, and which rows vanish (a tie for every parameter)."""
    matrix = rows.features(aggregator)
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    size = np.abs(rows.distances).max(axis=1) + np.abs(rows.partner[rows.block]).max(axis=1)
    power = 1.0 if aggregator.monotone else 2.0
    vanishing = length <= TIE_TOLERANCE * size**power
    scale = np.where(vanishing, 1.0, length) if options.scale else np.ones(length.size)
    if options.big_c is None:
        excess = aggregator.largest_excess(rows.partner[rows.block], rows.distances)
        constant = np.maximum(excess / scale, 0.0) + options.margin
    else:
        constant = np.full(length.size, options.big_c)
    matrix.data /= np.repeat(scale, np.diff(matrix.indptr))
    return matrix, constant, vanishing


def _assemble(
    pair: LinkagePair, aggregator: Aggregator, rows: BlockRows, options: IndicatorOptions
) -> IndicatorModel:
    matrix, constant, vanishing = _scaled_rows(aggregator, rows, options)
    lost = rows.lost.copy()
    lost[rows.block[vanishing]] = True
    keep = np.flatnonzero(~lost[rows.block])
    block, rival, constant = rows.block[keep], rows.rival[keep], constant[keep]
    matrix = sparse.csr_array(matrix[keep])
    open_blocks, row_column = np.unique(block, return_inverse=True)

    domain = aggregator.domain()
    data = aggregator.data_rows(rows.partner[open_blocks])
    parameter_rows = [domain.matrix] if data is None else [domain.matrix, data]
    parameters = sparse.csr_array(sparse.vstack(parameter_rows, format="csr"))
    nonnegative = parameters.shape[0] - domain.matrix.shape[0]
    indicator = sparse.csr_array(
        (constant, row_column, np.arange(keep.size + 1)), shape=(keep.size, open_blocks.size)
    )
    empty = sparse.csr_array((parameters.shape[0], open_blocks.size))
    whole = sparse.vstack(
        [sparse.hstack([parameters, empty]), sparse.hstack([matrix, indicator])], format="csr"
    )

    def names(_: MilpModel) -> tuple[list[str], list[str]]:
        label = [str(row + 1) for row in pair.query_rows]
        row_names = list(domain.row_names)
        row_names += [f"nonnegative_{label[b]}" for b in open_blocks[:nonnegative]]
        row_names += [f"block_{label[b]}_rival_{j + 1}" for b, j in zip(block, rival, strict=True)]
        return row_names, [*aggregator.parameter_names, *(f"K_{label[b]}" for b in open_blocks)]

    binary = open_blocks.size
    milp = MilpModel(
        objective=np.concatenate([np.zeros(aggregator.dimension), pair.weight[open_blocks]]),
        matrix=sparse.csr_array(whole),
        row_lower=np.concatenate(
            [domain.row_lower, np.zeros(nonnegative), np.full(keep.size, options.margin)]
        ),
        row_upper=np.concatenate([domain.row_upper, np.full(nonnegative + keep.size, np.inf)]),
        column_lower=np.concatenate([domain.column_lower, np.zeros(binary)]),
        column_upper=np.concatenate([domain.column_upper, np.ones(binary)]),
        integer=np.concatenate([np.zeros(aggregator.dimension, dtype=bool), np.ones(binary, dtype=bool)]),
        constant=float(pair.weight[lost].sum()),
        name_maker=names,
    )
    return IndicatorModel(
        milp=milp,
        dimension=aggregator.dimension,
        open_blocks=open_blocks,
        total_weight=float(pair.weight.sum()),
        row_column=row_column,
        block_matrix=matrix,
        margin=options.margin,
    )
