"""Implicit hitting sets: collect cores where the current hitting set misses them, until both ends meet.

First all pairs of blocks that cannot both be linked, because small cores say most. Then cores among the
blocks that the fractional hitting set of least weight leaves out, which is cheap; last among those that a
whole one leaves out.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem
from solver.engines.base import CoreProof, Record, rounded_bound, whole
from solver.engines.exact.cores import Answer, Core, CoreFinder, LinearCoreFinder
from solver.engines.exact.hitting_set import HittingSet
from solver.engines.exact.semidefinite_cores import SemidefiniteCoreFinder
from solver.engines.exact.swaps import SwapSearch
from solver.engines.scoring import STRICT, Scorer
from solver.linkage.evaluator import Evaluator

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_THRESHOLDS = (1e-6, 0.34, 0.6)
_MASTER_SECONDS = 20.0
_WITNESS_CELLS = 400_000_000
_MOST_WITNESSES = 6_000
_PROBES = 8
_PAIRS_SHARE = 0.4
_PAIRS_BETWEEN_BOUNDS = 2_000
_STALLED = 4
_LEAST_RISE = 1.0
_SWAP_SHARE = 0.4
_MEANWHILE_SECONDS = 0.2


class HittingSearch:
    """The search of one block system.

    Parameters
    ----------
    system : BlockSystem
    record : Record
        Takes every improvement of attack and bound.
    evaluator : Evaluator
        Counts the attacks.
    seed : int
        Seed of the random witnesses.

    Attributes
    ----------
    undecided : bool
        Whether rounding left it open if some blocks can all be linked.
    """

    def __init__(self, system: BlockSystem, record: Record, evaluator: Evaluator, seed: int) -> None:
        self._system, self._record, self._evaluator = system, record, evaluator
        self._random = np.random.default_rng(seed)
        aggregator = system.aggregator
        probes = np.vstack([record.theta, aggregator.sample(_PROBES, self._random)])
        self._scorer = Scorer(system, probes)
        kind = SemidefiniteCoreFinder if aggregator.semidefinite else LinearCoreFinder
        self._finder: CoreFinder = kind(system, self._scorer, record.clock)
        self.master = HittingSet(system.open_weight, self._random)
        self._whole = whole(system.open_weight)
        self._swaps = SwapSearch(self._finder, self._scorer, system.open_weight, self._learn, self._random)
        self._point = np.zeros(system.open_blocks.size)
        self.undecided = False

    def small_cores(self, until: float = np.inf) -> None:
        """Single blocks and all pairs, then cores that fractional hitting sets miss, until that time."""
        together = self._witnesses()
        self._singles(together)
        self._pairs(together, until)
        if self.master.cores:
            self._relaxed_rounds(until)

    def rounds(self, until: float) -> None:
        """Cores that whole hitting sets miss, until all is proven or the clock shows `until` seconds."""
        clock = self._record.clock
        self._record.phase = "hitting sets"
        self._swaps.start(self._record.theta)
        with ThreadPoolExecutor(1) as helper:
            while not self._over and clock.seconds < until:
                began = clock.seconds
                left = min(until - began, np.inf if clock.remaining is None else clock.remaining)
                point = self._lightest(min(_MASTER_SECONDS, left), helper)
                self._tighten(self.master.bound)
                if self._over or not self._separate(point, 0.5):
                    return
                self._swap(clock.seconds - began)

    def _lightest(self, seconds: float, helper: ThreadPoolExecutor) -> FloatArray:
        """A lightest hitting set, by local search, or by HiGHS while this thread collects more cores."""
        gap = 0.999 if self._whole else 1e-6
        found, at_best = self.master.search(self.master.bound + gap)
        if not at_best:
            solving = helper.submit(self.master.whole, self.master.rows(), seconds, gap)
            while not solving.done() and not self._over:
                self._separate(self._point, 0.5)
                self._swap(_MEANWHILE_SECONDS)
            found = solving.result()
        self._point = found
        return found

    def _swap(self, seconds: float) -> None:
        """Walk through sets of linked blocks for a share of some seconds."""
        until = self._record.clock.seconds + _SWAP_SHARE * seconds
        while not self._over and self._record.clock.seconds < until:
            theta = self._swaps.step()
            if theta is not None:
                self._attack(theta)

    def _learn(self, answer: Answer) -> None:
        if answer.core is not None and answer.proof is not None:
            self.master.add(answer.core, answer.proof)

    @property
    def _over(self) -> bool:
        return self._record.proven or self._record.clock.expired

    # ---- small cores first

    def _witnesses(self) -> BoolArray:
        """Which pairs of open blocks some random parameters link together, shape (open, open)."""
        self._record.phase = "pairs"
        aggregator = self._system.aggregator
        cells = self._system.values.size  # entries, or non-zeros of a sparse matrix
        count = max(50, min(_MOST_WITNESSES, _WITNESS_CELLS // max(1, cells)))
        points = aggregator.sample(count, self._random)
        share = self._random.uniform(size=(count, 1)) ** 2
        points = np.vstack([points, (1.0 - share) * self._record.theta + share * points])
        open_blocks = self._system.open_blocks.size
        together = np.zeros((open_blocks, open_blocks), dtype=bool)
        for first in range(0, len(points), 500):
            linked = self._scorer.linked(points[first : first + 500]).astype(np.float32)
            together |= (linked @ linked.T) > 0.0
            if self._record.clock.expired:
                break
        return together

    def _witness(self, theta: FloatArray, together: BoolArray) -> None:
        linked = self._scorer.exact_margins(theta) > STRICT
        together[np.ix_(linked, linked)] = True
        if self._system.open_weight @ linked + self._system.sure_weight > self._record.linked:
            self._attack(theta)

    def _singles(self, together: BoolArray) -> None:
        """Prove that a block is lost, or find parameters that link it."""
        for block in np.flatnonzero(~together.diagonal()):
            if self._over:
                return
            if not together[block, block]:
                self._ask(np.array([block]), together)

    def _pairs(self, together: BoolArray, until: float) -> None:
        """Prove that two blocks exclude each other, or find parameters that link both."""
        able = together.diagonal()
        first, second = np.nonzero(np.triu(~together & able[:, None] & able[None, :], 1))
        until = min(until, self._record.clock.share(_PAIRS_SHARE, np.inf))
        for done, at in enumerate(self._random.permutation(first.size)):
            if self._over or self._record.clock.seconds > until:
                return
            if not together[first[at], second[at]]:
                self._ask(np.array([first[at], second[at]]), together)
            if done % _PAIRS_BETWEEN_BOUNDS == 0:
                self._tighten_relaxed()

    def _ask(self, blocks: NDArray[np.intp], together: BoolArray) -> None:
        answer = self._finder.ask(blocks)
        self._learn(answer)
        if answer.theta is not None:
            self._witness(answer.theta, together)
        elif answer.core is None:
            self._note_undecided()

    def _note_undecided(self) -> None:
        self.undecided |= not self._record.clock.expired

    # ---- cores that the current hitting set misses

    def _relaxed_rounds(self, until: float) -> None:
        """Cores that the fractional hitting set misses, until they no longer raise its weight."""
        self._record.phase = "cores"
        bounds: list[float] = []
        while not self._over and self._record.clock.seconds < until:
            point = self._tighten_relaxed()
            bounds.append(self.master.bound)
            if len(bounds) > _STALLED and bounds[-1] - bounds[-1 - _STALLED] < _LEAST_RISE:
                return
            if not any(self._separate(point, threshold) for threshold in _THRESHOLDS):
                return

    def _separate(self, point: FloatArray, threshold: float) -> bool:
        """Collect cores among the blocks that a hitting set leaves out; True when there was a new one."""
        inside = point < threshold
        found = False
        while inside.any() and not self._record.clock.expired:
            answer = self._finder.ask(np.flatnonzero(inside))
            if answer.theta is not None:
                self._attack(answer.theta)
                return found
            if answer.core is not None and answer.proof is not None:
                core, proof = self._shrunk(answer, point)
                found |= self.master.add(core, proof)
            else:
                self._note_undecided()
                core = frozenset(np.flatnonzero(inside).tolist())
            # Another core, without the block of this one that the hitting set was nearest to taking.
            inside[max(sorted(core), key=lambda block: (point[block], self._random.random()))] = False
        return found

    def _shrunk(self, answer: Answer, point: FloatArray) -> tuple[Core, CoreProof]:
        assert answer.core is not None
        if len(answer.core) > 2:
            order = sorted(answer.core, key=lambda block: (-point[block], self._random.random()))
            answer = self._finder.shrink(answer, order)
        assert answer.core is not None
        assert answer.proof is not None
        return answer.core, answer.proof

    # ---- both ends of the interval

    def _attack(self, theta: FloatArray) -> None:
        aggregator = self._system.aggregator
        repaired = aggregator.repair(theta)
        self._record.improve(repaired, self._evaluator.weight(aggregator.form(repaired)))

    def _tighten_relaxed(self) -> FloatArray:
        if not self.master.cores:
            return np.zeros(self._system.open_blocks.size)
        point = self.master.relaxed()
        self._tighten(self.master.bound)
        return point

    def _tighten(self, given_up: float) -> None:
        """Take a lower bound on the weight that cannot be linked."""
        if not np.isfinite(given_up):
            return
        open_weight = float(self._system.open_weight.sum())
        if self._whole:
            given_up = float(np.ceil(given_up - 1e-6))
        bound = self._system.sure_weight + open_weight - given_up
        self._record.work = f"{len(self.master.cores)} cores"
        self._record.tighten(rounded_bound(bound, self._system.pair.weight))
        self._record.tell()
