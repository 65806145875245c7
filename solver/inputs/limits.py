"""Check the settings of a run before anything is read."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, cast

from linkrisk.errors import called
from linkrisk.solver.engines.base import EngineOptions, check_options
from linkrisk.solver.engines.steering import STEERING, Steering
from linkrisk.solver.options.run import SECONDS
from linkrisk.solver.run.clock import AUTOMATIC, Limits
from linkrisk.solver.run.errors import UsageError
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
    """Make the settings of an engine, and the names of those given; seed and steering suit every engine.

    UsageError if one is not a number, or out of range.
    """
    asked = {"threads": threads, "backend": backend, "margin": margin, "big_c": big_c}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    for name, value in {"seed": seed, **given}.items():
        if name != "backend":
            _check_number(name, value, whole=name in ("seed", "threads"))
    options = EngineOptions(seed=int(seed), steering=steering or STEERING, **given)
    check_options(options)
    return options, list(given)


def _check_number(name: str, value: object, *, whole: bool) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        what = f"{'whole ' if whole else ''}number"
        raise UsageError(f"{called(name)} must be a {what}, not {value!r}", option=name)


def check_limits(
    time_limit: float | str | None,
    work_limit: float | None = None,
    memory_limit: float | str | None = None,
    cancel: Cancel | None = None,
) -> Limits:
    """Check and make the limits of a run; UsageError when one is not a number, or not above zero."""
    usual = SECONDS if work_limit is None else None
    seconds = usual if time_limit == AUTOMATIC else check_limit(time_limit, "time limit")
    units = check_limit(work_limit, "work limit", "units")
    megabytes = memory_limit
    if memory_limit != AUTOMATIC:
        megabytes = check_limit(memory_limit, "memory limit", "megabytes")
    return Limits(seconds, megabytes, units, cancel)


def check_limit(limit: object, what: str, unit: str = "seconds") -> float | None:
    """Check a limit; UsageError when it is not a number, or not above zero."""
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, Real):
        raise UsageError(f"the {what} must be a positive number of {unit}, not {limit!r}")
    if not 0.0 < float(limit) < float("inf"):
        raise UsageError(f"the {what} must be a positive number of {unit}, not {float(limit):g}")
    return cast("float", limit)
