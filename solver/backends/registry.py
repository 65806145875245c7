"""The backends by name. A new one is one file beside this one and one line here."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:  # help lists the names without waiting for what they stand for
    from linkrisk.solver.backends.base import Backend

BACKENDS: dict[str, str] = {
    "highs": "linkrisk.solver.backends.highs:HighsBackend",
    "pulp": "linkrisk.solver.backends.pulp:PulpBackend",
    "pulp-cbc": "linkrisk.solver.backends.cbc:CbcBackend",
    "cvxpy": "linkrisk.solver.backends.cvxpy:CvxpyBackend",
    "cvxpy-scip": "linkrisk.solver.backends.cvxpy:CvxpyScipBackend",
    "scipy": "linkrisk.solver.backends.scipy:ScipyBackend",
    "scip": "linkrisk.solver.backends.scip:ScipBackend",
}
"""Name on the command line -> module and class, in the order in which they are listed."""


def backend_names() -> list[str]:
    """Names of all backends, installed or not."""
    return list(BACKENDS)


def available_backends() -> list[str]:
    """Names of the backends whose optimiser is installed; no optimiser is imported."""
    return [name for name in BACKENDS if _load(name).is_available()]


def get_backend(name: str) -> Backend:
    """Make the backend called `name`.

    Raises
    ------
    UsageError
        Its optimiser is not installed.
    """
    backend = _load(name)
    if not backend.is_available():
        raise UsageError(f"backend {name!r} needs {backend.install}")
    return backend()


def optimisers() -> frozenset[str]:
    """Modules that backends need beyond SciPy, installed or not: imported only where they are used."""
    return frozenset(module for name in BACKENDS for module in _load(name).requires) - {"scipy"}


def _load(name: str) -> type[Backend]:
    module, _, attribute = BACKENDS[name].partition(":")
    loaded: type[Backend] = getattr(importlib.import_module(module), attribute)
    return loaded
