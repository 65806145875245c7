"""Bound the links of a file by the sum of bounds on its parts, each searched separately.

Among thousands of records that exclude each other in many ways a search proves little, among fifty nearly
everything. No parameters link more records of the file than the sum of the maxima of its parts. The bound is
weak because every part may have its own parameters; so while time remains, parts are merged in pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.base import Proof
from linkrisk.solver.linkage.shared_counts import counting_by
from linkrisk.solver.run.clock import Beside, Clock
from linkrisk.solver.run.limits import in_time, memory_errors
from linkrisk.solver.run.progress import Progress
from linkrisk.solver.run.workers import Processes, Sequential, Workers
from linkrisk.solver.worst_case.search import SearchTask, Start, search
from linkrisk.solver.worst_case.search_state import Run, beside_orders, out_of_time


@dataclass(frozen=True)
class PartSearch:
    """Result of the search of one part."""

    blocks: IndexArray  # (size,): its records, as blocks of the file
    theta: FloatArray  # (dimension,): parameters that link most of them
    linked: float  # weight that they link
    bound: float  # weight that no parameters exceed
    lost: BoolArray  # (size,): records that no parameters link
    seconds: float
    proof: Proof  # what the bound rests on
    system: BlockSystem  # what the proof is about; its pair has no candidates, so that it travels light


def search_part(whole: SearchTask, blocks: IndexArray, clock: Clock) -> PartSearch:
    """Search some blocks of a task; all records stay candidates."""
    pair = whole.searched.pair.part(blocks)
    searched = replace(whole.searched, pair=pair)
    # The evidence for a part's bound is complete when its engine ends; the run keeps the time.
    run = search(SearchTask(searched, whole.engine, clock, whole.options, orders=whole.orders), wait=True)
    if whole.orders:
        beside_orders(run, searched)
    final = run.final
    light = replace(pair, candidates=pair.candidates[:0])
    return PartSearch(
        blocks=blocks,
        theta=run.incumbent.solution,
        linked=final.linked_weight,
        bound=run.incumbent.bound,
        lost=run.out_of_reach,
        seconds=clock.seconds,
        proof=run.outcome.proof or Proof("lost"),
        system=replace(run.system, pair=light),
    )


Moment = tuple[float, float, float]
"""Point of a trace: seconds, value, bound."""

_FIRST = ("", "compare", "attack")
"""Phases before the proof begins; attacks may follow later."""


@dataclass(frozen=True)
class Part:
    """Some blocks and the results of their search."""

    blocks: IndexArray  # (any,): ascending
    weight: float  # bound of the unmerged search
    search: PartSearch | None = None  # of these blocks; None where there was none
    halves: tuple[Part, ...] = ()  # the two parts merged into it; none in the first round

    @property
    def bound(self) -> float:
        """Smallest known bound: of its own search, or the sum of its halves."""
        bounds = [self.weight]
        if self.search is not None:
            bounds.append(self.search.bound)
        if self.halves:
            bounds.append(sum(half.bound for half in self.halves))
        return min(bounds)

    @property
    def settled(self) -> bool:
        """Whether known parameters reach the bound."""
        return self.search is not None and self.search.linked >= self.bound - 1e-9

    def deciding(self) -> Iterator[Part]:
        """List the parts whose bounds are summed, with their searches or without."""
        if self.halves and sum(half.bound for half in self.halves) <= self.bound:
            for half in self.halves:
                yield from half.deciding()
        else:
            yield self


class UntilHopeless(Beside):
    """Clock of the search of all records that ends early if its gap stays wide.

    The gap is judged from the start of the proof on, not while rows are built.
    """

    def __init__(self, task: SearchTask) -> None:
        super().__init__(task.clock)
        steering, left = task.options.steering.parts, task.clock.remaining
        self._report = task.report
        self._wide = steering.wide * float(task.searched.pair.weight.sum())
        self._proving, self._hopeless, self._over = False, False, False
        longest = steering.before if left is None else min(steering.before, steering.before_share * left)
        self._until = task.clock.now + longest
        self.ended_early = False  # for a gap that stays wide

    def note(self, progress: Progress) -> None:
        """Record the interval, and pass the report on."""
        self._proving = self._proving or progress.phase not in _FIRST
        self._hopeless = self._proving and progress.bound - progress.value > self._wide
        if self._report is not None:
            self._report(progress)

    def end(self) -> None:
        """Release the early limit: the evaluator and others then follow the run's clock."""
        self._over = True

    @property
    def expired(self) -> bool:
        """Whether the search must end now."""
        if self._hopeless and not self._over and self.now >= self._until:
            self.ended_early = True
        return (self.ended_early and not self._over) or super().expired


def search_whole(task: SearchTask) -> tuple[Run, tuple[Part, ...]]:
    """Search all records; where the gap stays wide, search parts of them.

    The bound covers orders, too (`beside_orders`). Returns the parts whose bounds are summed; none where the
    bound is that of the search of all records.
    """
    searched, steering = task.searched, task.options.steering.parts
    task = replace(task, workers=counting_by(task.pool, searched.pair))
    if not task.engine.proves or searched.pair.blocks < steering.fewest:
        return beside_orders(search(task), searched), ()
    first = UntilHopeless(task)
    run = search(replace(task, clock=first, report=first.note))
    first.end()
    run.incumbent.clock, run.incumbent.report = task.clock, task.report
    parts: tuple[Part, ...] = ()
    if first.ended_early and not _over(run):
        work = _PartSearches(task, run)
        try:
            run, parts = in_time(work, task.clock)
        finally:
            work.close()
        if not _over(run):  # one part is left, or smaller ones have reached the bound
            run, parts = _once_more(task, run, parts)
    return beside_orders(run, searched), parts


def _over(run: Run) -> bool:
    """Whether nothing is left to do, or no time."""
    return run.incumbent.proven or run.incumbent.clock.expired


def _once_more(task: SearchTask, known: Run, parts: tuple[Part, ...]) -> tuple[Run, tuple[Part, ...]]:
    """Search all records to the end from the known results, where there is no time limit."""
    incumbent, clock, report = known.incumbent, task.clock, task.report
    began = clock.seconds

    def tell(progress: Progress) -> None:
        if report is not None:
            best = max(incumbent.value, progress.value), min(incumbent.bound, progress.bound)
            report(replace(progress, value=best[0], bound=best[1]))

    start = Start(incumbent.solution, np.ones(task.searched.pair.blocks, dtype=np.bool_))
    counted = known.orders.counted
    run = search(replace(task, report=tell, starts=[start], orders=not counted))
    if run.incumbent.value < incumbent.value:  # there was no time to recount the start
        return known, parts
    run.incumbent.report = report
    run.incumbent.trace = continued(incumbent.trace, run.incumbent.trace)
    run.phases = {**known.phases, "all again": clock.seconds - began}
    run.baselines |= {name: linked for name, linked in known.baselines.items() if linked is not None}
    if counted:
        run.orders = known.orders
    else:
        run.orders = replace(run.orders, found=(*known.orders.found, *run.orders.found))
    if run.incumbent.bound <= incumbent.bound:
        return run, ()
    run.incumbent.tighten(incumbent.bound)
    # In less time fewer lost blocks were found, and the parts were made of the others.
    run.system = known.system
    return run, parts


def continued(trace: Sequence[Moment], later: Sequence[Moment]) -> list[Moment]:
    """Extend a trace by the improvements of a later search."""
    found = list(trace)
    for at, value, bound in later:
        _, most, least = found[-1]
        if value > most or bound < least:
            found.append((at, max(value, most), min(bound, least)))
    return found


def chosen_workers(
    task: SearchTask, pooled: Workers[SearchTask] | None, pieces: int, *, worth: bool
) -> Workers[SearchTask]:
    """Choose the workers: those of the run, or processes if processors and work suffice."""
    if pooled is not None:
        return pooled
    processors = task.clock.processors
    many = min(processors, pieces)
    if task.clock.counts or many < 2 or not worth:
        return Sequential(task)
    return Processes(task, many, max(1, processors // many))


class _PartSearches:
    """Searches of parts, round by round; `run` adopts their bound as soon as it is better."""

    def __init__(self, task: SearchTask, run: Run) -> None:
        self._task = replace(task, orders=False)
        self._clock, self._steering, self.run = task.clock, task.options.steering.parts, run
        self._weight, self._evens = task.searched.pair.weight, run.incumbent.bound
        left = np.flatnonzero(~run.system.lost)
        left = np.random.default_rng(task.options.seed).permutation(left).astype(np.intp)
        many = max(1, left.size // self._steering.size)
        self.parts = [self._part(np.sort(blocks)) for blocks in np.array_split(left, many)]
        self._pooled = task.pool.workers(self._task)
        self._workers: Workers[SearchTask] | None = None

    def _part(self, blocks: IndexArray, halves: tuple[Part, ...] = ()) -> Part:
        return Part(blocks, float(self._weight[blocks].sum()), None, halves)

    def do(self) -> tuple[Run, tuple[Part, ...]]:
        """Search rounds of ever larger parts, until time is over."""
        clock = self._clock
        with memory_errors(clock):
            self.run.incumbent.enter("parts")
            began = clock.seconds
            worth = clock.time_left >= self._steering.worth_processes
            self._workers = chosen_workers(self._task, self._pooled, len(self.parts), worth=worth)
            self._round()
            while not (clock.expired or self._done) and len(self.parts) > 1:
                self._merge()
                self._round()
            self._attack()
            self.run.phases["parts"] = clock.seconds - began
        return self.so_far()

    def _attack(self) -> None:
        """Adopt the parameters of a single remaining part as an attack on all records."""
        run, found = self.run, self.parts[0].search
        if len(self.parts) == 1 and found is not None:
            theta = run.system.aggregator.domain.exact(found.theta)
            run.incumbent.improve(theta, run.evaluator.weight(run.system.aggregator.form(theta)))

    @property
    def _done(self) -> bool:
        """Whether a lower bound is useless: known parameters or an order link as many."""
        incumbent, best = self.run.incumbent, self.run.orders.best
        return incumbent.proven or (best is not None and best.weight >= incumbent.bound)

    def so_far(self) -> tuple[Run, tuple[Part, ...]]:
        """Copy the current results, as the thread may continue for a while."""
        run, incumbent = self.run, self.run.incumbent.frozen()
        outcome = out_of_time(incumbent, run.outcome)
        known = replace(run, incumbent=incumbent, phases=dict(run.phases), outcome=outcome)
        deciding = tuple(part for each in self.parts for part in each.deciding())
        return known, deciding if incumbent.bound < self._evens - 1e-9 else ()

    def close(self) -> None:
        """Close the worker processes, except for those of the run, which do the final recount."""
        if self._workers is not None and self._workers is not self._pooled:
            self._workers.close()

    def _round(self) -> None:
        """Search every unsettled part for its share of the time."""
        clock, steering = self._clock, self._steering
        open_parts = [at for at, part in enumerate(self.parts) if not part.settled]
        longest = steering.seconds * len(self.parts[0].blocks) / steering.size
        workers = self._workers
        assert workers is not None
        # Equal shares, so that the result does not depend on the order in which parts end.
        fixed = None
        if clock.counts and clock.remaining is not None:
            fixed = min(longest, clock.remaining / max(1, len(open_parts)))

        def share(left: int) -> float | None:
            remaining = clock.remaining
            if fixed is not None or remaining is None:
                return longest if fixed is None else fixed
            return max(1e-6, min(longest, remaining * min(1.0, workers.slots / left)))

        tasks = [self.parts[at].blocks for at in open_parts]
        searches = workers.each(search_part, tasks, clock, share)
        for done, (number, found) in enumerate(searches, start=1):
            at = open_parts[number]
            self.parts[at] = replace(self.parts[at], search=found)
            self._note(done, len(tasks))

    def _merge(self) -> None:
        """Merge parts in pairs, settled with settled, as their bounds are most likely to stay tight."""
        order = sorted(range(len(self.parts)), key=lambda at: not self.parts[at].settled)
        merged = []
        for first, second in zip(order[::2], order[1::2], strict=False):
            halves = (self.parts[first], self.parts[second])
            merged.append(self._part(np.sort(np.concatenate([half.blocks for half in halves])), halves))
        self.parts = merged + [self.parts[at] for at in order[len(merged) * 2 :]]

    def _note(self, done: int, many: int) -> None:
        incumbent = self.run.incumbent
        incumbent.tighten(sum(part.bound for part in self.parts))
        incumbent.work = f"{done:,} of {many:,} parts"
        incumbent.tell()
