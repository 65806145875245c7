"""The strict inequalities of all blocks, and their big-C block-indicator model (D11.2, Eq. 6 to 9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator
from linkrisk.formulations.linkage.domains import Domain, Polytope
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.rows import block_rows
from linkrisk.formulations.linkage.tie_tolerance import Partners
from linkrisk.formulations.programs import Cuts, MilpModel, NamedBlock, named

_DENSE = 0.3
"""Rows with more than this share of non-zeros are held dense."""

_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class BlockSystem:
    """``matrix @ theta > 0`` row by row; a block is linked when all of its rows hold.

    The rows say what the evaluator checks, ties included, so that a bound on them is a bound on its count.
    """

    aggregator: Aggregator  # whose parameters ``theta`` are
    pair: LinkagePair  # the blocks and their candidates
    # (open,): blocks that some parameters may link and others may not. All others are lost or always linked
    open_blocks: IndexArray
    lost: BoolArray  # (blocks,): blocks that no parameters can link
    # (rows, dimension): `Aggregator.rows`, each row divided by its length. Dense unless most of it is zero
    values: FloatArray | sparse.csr_array
    length: FloatArray  # (rows,): the lengths
    row_open: IndexArray  # (rows,): position in `open_blocks` of each row's block; ascending
    rival: IndexArray  # (rows,): the candidate of each row
    excess: FloatArray  # (rows,): largest ``-row @ theta`` over the domain, for rows of unit length
    # rows of unit length that must be non-negative on the data, where the aggregator has such
    data_rows: sparse.csr_array | None
    # whether all rows that matter are there. If not, some blocks look linked that are not: what bounds the
    # linked weight is still a bound, and the evaluator alone says what is linked
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
    """Build the inequalities of every open block; incomplete where `expired` ended it."""
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
    """Build the inequalities of given rivals (rows,): their blocks, ascending, and candidates.

    `lost` (blocks,) are blocks without rows that no parameters can link.
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


DEFAULT_MARGIN = 1e-5


@dataclass(frozen=True)
class IndicatorOptions:
    """How the strict inequality and the constant C are modelled."""

    # the strict inequality as ``>= margin``; the bound of the model holds for the parameters that keep this
    # margin on rows of unit length (or on the rows as they are, without `scale`)
    margin: float = DEFAULT_MARGIN
    # the paper's constant C; None for the smallest C of each row that cuts off no parameter
    big_c: float | None = None
    scale: bool = True  # rows of unit length

    def __post_init__(self) -> None:
        if not 0.0 < self.margin < 1.0:
            raise FormulationError(f"the margin must be above 0 and below 1, not {self.margin}")
        if self.big_c is not None and not 0.0 < self.big_c < np.inf:
            raise FormulationError(f"the constant C must be positive and finite, not {self.big_c}")


def paper_options(big_c: float = 10.0) -> IndicatorOptions:
    """As in the authors' own script: one constant C, rows unscaled, the strict inequality as ``>= 1e-4``."""
    return IndicatorOptions(margin=1e-4, big_c=big_c, scale=False)


@dataclass(frozen=True)
class IndicatorModel:
    """The model and how to read its solutions.

    Columns are ``theta``, then one K for each open block: K = 1 says that the block is given up.
    """

    system: BlockSystem  # the inequalities it was built from
    options: IndicatorOptions  # how it was built
    milp: MilpModel  # minimises the weight of the blocks that are not linked

    @property
    def dimension(self) -> int:
        """Length of ``theta``."""
        return self.system.aggregator.dimension

    def linked_weight(self, objective: float) -> float:
        """Weight of linked blocks at a value of the objective (a solution's, or a dual bound)."""
        return self.system.total_weight - objective

    @property
    def needed_c(self) -> float:
        """The smallest constant C that cuts off no parameter from any row."""
        scale = 1.0 if self.options.scale else self.system.length
        return float((self.system.excess * scale).max(initial=0.0)) + self.options.margin

    @property
    def valid(self) -> bool:
        """Whether the model's bound holds for every parameter of the domain that keeps the margin."""
        return self.options.big_c is None or self.options.big_c >= self.needed_c

    def point(self, theta: FloatArray) -> FloatArray:
        """The model's best point with the parameters `theta`: K = 1 just where a row needs it."""
        system = self.system
        activity = system.matrix @ theta
        if not self.options.scale:
            activity = activity * system.length
        given_up = np.zeros(system.open_blocks.size)
        given_up[system.row_open[activity < self.options.margin]] = 1.0
        return np.concatenate([theta, given_up])


@dataclass(frozen=True, eq=False)
class DomainCuts:
    """Separates points whose parameters lie in the relaxed domain only, by `Domain.cuts`."""

    domain: Domain
    columns: int  # of the model; the parameters are the first
    fractional: bool = True

    def __call__(self, x: FloatArray) -> Cuts:
        """Rows valid on the domain that the parameters in `x` violate."""
        rows = self.domain.cuts(x[: self.domain.dimension])
        padding = sparse.csr_array((len(rows), self.columns - self.domain.dimension))
        matrix = sparse.csr_array(sparse.hstack([sparse.csr_array(rows), padding], format="csr"))
        return Cuts(matrix, np.zeros(len(rows)), np.full(len(rows), np.inf))


def indicator_model(system: BlockSystem, options: IndicatorOptions | None = None) -> IndicatorModel:
    """Build the big-C model of a system (D11.2, Eq. 6 to 9)."""
    options = options or IndicatorOptions()
    domain = system.aggregator.domain.rows
    binary, dimension = system.open_blocks.size, system.aggregator.dimension
    nonnegative = sparse.csr_array((0, dimension)) if system.data_rows is None else system.data_rows
    parameters = sparse.vstack([domain.matrix, nonnegative])
    # Eq. 9: the domain of the parameters; Eq. 7: one row per block and rival, relaxed by C times its K.
    whole = sparse.vstack(
        [
            sparse.hstack([parameters, sparse.csr_array((parameters.shape[0], binary))]),
            sparse.hstack([*_block_rows(system, options)]),
        ],
        format="csr",
    )
    extra = nonnegative.shape[0]
    weight = system.open_weight
    milp = MilpModel(
        objective=np.concatenate([np.zeros(dimension), weight]),
        matrix=sparse.csr_array(whole),
        row_lower=np.concatenate([domain.row_lower, np.zeros(extra), np.full(system.rows, options.margin)]),
        row_upper=np.concatenate([domain.row_upper, np.full(extra + system.rows, np.inf)]),
        column_lower=np.concatenate([domain.column_lower, np.zeros(binary)]),
        column_upper=np.concatenate([domain.column_upper, np.ones(binary)]),
        integer=np.concatenate([np.zeros(dimension, dtype=bool), np.ones(binary, dtype=bool)]),
        constant=system.lost_weight,
        row_blocks=_row_blocks(system, domain.row_names, extra),
        column_blocks=_column_blocks(system),
        separator=None
        if isinstance(system.aggregator.domain, Polytope)
        else DomainCuts(system.aggregator.domain, dimension + binary),
    )
    return IndicatorModel(system, options, milp)


def _block_rows(system: BlockSystem, options: IndicatorOptions) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Coefficients of ``theta`` and of K in the block rows."""
    matrix, scale = system.matrix, np.ones(system.rows)
    if not options.scale:
        scale = system.length
        matrix = sparse.csr_array(
            (matrix.data * np.repeat(scale, np.diff(matrix.indptr)), matrix.indices, matrix.indptr),
            shape=matrix.shape,
        )
    if options.big_c is None:
        constant = np.maximum(system.excess * scale, 0.0) + options.margin
    else:
        constant = np.full(system.rows, options.big_c)
    indicator = sparse.csr_array(
        (constant, system.row_open, np.arange(system.rows + 1)), shape=(system.rows, system.open_blocks.size)
    )
    return matrix, indicator


def _row_blocks(
    system: BlockSystem, domain_rows: tuple[str, ...], extra: int
) -> tuple[NamedBlock, NamedBlock, NamedBlock]:
    """Names of the rows: records and rivals by their row numbers in the files, from 1."""
    owner = _records(system)[system.row_open]
    return (
        named("domain", domain_rows),
        NamedBlock("nonnegative", extra),
        NamedBlock("rivals", system.rows, "block_{}_rival_{}", (owner, system.rival + 1)),
    )


def _column_blocks(system: BlockSystem) -> tuple[NamedBlock, NamedBlock]:
    records = _records(system)
    parameters = named("parameters", system.aggregator.parameter_names)
    return parameters, NamedBlock("given_up", records.size, "K_{}", (records,))


def _records(system: BlockSystem) -> NDArray[np.intp]:
    return np.asarray(system.pair.query_rows[system.open_blocks] + 1)
