"""Make the settings of a run."""

from __future__ import annotations

from typing import Any

from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.steering import STEERING, Steering
from linkrisk.solver.options.run import SECONDS
from linkrisk.solver.run.clock import Limits
from linkrisk.solver.run.interruption import Cancel


def engine_options(
    *,
    seed: int,
    threads: int | None = None,
    backend: str | None = None,
    margin: float | None = None,
    big_c: float | None = None,
    steering: Steering | None = None,
) -> tuple[EngineOptions, list[str]]:
    """Make the settings of an engine, and the names of those given; seed and steering suit every engine."""
    asked = {"threads": threads, "backend": backend, "margin": margin, "big_c": big_c}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    return EngineOptions(seed=int(seed), steering=steering or STEERING, **given), list(given)


def limits_of(
    time_limit: float | str | None,
    work_limit: float | None = None,
    memory_limit: float | str | None = None,
    cancel: Cancel | None = None,
    usual: float = SECONDS,
) -> Limits:
    """Make the limits of a run; ``auto`` stands for `usual` seconds, or none where there is a work limit."""
    if isinstance(time_limit, str):
        time_limit = usual if work_limit is None else None
    return Limits(time_limit, memory_limit, work_limit, cancel)
