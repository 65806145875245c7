"""Run a portfolio of primal heuristics, which gives every engine its warm start.

The portfolio: known starts, the best attack of the simpler aggregator inside this one, random points of the
domain, local search along segments of the domain, hinge-loss linear programs, and linear programs that try to
link one more block. Candidates are scored on the rows of the blocks; the evaluator recounts the best.
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system, system_of
from linkrisk.solver.engines.attacks.linear_programs import WidestMargin, hinge
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer, best_on_lines
from linkrisk.solver.engines.steering import STEERING, AttackSteering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent


class Attack:
    """One run of the portfolio of primal heuristics.

    `system`: the rows of the blocks. `incumbent`: receives every improvement. `evaluator`: recounts the best.
    `seed`: seed of the random choices.
    """

    def __init__(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        seed: int,
        steering: AttackSteering = STEERING.attack,
    ) -> None:
        self.system, self.incumbent, self.evaluator, self._steering = system, incumbent, evaluator, steering
        self.aggregator: Aggregator = system.aggregator
        self.clock: Clock = incumbent.clock
        self.random = np.random.default_rng(seed)

    def run(self, until: float, *, brief: bool = False) -> None:
        """Improve the incumbent until all heuristics are done or the clock reaches `until` seconds.

        A brief run stops after known starts and random points.
        """
        self._until = until
        if self.system.open_blocks.size == 0:
            return
        starts = self._starts()
        points = self.aggregator.domain.sample(
            self._steering.few_points if brief else self._steering.random_points, self.random
        )
        probes = np.vstack([self.incumbent.solution, starts, points[: self._steering.probes]])
        self.scorer = Scorer(self.system, probes, self.clock.spend)
        if self.system.complete:
            self._count(starts)
        self._take(points)
        if brief:
            return
        best = points[np.argsort(-self.scorer.weights(points), kind="stable")]
        for start in range(self._steering.restarts):
            before = self.incumbent.value
            self._search(self._best_known(best[0]) if start == 0 else best[start])
            self._hinge()
            self._extend()
            if self._late() or (start >= 2 and self.incumbent.value <= before):
                break
        widen(self.system, self.scorer, self.incumbent, self.evaluator)

    def _late(self) -> bool:
        return self.incumbent.proven or self.clock.expired or self.clock.now >= self._until

    def _take(self, points: FloatArray) -> bool:
        """Score `points`, recount the best few by the evaluator, and keep an improvement."""
        if len(points) == 0:
            return False
        scores = self.scorer.weights(points) + self.system.sure_weight
        better = False
        for at in np.argsort(-scores, kind="stable")[:3]:
            if scores[at] > self.incumbent.value:
                theta = self.aggregator.domain.repair(points[at])
                better |= self.incumbent.improve(theta, self.evaluator.weight(self.aggregator.form(theta)))
        return better

    def _count(self, points: FloatArray) -> None:
        """Recount all `points`: rows do not show differences far below those of other attributes.

        With row generation, the best starts were counted when the first rows were generated.
        """
        for theta in points:
            if self._late():
                return
            self.incumbent.improve(theta, self.evaluator.weight(self.aggregator.form(theta)))

    def _best_known(self, point: FloatArray) -> FloatArray:
        """Return the best known parameters, or this point where the rows give it a larger weight."""
        both = np.vstack([self.incumbent.solution, point])
        return np.asarray(both[int(np.argmax(self.scorer.weights(both)))])

    def _starts(self) -> FloatArray:
        partner = self.system.pair.partner_distances(self.aggregator.differences)
        return self.aggregator.starts(partner)

    def _search(self, theta: FloatArray) -> None:
        """Local search by exact line searches in many directions."""
        best = self.scorer.exact_weight(theta)
        failures = 0
        while failures < self._steering.failures and not self._late():
            directions = self._directions(theta)
            chords = np.array([self.aggregator.domain.chord(theta, direction) for direction in directions])
            weights, steps = best_on_lines(self.scorer, theta, directions, chords)
            at = int(np.argmax(weights))
            failures += 1
            if weights[at] < best:
                continue
            point = self.aggregator.domain.repair(theta + steps[at] * directions[at])
            weight = self.scorer.exact_weight(point)
            if weight >= best:
                failures = 0 if weight > best else failures
                best, theta = weight, point
                self._take(theta[None, :])

    def _directions(self, theta: FloatArray) -> FloatArray:
        """Choose directions towards random points of the domain, and along differences of such points."""
        dense = isinstance(self.system.values, np.ndarray)
        lines = self._steering.lines
        count = lines if dense else min(lines, max(2, self.scorer.points_at_once // 4))
        towards = self.aggregator.domain.sample(count, self.random)
        return np.vstack([towards[::2] - theta, towards[1::2] - towards[: count // 2 * 2 : 2]])

    def _hinge(self) -> None:
        """Solve hinge-loss programs of several widths, from the best parameters so far."""
        margins = self.scorer.exact_margins(self.incumbent.solution)
        typical = float(np.median(np.abs(margins)))
        for share in self._steering.widths:
            if self._late():
                return
            width = max(share * typical, 1e-5)
            self._take(np.array(hinge(self.system, self.scorer, self.clock, self.incumbent.solution, width)))

    def _extend(self) -> None:
        """Try to link one more block by linear programs, the nearest misses first."""
        program = WidestMargin(self.system, self.scorer, self.clock)
        improved = True
        while improved and not self._late():
            improved = False
            margins = self.scorer.exact_margins(self.incumbent.solution)
            inside = np.flatnonzero(margins > STRICT)
            misses = np.flatnonzero(margins <= STRICT)
            for block in misses[np.argsort(-margins[misses], kind="stable")][: self._steering.extended]:
                if self._late():
                    return
                program.require(np.append(inside, block))
                solution = program.solve()
                if solution is not None and solution[1] > STRICT and self._take(solution[0][None, :]):
                    improved = True
                    break


def widen(
    system: BlockSystem, scorer: Scorer, incumbent: Incumbent[FloatArray], evaluator: Evaluator
) -> None:
    """Replace the best parameters by those that link the same blocks with the widest margin."""
    margins = scorer.exact_margins(incumbent.solution)
    program = WidestMargin(system, scorer, incumbent.clock)
    program.require(np.flatnonzero(margins > STRICT))
    solution = program.solve()
    if solution is None:
        return
    theta = system.aggregator.domain.repair(solution[0])
    incumbent.improve(theta, evaluator.weight(system.aggregator.form(theta)), even=True)


def attack(
    system: BlockSystem,
    incumbent: Incumbent[FloatArray],
    evaluator: Evaluator,
    seed: int,
    *,
    brief: bool = False,
    steering: AttackSteering = STEERING.attack,
) -> None:
    """Run the portfolio within a share of the remaining time, that of the simpler aggregator first.

    `incumbent`: receives every improvement. `brief`: run only the quick heuristics, for an engine with its
    own.
    """
    clock = incumbent.clock
    if clock.expired and system.rows > steering.many_rows:
        return  # a smaller system is worth the moment that a first look takes
    if incumbent.proven:
        if system.open_blocks.size:
            widen(system, Scorer(system, spend=clock.spend), incumbent, evaluator)
        return
    relative = system.aggregator.simpler()
    if relative is not None:
        simpler, lift = relative
        inner = _simpler_system(system, simpler, clock)
        start = simpler.equal()
        inner_incumbent = Incumbent(clock, start, evaluator.weight(simpler.form(start)), incumbent.bound)
        until = clock.share(steering.simpler_share, _longest(inner, steering) / 2)
        Attack(inner, inner_incumbent, evaluator, seed, steering).run(until, brief=brief)
        theta = lift(inner_incumbent.solution)
        incumbent.improve(theta, evaluator.weight(system.aggregator.form(theta)))
    until = clock.share(steering.share, _longest(system, steering))
    Attack(system, incumbent, evaluator, seed, steering).run(until, brief=brief)


def _simpler_system(system: BlockSystem, simpler: Aggregator, clock: Clock) -> BlockSystem:
    """Build the rows of a simpler aggregator; with row generation, those of the same rivals."""
    if system.complete:
        return block_system(system.pair, simpler, expired=lambda: clock.expired)
    lost = np.zeros_like(system.lost)
    return system_of(system.pair, simpler, system.block, system.rival, lost, complete=False)


def _longest(system: BlockSystem, steering: AttackSteering) -> float:
    """Limit the duration of the portfolio, in proportion to the cost of a step."""
    return steering.longest * max(1.0, system.rows / steering.many_rows)
