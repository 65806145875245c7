"""Declare the interface of warm-started linear programs, and name their solvers."""

from __future__ import annotations

import importlib
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
from linkrisk.errors import lacks_extra, needs_extra
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError


class LinearStatus(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"  # point, duals and reduced costs belong to an optimal basis
    INFEASIBLE = "infeasible"  # with a ray as proof, where there is one
    UNBOUNDED = "unbounded"
    ITERATIONS = "iterations"  # iteration limit; the solve can be continued
    TIME = "time"  # time limit
    FAILED = "failed"  # the optimiser failed


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """A solution of a linear program; arrays are created when read."""

    status: LinearStatus
    objective: float | None  # Value of the point, constant included; None unless optimal
    read_point: Callable[[], FloatArray] = field(repr=False)
    read_duals: Callable[[], FloatArray] = field(repr=False)
    # (rows,) Multipliers that prove infeasibility (`formulations.programs.excess`); None unless infeasible,
    # and where the optimiser found out without any, as presolve does.
    ray: FloatArray | None = None
    iterations: int = 0  # Simplex iterations of this solve

    @cached_property
    def point(self) -> FloatArray:
        """Point at the end of the solve, shape (columns,); feasible up to the tolerance when optimal."""
        return self.read_point()

    @cached_property
    def duals(self) -> FloatArray:
        """Dual values: the increase of the optimum with the bound of each row, shape (rows,).

        Not negative where the lower bound holds, not positive where the upper one does.
        """
        return self.read_duals()

    @property
    def optimal(self) -> bool:
        """Whether the solve ended at an optimum."""
        return self.status is LinearStatus.OPTIMAL


@dataclass(frozen=True)
class LinearOptions:
    """Settings of a program."""

    feasibility: float = 1e-7  # Primal and dual feasibility tolerance
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
        return not any(map(lacks_extra, cls.requires))

    def add_rows(self, matrix: sparse.csr_array, lower: FloatArray, upper: FloatArray) -> IndexArray:
        """Add ``lower <= matrix @ x <= upper``, shape (k, columns), after all rows; return the positions."""
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
        """Add at least one row, given by consecutive entries; each row begins at its place in `starts`."""
        self._add_rows(starts, columns, values, lower, upper)
        self.rows += lower.size

    def delete_rows(self, positions: NDArray[Any]) -> None:
        """Delete rows; later ones move up."""
        gone = np.unique(positions)
        if gone.size:
            self._delete_rows(gone)
        self.rows -= gone.size

    @abstractmethod
    def change_objective(self, positions: NDArray[Any], objective: FloatArray) -> None:
        """Change the costs of columns."""

    @abstractmethod
    def change_column_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Change the bounds of columns."""

    @abstractmethod
    def change_row_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Change the bounds of rows; -inf and inf switch one off."""

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
        """Compute rows of the inverse of the last basis, shape (k, rows): multipliers of the program's rows.

        Raises NotImplementedError where the optimiser does not say which columns are basic.
        """
        raise NotImplementedError(f"{self.name} does not give rows of its basis")

    @abstractmethod
    def forget_basis(self) -> None:
        """Discard the basis, so that the next solve is a cold start."""

    @abstractmethod
    def _load(self, model: LinearModel, options: LinearOptions) -> None:
        """Load the model."""

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
"""Seconds of a solve between two checks of the clock: shorter ones restart the solve more often."""


def solved_by(program: LinearProgram, clock: Clock) -> LinearSolution:
    """Solve a program by a clock; not optimal where the clock expired.

    `clock`: of a run, which its user may stop. Where work is counted, there is no time limit.
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
    """List the solvers whose optimiser is installed; no optimiser is imported."""
    return [name for name in LINEAR_PROGRAMS if _load(name).is_available()]


def linear_program(
    model: LinearModel, options: LinearOptions | None = None, *, name: str = DEFAULT
) -> LinearProgram:
    """Create a program by its solver's name, to be solved, changed and re-solved.

    Raises UsageError: the name is unknown. Raises MissingExtraError: its optimiser is not installed.
    """
    if name not in LINEAR_PROGRAMS:
        raise UsageError(
            f"unknown solver of linear programs {name!r}: choose one of {', '.join(LINEAR_PROGRAMS)}"
        )
    kind = _load(name)
    needs_extra(f"solving linear programs on {name!r}", *kind.requires)
    return kind(model, options)


def _load(name: str) -> type[LinearProgram]:
    module, _, attribute = LINEAR_PROGRAMS[name].partition(":")
    loaded: type[LinearProgram] = getattr(importlib.import_module(module), attribute)
    return loaded
