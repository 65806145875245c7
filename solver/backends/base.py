"""The contract of a backend: an optimiser that takes a `MilpModel` and says honestly what it found."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.run.status import Limit, Status


@dataclass(frozen=True)
class SolveOptions:
    """Limits and settings that every backend understands.

    Attributes
    ----------
    time_limit : float or None
        Seconds of wall time for building and solving; None for no limit.
    threads : int
        Threads that the optimiser may use.
    seed : int
        Seed of the optimiser's own randomness.
    absolute_gap : float
        The solve may stop when objective minus bound is at most this; with an integer objective
        a number just under 1 proves optimality.
    relative_gap : float
        The same as a share of the objective.
    root_rounds : int
        How often a separator that takes fractional points is asked about optima of the relaxation before
        the first solve in whole numbers.
    """

    time_limit: float | None = None
    threads: int = 1
    seed: int = 0
    absolute_gap: float = 1e-6
    relative_gap: float = 0.0
    root_rounds: int = 50

    def closed(self, objective: float, bound: float) -> bool:
        """Whether a solution is proven to be as good as it has to be."""
        return objective - bound <= max(self.absolute_gap, self.relative_gap * abs(objective))


@dataclass(frozen=True)
class BackendProgress:
    """What a running solve knows.

    Attributes
    ----------
    objective : float
        Of its best solution; inf if there is none. Where rows are separated, that solution may violate rows
        which are not written down yet.
    bound : float
        Its dual bound; -inf if there is none.
    point : ndarray of float64 or None, shape (columns,)
        Told once, when rows have been separated: the solution that violated them.
    """

    objective: float
    bound: float
    point: FloatArray | None = None


Watcher = Callable[[BackendProgress], bool]
"""Called now and then by a running solve; answering True asks it to stop with what it has."""


@dataclass(frozen=True)
class BackendResult:
    """What a backend returns, the same for all.

    Attributes
    ----------
    status : Status
        How the solve ended. A backend's own claim: the engine recounts the solution.
    limit : Limit or None
        The limit that was hit, if any.
    objective : float or None
        Value of `values` in the (minimised) model, constant included; None without a solution.
    bound : float
        Dual bound: no solution has a smaller objective. -inf when the backend has none.
    values : ndarray of float64 or None, shape (columns,)
        The best solution found.
    build_seconds, solve_seconds : float
        Wall time for handing over the model, and for solving it.
    cuts : int
        Rows that the separator has added.
    backend, version : str
        Name of the backend and version of the optimiser.
    """

    status: Status
    limit: Limit | None
    objective: float | None
    bound: float
    values: FloatArray | None
    build_seconds: float
    solve_seconds: float
    backend: str
    version: str
    cuts: int = 0

    @property
    def gap(self) -> float:
        """Objective minus bound; inf while either is missing."""
        return float("inf") if self.objective is None else max(0.0, self.objective - self.bound)


class Backend(ABC):
    """An optimiser. Subclasses import it inside their methods only, so that listing costs nothing.

    Attributes
    ----------
    name : str
        What `--backend` takes.
    requires : tuple of str
        Importable modules that must be installed.
    install : str
        What to install when it is missing, in words a user can type.
    takes_start : bool
        Whether `starts` are used: the best of them at least.
    takes_watcher : bool
        Whether `watch` is called while solving (progress and interruption from outside).
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]]
    install: ClassVar[str]
    takes_start: ClassVar[bool] = False
    takes_watcher: ClassVar[bool] = False

    @classmethod
    def is_available(cls) -> bool:
        """Whether what it requires is installed; nothing is imported."""
        return all(importlib.util.find_spec(module) is not None for module in cls.requires)

    @abstractmethod
    def version(self) -> str:
        """Version of the optimiser (not only of its Python interface)."""

    @abstractmethod
    def solve(
        self,
        model: MilpModel,
        options: SolveOptions,
        *,
        starts: Sequence[FloatArray] = (),
        watch: Watcher | None = None,
    ) -> BackendResult:
        """Solve `model`, the rows of its separator included.

        Parameters
        ----------
        model : MilpModel
            What to minimise.
        options : SolveOptions
            Limits.
        starts : sequence of ndarray of float64, shape (columns,)
            Points to start from, where `takes_start`; those that are not feasible are left out.
        watch : callable, optional
            Called with the progress, where `takes_watcher`; answering True stops the solve.

        Returns
        -------
        BackendResult
            Never an exception for a limit; `RuntimeError` when the optimiser itself failed.
        """
