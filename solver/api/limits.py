"""The settings of a run, checked before anything is read."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from linkrisk.solver.engines.base import EngineOptions, check_options
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.single_fit import AUTOMATIC


def engine_options(
    *, seed: int, threads: int | None, backend: str | None, margin: float | None, big_c: float | None
) -> tuple[EngineOptions, list[str]]:
    """The settings of an engine, and the names of those that were given; the seed is for every engine.

    Raises
    ------
    UsageError
        If one is no number, or out of range.
    """
    asked = {"threads": threads, "backend": backend, "margin": margin, "big_c": big_c}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    for name, value in {"seed": seed, **given}.items():
        if name != "backend":
            _check_number(name, value, whole=name in ("seed", "threads"))
    options = EngineOptions(seed=int(seed), **given)
    check_options(options)
    return options, list(given)


def _check_number(name: str, value: object, *, whole: bool) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        raise UsageError(f"{name} must be a {'whole ' if whole else ''}number, not {value!r}")


def check_limits(time_limit: float | None, what: str = "time limit") -> None:
    """Refuse a time limit that is no number or leaves no time."""
    given: object = time_limit
    if given is not None and (isinstance(given, bool) or not isinstance(given, Real)):
        raise UsageError(f"the {what} must be a positive number of seconds, not {time_limit!r}")
    if time_limit is not None and not 0.0 < time_limit < float("inf"):
        raise UsageError(f"the {what} must be a positive number of seconds, not {time_limit:g}")


def check_memory_limit(memory_limit: float | str | None) -> None:
    """Refuse a memory limit that is no number or leaves no memory."""
    given: Any = memory_limit
    if given is None or given == AUTOMATIC:
        return
    if isinstance(given, bool) or not isinstance(given, Real):
        raise UsageError(f"the memory limit must be a positive number of megabytes, not {given!r}")
    if not 0.0 < float(given) < float("inf"):
        raise UsageError(f"the memory limit must be a positive number of megabytes, not {float(given):g}")
