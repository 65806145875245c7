"""One search within its limits: rows, first attack and engine, on one problem."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem, block_system, system_of
from solver.backends.base import Status
from solver.clock import Clock, Limit
from solver.engines.attacks import attack
from solver.engines.base import Engine, EngineOptions, EngineResult, Record, Reporter
from solver.engines.growing import GrowingRows, GrowingRun
from solver.errors import UsageError
from solver.linkage.baselines import own_attacks
from solver.linkage.evaluator import Evaluator
from solver.problem import Problem

FloatArray = NDArray[np.float64]

LARGEST_SYSTEM = 40_000_000
"""Most pairs of a block and a candidate for a big-C model that leaves dominated rows out."""

LARGEST_UNREDUCED = 4_000_000
"""Most pairs for a big-C model with a row for each of them."""

MOST_REDUCED = 400_000_000
"""Most pairs for a search on all rows that are not dominated; beyond, rows grow where they matter."""

MOST_UNREDUCED = 2_000_000
"""The same where no row can be left out: searches on rows that grow are faster long before memory ends."""

_BUILDING_SHARE = 0.7
_BUILDING_SECONDS = 1.0
"""Rows may take this long whatever the time limit: of most files, all of them are there by then."""

_UNSEEN = "{} came before all records were compared: the bound takes those that were not for re-identified"


@dataclass(frozen=True)
class Run:
    """What a run leaves behind."""

    system: BlockSystem
    record: Record
    evaluator: Evaluator
    outcome: EngineResult
    phases: dict[str, float]


def search(
    problem: Problem,
    runner: Engine,
    clock: Clock,
    choices: EngineOptions,
    report: Reporter | None,
    starts: Sequence[FloatArray] = (),
) -> Run:
    """Attack and bound the worst case of a problem until they meet or the clock has run out.

    `starts` are parameters known from elsewhere: the answer links no fewer than each of them.
    """
    with interruptible(clock):
        if runner.name == "exact" and _pairs(problem) > _most_pairs(problem):
            return _grow(problem, runner, clock, choices, report, starts)
        return _solve(problem, runner, clock, choices, report, starts)


def _solve(
    problem: Problem,
    runner: Engine,
    clock: Clock,
    choices: EngineOptions,
    report: Reporter | None,
    starts: Sequence[FloatArray],
) -> Run:
    """Attack and search on all rows."""
    nothing = np.empty(0, dtype=np.intp)
    lost = np.zeros(problem.pair.blocks, dtype=bool)
    system = system_of(problem.pair, problem.aggregator, nothing, nothing, lost, complete=False)
    with memory_errors(clock):
        system = problem_system(problem, reduce=choices.big_c is None, engine=runner.name, clock=clock)
    evaluator = Evaluator(problem.pair)
    record = first_record(system, evaluator, clock, report, starts)
    built = clock.seconds
    with memory_errors(clock):
        attack(system, record, evaluator, choices.seed, brief=runner.attacks)
    attacked = clock.seconds
    outcome = out_of_memory(record)
    with memory_errors(clock):
        outcome = runner.run(system, record, evaluator, choices)
    phases = {"rows": built, "first attack": attacked - built, **outcome.phases}
    if not system.complete:
        what = "the memory limit" if clock.out_of_memory else "the time limit"
        outcome = replace(outcome, notes=(*outcome.notes, _UNSEEN.format(what)))
    return Run(system, record, evaluator, outcome, phases)


def _grow(
    problem: Problem,
    runner: Engine,
    clock: Clock,
    choices: EngineOptions,
    report: Reporter | None,
    starts: Sequence[FloatArray],
) -> Run:
    """Attack and search on rows that grow where they matter."""
    rows = GrowingRows(problem.pair, problem.aggregator, clock, choices.seed)
    system = rows.system()
    record = first_record(system, rows, clock, report, starts)
    run = GrowingRun(rows, record)
    built = clock.seconds
    with memory_errors(clock):
        run.attack(choices.seed)
    attacked = clock.seconds
    outcome = out_of_memory(record)
    with memory_errors(clock):
        outcome = run.run(runner, choices)
    phases = {"rows": built, "first attack": attacked - built, **outcome.phases}
    return Run(run.system, record, rows, outcome, phases)


@contextmanager
def memory_errors(clock: Clock) -> Iterator[None]:
    """Take memory that cannot be had for the end of the run, not for its failure."""
    try:
        yield
    except MemoryError:
        clock.run_out_of_memory()


def out_of_memory(record: Record) -> EngineResult:
    """The outcome of a run that ends because there is no memory."""
    status = Status.OPTIMAL if record.proven else Status.FEASIBLE
    limit = None if record.proven else Limit.MEMORY
    return EngineResult(status=status, limit=limit, margin=None, phases={}, model=None, versions={})


def _pairs(problem: Problem) -> int:
    return problem.pair.blocks * len(problem.pair.candidates)


def _most_pairs(problem: Problem) -> int:
    """Up to how many pairs the exact engine takes all rows that matter."""
    return MOST_REDUCED if problem.aggregator.monotone else MOST_UNREDUCED


def problem_system(
    problem: Problem, *, reduce: bool = True, engine: str = "milp", clock: Clock | None = None
) -> BlockSystem:
    """The inequalities of every block, or of as many as a share of the clock's time allows.

    UsageError when there are more pairs than a big-C model can hold.
    """
    most = LARGEST_SYSTEM if reduce and problem.aggregator.monotone else LARGEST_UNREDUCED
    if engine == "milp" and _pairs(problem) > most:
        raise UsageError(
            f"{problem.pair.blocks:,} records and {len(problem.pair.candidates):,} candidates make "
            f"{_pairs(problem):,} comparisons, more than the {most:,} that the big-C model can hold: take a "
            "sample of the records, fit with --engine exact, or judge given parameters with `evaluate`"
        )
    reduce = reduce or engine != "milp"
    if clock is None:
        return block_system(problem.pair, problem.aggregator, reduce=reduce)
    until = max(_BUILDING_SECONDS, clock.share(_BUILDING_SHARE, float("inf")))
    return block_system(
        problem.pair,
        problem.aggregator,
        reduce=reduce,
        expired=lambda: clock.stopped or clock.out_of_memory or clock.seconds >= until,
    )


def first_record(
    system: BlockSystem,
    evaluator: Evaluator,
    clock: Clock,
    report: Reporter | None,
    starts: Sequence[FloatArray] = (),
) -> Record:
    """The best of equal weights, the family's own baselines and `starts` as the first attack.

    They are counted whatever the clock says, so that no run reports less than any of them. The first bound is
    all blocks that are not lost.
    """
    aggregator = system.aggregator
    theta = aggregator.equal()
    linked = evaluator.weight(aggregator.form(theta))
    record = Record(clock, theta, linked, system.total_weight - system.lost_weight, report)
    record.note()
    for other in (*own_attacks(aggregator, system.pair).values(), *starts):
        if not np.array_equal(other, theta):
            record.improve(other, evaluator.weight(aggregator.form(other)))
    return record


@contextmanager
def interruptible(clock: Clock) -> Iterator[None]:
    """Let the first Ctrl-C ask the run to stop with what it has; a second one is not caught."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)

    def stop(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        clock.stop()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
