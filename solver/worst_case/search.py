"""Search one problem within its limits: first attacks, rows and engine.

The work runs in its own thread and polls the clock; if a step overruns the clock, the search returns the
current answer without waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.block_system import block_system, system_of
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.engines.attacks.search import attack
from linkrisk.solver.engines.base import Engine, EngineOptions
from linkrisk.solver.engines.growing_rows import GrowingRows, GrowingRun
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.linkage.baselines import baseline_forms, own_attacks
from linkrisk.solver.linkage.evaluator import BlockWorkers, Evaluation, Evaluator, Lost, marked
from linkrisk.solver.linkage.lexicographic import best_order
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.limits import in_time, memory_errors
from linkrisk.solver.run.pool import WorkerPool
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.result import plain
from linkrisk.solver.run.work import COMPARISON
from linkrisk.solver.worst_case.search_state import Orders, Run, out_of_time, pairs_of, problem_system

_ROW = 5.0
"""Cost of making a row, in comparisons; finding implied rows included."""

_FIRST = 1.0
"""Seconds beyond the limit for the first attacks, for busy machines."""

_UNSEEN = (
    "the {} limit was reached before all records were compared: the bound counts the others as re-identified"
)


@dataclass(frozen=True)
class Start:
    """Warm start: parameters and proof from another search of these blocks."""

    theta: FloatArray  # (dimension,): as this family has them
    linked: BoolArray  # (blocks,): blocks that they linked there, which are counted first
    cores: tuple[frozenset[int], ...] = ()  # cores found there, to be tested first
    same_draw: bool = False  # from the same samples, so independent of the records outside
    bound: float = np.inf  # upper bound on the linked weight, if proved for this family


@dataclass(frozen=True)
class SearchTask:
    """One search: problem, engine, limits and workers, handed on as one object."""

    searched: Searched
    engine: Engine
    clock: Clock  # the answer comes at most a moment after its end
    options: EngineOptions
    report: Reporter | None = None  # called with every progress report
    starts: Sequence[Start] = ()  # warm starts; the answer links no fewer than any counted
    pool: WorkerPool = field(default_factory=WorkerPool)
    prove: bool = True  # whether a tight bound is wanted; if not, the search ends with the attack
    orders: bool = True  # whether to count lexicographic comparison, for `beside_orders`
    others: bool = True  # whether to count baselines outside the family, for comparison
    workers: BlockWorkers | None = None  # workers that count large files

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the task without clock, callbacks and pools."""
        own = {"clock": Clock(None), "report": None, "starts": (), "pool": WorkerPool(), "workers": None}
        return {**self.__dict__, **own}


def search(task: SearchTask, *, wait: bool = False) -> Run:
    """Search attack and bound of a problem until they meet or the clock has run out.

    The bound covers distances that differ by more than a tie: see `beside_orders`. `wait`: whether to wait
    for a step that overruns the clock, as its result may be worth it.
    """
    work = _Search(task)
    return work.do() if wait else in_time(work, task.clock)


def count_starts(run: Run, starts: Sequence[Start]) -> None:
    """Recount warm starts on the blocks that they linked before: of large files, a small part.

    The best come first, so that others, which cannot exceed them there, need not be counted.
    """
    aggregator, weight = run.system.aggregator, run.system.pair.weight
    for start in sorted(starts, key=lambda start: -float(weight[start.linked].sum())):
        theta, blocks = aggregator.domain.exact(start.theta), np.flatnonzero(start.linked)
        if weight[blocks].sum() <= run.incumbent.value:
            continue
        evaluation = run.evaluator.count(aggregator.form(theta), blocks)
        run.incumbent.improve(theta, evaluation.linked_weight)


class _Search:
    """The phases of one search; `run` is its state, a valid answer at every moment."""

    def __init__(self, task: SearchTask) -> None:
        self._task, problem, clock = task, task.searched, task.clock
        asked = tuple(core for start in task.starts for core in start.cores)
        self._problem, self._clock = problem, clock
        self._choices = replace(task.options, asked=asked)
        self._build = task.options.steering.build
        self._attacked = threading.Event()
        pair, aggregator = problem.pair, problem.aggregator
        nothing = np.empty(0, dtype=np.intp)
        system = system_of(pair, aggregator, nothing, nothing, ~pair.reachable, complete=False)
        bound = min([system.kept_weight, *(start.bound for start in task.starts)])
        incumbent = Incumbent(clock, aggregator.equal(), 0.0, bound, task.report, phase="")
        evaluator = self._evaluator()
        self.run = Run(incumbent, evaluator, system, out_of_time(incumbent))
        if task.workers is not None:
            task.workers.listen(self._tell)

    def _tell(self, tasks: str) -> None:
        """Report the progress of a pass over all records."""
        incumbent = self.run.incumbent
        if incumbent.phase == "compare":
            incumbent.work = tasks
            incumbent.tell()

    def _evaluator(self) -> Evaluator:
        pair, at_once = self._problem.pair, self._build.blocks_at_once
        clock = self._clock
        return Evaluator(
            pair,
            clock.most_threads,
            stop=self._late,
            spend=clock.spend,
            blocks_at_once=at_once,
            workers=self._task.workers,
        )

    def _late(self) -> bool:
        clock = self._clock
        known = self._attacked.is_set() or clock.counts or clock.stopped or clock.out_of_memory
        first = 0.0 if known else _FIRST + (clock.ends or 0.0)
        return clock.expired and clock.now >= max(self._build.moment, first)

    def do(self) -> Run:
        """Run first attacks, rows and engine."""
        run, clock = self.run, self._clock
        run.incumbent.enter("compare")
        run.incumbent.note()
        with memory_errors(clock):
            count_starts(self.run, self._task.starts)
            self._estimate()
            self._count_known()
            self._attacked.set()
            self._lose()
            if self._task.others:
                self._count_others()
            if self._task.orders:
                self._count_orders()
            run.phases["baselines"] = clock.seconds
            if self._task.engine.grows and self._must_grow():
                self._grow()
            else:
                self._solve()
        run.outcome = out_of_time(run.incumbent, run.outcome)
        return run

    def so_far(self) -> Run:
        """Copy the current results, as the thread may continue for a while."""
        if not self._clock.stopped:
            self._attacked.wait(_FIRST)
        run, incumbent = self.run, self.run.incumbent.frozen()
        if incumbent.refuted:  # a big-C bound that the attack refutes, by its margin
            incumbent.bound = run.system.kept_weight
        outcome = out_of_time(incumbent, run.outcome)
        return replace(run, incumbent=incumbent, phases=dict(run.phases), outcome=outcome)

    def _count_known(self) -> None:
        """Count first attacks: baselines of the family, and warm starts."""
        run, aggregator = self.run, self._problem.aggregator
        own = own_attacks(aggregator, self._problem.pair)
        for name, theta in own.items():
            evaluation = self._count_baseline(name, aggregator.form(theta), run.evaluator)
            run.incumbent.improve(theta, evaluation.linked_weight)
        equal = () if "euclid" in own else (aggregator.equal(),)
        for theta in (*equal, *(start.theta for start in self._task.starts)):
            run.incumbent.improve(theta, run.evaluator.weight(aggregator.form(theta)))

    def _count_others(self) -> None:
        """Count the baselines outside the family, for comparison.

        Blocks lost for the family are not lost for them, so they need their own evaluator.
        """
        unrestricted = self._evaluator()
        for name, form in baseline_forms(self._problem.pair).items():
            if name not in self.run.baselines:
                self._count_baseline(name, form, unrestricted)
        self.run.baselines = dict(sorted(self.run.baselines.items()))

    def _count_baseline(self, name: str, form: DistanceForm, evaluator: Evaluator) -> Evaluation:
        evaluation = evaluator.count(form)
        whole = bool(evaluation.settled.all())
        self.run.baselines[name] = plain(evaluation.linked_weight) if whole else None
        return evaluation

    def _count_orders(self) -> None:
        """Count lexicographic comparison of attributes, before the search takes the time for it.

        Every family that contains the weighted means approximates it as closely as doubles allow; one that
        contains the OWA approximates comparison of ranks.
        """
        aggregator, pair = self._problem.aggregator, self._problem.pair
        build = self._build
        until = max(build.moment, self._clock.share(build.orders_share, build.orders_longest))

        def late() -> bool:
            return self._clock.stopped or self._clock.now >= until

        found = []
        for ranked, simplest in ((False, WeightedMean), (True, OrderedWeightedAverage)):
            relative = simplest(pair.attributes, aggregator.tied_differences)
            if type(aggregator) is simplest or aggregator.lift_from(relative) is not None:
                spend, workers = self._clock.spend, self._task.workers
                found.append(best_order(pair, late, ranked=ranked, spend=spend, workers=workers))
                self.run.orders = Orders(tuple(found), counted=False)
        self.run.orders = Orders(tuple(found), counted=not late())

    def _estimate(self) -> None:
        """Measure the time of a pass over all records, report it, and reserve time for the final recount."""
        clock, pair, incumbent = self._clock, self._problem.pair, self.run.incumbent
        build = self._build
        if pairs_of(self._problem) <= build.most_at_once:
            return
        few = Evaluator(_sample(pair, build.sampled), threads=1)
        form = self._problem.aggregator.form(incumbent.solution)
        few.count(form)  # builds the candidates' index, once for all counts
        began = clock.seconds
        few.rank(form)
        seconds = (clock.seconds - began) / build.sampled * pair.blocks / self.run.evaluator.threads
        incumbent.work = f"about {max(1.0, seconds):.0f} s for a look at all records"
        incumbent.tell()
        if clock.time_limit is not None:
            clock.reserve(min(build.most_reserved * clock.time_limit, build.moment + 1.5 * seconds))

    def _lose(self) -> None:
        """Find blocks that a single rival loses under all parameters: a first bound."""
        run, clock, pair = self.run, self._clock, self._problem.pair
        lost = marked(Lost(self._problem.aggregator), pair, lambda: clock.expired, self._task.workers)
        clock.spend(COMPARISON * pairs_of(self._problem))
        run.evaluator.mark_lost(lost)
        run.system = replace(run.system, lost=lost)
        run.incumbent.tighten(run.system.kept_weight)

    def _must_grow(self) -> bool:
        """Decide whether to generate rows, because all of them exceed number, memory or time."""
        pair, aggregator = self._problem.pair, self._problem.aggregator
        pairs, build = pairs_of(self._problem), self._build
        if pairs > (build.most_reduced if aggregator.monotone else build.most_unreduced):
            return True
        if pairs <= build.always:
            return False
        if pair.blocks < build.worth_sampling * build.sampled:
            return True
        began = self._clock.now
        sample = block_system(_sample(pair, build.sampled), aggregator, expired=lambda: self._clock.expired)
        times = pair.blocks / build.sampled
        self._clock.spend(_comparing(pairs / times, aggregator))
        cells = sample.rows * times * aggregator.dimension
        duration = (self._clock.now - began) * times
        megabytes, left = 8e-6 * cells * build.copies, self._clock.remaining
        return (
            cells > build.most_cells
            or megabytes > self._clock.megabytes_left
            or duration > build.building_share * (np.inf if left is None else left)
        )

    def _solve(self) -> None:
        """Attack and search on all rows."""
        run, problem, clock, choices = self.run, self._problem, self._clock, self._choices
        run.incumbent.enter("compare")
        run.system = problem_system(
            problem,
            reduce=choices.big_c is None,
            model=self._task.engine.models,
            clock=clock,
            steering=self._build,
        )
        clock.spend(_comparing(pairs_of(problem), problem.aggregator))
        run.incumbent.tighten(run.system.kept_weight)
        run.phases["rows"] = clock.seconds
        attack(
            run.system,
            run.incumbent,
            run.evaluator,
            choices.seed,
            brief=self._task.engine.attacks and self._task.prove,
            steering=choices.steering.attack,
        )
        run.phases["first attack"] = clock.seconds - run.phases["rows"]
        if not self._task.prove:
            return
        outcome = self._task.engine.run(run.system, run.incumbent, run.evaluator, choices)
        run.phases |= outcome.phases
        if not run.system.complete:
            what = "memory" if clock.out_of_memory else "work" if clock.counts else "time"
            outcome = replace(outcome, notes=(*outcome.notes, _UNSEEN.format(what)))
        run.outcome = outcome

    def _grow(self) -> None:
        """Attack and search with row generation."""
        run, clock, choices = self.run, self._clock, self._choices
        steering = choices.steering
        pair, aggregator = self._problem.pair, self._problem.aggregator
        rows = GrowingRows(pair, aggregator, clock, choices.seed, steering.growth, self._task.workers)
        rows.follow(run.evaluator)
        rows.mark_lost(run.system.lost)
        run.evaluator = rows
        rows.probe(run.incumbent, clock.share(self._build.building_share, np.inf))
        growing = GrowingRun(rows, run, steering)
        run.phases["rows"] = clock.seconds
        growing.attack(choices.seed)
        run.phases["first attack"] = clock.seconds - run.phases["rows"]
        if not self._task.prove:
            return
        run.outcome = growing.run(self._task.engine, choices)
        run.phases |= run.outcome.phases


def _comparing(pairs: float, aggregator: Aggregator) -> float:
    """Count the operations of making rows of so many pairs of records."""
    return _ROW * COMPARISON * pairs * aggregator.dimension


def _sample(pair: LinkagePair, blocks: int) -> LinkagePair:
    """Select a few blocks, evenly spaced, with all candidates."""
    return pair.part(np.linspace(0, pair.blocks - 1, blocks).astype(np.intp))
