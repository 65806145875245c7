"""The big-C block-indicator model of any aggregator (D11.2, Eq. 6 to 9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.linkage.domains import Domain, Polytope
from linkrisk.formulations.programs.mixed_integer import MilpModel
from linkrisk.formulations.programs.naming import NamedBlock, named
from linkrisk.formulations.programs.separation import Cuts

DEFAULT_MARGIN = 1e-5


@dataclass(frozen=True)
class IndicatorOptions:
    """How the strict inequality and the constant C are modelled.

    Attributes
    ----------
    margin : float
        The strict inequality as ``>= margin``; the bound of the model holds for the parameters that keep
        this margin on rows of unit length (or on the rows as they are, without `scale`).
    big_c : float or None
        The paper's constant C; None for the smallest C of each row that cuts off no parameter.
    scale : bool
        Rows of unit length.
    """

    margin: float = DEFAULT_MARGIN
    big_c: float | None = None
    scale: bool = True

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

    Attributes
    ----------
    system : BlockSystem
        The inequalities it was built from.
    options : IndicatorOptions
        How it was built.
    milp : MilpModel
        Minimises the weight of the blocks that are not linked.
    """

    system: BlockSystem
    options: IndicatorOptions
    milp: MilpModel

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
    """Separates points whose parameters lie in the relaxed domain only, by `Domain.cuts`.

    Attributes
    ----------
    domain : Domain
    columns : int
        Of the model; the parameters are the first.
    """

    domain: Domain
    columns: int
    fractional: bool = True

    def __call__(self, x: FloatArray) -> Cuts:
        """Rows that the whole domain keeps and the parameters in `x` violate."""
        rows = self.domain.cuts(x[: self.domain.dimension])
        padding = sparse.csr_array((len(rows), self.columns - self.domain.dimension))
        matrix = sparse.csr_array(sparse.hstack([sparse.csr_array(rows), padding], format="csr"))
        return Cuts(matrix, np.zeros(len(rows)), np.full(len(rows), np.inf))


def indicator_model(system: BlockSystem, options: IndicatorOptions | None = None) -> IndicatorModel:
    """Build the model.

    Parameters
    ----------
    system : BlockSystem
    options : IndicatorOptions, optional

    Returns
    -------
    IndicatorModel
    """
    options = options or IndicatorOptions()
    domain = system.aggregator.domain.rows
    binary, dimension = system.open_blocks.size, system.aggregator.dimension
    nonnegative = _nonnegative(system)
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


def _nonnegative(system: BlockSystem) -> sparse.csr_array:
    """Rows that must be non-negative on the data."""
    empty = sparse.csr_array((0, system.aggregator.dimension))
    return empty if system.data_rows is None else system.data_rows


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
