"""Engines by the name that `--engine` takes."""

from __future__ import annotations

from solver.backends.registry import get_backend
from solver.engines.base import Engine, EngineOptions, check_options
from solver.engines.exact.engine import ExactEngine
from solver.engines.milp import MilpEngine
from solver.errors import UsageError

ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (ExactEngine, MilpEngine)}


def get_engine(name: str, options: EngineOptions) -> Engine:
    """Make an engine; UsageError when it, its backend or a setting cannot be used."""
    if name not in ENGINES:
        raise UsageError(f"unknown engine '{name}': choose one of {', '.join(ENGINES)}")
    get_backend(options.backend)
    check_options(options)
    return ENGINES[name]()
