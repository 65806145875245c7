"""Backends and engines in this process, where not the process of their own is what is asked."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import SolveOptions, Watcher
from linkrisk.solver.backends.guard import IsolatedResult, Job
from linkrisk.solver.backends.registry import get_backend


def solve_here(
    name: str,
    model: MilpModel,
    options: SolveOptions,
    starts: Sequence[FloatArray] = (),
    watch: Watcher | None = None,
) -> IsolatedResult:
    """As `solve_isolated`, but for what it costs."""
    return IsolatedResult(get_backend(name).solve(model, options, starts=starts, watch=watch), 0)


def run_here(job: Job, watch: Watcher | None = None) -> IsolatedResult:
    """As `run_isolated`, but for what it costs."""
    job.prepare()
    return IsolatedResult(job.run(watch), 0)
