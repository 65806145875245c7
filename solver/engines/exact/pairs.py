"""Find the strongest cores first: single blocks, and pairs of blocks that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores import Answer, CoreFinder
from linkrisk.solver.engines.exact.rounding import rounding_error
from linkrisk.solver.engines.exact.simplex_conflicts import excluding_multiplier
from linkrisk.solver.engines.steering import STEERING, PairSteering
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ENTRY

_OVERLAP = 0.05
"""Cost of testing each pair of blocks at each point: a matrix product in single precision."""


@kernel
def _pairs_of_rows(values: FloatArray, first: IndexArray, block: int, open_pairs: BoolArray) -> Any:
    """Find a row of each later block that excludes a row of this block, shape (blocks,); -1 if there is none.

    Also returns the row of this block, and the multiplier of the other. Block b has the rows ``first[b]`` to
    ``first[b + 1]``; only blocks with ``open_pairs`` are tested.
    """
    blocks, error = first.size - 1, rounding_error(0, 1.0)  # entries of rows of unit length
    own, other = np.full(blocks, -1, dtype=np.intp), np.full(blocks, -1, dtype=np.intp)
    multiplier = np.zeros(blocks)
    for second in range(block + 1, blocks):
        if not open_pairs[second]:
            continue
        for row in range(first[block], first[block + 1]):
            for rival in range(first[second], first[second + 1]):
                x = excluding_multiplier(values[row], values[rival], error)
                if x > 0.0:
                    own[second], other[second], multiplier[second] = row, rival, x
                    break
            if own[second] >= 0:
                break
    return own, other, multiplier


class SmallCores:
    """Search for cores of one or two blocks.

    `learn`: called with every answer. `together` (some, some): pairs of blocks known to be linked by some
    parameters; single blocks on the diagonal. Of very many blocks, a random sample.
    """

    def __init__(
        self,
        system: BlockSystem,
        scorer: Scorer,
        clock: Clock,
        learn: Callable[[Answer], object],
        random: np.random.Generator,
        steering: PairSteering = STEERING.pairs,
    ) -> None:
        self._steering = steering
        self._system, self._scorer, self._clock = system, scorer, clock
        self._learn, self._random = learn, random
        blocks = system.open_blocks.size
        self._some = np.arange(blocks)
        if blocks > self._steering.most_blocks:
            self._some = np.sort(random.choice(blocks, self._steering.most_blocks, replace=False))
        self._place = np.full(blocks, -1)
        self._place[self._some] = np.arange(self._some.size)
        self._alone = np.zeros(blocks, dtype=bool)
        self.together = np.zeros((self._some.size, self._some.size), dtype=bool)
        self._apart = np.zeros_like(self.together)

    def sample(self, near: FloatArray) -> None:
        """Rule out pairs that random parameters link, half of them towards `near`, until few are new.

        `near` (dimension,).
        """
        cells = self._system.values.size  # entries, or non-zeros of a sparse matrix
        count = max(50, min(self._steering.most_witnesses, self._steering.witness_cells // max(1, cells)))
        points = self._system.aggregator.domain.sample(count, self._random)
        share = self._random.uniform(size=(count, 1)) ** 2
        points = self._random.permutation(np.vstack([points, (1.0 - share) * near + share * points]))
        for first in range(0, len(points), self._steering.at_once):
            if self._clock.expired:
                break
            linked = self._scorer.linked(points[first : first + self._steering.at_once])
            self._alone |= linked.any(axis=1)
            chosen = linked[self._some].astype(np.float32)
            self._clock.spend(_OVERLAP * chosen.size * self._some.size)
            before = np.count_nonzero(self.together)
            self.together |= (chosen @ chosen.T) > 0.0
            if np.count_nonzero(self.together) - before < self._steering.few * before:
                break

    def two_rows(self, until: float) -> None:
        """Find all pairs that two rows exclude, on a simplex, where its corners decide."""
        values = self._system.values
        rows = values if isinstance(values, np.ndarray) else values.toarray()
        blocks = self._system.open_blocks.size
        first = np.searchsorted(self._system.row_open, np.arange(blocks + 1))
        for block in self._some.tolist():
            if self._clock.expired or self._clock.now > until:
                return
            rest = np.diff(first[block:])
            open_pairs = np.zeros(blocks, dtype=bool)
            open_pairs[self._some] = ~self.together[self._place[block]]
            own, other, multiplier = _pairs_of_rows(rows, first, block, open_pairs)
            of_block = int(first[block + 1] - first[block])
            self._clock.spend(ENTRY * of_block * int(rest @ open_pairs[block:]) * rows.shape[1])
            for second in np.flatnonzero(own >= 0):
                multipliers = np.array([1.0, multiplier[second]]) / (1.0 + multiplier[second])
                proof = CoreProof(np.array([own[second], other[second]]), multipliers, np.empty(0))
                self._apart[self._place[block], self._place[second]] = True
                self._learn(Answer(core=frozenset({block, int(second)}), proof=proof))

    def ask(self, finders: Sequence[CoreFinder], until: float) -> None:
        """Test all undecided single blocks and pairs of a sample, in random order.

        `finders`: one for each thread. `until`: stop when the clock reaches these seconds.
        """
        blocks = np.flatnonzero(~self._alone)
        self._ask_all(finders, blocks, blocks, until)
        able = self._alone[self._some]
        unknown = ~self.together & ~self._apart & able[:, None] & able[None, :]
        pairs = np.flatnonzero(np.triu(unknown, 1))
        if pairs.size > self._steering.most_pairs:
            pairs = self._random.choice(pairs, self._steering.most_pairs, replace=False)
        first, second = np.divmod(pairs, max(1, able.size))
        self._ask_all(finders, self._some[first], self._some[second], until)

    def _ask_all(
        self, finders: Sequence[CoreFinder], first: IndexArray, second: IndexArray, until: float
    ) -> None:
        order, threads = self._random.permutation(first.size), len(finders)
        with ThreadPoolExecutor(threads) as pool:
            tasks = [
                pool.submit(
                    self._ask_some, finder, first[order[at::threads]], second[order[at::threads]], until
                )
                for at, finder in enumerate(finders)
            ]
            for task in tasks:
                task.result()

    def _ask_some(self, finder: CoreFinder, first: IndexArray, second: IndexArray, until: float) -> None:
        for one, other in zip(first.tolist(), second.tolist(), strict=True):
            if self._clock.expired or self._clock.now > until:
                return
            at = self._place[one], self._place[other]
            if self._alone[one] if one == other else self.together[at]:
                continue
            answer = finder.ask(np.unique([one, other]))
            self._learn(answer)
            if answer.theta is not None:
                linked = self._scorer.linked(answer.theta[None, :])[:, 0]
                self._alone |= linked
                chosen = linked[self._some]
                self.together[np.ix_(chosen, chosen)] = True
            elif one != other:
                self._apart[at] = answer.core is not None
