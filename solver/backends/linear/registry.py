"""The optimisers for persistent linear programs. A new one is one file beside this and one line here."""

from __future__ import annotations

import importlib

from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram
from linkrisk.solver.run.errors import UsageError

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

    Raises
    ------
    UsageError
        The name is unknown, or its optimiser is not installed.
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
