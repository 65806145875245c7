"""The exact engine: which search when, and what the result says."""

from __future__ import annotations

from typing import ClassVar

from formulations.block_system import BlockSystem
from solver.backends.base import Status
from solver.engines.attacks import widen
from solver.engines.base import Engine, EngineOptions, EngineResult, Record
from solver.engines.exact.hitting import HittingSearch
from solver.engines.exact.tree import SimplexTree
from solver.engines.scoring import Scorer
from solver.linkage.evaluator import Evaluator

MOST_TREE_DIMENSIONS = 7
_TREE_SHARE = 0.6
_TREE_SECONDS = 600.0
_UNDECIDED = (
    "some records exclude each other only up to rounding, so the interval stays open; --engine milp may "
    "close it up to its margin"
)


class ExactEngine(Engine):
    """Branch and bound on simplices in few dimensions, implicit hitting sets in many.

    The bound holds for every parameter of the domain: no margin, no constant C.
    """

    name: ClassVar[str] = "exact"

    def run(
        self, system: BlockSystem, record: Record, evaluator: Evaluator, options: EngineOptions
    ) -> EngineResult:
        """Close the interval from both sides until its ends meet or the clock has run out."""
        clock = record.clock
        began = clock.seconds
        phases: dict[str, float] = {}
        notes: tuple[str, ...] = ()
        if system.open_blocks.size and not record.proven:
            if system.aggregator.on_simplex and system.aggregator.dimension <= MOST_TREE_DIMENSIONS:
                SimplexTree(system, record, evaluator).run(clock.share(_TREE_SHARE, _TREE_SECONDS))
                phases["tree"] = clock.seconds - began
            if not record.proven and not clock.expired:
                search = HittingSearch(system, record, evaluator, options.seed)
                search.run()
                notes = (_UNDECIDED,) if search.undecided and not record.proven else ()
                phases["hitting sets"] = clock.seconds - began - phases.get("tree", 0.0)
            widen(system, Scorer(system), record, evaluator)
        status = Status.INTERRUPTED if clock.stopped else Status.FEASIBLE
        return EngineResult(
            status=Status.OPTIMAL if record.proven else status,
            limit=None if record.proven else clock.limit,
            margin=None,
            phases=phases,
            model=None,
            versions={},
            notes=notes,
        )
