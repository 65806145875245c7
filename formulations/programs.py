"""Write linear and mixed-integer programs as arrays: rows, names, cutting planes, weak duality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """Minimise ``objective @ x + constant`` over ``row_lower <= matrix @ x <= row_upper`` in a box."""

    objective: FloatArray  # (n,): coefficients to minimise
    matrix: sparse.csr_array  # (m, n): row coefficients
    row_lower: FloatArray  # row_lower, row_upper: (m,): bounds of the rows; infinities where there are none
    row_upper: FloatArray
    column_lower: FloatArray  # column_lower, column_upper: (n,): bounds of the columns
    column_upper: FloatArray
    constant: float = 0.0  # added to the objective

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def nonzeros(self) -> int:
        """Stored coefficients."""
        return int(self.matrix.nnz)

    def value(self, x: FloatArray) -> float:
        """Objective at the point `x` of shape (n,)."""
        return float(self.objective @ x) + self.constant

    def violation(self, x: FloatArray) -> float:
        """Largest violation of a row or a column bound at the point `x` of shape (n,)."""
        activity = self.matrix @ x
        parts = [
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - x,
            x - self.column_upper,
        ]
        return max((float(part.max()) for part in parts if part.size), default=0.0)


def box_model(objective: FloatArray) -> LinearModel:
    """Minimise over points between zero and one; rows are to be added."""
    columns, none = objective.size, np.empty(0)
    return LinearModel(
        objective=objective,
        matrix=sparse.csr_array((0, columns)),
        row_lower=none,
        row_upper=none,
        column_lower=np.zeros(columns),
        column_upper=np.ones(columns),
    )


def lower_bound(model: LinearModel, multipliers: FloatArray) -> float:
    """Bound the objective from below by multipliers y of the rows (m,): weak duality, up to rounding.

    Every feasible x has ``objective @ x`` at least
    ``sum_i (y_i > 0 ? y_i row_lower_i : y_i row_upper_i) + sum_j min(r_j lower_j, r_j upper_j)`` where
    ``r = objective - y @ matrix``; duals of an optimal basis make it an equality. Multipliers that need an
    infinite row bound count as zero; -inf where a column's bound is infinite and needed.
    """
    sides = np.where(multipliers > 0.0, model.row_lower, model.row_upper)
    used = np.where(np.isfinite(sides), multipliers, 0.0)
    rows = _products(used, sides)
    rest = model.objective - used @ model.matrix
    columns = _products(rest, np.where(rest > 0.0, model.column_lower, model.column_upper))
    if not np.isfinite(columns).all():
        return -np.inf
    return float(rows.sum() + columns.sum()) + model.constant


def excess(model: LinearModel, ray: FloatArray) -> float:
    """Measure by how much the combination `ray` (m,) of rows exceeds what the column bounds allow.

    Above zero, by more than rounding, it proves that the model is infeasible (Farkas 1902): it is the
    `lower_bound` of the zero objective.
    """
    nothing = replace(model, objective=np.zeros_like(model.objective), constant=0.0)
    return lower_bound(nothing, ray)


def _products(factors: FloatArray, bounds: FloatArray) -> FloatArray:
    """Factor times bound, zero where the factor is, whatever the bound."""
    return np.asarray(factors * np.where(factors == 0.0, 0.0, bounds))


Labels = Sequence[str] | Sequence[int] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class NamedBlock:
    """Consecutive rows or columns of one kind; data, not code, so that they go with the model."""

    name: str  # what the kind is called, such as ``links``
    count: int  # how many there are
    # what each of them is called: a text with a pair of braces for each of `labels`, such as
    # ``block_{}_rival_{}``; `name` and a number, from 1, when there are none
    pattern: str = ""
    labels: tuple[Labels, ...] = ()  # (`count`,): what stands in the braces

    def __post_init__(self) -> None:
        if any(len(label) != self.count for label in self.labels):
            raise ValueError(
                f"the block {self.name!r} has {self.count} members and as many labels of each kind"
            )

    def members(self) -> list[str]:
        """The name of each row or column."""
        if not self.labels:
            return [f"{self.name}_{at + 1}" for at in range(self.count)]
        return [self.pattern.format(*each) for each in zip(*self.labels, strict=True)]


def named(name: str, members: Sequence[str]) -> NamedBlock:
    """A block whose members have names of their own."""
    return NamedBlock(name, len(members), "{}", (tuple(members),))


def numbered(rows: int, columns: int) -> tuple[list[str], list[str]]:
    """Names for a model that gives none."""
    return [f"r{row}" for row in range(rows)], [f"x{column}" for column in range(columns)]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Rows ``lower <= matrix @ x <= upper``."""

    matrix: sparse.csr_array  # (k, n)
    lower: FloatArray  # lower, upper: (k,)
    upper: FloatArray

    @property
    def count(self) -> int:
        """How many rows."""
        return int(self.lower.size)

    def violation(self, x: FloatArray) -> float:
        """Largest violation of one of them at the point `x`; 0 when there are none."""
        activity = self.matrix @ x
        return max(float(np.maximum(self.lower - activity, activity - self.upper).max(initial=0.0)), 0.0)


def no_cuts(columns: int) -> Cuts:
    """No rows, of a model with so many columns."""
    return Cuts(sparse.csr_array((0, columns)), np.empty(0), np.empty(0))


@runtime_checkable
class Separator(Protocol):
    """Separates points by rows that a model does not write down; pickled for other processes."""

    @property
    def fractional(self) -> bool:
        """Whether fractional points, such as optima of the relaxation, are worth separating."""
        ...

    def __call__(self, x: FloatArray) -> Cuts:
        """Rows that every solution keeps and the point `x` (n,) violates, by more than optimisers' 1e-6."""
        ...


@dataclass(frozen=True, kw_only=True)
class MilpModel(LinearModel):
    """A `LinearModel` with integer columns, and with rows that only its separator knows."""

    integer: NDArray[np.bool_]  # (n,): which columns are integer
    # row_blocks, column_blocks: what rows and columns are called, in their order; all of them or none
    row_blocks: tuple[NamedBlock, ...] = field(default=(), repr=False)
    column_blocks: tuple[NamedBlock, ...] = field(default=(), repr=False)
    separator: Separator | None = None  # knows the rows that are not written down. A solution keeps them too

    def __post_init__(self) -> None:
        both = zip((self.row_blocks, self.column_blocks), self.shape, ("rows", "columns"), strict=True)
        for blocks, count, what in both:
            if blocks and sum(block.count for block in blocks) != count:
                raise ValueError(f"the named blocks must have as many {what} as the model, {count}")

    def names(self) -> tuple[list[str], list[str]]:
        """Row names and column names, for files that people read."""
        rows, columns = numbered(*self.shape)
        return _members(self.row_blocks) or rows, _members(self.column_blocks) or columns

    def violation(self, x: FloatArray) -> float:
        """Largest violation of a row, hidden rows included, a column bound or integrality at `x` (n,)."""
        fraction = np.abs(x - np.round(x))[self.integer]
        hidden = 0.0 if self.separator is None else self.separator(x).violation(x)
        return max(super().violation(x), float(fraction.max(initial=0.0)), hidden)

    def with_rows(self, cuts: Cuts) -> Self:
        """The model with more rows written down, called ``cut_1`` and so on where rows have names."""
        blocks = self.row_blocks
        if blocks and cuts.count:
            name = f"cut_{1 + sum(block.name.startswith('cut_') for block in blocks)}"
            blocks = (*blocks, NamedBlock(name, cuts.count))
        return replace(
            self,
            matrix=sparse.csr_array(sparse.vstack([self.matrix, cuts.matrix], format="csr")),
            row_lower=np.concatenate([self.row_lower, cuts.lower]),
            row_upper=np.concatenate([self.row_upper, cuts.upper]),
            row_blocks=blocks,
        )


def _members(blocks: Sequence[NamedBlock]) -> list[str]:
    return [name for block in blocks for name in block.members()]
