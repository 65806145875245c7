"""Schedule the searches of the exact engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.attacks.search import attack, widen
from linkrisk.solver.engines.base import Engine, EngineOptions, EngineResult, Proof
from linkrisk.solver.engines.exact.hitting_search import HittingSearch
from linkrisk.solver.engines.exact.simplex_tree import SimplexTree
from linkrisk.solver.engines.exact.treatments import treatment
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Status
from linkrisk.solver.run.incumbent import Incumbent


def _undecided() -> str:
    return (
        "some records exclude each other only up to rounding, so the interval stays open; "
        f"{called('engine', 'milp')} may close it up to its margin"
    )


class ExactEngine(Engine):
    """Branch and bound on simplices in few dimensions, implicit hitting sets in many.

    The bound holds for every parameter of the domain: no margin, no constant C.
    """

    name: ClassVar[str] = "exact"
    attacks: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    proves: ClassVar[bool] = True
    counts: ClassVar[bool] = True

    def run(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        options: EngineOptions,
    ) -> EngineResult:
        """Improve attack and bound until they meet or the clock has run out."""
        run = _Run(system, incumbent, evaluator, options)
        if system.open_blocks.size:
            run.search()
            widen(system, Scorer(system, spend=incumbent.clock.spend), incumbent, evaluator)
        status = Status.INTERRUPTED if incumbent.clock.stopped else Status.FEASIBLE
        return EngineResult(
            status=Status.OPTIMAL if incumbent.proven else status,
            limit=None if incumbent.proven else incumbent.clock.limit,
            margin=None,
            phases=run.phases,
            model=None,
            versions={},
            notes=(_undecided(),) if run.undecided and not incumbent.proven else (),
            proof=run.proof,
        )


class _Run:
    """The state of one run, which schedules each search while the gap is open."""

    def __init__(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        options: EngineOptions,
    ) -> None:
        self._system, self._incumbent, self._evaluator = system, incumbent, evaluator
        self._seed, self._steering, self._asked = options.seed, options.steering, options.asked
        self.phases: dict[str, float] = {}
        self.proof = Proof("lost")
        self.undecided = False

    def search(self) -> None:
        """Run the quick searches first, then all heuristics, then the long searches."""
        aggregator = self._system.aggregator
        hitting = HittingSearch(self._system, self._incumbent, self._evaluator, self._seed, self._steering)
        tree = treatment(aggregator.domain).tree
        if tree is not None and aggregator.dimension <= self._steering.turns.most_tree_dimensions:
            self._both(tree(self._system, self._incumbent, self._evaluator, self._steering.tree), hitting)
        else:
            self._hitting_sets(hitting)

    def _hitting_sets(self, hitting: HittingSearch) -> None:
        """Run implicit hitting sets, for parameters of many dimensions."""
        clock, turns = self._incumbent.clock, self._steering.turns
        self._hitting(hitting, lambda: hitting.ask_about(self._asked))
        self._hitting(hitting, lambda: hitting.branch(clock.now + turns.branching))
        # Among many blocks, most pairs would not be tested in the time.
        many = self._system.open_blocks.size > turns.most_paired
        share = turns.few_pairs_share if many else turns.pairs_share
        self._hitting(hitting, lambda: hitting.all_pairs(clock.share(share, np.inf)))
        if clock.counts:  # sequentially, as they share the incumbent
            self._attack()
            self._hitting(hitting, lambda: hitting.branch(np.inf))
            return
        # The tree uses one processor, hitting sets the others.
        with ThreadPoolExecutor(1) as pool:
            attacking = pool.submit(self._attack)
            self._hitting(hitting, lambda: hitting.branch(np.inf))
            attacking.result()

    def _both(self, tree: SimplexTree, hitting: HittingSearch) -> None:
        """Alternate between tree and hitting sets, for parameters of few dimensions."""
        clock, turns = self._incumbent.clock, self._steering.turns
        few = self._system.open_blocks.size <= turns.most_blocks
        if not self._asked:  # known cores speed these up
            self._tree(tree, clock.now + turns.quick_tree)
        self._hitting(hitting, lambda: hitting.ask_about(self._asked))
        self._hitting(hitting, lambda: hitting.branch(clock.now + turns.quick_branching))
        self._tree(tree, clock.now + turns.short_tree)
        if few:  # thousands of blocks have too many pairs
            self._hitting(hitting, lambda: hitting.pairs_of_rows(clock.share(turns.rows_share, np.inf)))
            self._hitting(hitting, lambda: hitting.branch(clock.now + turns.branching))
        self._tree(tree, clock.now + turns.long_tree)
        self._attack()
        self._tree(tree, clock.now + turns.longer_tree)
        if not self._narrow:
            self._tree(tree, clock.now + turns.longest_tree)
        if few:
            until = clock.share(turns.hitting_share, np.inf)
            self._hitting(hitting, lambda: hitting.all_pairs(0.5 * (clock.now + until)))
            self._hitting(hitting, lambda: hitting.branch(until))
            if self._narrow:  # closes steadily; a tree closes a wide gap only at its end
                self._hitting(hitting, lambda: hitting.branch(np.inf))
        self._tree(tree, np.inf)

    @property
    def _over(self) -> bool:
        return self._incumbent.proven or self._incumbent.clock.expired

    @property
    def _narrow(self) -> bool:
        return self._incumbent.gap <= self._steering.turns.narrow * self._system.total_weight

    def _tree(self, tree: SimplexTree | None, until: float) -> None:
        if tree is not None and not self._over:
            with self._timed("tree", "simplex-tree"):
                tree.run(until)

    def _attack(self) -> None:
        if not self._over:
            self._incumbent.enter("attack")
            with self._timed("attack", None):
                attack(
                    self._system,
                    self._incumbent,
                    self._evaluator,
                    self._seed,
                    steering=self._steering.attack,
                )

    def _hitting(self, search: HittingSearch, part: Callable[[], None]) -> None:
        if not self._over:
            with self._timed("hitting sets", "hitting-set"):
                part()
            # For a tree too: finding its proof again may take longer than the time left.
            self.proof = replace(search.proof, method=self.proof.method)
            self.undecided = search.undecided

    @contextmanager
    def _timed(self, phase: str, method: str | None) -> Iterator[None]:
        """Record the duration of a phase, and that the bound rests on it if it improved the bound."""
        began, bound = self._incumbent.clock.seconds, self._incumbent.bound
        yield
        self.phases[phase] = self.phases.get(phase, 0.0) + self._incumbent.clock.seconds - began
        if method is not None and self._incumbent.bound < bound:
            self.proof = replace(self.proof, method=method)
