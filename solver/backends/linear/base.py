"""Declare the contract of linear programs that grow, and name their solvers."""

from __future__ import annotations

import importlib
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError


class LinearStatus(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"  # point, duals and reduced costs belong to an optimal basis
    INFEASIBLE = "infeasible"  # the ray says why, where there is one
    UNBOUNDED = "unbounded"
    ITERATIONS = "iterations"  # the limit of iterations came first; what there is can be gone on with
    TIME = "time"  # the time limit came first
    FAILED = "failed"  # the optimiser gave up


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """A solution of a linear program; arrays are made when they are read."""

    status: LinearStatus
    objective: float | None  # Value of the point, constant included; None unless optimal
    read_point: Callable[[], FloatArray] = field(repr=False)
    read_duals: Callable[[], FloatArray] = field(repr=False)
    # (rows,) Multipliers that prove infeasibility (`formulations.programs.excess`); None unless infeasible,
    # and where the optimiser found out without any, as presolve does.
    ray: FloatArray | None = None
    iterations: int = 0  # Of the simplex method, in this solve

    @cached_property
    def point(self) -> FloatArray:
        """Where the solve ended, shape (columns,); within bounds, up to the tolerance, when optimal."""
        return self.read_point()

    @cached_property
    def duals(self) -> FloatArray:
        """By how much the optimum rises with the bound of each row, shape (rows,).

        Not negative where the lower bound holds, not positive where the upper one does.
        """
        return self.read_duals()

    @property
    def optimal(self) -> bool:
        """Whether the point is one."""
        return self.status is LinearStatus.OPTIMAL


@dataclass(frozen=True)
class LinearOptions:
    """Settings for the life of a program."""

    feasibility: float = 1e-7  # How much a bound, and a reduced cost, may be violated
    optimality: float = 1e-7
    own: Mapping[str, Any] = field(default_factory=dict)  # Options of the optimiser itself, by its own names


class LinearProgram(ABC):
    """A linear program in the hands of an optimiser. Rows and columns are counted from 0.

    Parameters
    ----------
    model : LinearModel
        What to begin with.
    options : LinearOptions, optional

    Attributes
    ----------
    name : str
        What the registry calls the optimiser.
    requires : tuple of str
        Importable modules that must be installed.
    rows, columns : int
        How many there are now.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]]

    def __init__(self, model: LinearModel, options: LinearOptions | None = None) -> None:
        self.rows, self.columns = model.shape
        self._load(model, options or LinearOptions())

    @classmethod
    def is_available(cls) -> bool:
        """Whether what it requires is installed; nothing is imported."""
        return all(importlib.util.find_spec(module) is not None for module in cls.requires)

    def add_rows(self, matrix: sparse.csr_array, lower: FloatArray, upper: FloatArray) -> IndexArray:
        """Add ``lower <= matrix @ x <= upper``, shape (k, columns); their positions, after all others."""
        if matrix.shape[0]:
            starts, columns = matrix.indptr[:-1], matrix.indices
            self.add_row_entries(starts, columns, matrix.data, lower, upper)
        return np.arange(self.rows - matrix.shape[0], self.rows)

    def add_row_entries(
        self,
        starts: NDArray[Any],
        columns: NDArray[Any],
        values: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        """Add at least one row; entries follow each other, each row's from its place in `starts`."""
        self._add_rows(starts, columns, values, lower, upper)
        self.rows += lower.size

    def delete_rows(self, positions: NDArray[Any]) -> None:
        """Delete rows; those after them move up."""
        gone = np.unique(positions)
        if gone.size:
            self._delete_rows(gone)
        self.rows -= gone.size

    @abstractmethod
    def change_objective(self, positions: NDArray[Any], objective: FloatArray) -> None:
        """Give columns other costs."""

    @abstractmethod
    def change_column_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Give columns other bounds."""

    @abstractmethod
    def change_row_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Give rows other bounds; -inf and inf switch one off."""

    @abstractmethod
    def solve(self, *, seconds: float | None = None, iterations: int | None = None) -> LinearSolution:
        """Solve from the last basis.

        `seconds`: time limit of this solve. `iterations`: limit of iterations of this solve. Returns never an
        exception for a limit.
        """

    def basic_columns(self) -> IndexArray:
        """The column that is basic at each place of the last basis, shape (rows,); -1 where it is a slack.

        Empty where the optimiser does not say.
        """
        return np.empty(0, dtype=np.intp)

    def inverse_rows(self, places: NDArray[Any]) -> FloatArray:
        """Rows of the inverse of the last basis, shape (k, rows): multipliers of the rows of the program.

        Raises NotImplementedError where the optimiser does not say which columns are basic.
        """
        raise NotImplementedError(f"{self.name} does not give rows of its basis")

    @abstractmethod
    def forget_basis(self) -> None:
        """Solve from scratch next time."""

    @abstractmethod
    def _load(self, model: LinearModel, options: LinearOptions) -> None:
        """Hand the model over."""

    @abstractmethod
    def _add_rows(
        self,
        starts: NDArray[Any],
        columns: NDArray[Any],
        values: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        """Add rows."""

    @abstractmethod
    def _delete_rows(self, positions: IndexArray) -> None:
        """Take rows away; each position once, ascending."""


_SLICE = 2.0
"""Seconds between two looks at the clock."""


def solved_by(program: LinearProgram, clock: Clock) -> LinearSolution:
    """What a program says; not optimal where the clock was out before that.

    `clock`: of a run that may be ended by its user, too. Where work is counted, seconds end nothing.
    """
    while True:
        left = None if clock.counts else min(_SLICE, clock.time_left)
        solution = program.solve(seconds=left)
        if solution.status is not LinearStatus.TIME or clock.expired:
            return solution


LINEAR_PROGRAMS: dict[str, str] = {
    "highs": "linkrisk.solver.backends.linear.highs:HighsProgram",
    "soplex": "linkrisk.solver.backends.linear.soplex:SoplexProgram",
}
"""Name -> module and class, the default first."""

DEFAULT = next(iter(LINEAR_PROGRAMS))


def available_linear_programs() -> list[str]:
    """Names of those whose optimiser is installed; no optimiser is imported."""
    return [name for name in LINEAR_PROGRAMS if _load(name).is_available()]


def linear_program(
    model: LinearModel, options: LinearOptions | None = None, *, name: str = DEFAULT
) -> LinearProgram:
    """Hand a model to an optimiser, to be solved, changed and solved again.

    Raises UsageError: the name is unknown, or its optimiser is not installed.
    """
    if name not in LINEAR_PROGRAMS:
        raise UsageError(
            f"unknown solver of linear programs {name!r}: choose one of {', '.join(LINEAR_PROGRAMS)}"
        )
    kind = _load(name)
    if not kind.is_available():
        raise UsageError(f"linear programs on {name!r} need {', '.join(kind.requires)}: install it")
    return kind(model, options)


def _load(name: str) -> type[LinearProgram]:
    module, _, attribute = LINEAR_PROGRAMS[name].partition(":")
    loaded: type[LinearProgram] = getattr(importlib.import_module(module), attribute)
    return loaded
