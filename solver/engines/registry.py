"""Name the engines, and choose the one that accepts the given options."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.errors import called
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.engines.base import Engine, EngineOptions
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.milp import MilpEngine
from linkrisk.solver.run.errors import UsageError

ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (ExactEngine, MilpEngine)}


_NO_REASON = ("threads",)
"""Options that do not influence the default choice of an engine."""


def choose_engine(given: Sequence[str], *, modelling: bool = False) -> str:
    """Choose the first engine that accepts these options; and builds a model, if `modelling`."""
    telling = set(given) - set(_NO_REASON)
    return next(
        name for name, kind in ENGINES.items() if telling <= set(kind.takes) and kind.models >= modelling
    )


def check_taken(engine: Engine, given: Sequence[str]) -> None:
    """Refuse options that an engine would ignore; the UsageError names the engine that accepts them."""
    ignored = [name for name in given if name not in engine.takes]
    if ignored:
        able = next(name for name, kind in ENGINES.items() if set(ignored) <= set(kind.takes))
        what = " and ".join(map(called, ignored))
        raise UsageError(
            f"{what} {'is' if len(ignored) == 1 else 'are'} not for the engine {engine.name}: leave that "
            f"out, or use the engine {able}"
        )


def get_engine(name: str, options: EngineOptions) -> Engine:
    """Create an engine; UsageError when it, its backend or a setting cannot be used."""
    get_backend(options.backend)
    return ENGINES[name]()
