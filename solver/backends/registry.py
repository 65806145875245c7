"""Name the backends, and decide whether a comparison of backends has an answer."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from linkrisk.solver.backends.base import Backend


BACKENDS: dict[str, str] = {
    "highs": "linkrisk.solver.backends.highs:HighsBackend",
    "pulp": "linkrisk.solver.backends.pulp:PulpBackend",
    "pulp-cbc": "linkrisk.solver.backends.pulp:CbcBackend",
    "cvxpy": "linkrisk.solver.backends.cvxpy:CvxpyBackend",
    "cvxpy-scip": "linkrisk.solver.backends.cvxpy:CvxpyScipBackend",
    "scipy": "linkrisk.solver.backends.scipy:ScipyBackend",
    "scip": "linkrisk.solver.backends.scip:ScipBackend",
}
"""Name on the command line -> module and class, in the order in which they are listed."""


def available_backends() -> list[str]:
    """List the backends whose optimiser is installed; no optimiser is imported."""
    return [name for name in BACKENDS if _load(name).is_available()]


def get_backend(name: str) -> Backend:
    """Create the backend called `name`.

    Raises MissingExtraError: its optimiser is not installed.
    """
    backend = _load(name)
    backend.check_installed()
    return backend()


def optimisers() -> frozenset[str]:
    """List modules that backends need beyond SciPy, installed or not."""
    return frozenset(module for name in BACKENDS for module in _load(name).requires) - {"scipy"}


def _load(name: str) -> type[Backend]:
    module, _, attribute = BACKENDS[name].partition(":")
    loaded: type[Backend] = getattr(importlib.import_module(module), attribute)
    return loaded


FAILED = "failed"
"""Status of a row that raised an error, which its version holds."""


class Row(Protocol):
    """Interface of a line of a comparison."""

    @property
    def name(self) -> str:
        """Name in `--backends`."""

    @property
    def status(self) -> str:
        """Status by its own claim."""

    @property
    def version(self) -> str:
        """Version of the optimiser, or the error."""


def answered(status: str, *found: float | None) -> bool:
    """Whether any competitor returned a solution, a bound or a status; not required after an interruption."""
    from linkrisk.solver.run.clock import Status  # imported only here, as it is slow

    if status == FAILED:
        return False
    return status != Status.NO_SOLUTION or any(one is not None for one in found)


def no_answer(rows: Sequence[Row], answers: Sequence[bool]) -> str | None:
    """Give the reason why there is no answer; None where there is one."""
    if any(answers):
        return None
    if not rows:
        return "stopped before any of them was done"
    each = [
        f"{row.name} {f'failed ({row.version})' if row.status == FAILED else 'found nothing in its time'}"
        for row in rows
    ]
    return f"none of {len(rows)} answered: {', '.join(each)}"
