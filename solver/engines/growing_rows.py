"""Generate rows, for pairs too large to hold all of them, from the attacks that the evaluator refutes.

A subset of the rows gives a valid upper bound, as a relaxation, and the evaluator recounts every attack on
all candidates. The rivals that kept blocks from being linked become rows, so memory grows with the rows that
have mattered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.block_system import BlockSystem, system_of
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.tie_tolerance import Partners
from linkrisk.solver.engines.attacks.search import attack
from linkrisk.solver.engines.base import Engine, EngineOptions, EngineResult
from linkrisk.solver.engines.steering import STEERING, GrowthSteering, Steering
from linkrisk.solver.linkage.evaluator import BlockWorkers, Evaluation, Evaluator
from linkrisk.solver.run.clock import Beside, Clock
from linkrisk.solver.run.incumbent import Incumbent

_BESIDE = 6
"""Numbers stored for a row beside its coefficients."""


class GrowingRows(Evaluator):
    """An evaluator that records the rivals it finds as rows.

    `pair`: the blocks and their candidates. `aggregator`: its parameters are counted. `clock`: stops a pass
    over the blocks; blocks not yet visited keep their rows. `seed`: seed of the first parameters evaluated.
    `workers`: count rivals in large files; the answers do not depend on them. `fresh`: rows found since the
    last `system`.
    """

    def __init__(
        self,
        pair: LinkagePair,
        aggregator: Aggregator,
        clock: Clock,
        seed: int,
        steering: GrowthSteering = STEERING.growth,
        workers: BlockWorkers | None = None,
    ) -> None:
        super().__init__(pair, stop=lambda: clock.expired, spend=clock.spend, workers=workers)
        self._aggregator = aggregator
        self._partners = aggregator.partners(pair)
        self._lost = ~pair.reachable
        self._keys = np.empty(0, dtype=np.int64)
        self._met: list[NDArray[np.int64]] = []
        self.fresh = 0
        self._clock, self._seed, self.steering = clock, seed, steering

    def follow(self, evaluator: Evaluator) -> None:
        """Continue with the results of another evaluator."""
        self.best = evaluator.best

    def mark_lost(self, lost: NDArray[np.bool_]) -> None:
        """Mark blocks as lost, shape (blocks,)."""
        self._lost = self._lost | lost
        super().mark_lost(self._lost)

    def probe(self, incumbent: Incumbent[FloatArray], until: float) -> None:
        """Find the nearest rivals of every block at a few parameters, until the clock shows `until`."""
        aggregator = self._aggregator
        points = [
            aggregator.starts(self._partners.distances),
            aggregator.domain.sample(self.steering.probes, np.random.default_rng(self._seed)),
        ]
        for theta in np.vstack([aggregator.equal()[None, :], *points]):
            if self._clock.expired or self._clock.now >= until:
                break
            form = aggregator.form(theta)
            evaluation = self.nearest(form)
            incumbent.improve(theta, evaluation.linked_weight)
            self._keep(evaluation, everyone=True)

    def weight(self, form: DistanceForm) -> float:
        """Count the weight of the linked blocks, and record the rivals of the others as rows."""
        evaluation = self.nearest(form)
        self._keep(evaluation, everyone=False)
        return evaluation.linked_weight

    def _keep(self, evaluation: Evaluation, *, everyone: bool) -> None:
        # Blocks that were not evaluated have no rival here.
        wanted = ~self._lost & (evaluation.rival >= 0) & (everyone | ~evaluation.linked)
        block = np.flatnonzero(wanted)
        keys = block.astype(np.int64) * len(self.pair.candidates) + evaluation.rival[block]
        keys = keys[~np.isin(keys, self._keys)]
        if keys.size:
            self._met.append(keys)
            self._keys = np.union1d(self._keys, keys)
            self.fresh += keys.size

    def system(self) -> BlockSystem:
        """Build the system of the rows so far, without implied rows and those of lost blocks.

        If memory is short, a random subset that fits: fewer rows give a larger bound, which still holds.
        """
        if self._met:
            self._judge(np.concatenate(self._met))
            self._met, self.fresh = [], 0
        block, rival = self._split(self._keys)
        kept = np.flatnonzero(~self._lost[block] & ~self._implied(block, rival))
        most = self._most_rows()
        if kept.size > most:
            kept = np.sort(np.random.default_rng(self._seed).choice(kept, most, replace=False))
        return system_of(
            self.pair, self._aggregator, block[kept], rival[kept], self._lost.copy(), complete=False
        )

    def no_rows(self) -> BlockSystem:
        """Build the system without any rows."""
        none = np.empty(0, dtype=np.intp)
        return system_of(self.pair, self._aggregator, none, none, self._lost.copy(), complete=False)

    def _most_rows(self) -> int:
        """Limit the rows by memory, copies made by a search included."""
        megabytes = self._clock.megabytes_left
        if np.isinf(megabytes):
            return int(np.iinfo(np.intp).max)
        return int(
            self.steering.memory_share * 1e6 * megabytes / (8 * (self._aggregator.dimension + _BESIDE))
        )

    def _split(self, keys: NDArray[np.int64]) -> tuple[IndexArray, IndexArray]:
        many = len(self.pair.candidates)
        return (keys // many).astype(np.intp), (keys % many).astype(np.intp)

    def _compared(self, block: IndexArray, rival: IndexArray) -> tuple[Partners, FloatArray]:
        """Compute attribute distances from each block to its partner and to the rival."""
        distances = self.pair.distances(block, rival, self._aggregator.differences)
        return self._partners[block], distances

    def _judge(self, keys: NDArray[np.int64]) -> None:
        """Mark blocks that one of these rivals dominates, and so loses under all parameters."""
        block, rival = self._split(keys)
        lost = block[self._aggregator.most(*self._compared(block, rival)) <= 0.0]
        if not self._lost[lost].all():
            self._lost[lost] = True
            self.mark_lost(self._lost)

    def _implied(self, block: IndexArray, rival: IndexArray) -> NDArray[np.bool_]:
        """Select rows that hold for all parameters."""
        return np.asarray(self._aggregator.least(*self._compared(block, rival)) > 0.0)


class _Round(Beside):
    """The clock of one round, which ends when enough fresh rows justify a new round.

    `clock`: of the run. `system`: the rows of this round. `least`: minimum duration of the round, unless its
    search ends, measured as ``clock.now``. `until`: latest end.
    """

    def __init__(
        self, clock: Clock, rows: GrowingRows, system: BlockSystem, least: float, until: float | None = None
    ) -> None:
        super().__init__(clock)
        self._rows, self._size, self._until = rows, system.rows, until
        self._least = clock.now + least

    @property
    def deadline(self) -> float | None:
        """When the round must end."""
        limits = [limit for limit in (self._whole.deadline, self._until) if limit is not None]
        return min(limits, default=None)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the round or the run is over."""
        return self._whole.seconds_left if self.counts else self.remaining

    @property
    def expired(self) -> bool:
        """Whether the round must end now."""
        grown = self._rows.fresh > self._rows.steering.fresh * self._size and self.now >= self._least
        late = self._until is not None and self.now >= self._until
        return grown or late or super().expired


class Holder(Protocol):
    """Owner of the incumbent and the rows of a search."""

    incumbent: Incumbent[FloatArray]
    system: BlockSystem


class GrowingRun:
    """Alternates between attacks, engine and row generation, round by round.

    `holder`: its incumbent receives every improvement of attack and bound, and it receives the rows of every
    round.
    """

    def __init__(self, rows: GrowingRows, holder: Holder, steering: Steering = STEERING) -> None:
        self._steering = steering
        self._rows, self._incumbent, self._clock = rows, holder.incumbent, holder.incumbent.clock
        self._holder = holder
        self._take()
        self.rounds = 0
        self._patience = steering.growth.first_round

    def attack(self, seed: int) -> None:
        """Attack until no attack finds fresh rows, or for a share of the remaining time."""
        growth = self._steering.growth
        until = self._clock.share(growth.attack_share, growth.attack_longest)
        while not self._incumbent.proven and not self._clock.expired and self._clock.now < until:
            with self._round(until):
                attack(self.system, self._incumbent, self._rows, seed, steering=self._steering.attack)
            if not self._grow():
                break

    def run(self, engine: Engine, options: EngineOptions) -> EngineResult:
        """Run the engine until it finds no fresh rows, or the clock has run out."""
        phases: dict[str, float] = {}
        while True:
            with self._round(None):
                outcome = engine.run(self.system, self._incumbent, self._rows, options)
            for name, seconds in outcome.phases.items():
                phases[name] = phases.get(name, 0.0) + seconds
            if self._incumbent.proven or self._clock.expired or not self._grow():
                break
        limit = None if self._incumbent.proven else self._clock.limit
        return replace(outcome, phases=phases, limit=limit)

    @contextmanager
    def _round(self, until: float | None) -> Iterator[None]:
        """Let the incumbent use the clock of a round."""
        self.rounds += 1
        self._incumbent.clock = _Round(self._clock, self._rows, self.system, self._patience, until)
        try:
            yield
        finally:
            self._incumbent.clock = self._clock

    def _grow(self) -> bool:
        """Add fresh rows to the system; False when there are none."""
        if not self._rows.fresh:
            return False
        self._take()
        self._patience *= self._steering.growth.longer
        return True

    def _take(self) -> None:
        """Replace the system by one with all rows found so far."""
        # Free the old rows first: memory would not suffice for both.
        self.system = self._holder.system = self._rows.no_rows()
        self.system = self._rows.system()
        self._holder.system = self.system
        self._incumbent.tighten(self.system.kept_weight)
