"""Search for implicit hitting sets: separate cores that the current one misses, and attack by local search.

Every core loses a block, so the weight of the lightest set that hits all cores is lost. The local search
links one more block and gives up as few others as necessary, chosen from the core that prevents it. It also
moves between sets of equal weight, to cross plateaus; every core found on the way strengthens the bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import Proof, rounded_bound, whole
from linkrisk.solver.engines.exact.branching import BranchAndCut, Worker
from linkrisk.solver.engines.exact.cores import Answer, Core, CoreFinder
from linkrisk.solver.engines.exact.hitting_set import CoveringProgram, HittingSet
from linkrisk.solver.engines.exact.pairs import SmallCores
from linkrisk.solver.engines.exact.treatments import treatment
from linkrisk.solver.engines.steering import STEERING, HittingSteering, Steering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.incumbent import Incumbent

_EVEN = 0.1


class SwapSearch:
    """Local search over sets of blocks that can be linked together.

    `weight` (open,): weight of each open block. `learn`: called with every core.
    """

    def __init__(
        self,
        finder: CoreFinder,
        scorer: Scorer,
        weight: FloatArray,
        learn: Callable[[Answer], object],
        random: np.random.Generator,
        steering: HittingSteering = STEERING.hitting,
    ) -> None:
        self._steering = steering
        self._finder, self._scorer, self._weight = finder, scorer, weight
        self._learn, self._random = learn, random
        self._linked = np.zeros(weight.size, dtype=bool)
        self._tabu = np.zeros(weight.size, dtype=np.intp)
        self._step = self._stale = 0
        self._offered: FloatArray | None = None
        self._shares = np.zeros(weight.size)
        self._best = 0.0

    def start(self, theta: FloatArray) -> None:
        """Start at these parameters, unless the current set has a larger weight."""
        linked = self._scorer.exact_margins(theta) > STRICT
        if self._weight @ linked > self._weight @ self._linked:
            self._linked, self._stale = linked, 0
            self._best = float(self._weight @ linked)

    def offer(self, theta: FloatArray, point: FloatArray) -> None:
        """Set restart parameters for a search that stagnates, and the shares at which blocks are given up."""
        self._offered, self._shares = theta, point

    def step(self) -> FloatArray | None:
        """Try to link one more block; return parameters if they improve on the best."""
        self._step += 1
        self._stale += 1
        if self._stale > self._steering.patience and self._offered is not None:
            self._linked = self._scorer.exact_margins(self._offered) > STRICT
            self._tabu[:] = 0
            self._offered, self._stale = None, 0
        outside = np.flatnonzero(~self._linked & (self._tabu < self._step))
        if outside.size == 0:
            return None
        # Prefer blocks that fractional hitting sets keep, and give up those that they give up.
        likely = 1.0 + _EVEN - self._shares[outside]
        block = int(self._random.choice(outside, p=likely / likely.sum()))
        wanted = self._linked.copy()
        wanted[block] = True
        for _ in range(self._steering.given_up + 1):
            answer = self._finder.ask(np.flatnonzero(wanted))
            if answer.theta is not None:
                return self._move(answer.theta, wanted)
            if answer.core is None:
                return None
            self._learn(answer)
            others = np.array(sorted(answer.core - {block}), dtype=np.intp)
            if others.size == 0:  # lost, whatever other blocks are given up
                self._tabu[block] = np.iinfo(np.intp).max
                return None
            least = others[self._tabu[others] == self._tabu[others].min()]
            likely = _EVEN + self._shares[least]
            wanted[self._random.choice(least, p=likely / likely.sum())] = False
        self._tabu[block] = self._step + self._steering.tabu
        return None

    def _move(self, theta: FloatArray, wanted: BoolArray) -> FloatArray | None:
        linked = wanted | (self._scorer.exact_margins(theta) > STRICT)
        gain = self._weight @ linked - self._weight @ self._linked
        if gain < -1e-9:
            return None
        if gain > 1e-9:
            self._stale = 0
        self._tabu[self._linked & ~linked] = self._step + self._steering.tabu
        self._linked = linked
        if self._weight @ linked <= self._best + 1e-9:
            return None
        self._best = float(self._weight @ linked)
        return theta


_MISSED = 0.999


class HittingSearch:
    """Implicit hitting set search on one block system.

    `incumbent`: receives every improvement of attack and bound. `evaluator`: recounts the attacks. `seed`:
    seed of the random witnesses. `undecided`: whether rounding left a query undecided.
    """

    def __init__(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        seed: int,
        steering: Steering = STEERING,
    ) -> None:
        self._steering, self._hitting_steering = steering, steering.hitting
        self._system, self._incumbent, self._evaluator = system, incumbent, evaluator
        self._random = np.random.default_rng(seed)
        aggregator = system.aggregator
        self._probes = np.vstack(
            [incumbent.solution, aggregator.domain.sample(self._hitting_steering.probes, self._random)]
        )
        self._scorer = Scorer(system, self._probes, incumbent.clock.spend)
        self.master = HittingSet(system.open_weight)
        self._whole = whole(system.open_weight)
        self._swaps = SwapSearch(
            self._new_finder(), self._scorer, system.open_weight, self._learn, self._random, steering.hitting
        )
        self._small = SmallCores(
            system, self._scorer, incumbent.clock, self._learn_pair, self._random, steering.pairs
        )
        self._finders = [self._new_finder() for _ in range(incumbent.clock.threads)]
        self._workers = [self._worker(finder) for finder in self._finders]
        self._branching: BranchAndCut | None = None
        self._proving: BranchAndCut | None = None
        self._swapping = Lock()
        self._began, self._swapped = incumbent.clock.now, 0.0
        self._point = np.ones(system.open_blocks.size)
        self.undecided = False

    def _new_finder(self) -> CoreFinder:
        # Threads must not share a scorer, whose working set grows.
        clock, finders = self._incumbent.clock, self._steering.finders
        scorer = Scorer(self._system, self._probes, clock.spend)
        return treatment(self._system.aggregator.domain).finder(self._system, scorer, clock, finders)

    def ask_about(self, sets: Iterable[Core]) -> None:
        """Test sets of blocks that are cores of a similar problem.

        `sets`: blocks of the pair. Sets with a lost block are skipped; blocks that are always linked are left
        out.
        """
        system, finder = self._system, self._finders[0]
        place = np.full(system.lost.size, -1)
        place[system.open_blocks] = np.arange(system.open_blocks.size)
        for blocks in sets:
            if self._over:
                break
            some = np.array(sorted(blocks), dtype=np.intp)
            known = np.sort(place[some[place[some] >= 0]])
            if known.size and not system.lost[some].any():
                self._learn_pair(finder.ask(known))

    def pairs_of_rows(self, until: float) -> None:
        """Find pairs of blocks that two rows exclude, by their entries (`Treatment.pairs_of_rows`)."""
        with self._anew():
            self._small.sample(self._incumbent.solution)
            self._small.two_rows(until)

    def all_pairs(self, until: float) -> None:
        """Test single blocks and all pairs that are not decided yet."""
        with self._anew():
            self._small.sample(self._incumbent.solution)
            self._small.ask(self._finders, until)

    @contextmanager
    def _anew(self) -> Iterator[None]:
        """Restart the tree when many small cores have been found: they change the branching."""
        before = len(self.master.cores)
        self._incumbent.enter("pairs")
        yield
        if len(self.master.cores) > self._hitting_steering.many * before:
            self._branching = None

    def branch(self, until: float) -> None:
        """Run branch and cut until optimality is proven or the clock reaches `until` seconds."""
        clock = self._incumbent.clock
        self._incumbent.enter("branch and cut")
        self._swaps.start(self._incumbent.solution)
        if self._branching is None:
            self._branching = BranchAndCut(self._workers, self._system.open_blocks.size, self._enough)
        self._branching.run(lambda: self._over or clock.now >= until, self._tell)

    @property
    def proof(self) -> Proof:
        """Return the evidence for the bound, if this search tightened it last."""
        splits = (-1,) if self._proving is None else self._proving.splits()
        return Proof("hitting-set", tuple(self.master.cores.values()), splits)

    def rehearse(self) -> None:
        """Answer one query and shrink its core, to compile all code."""
        answer = self._finders[0].ask(np.arange(self._system.open_blocks.size))
        if answer.core is not None:
            self._finders[0].shrink(answer, sorted(answer.core))

    def _worker(self, finder: CoreFinder) -> Worker:
        return Worker(
            program=CoveringProgram(self.master, self._incumbent.clock.spend, self._steering.hitting),
            separate=lambda point: self._separate(finder, point),
            spare=lambda idle: self._spare(finder, idle),
        )

    def _tell(self) -> None:
        assert self._branching is not None
        bound = min(self._branching.bound, self._target)
        self._incumbent.work = f"{len(self.master.cores)} cores, {self._branching.nodes} nodes"
        before = self._incumbent.bound
        self._tighten(bound)
        if self._incumbent.bound < before:
            self._proving = self._branching

    @property
    def _target(self) -> float:
        """Compute the weight that must be given up to prove the best attack optimal."""
        return float(self._system.open_weight.sum()) + self._system.sure_weight - self._incumbent.value

    def _enough(self, given_up: float) -> bool:
        """Tell whether giving up this weight leaves no better attack."""
        return self._rounded(given_up) >= self._target - 1e-9

    def _rounded(self, given_up: float) -> float:
        return float(np.ceil(given_up - 1e-6)) if self._whole else given_up

    def _spare(self, finder: CoreFinder, idle: bool) -> None:
        """Spend a share of time on local search; if only one node is open, help its thread."""
        clock = self._incumbent.clock
        if clock.now < self._began + self._hitting_steering.alone:
            # Small problems finish within that time, deterministically, as no threads race.
            time.sleep(self._hitting_steering.idle if idle else 0.0)
        elif self._swapped < self._hitting_steering.swap_share * (
            clock.now - self._began
        ) and self._swapping.acquire(False):
            try:
                self._swap()
            finally:
                self._swapping.release()
        elif idle:
            self._help(finder)

    def _swap(self) -> None:
        clock = self._incumbent.clock
        began = clock.now
        while not self._over and clock.now < began + self._hitting_steering.swap_time:
            theta = self._swaps.step()
            if theta is not None:
                self._attack(theta)
        self._swapped += clock.now - began

    def _help(self, finder: CoreFinder) -> None:
        """Separate cores that another thread's point misses, with some of its blocks left out."""
        point = self._point
        inside = (point < self._hitting_steering.thresholds[0]) & (
            self._random.random(point.size) < self._hitting_steering.helped
        )
        if not self._collect(finder, point, inside):
            time.sleep(self._hitting_steering.idle)

    def _learn(self, answer: Answer) -> bool:
        """Add a core; True if it is new."""
        if answer.core is None or answer.proof is None:
            self.undecided |= answer.theta is None and not self._incumbent.clock.expired
            return False
        return self.master.add(answer.core, answer.proof)

    def _learn_pair(self, answer: Answer) -> None:
        self._learn(answer)
        if (
            answer.theta is not None
            and self._scorer.exact_weight(answer.theta) > self._incumbent.value - self._system.sure_weight
        ):
            self._attack(answer.theta)

    @property
    def _over(self) -> bool:
        return self._incumbent.proven or self._incumbent.clock.expired

    # ---- cores that the current hitting set misses

    def _separate(self, finder: CoreFinder, point: FloatArray) -> bool:
        """Separate cores among the blocks that a fractional hitting set keeps; True if it misses one."""
        self._point = point
        asked = -1
        for threshold in self._hitting_steering.thresholds:
            inside = point < threshold
            if np.count_nonzero(inside) > asked and self._collect(finder, point, inside):
                return True
            asked = int(np.count_nonzero(inside))
        return False

    def _collect(self, finder: CoreFinder, point: FloatArray, inside: BoolArray) -> bool:
        """Collect cores among these blocks until the rest can all be linked; True if one was new or missed.

        A core that another thread found first is not new, but this point may miss it.
        """
        found = 0
        inside = inside.copy()
        while inside.any() and found < finder.at_once and not self._over:
            answer = finder.ask(np.flatnonzero(inside))
            if answer.theta is not None:
                self._attack(answer.theta)
                self._swaps.offer(answer.theta, point)
                break
            if answer.core is None:
                self._learn(answer)
                core = frozenset(np.flatnonzero(inside).tolist())
            else:
                core, new = self._shrunk(finder, answer, point)
                # Another thread may have added it since the point was computed, so the point still misses it.
                found += new or float(point[list(core)].sum()) < _MISSED
            # Look for a disjoint core, without the block that the hitting set was nearest to taking.
            left = [block for block in sorted(core) if inside[block]]
            if not left:  # a core with other blocks would be found again and again
                break
            inside[max(left, key=lambda block: (point[block], self._random.random()))] = False
        return found > 0

    def _shrunk(self, finder: CoreFinder, answer: Answer, point: FloatArray) -> tuple[Core, bool]:
        """Shrink a core, first by the blocks nearest to being given up; also returns whether it is new."""
        assert answer.core is not None
        if len(answer.core) > 2:
            order = sorted(answer.core, key=lambda block: (-point[block], self._random.random()))
            answer = finder.shrink(answer, order)
        assert answer.core is not None
        return answer.core, self._learn(answer)

    # ---- both ends of the interval

    def _attack(self, theta: FloatArray) -> None:
        aggregator = self._system.aggregator
        repaired = aggregator.domain.repair(theta)
        self._incumbent.improve(repaired, self._evaluator.weight(aggregator.form(repaired)))

    def _tighten(self, given_up: float) -> None:
        """Update the bound by a lower bound on the weight that cannot be linked."""
        open_weight = float(self._system.open_weight.sum())
        bound = self._system.sure_weight + open_weight - self._rounded(given_up)
        self._incumbent.tighten(rounded_bound(bound, self._system.pair.weight))
        self._incumbent.tell()
