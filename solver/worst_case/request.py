"""Hold the request of a fit: engine, limits, samples, workers, and output options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from linkrisk.solver.compiling.parts import compile_once
from linkrisk.solver.engines.base import Engine, EngineOptions
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.linkage.records_table import MOST_ROWS
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.run.pool import PoolChoice, WorkerPool, open_pool
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.worst_case.sampled.samples import (
    SamplingChoice,
)

CERTIFICATE_SECONDS = 60.0
"""Seconds for a certificate without a time limit, and the most reserved for it with one."""


_CERTIFICATE_SHARE = 0.25
"""Share of the time limit reserved for the certificate: more certifies harder proofs, and searches less."""


_WRITING_SHARE = 0.3
"""Largest share of the time limit reserved for writing the output."""


@dataclass(frozen=True)
class FitRequest:
    """How to solve, common to all families."""

    engine: Engine
    options: EngineOptions
    limits: Limits
    certificate: bool = False  # whether a certificate follows
    # how to sample, or not to
    sampling: SamplingChoice = field(default_factory=lambda: SamplingChoice(None))
    report: Reporter | None = None  # called with every progress report
    command: str | None = None  # the command line to note
    workers: PoolChoice = field(default_factory=PoolChoice)
    pool: WorkerPool = field(default_factory=WorkerPool)  # once the run has begun
    proofs: bool = False  # whether several families keep the data of their certificates
    # whether the certificate has its own seconds; otherwise a part of the time limit is reserved
    own_seconds: bool = False
    page: float = 0.0  # seconds reserved for writing
    listed: float = 0.0  # and further ones for each record of each family
    settings: Mapping[str, Any] = field(default_factory=dict)  # options recorded in the result

    @contextmanager
    def with_pool(self) -> Iterator[FitRequest]:
        """Open the worker pool of the request for its duration; UsageError if that fails."""
        with open_pool(self.workers) as pool:
            yield replace(self, pool=pool)

    def compile(self, *parts: str) -> None:
        """Compile kernels, here and on the workers, before a clock runs."""
        for part in parts:
            compile_once(part, self.report)
            self.pool.prepare(compile_once, part)

    def clock(self, problem: Problem, families: int = 1) -> Clock:
        """Start a clock with the limits of the request, from when the problem was set up.

        It reserves time for writing the output of so many families, and for their certificate.
        """
        clock, records = self.limits.clock(problem.seconds), problem.pair.blocks
        if clock.time_limit is not None:
            writing = self.page + self.listed * families * (records if records <= MOST_ROWS else 0)
            left = min(writing, _WRITING_SHARE * clock.time_limit)
            if self.certificate and not self.own_seconds:
                left += min(CERTIFICATE_SECONDS, _CERTIFICATE_SHARE * clock.time_limit)
            clock.leave(left)
        return clock
