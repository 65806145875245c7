"""The state of a search, which is its answer whenever it ends, and the final count of all records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.base import EngineResult
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.linkage.lexicographic import Ordered
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.limits import last_call
from linkrisk.solver.run.status import Limit, Status

_UNCOUNTED = (
    "{:,} of {:,} records were compared before the {} limit was reached: the others count as not "
    "re-identified in the number found, and as re-identified in the bound"
)


@dataclass(frozen=True)
class Orders:
    """What comparing attributes, or ranks, one after another links.

    Attributes
    ----------
    found : tuple of Ordered
        The best order of each kind that is a limit of the family.
    counted : bool
        Whether there was time to count them.
    """

    found: tuple[Ordered, ...] = ()
    counted: bool = False

    @property
    def best(self) -> Ordered | None:
        """The order that links most."""
        return max(self.found, key=lambda order: order.weight, default=None)


@dataclass
class Run:
    """The state of a search, and in the end its answer.

    Attributes
    ----------
    incumbent : Incumbent
        Attack and bound.
    evaluator : Evaluator
        Has counted them.
    system : BlockSystem
        The rows that the engine works on.
    outcome : EngineResult
        How the engine ended; until then, what is to be said when the run is cut off.
    phases : dict
        Seconds by phase.
    baselines : dict
        Weight linked by each distance that needs no learning; None where there was no time to count it.
    orders : Orders
        What the bound must not be below (`beside_orders`).
    in_order : ndarray of bool, shape (blocks,), or None
        Blocks linked by the order of attributes or ranks that has raised the bound.
    """

    incumbent: Incumbent[FloatArray]
    evaluator: Evaluator
    system: BlockSystem
    outcome: EngineResult
    phases: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, float | None] = field(default_factory=dict)
    orders: Orders = Orders()
    in_order: BoolArray | None = None

    @property
    def out_of_reach(self) -> BoolArray:
        """Blocks that one rival alone keeps from being linked, except for those that an order links."""
        lost = self.system.lost
        return lost if self.in_order is None else lost & ~self.in_order

    @cached_property
    def final(self) -> Evaluation:
        """What became of every block under the best parameters, as far as the time limit and a moment allow.

        Blocks that neither this nor the count of these parameters has looked at are not `settled`.
        """
        aggregator, incumbent = self.system.aggregator, self.incumbent
        # As they are written, and exactly in the domain.
        incumbent.solution = aggregator.domain.exact(incumbent.solution)
        until = last_call(incumbent.clock)
        evaluation = self.evaluator.final(
            aggregator.form(incumbent.solution), lambda: incumbent.clock.seconds >= until
        )
        # What was counted in part before may now be more; and less, by a rounding that was moved inside.
        incumbent.improve(incumbent.solution, evaluation.linked_weight)
        if evaluation.settled.all():
            incumbent.value = evaluation.linked_weight
        self.outcome = out_of_time(self.incumbent, self.outcome)
        compared = int(evaluation.settled.sum())
        if compared < evaluation.settled.size:
            limit = self.outcome.limit or Limit.TIME
            note = _UNCOUNTED.format(compared, evaluation.settled.size, limit.value)
            self.outcome = replace(self.outcome, notes=(*self.outcome.notes, note))
        return evaluation


def out_of_time(incumbent: Incumbent[FloatArray], outcome: EngineResult | None = None) -> EngineResult:
    """How a run ends: as its engine says, or cut off by the clock before an engine has said anything."""
    if outcome is None:
        outcome = EngineResult(Status.FEASIBLE, limit=None, margin=None, phases={}, model=None, versions={})
    if incumbent.proven:
        return replace(outcome, status=Status.OPTIMAL, limit=None)
    status = Status.INTERRUPTED if incumbent.clock.stopped else Status.FEASIBLE
    return replace(outcome, status=status, limit=outcome.limit or incumbent.clock.limit)
