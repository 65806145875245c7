"""Engines by the name that `--engine` takes."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.engines.base import Engine, EngineOptions, check_options
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.milp import MilpEngine
from linkrisk.solver.run.errors import UsageError

ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (ExactEngine, MilpEngine)}


OWN = tuple(dict.fromkeys(name for engine in ENGINES.values() for name in engine.takes))
"""The fields of `EngineOptions` that only some engines take."""


def given_options(options: EngineOptions) -> list[str]:
    """Those of them that are not as usual."""
    usual = EngineOptions()
    return [name for name in OWN if getattr(options, name) != getattr(usual, name)]


def check_taken(engine: Engine, given: Sequence[str]) -> None:
    """Refuse options that an engine would ignore; UsageError that says which engine takes them."""
    ignored = [name for name in given if name not in engine.takes]
    if ignored:
        able = next(name for name, kind in ENGINES.items() if set(ignored) <= set(kind.takes))
        raise UsageError(
            f"the engine {engine.name} takes no {' and no '.join(ignored)}: leave that out, or say "
            f"engine='{able}'"
        )


def get_engine(name: str, options: EngineOptions) -> Engine:
    """Make an engine; UsageError when it, its backend or a setting cannot be used."""
    if name not in ENGINES:
        raise UsageError(f"unknown engine '{name}': choose one of {', '.join(ENGINES)}")
    get_backend(options.backend)
    check_options(options)
    return ENGINES[name]()
