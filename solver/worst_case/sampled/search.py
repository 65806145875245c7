"""Search samples for a bound, search them jointly for an attack, and count that attack on the file.

The result is valid whenever the clock ends: a sample that was not searched counts in full against the bound,
and a record that was not compared counts as not linked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.block_system import system_of
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.baselines import baseline_forms, own_attacks
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.shared_counts import WholeCounts
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.limits import in_time, memory_errors
from linkrisk.solver.run.result import plain
from linkrisk.solver.run.workers import Sequential, Workers
from linkrisk.solver.worst_case.parts import PartSearch, chosen_workers, search_part
from linkrisk.solver.worst_case.sampled.samples import Samples
from linkrisk.solver.worst_case.search import SearchTask, Start, count_starts, search
from linkrisk.solver.worst_case.search_state import Run, out_of_time

_FEWEST, _MOMENT = 300, 100_000_000
"""Records counted even without time, and the pairs of one and a candidate that take a moment."""

_PIECES = 50
"""Batches in which the records outside the samples are counted: more report progress more often."""


@dataclass
class SampledRun:
    """State of a sampled run, and finally its answer."""

    run: Run  # of the file: the attack, counted as far as there was time, and a certain bound
    samples: Samples
    # searched samples, by position in `Samples.parts`
    searches: dict[int, PartSearch] = field(default_factory=dict)
    # number of records outside the samples, first in order, that the attack was also searched on
    attacked: int = 0
    # number of records outside the samples planned to be counted, fixed before the first; those not used for
    # the attack come first
    meant: int = 0
    # number of attacks among which the one shown was selected by its links outside the samples; None if one
    # of them may depend on these records
    attacks: int | None = 1

    def bound(self, samples: int) -> float:
        """Bound the linked weight of the first so many samples together."""
        weight = self.run.system.pair.weight
        return sum(
            self.searches[k].bound if k in self.searches else float(weight[self.samples.parts[k]].sum())
            for k in range(samples)
        )


def search_samples(task: SearchTask, samples: Samples) -> SampledRun:
    """Search samples until they are done or the clock has run out."""
    work = _SampleSearches(task, samples)
    try:
        return in_time(work, task.clock)
    finally:
        work.close()


def pair_of(task: SearchTask) -> LinkagePair:
    """Return the pair of all records."""
    return task.searched.pair


class _SampleSearches:
    """The phases of one run; `state` is a valid answer at every moment."""

    def __init__(self, task: SearchTask, samples: Samples) -> None:
        self._task, self._searched, self._starts = task, task.searched, task.starts
        self._clock, self._steering = task.clock, task.options.steering.sampling
        pair, aggregator, clock = task.searched.pair, task.searched.aggregator, task.clock
        nothing = np.empty(0, dtype=np.intp)
        system = system_of(pair, aggregator, nothing, nothing, ~pair.reachable, complete=False)
        incumbent = Incumbent(clock, aggregator.equal(), 0.0, system.kept_weight, task.report, phase="")
        self._pooled = task.pool.workers(task)
        counted = None if self._pooled is None else WholeCounts(self._pooled, task, pair_of, self._tell)
        evaluator = Evaluator(pair, stop=lambda: clock.expired, spend=clock.spend, workers=counted)
        run = Run(incumbent, evaluator, system, out_of_time(incumbent))
        known = all(start.same_draw for start in task.starts)
        self.state = SampledRun(run, samples, attacks=1 + len(task.starts) if known else None)
        self._workers: Workers[SearchTask] = self._pooled or Sequential(task)
        self._counting = 0.0

    def do(self) -> SampledRun:
        """Run first counts, the samples, the attack and its count.

        Warm starts are counted on all records that they linked, while there is time: the attack found on the
        samples may link fewer, or be counted on few.
        """
        run, clock = self.state.run, self._clock
        with memory_errors(clock):
            run.incumbent.enter("compare")
            run.incumbent.note()
            count_starts(run, self._starts)
            self._look()
            run.phases["baselines"] = clock.seconds
            run.incumbent.enter("samples")
            self._search_samples()
            run.phases["samples"] = clock.seconds - run.phases["baselines"]
            run.incumbent.enter("attack")
            began = clock.seconds
            theta = self._attack()
            run.phases["attack"] = clock.seconds - began
            run.incumbent.enter("compare")
            self._count(theta)
        run.outcome = out_of_time(run.incumbent, run.outcome)
        return self.state

    def so_far(self) -> SampledRun:
        """Copy the current results, as the thread may continue for a while."""
        run, incumbent = self.state.run, self.state.run.incumbent.frozen()
        known = replace(run, incumbent=incumbent, phases=dict(run.phases), baselines=dict(run.baselines))
        known.outcome = out_of_time(incumbent, known.outcome)
        return replace(self.state, run=known, searches=dict(self.state.searches))

    def _tell(self, tasks: str) -> None:
        """Report the progress of a count on workers."""
        incumbent = self.state.run.incumbent
        incumbent.work = tasks
        incumbent.tell()

    def close(self) -> None:
        """Close the worker processes, except for those of the run, which do the final recount."""
        if self._workers is not self._pooled:
            self._workers.close()

    def _look(self) -> None:
        """Count equal weights on the samples: a first attack, and a measurement of the counting speed.

        If that takes a small part of the time, all records and the other baselines are counted.
        """
        clock, samples = self._clock, self.state.samples
        theta, began = self._searched.aggregator.equal(), clock.now
        self._count_some(theta, self._searched.aggregator.form(theta), samples.drawn)
        # The first count includes building the index, so this overestimates.
        self._counting = (clock.now - began) / samples.drawn.size * self._searched.pair.blocks
        left = clock.remaining
        if left is None or self._counting < self._steering.looking_share * left:
            self._count_baselines()

    # ---- the bound

    def _search_samples(self) -> None:
        """Search every sample, stage by stage; later stages only if time is left."""
        clock, steering, state = self._clock, self._steering, self.state
        remaining = clock.remaining
        until = np.inf
        if remaining is not None:
            least = steering.attacking_share * remaining + steering.counts * self._counting
            until = clock.now + remaining - min((1.0 - steering.searching_share) * remaining, least)
        pairs = state.samples.drawn.size * len(self._searched.pair.candidates)
        much = pairs >= steering.pairs_worth_processes and clock.time_left >= steering.worth_processes
        plan = state.samples.plan
        self._workers = chosen_workers(self._task, self._pooled, plan.samples, worth=much)
        first = 0
        for stage in plan.stages:
            each = (until - clock.now) * self._side_by_side / (stage.samples - first)
            if first and each < steering.later_share * self._seconds_each:
                return
            tasks = [state.samples.parts[k] for k in range(first, stage.samples)]

            # Equal shares, so that the result does not depend on the order in which samples end.
            fixed = each if clock.counts and until < np.inf else None

            def share(many: int, fixed: float | None = fixed) -> float | None:
                left = until - clock.now
                if fixed is not None or left == np.inf:
                    return fixed
                return max(1e-6, left * min(1.0, self._side_by_side / many))

            for number, found in self._workers.each(search_part, tasks, clock, share):
                state.searches[first + number] = found
                self._note()
            first = stage.samples

    @property
    def _side_by_side(self) -> int:
        """Number of samples searched in parallel; work is counted as if it were one."""
        return 1 if self._clock.counts else self._workers.slots

    @property
    def _seconds_each(self) -> float:
        """Average duration of the searches of samples."""
        searches = self.state.searches.values()
        return sum(found.seconds for found in searches) / max(1, len(searches))

    def _note(self) -> None:
        """Tighten the certain bound of the file: records outside the samples count in full."""
        state, pair = self.state, self._searched.pair
        incumbent = state.run.incumbent
        drawn = state.samples.drawn
        outside = float(pair.weight[pair.reachable].sum()) - float(
            pair.weight[drawn][pair.reachable[drawn]].sum()
        )
        incumbent.tighten(outside + state.bound(len(state.samples.parts)))
        incumbent.work = f"{len(state.searches):,} of {len(state.samples.parts):,} samples"
        incumbent.tell()

    # ---- the attack

    def _attack(self) -> FloatArray:
        """Search parameters that link many records of the samples and of further records.

        Parameters fitted to a small sample overfit it, and link fewer of the other records.
        """
        clock, steering, state = self._clock, self._steering, self.state
        found = [state.searches[k].theta for k in sorted(state.searches)]  # in a fixed order
        if clock.expired:
            return found[0] if found else self._searched.aggregator.equal()
        samples = state.samples
        state.attacked = min(samples.outside.size, max(0, steering.attacked - samples.drawn.size))
        drawn = np.sort(np.concatenate([samples.drawn, samples.outside[: state.attacked]]))
        union = replace(self._searched, pair=self._searched.pair.part(drawn))
        starts = [Start(each.theta, each.linked[drawn]) for each in self._starts]
        starts += [Start(theta, np.zeros(drawn.size, dtype=np.bool_)) for theta in found]
        limit = clock.share(steering.attack_share, np.inf)
        part = clock.part(None if limit == np.inf else limit - clock.now)
        engine, options = self._task.engine, self._task.options
        return search(SearchTask(union, engine, part, options, starts=starts, prove=False)).incumbent.solution

    # ---- the count

    def _count(self, theta: FloatArray) -> None:
        """Count the attack: on the samples, then on as many other records as there is time for.

        The number of the latter is fixed before any of them is compared: optional stopping would bias the
        count. Records not used for the attack come first, as only they estimate its links on the file.
        """
        run, clock, samples = self.state.run, self._clock, self.state.samples
        exact = self._searched.aggregator.domain.exact(theta)
        form = self._searched.aggregator.form(exact)
        began = clock.now
        self._count_some(exact, form, samples.drawn)
        each, left = (clock.now - began) / samples.drawn.size, clock.remaining
        others = np.roll(samples.outside, -self.state.attacked)
        most = others.size
        if left is not None:
            most = min(most, int(self._steering.counting_share * left / max(each, 1e-9)))
        fresh = others.size - self.state.attacked
        least = min(fresh, _FEWEST, _MOMENT // len(self._searched.pair.candidates))
        self.state.meant = most = max(most, least)
        if least:  # counted however late it is: a few records estimate most
            run.evaluator.best.note(form, Evaluator(run.evaluator.pair).count(form, others[:least]))
        if most > least:
            for blocks in np.array_split(others[least:most], min(_PIECES, most - least)):
                self._count_some(exact, form, blocks)
        if not run.baselines:
            self._count_baselines()

    def _count_some(self, theta: FloatArray, form: DistanceForm, blocks: IndexArray) -> None:
        """Count the attack on further records."""
        run = self.state.run
        if self._clock.expired:
            return
        run.evaluator.count(form, blocks)
        known = run.evaluator.best.known(form)
        if known is not None:
            run.incumbent.improve(theta, known.linked_weight, even=True)
            run.incumbent.work = f"{int(known.settled.sum()):,} of {known.settled.size:,} records"
            run.incumbent.tell()

    def _count_baselines(self) -> None:
        """Count the baselines; those in the family are attacks, too."""
        run, searched = self.state.run, self._searched
        own = own_attacks(searched.aggregator, searched.pair)
        forms = {name: searched.aggregator.form(theta) for name, theta in own.items()}
        for name, form in {**baseline_forms(searched.pair), **forms}.items():
            if self._clock.expired:
                return
            evaluation = run.evaluator.count(form)
            run.baselines[name] = plain(evaluation.linked_weight) if evaluation.settled.all() else None
            if name in own:
                run.incumbent.improve(own[name], evaluation.linked_weight)
