"""Engines by the name that `--engine` takes."""

from __future__ import annotations

from solver.backends.registry import get_backend
from solver.engines.base import Engine, EngineOptions
from solver.engines.milp import MilpEngine
from solver.errors import UsageError

ENGINES: dict[str, type[Engine]] = {MilpEngine.name: MilpEngine}


def get_engine(name: str, options: EngineOptions) -> Engine:
    """Make an engine; UsageError when it or the backend it needs is unknown or not installed."""
    if name not in ENGINES:
        raise UsageError(f"unknown engine '{name}': choose one of {', '.join(ENGINES)}")
    get_backend(options.backend)
    if options.threads < 1:
        raise UsageError(f"threads must be at least 1, not {options.threads}")
    if not 0.0 < options.margin < 1.0:
        raise UsageError(f"the margin must be above 0 and below 1, not {options.margin:g}")
    return ENGINES[name]()
