"""One search within its limits: rows, first attacks and engine, on one problem.

The work runs in a thread of its own. It asks the clock everywhere; where a step takes longer than the clock
allows all the same, the answer does not wait for it: what is known by then is the answer.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FrameType

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem, block_system, system_of
from formulations.lost import lost_blocks
from formulations.pair import LinkagePair
from solver.backends.base import Status
from solver.clock import Clock, Limit
from solver.engines.attacks import attack
from solver.engines.base import Engine, EngineOptions, EngineResult, Record, Reporter
from solver.engines.growing import GrowingRows, GrowingRun
from solver.errors import UsageError
from solver.linkage.baselines import baseline_forms, own_attacks
from solver.linkage.evaluator import Evaluation, Evaluator
from solver.problem import Problem
from solver.results import plain

FloatArray = NDArray[np.float64]

LARGEST_SYSTEM = 40_000_000
"""Most pairs of a block and a candidate for a big-C model that leaves dominated rows out."""

LARGEST_UNREDUCED = 4_000_000
"""Most pairs for a big-C model with a row for each of them."""

MOST_REDUCED = 400_000_000
"""Most pairs for a search on all rows that are not dominated; beyond, rows grow where they matter."""

MOST_UNREDUCED = 2_000_000
"""The same where no row can be left out: searches on rows that grow are faster long before memory ends."""

_ALWAYS = 1_000_000
"""Up to so many pairs, all rows are taken whatever the time limit: that is a moment's work."""

_MOST_CELLS = 60_000_000
"""Most entries of all rows together: half a gigabyte, of which searches hold a few copies."""

_MOST_AT_ONCE = 25_000_000
"""Up to so many pairs, the table of all records is made within a moment."""

_MOST_RESERVED = 0.25
"""Share of the time limit that may be left for that table."""

_BUILDING_SHARE = 0.2
"""Share of the time that comparing all records may be expected to take; else rows grow where they matter."""

_SAMPLED = 48
"""Blocks whose rows say how many there will be, and how long comparing takes."""

_MILP_SHARE = 0.7
"""Share of the time that the rows of a big-C model may take."""

_MOMENT = 0.5
"""Seconds that comparing records may take whatever the time limit: small files are compared whole by then."""

_TICK = 0.02
_GRACE = 0.4
_LONGER = 0.05
_LONGEST = 3.0
"""What a step may take to notice the clock: so many seconds, and this share of the limit, but no more."""

_UNSEEN = (
    "the {} limit came before all records were compared: the bound takes those that were not for "
    "re-identified"
)
_UNCOUNTED = (
    "{:,} of {:,} records were compared before the {} limit came: the others count as not re-identified in "
    "what is found, and as re-identified in the bound"
)


@dataclass
class Run:
    """What a search has in its hands, and in the end what it leaves behind.

    Attributes
    ----------
    record : Record
        Attack and bound.
    evaluator : Evaluator
        Has counted them.
    system : BlockSystem
        The rows that the engine works on.
    outcome : EngineResult
        How the engine ended; until then, what is to be said when the run is cut off.
    phases : dict
        Seconds by phase.
    baselines : dict
        Weight linked by each distance that needs no learning; None where there was no time to count it.
    """

    record: Record
    evaluator: Evaluator
    system: BlockSystem
    outcome: EngineResult
    phases: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, float | None] = field(default_factory=dict)

    @cached_property
    def final(self) -> Evaluation:
        """What became of every block under the best parameters, as far as the time limit and a moment allow.

        Blocks that neither this nor the count of these parameters has looked at are not `settled`.
        """
        form = self.system.aggregator.form(self.record.theta)
        until = _last_call(self.record.clock)
        evaluation = self.evaluator.final(form, lambda: self.record.clock.seconds >= until)
        # What was counted in part before may now be more.
        self.record.improve(self.record.theta, evaluation.linked_weight)
        self.outcome = out_of_time(self.record, self.outcome)
        compared = int(evaluation.settled.sum())
        if compared < evaluation.settled.size:
            limit = self.outcome.limit or Limit.TIME
            note = _UNCOUNTED.format(compared, evaluation.settled.size, limit.value)
            self.outcome = replace(self.outcome, notes=(*self.outcome.notes, note))
        return evaluation


def _last_call(clock: Clock) -> float:
    """When the last look at all records must end, in seconds of the clock."""
    if clock.stopped or clock.out_of_memory:
        return clock.seconds + _MOMENT
    if clock.time_limit is None:
        return float("inf")
    return (
        max(clock.seconds, clock.time_limit) + 0.6 * _GRACE + 0.8 * min(_LONGEST, _LONGER * clock.time_limit)
    )


def search(
    problem: Problem,
    runner: Engine,
    clock: Clock,
    choices: EngineOptions,
    report: Reporter | None,
    starts: Sequence[FloatArray] = (),
) -> Run:
    """Attack and bound the worst case of a problem until they meet or the clock has run out.

    Parameters
    ----------
    problem : Problem
    runner : Engine
    clock : Clock
        Of the search: the answer comes a moment after it has run out, whatever is being done then.
    choices : EngineOptions
    report : callable, optional
        Told every progress.
    starts : sequence of ndarray of float64, shape (dimension,)
        Parameters known from elsewhere: the answer links no fewer than each of them that there is time for.

    Returns
    -------
    Run
    """
    work = _Work(problem, runner, clock, choices, report, starts)
    with interruptible(clock):
        return _in_time(work, clock)


def _in_time(work: _Work, clock: Clock) -> Run:
    """Do the work in a thread, and go on without it where it does not notice that its time is over."""
    failures: list[BaseException] = []

    def go() -> None:
        try:
            work.do()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=go, name="search", daemon=True)
    thread.start()
    over: float | None = None
    while thread.is_alive():
        thread.join(_TICK)
        if clock.expired and over is None:
            over = clock.seconds + _GRACE + min(_LONGEST, _LONGER * (clock.time_limit or 10.0))
        if over is not None and clock.seconds >= over:
            break
    if thread.is_alive():
        return work.so_far()
    if failures:
        raise failures[0]
    return work.run


class _Work:
    """The work of one search; `run` is what it has so far, a valid answer at every moment."""

    def __init__(
        self,
        problem: Problem,
        runner: Engine,
        clock: Clock,
        choices: EngineOptions,
        report: Reporter | None,
        starts: Sequence[FloatArray],
    ) -> None:
        self._starts = starts
        self._problem, self._runner, self._clock, self._choices = problem, runner, clock, choices
        pair, aggregator = problem.pair, problem.aggregator
        nothing = np.empty(0, dtype=np.intp)
        system = system_of(pair, aggregator, nothing, nothing, ~pair.reachable, complete=False)
        record = Record(
            clock, aggregator.equal(), 0.0, system.total_weight - system.lost_weight, report, phase="compare"
        )
        evaluator = Evaluator(pair, stop=lambda: clock.expired and clock.seconds >= _MOMENT)
        self.run = Run(record, evaluator, system, out_of_time(record))

    def do(self) -> None:
        """First attacks, rows, engine."""
        run, clock = self.run, self._clock
        run.record.note()
        with memory_errors(clock):
            self._count_baselines()
            run.phases["baselines"] = clock.seconds
            self._lose()
            self._reserve()
            if self._runner.name == "exact" and self._must_grow():
                self._grow()
            else:
                self._solve()
        run.outcome = out_of_time(run.record, run.outcome)

    def so_far(self) -> Run:
        """What is known now, out of reach of the thread, which may go on for a while."""
        run, record = self.run, self.run.record.frozen()
        if record.linked > record.bound + 1e-9:  # a big-C bound that the attack refutes, by its margin
            record.bound = run.system.total_weight - run.system.lost_weight
        return replace(run, record=record, outcome=out_of_time(record, run.outcome), phases=dict(run.phases))

    def _count_baselines(self) -> None:
        """Count the distances that need no learning; those of this family are its first attacks."""
        run, pair, aggregator = self.run, self._problem.pair, self._problem.aggregator
        own = own_attacks(aggregator, pair)
        forms = baseline_forms(pair, aggregator)
        run.baselines = dict.fromkeys(forms)
        for name, form in forms.items():
            evaluation = run.evaluator.counted(form)
            if evaluation.settled.all():
                run.baselines[name] = plain(evaluation.linked_weight)
            if name in own:
                run.record.improve(own[name], evaluation.linked_weight)
        for theta in (aggregator.equal(), *self._starts):
            run.record.improve(theta, run.evaluator.weight(aggregator.form(theta)))

    def _reserve(self) -> None:
        """Leave time for the table of all records, which is made when the search is over."""
        clock, pair, aggregator = self._clock, self._problem.pair, self._problem.aggregator
        if clock.time_limit is None or clock.expired or _pairs(self._problem) <= _MOST_AT_ONCE:
            return
        began = clock.seconds
        Evaluator(_sample(pair), threads=1).table(aggregator.form(self.run.record.theta))
        seconds = (clock.seconds - began) / _SAMPLED * pair.blocks / (os.cpu_count() or 1)
        clock.reserve(min(_MOST_RESERVED * clock.time_limit, 1.5 * seconds))

    def _lose(self) -> None:
        """Find the blocks that one rival alone keeps from being linked: a first bound, and less to count."""
        run, clock, pair = self.run, self._clock, self._problem.pair
        lost = lost_blocks(pair, self._problem.aggregator, lambda: clock.expired)
        run.evaluator.lose(lost)
        run.system = replace(run.system, lost=lost)
        run.record.tighten(run.system.total_weight - run.system.lost_weight)

    def _must_grow(self) -> bool:
        """Whether there are too many rows to take them all, by number, memory or time."""
        pair, aggregator = self._problem.pair, self._problem.aggregator
        pairs = _pairs(self._problem)
        if pairs > (MOST_REDUCED if aggregator.monotone else MOST_UNREDUCED):
            return True
        if pairs <= _ALWAYS:
            return False
        began = self._clock.seconds
        sample = block_system(_sample(pair), aggregator, expired=lambda: self._clock.expired)
        times = pair.blocks / _SAMPLED
        cells = sample.rows * times * aggregator.dimension
        seconds = (self._clock.seconds - began) * times
        return cells > _MOST_CELLS or seconds > _BUILDING_SHARE * self._clock.time_left

    def _solve(self) -> None:
        """Attack and search on all rows."""
        run, problem, clock, choices = self.run, self._problem, self._clock, self._choices
        run.record.phase = "compare"
        run.system = problem_system(
            problem, reduce=choices.big_c is None, engine=self._runner.name, clock=clock
        )
        run.record.tighten(run.system.total_weight - run.system.lost_weight)
        run.phases["rows"] = clock.seconds
        attack(run.system, run.record, run.evaluator, choices.seed, brief=self._runner.attacks)
        run.phases["first attack"] = clock.seconds - run.phases["rows"]
        outcome = self._runner.run(run.system, run.record, run.evaluator, choices)
        run.phases |= outcome.phases
        if not run.system.complete:
            what = "memory" if clock.out_of_memory else "time"
            outcome = replace(outcome, notes=(*outcome.notes, _UNSEEN.format(what)))
        run.outcome = outcome

    def _grow(self) -> None:
        """Attack and search on rows that grow where they matter."""
        run, clock, choices = self.run, self._clock, self._choices
        rows = GrowingRows(self._problem.pair, self._problem.aggregator, clock, choices.seed)
        rows.follow(run.evaluator)
        rows.lose(run.system.lost)
        run.evaluator = rows
        rows.probe(run.record, clock.share(_BUILDING_SHARE, np.inf))
        growing = GrowingRun(rows, run)
        run.phases["rows"] = clock.seconds
        growing.attack(choices.seed)
        run.phases["first attack"] = clock.seconds - run.phases["rows"]
        run.outcome = growing.run(self._runner, choices)
        run.phases |= run.outcome.phases


@contextmanager
def memory_errors(clock: Clock) -> Iterator[None]:
    """Take memory that cannot be had for the end of the run, not for its failure."""
    try:
        yield
    except MemoryError:
        clock.run_out_of_memory()


def out_of_time(record: Record, outcome: EngineResult | None = None) -> EngineResult:
    """How a run ends: as its engine says, or cut off by the clock before an engine has said anything."""
    if outcome is None:
        outcome = EngineResult(Status.FEASIBLE, limit=None, margin=None, phases={}, model=None, versions={})
    if record.proven:
        return replace(outcome, status=Status.OPTIMAL, limit=None)
    status = Status.INTERRUPTED if record.clock.stopped else Status.FEASIBLE
    return replace(outcome, status=status, limit=outcome.limit or record.clock.limit)


def _sample(pair: LinkagePair) -> LinkagePair:
    """A few of the blocks, spread evenly, with all candidates."""
    return pair.part(np.linspace(0, pair.blocks - 1, _SAMPLED).astype(np.intp))


def _pairs(problem: Problem) -> int:
    return problem.pair.blocks * len(problem.pair.candidates)


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
    until = max(_MOMENT, clock.share(_MILP_SHARE if engine == "milp" else 1.0, float("inf")))
    return block_system(
        problem.pair,
        problem.aggregator,
        reduce=reduce,
        expired=lambda: clock.stopped or clock.out_of_memory or clock.seconds >= until,
    )


def first_record(system: BlockSystem, evaluator: Evaluator, clock: Clock) -> Record:
    """Equal weights as the first attack, and all blocks that are not lost as the first bound."""
    theta = system.aggregator.equal()
    linked = evaluator.weight(system.aggregator.form(theta))
    record = Record(clock, theta, linked, system.total_weight - system.lost_weight)
    record.note()
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
