"""Hold the request of a fit: engine, limits, samples, workers, and what is written afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from linkrisk.solver.compiling.ahead import compile_once
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
"""How long a certificate may take without a time limit, and what is left to it at most where there is one."""


_CERTIFICATE_SHARE = 0.25
"""Share of the time limit that a search leaves to its certificate."""


_WRITING_SHARE = 0.3
"""Share of the time limit that a search leaves to what is written of it at most."""


@dataclass(frozen=True)
class FitRequest:
    """How to solve, for every family."""

    engine: Engine
    options: EngineOptions
    limits: Limits
    certificate: bool = False  # whether a certificate follows
    # whether all records are searched, or samples
    sampling: SamplingChoice = field(default_factory=lambda: SamplingChoice(None))
    report: Reporter | None = None  # called with every progress report
    command: str | None = None  # the command line to note
    workers: PoolChoice = field(default_factory=PoolChoice)
    pool: WorkerPool = field(default_factory=WorkerPool)  # once the run has begun
    proofs: bool = False  # whether several families keep what their certificates would be made of
    # whether the certificate has seconds of its own: otherwise a part of the time limit is left to it
    own_seconds: bool = False
    page: float = 0.0  # seconds left for what is written afterwards
    listed: float = 0.0  # and more of them for each record of each family
    settings: Mapping[str, Any] = field(default_factory=dict)  # options that the result records, too

    @contextmanager
    def with_pool(self) -> Iterator[FitRequest]:
        """The request with its workers, until it is done; UsageError where they cannot be had."""
        with open_pool(self.workers) as pool:
            yield replace(self, pool=pool)

    def compile(self, *parts: str) -> None:
        """Compile parts of the program, here and at the workers, before a clock runs."""
        for part in parts:
            compile_once(part, self.report)
            self.pool.prepare(compile_once, part)

    def clock(self, problem: Problem, families: int = 1) -> Clock:
        """A clock with the limits of the request, running since the problem was set up.

        It leaves some seconds to what is written of so many families, and to their certificate.
        """
        clock, records = self.limits.clock(problem.seconds), problem.pair.blocks
        if clock.time_limit is not None:
            writing = self.page + self.listed * families * (records if records <= MOST_ROWS else 0)
            left = min(writing, _WRITING_SHARE * clock.time_limit)
            if self.certificate and not self.own_seconds:
                left += min(CERTIFICATE_SECONDS, _CERTIFICATE_SHARE * clock.time_limit)
            clock.leave(left)
        return clock
