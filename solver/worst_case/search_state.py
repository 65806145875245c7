"""Keep the state of a search, which is a valid answer at every moment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import called
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.solver.engines.base import EngineResult
from linkrisk.solver.engines.steering import STEERING, BuildSteering
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.linkage.lexicographic import Ordered
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.limits import last_call

_UNCOUNTED = (
    "{:,} of {:,} records were compared before the {} limit was reached: the others count as not "
    "re-identified in the number found, and as re-identified in the bound"
)


@dataclass(frozen=True)
class Orders:
    """Links of lexicographic comparison of attributes or ranks, which bounds must cover."""

    found: tuple[Ordered, ...] = ()  # the best order of each kind that is a limit of the family
    counted: bool = False  # whether there was time to count them

    @property
    def best(self) -> Ordered | None:
        """Best order."""
        return max(self.found, key=lambda order: order.weight, default=None)


@dataclass
class Run:
    """State of a search, and finally its answer."""

    incumbent: Incumbent[FloatArray]  # attack and bound
    evaluator: Evaluator  # has counted them
    system: BlockSystem  # the rows that the engine works on
    outcome: EngineResult  # outcome of the engine; until then, that of an interrupted run
    phases: dict[str, float] = field(default_factory=dict)  # seconds by phase
    # weight linked by each distance that needs no learning; None where there was no time to count it
    baselines: dict[str, float | None] = field(default_factory=dict)
    orders: Orders = Orders()  # links that the bound must cover (`beside_orders`)
    # (blocks,): blocks linked by the order that has raised the bound
    in_order: BoolArray | None = None

    @property
    def out_of_reach(self) -> BoolArray:
        """Mark blocks that one rival dominates, except for those that a lexicographic order links."""
        lost = self.system.lost
        return lost if self.in_order is None else lost & ~self.in_order

    @cached_property
    def final(self) -> Evaluation:
        """Evaluate every block under the best parameters, within the time limit and a short grace period.

        Blocks compared neither here nor in the recount of these parameters are not `settled`.
        """
        aggregator, incumbent = self.system.aggregator, self.incumbent
        # As written to JSON, and exactly in the domain.
        incumbent.solution = aggregator.domain.exact(incumbent.solution)
        until = last_call(incumbent.clock)
        evaluation = self.evaluator.rank(
            aggregator.form(incumbent.solution), stop=lambda: incumbent.clock.seconds >= until
        )
        # An earlier partial count may now be higher, or lower by the rounding into the domain.
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
    """Set the outcome: the engine's, or that of a run cut off by its clock."""
    if outcome is None:
        outcome = EngineResult(Status.FEASIBLE, limit=None, margin=None, phases={}, model=None, versions={})
    if incumbent.proven:
        return replace(outcome, status=Status.OPTIMAL, limit=None)
    status = Status.INTERRUPTED if incumbent.clock.stopped else Status.FEASIBLE
    return replace(outcome, status=status, limit=outcome.limit or incumbent.clock.limit)


LARGEST_SYSTEM = 40_000_000
"""Most pairs of block and candidate for a big-C model without dominated rows: memory limits it."""

LARGEST_UNREDUCED = 4_000_000
"""Most pairs for a big-C model with a row for each of them."""


def problem_system(
    problem: Searched,
    *,
    reduce: bool = True,
    model: bool = True,
    clock: Clock | None = None,
    steering: BuildSteering = STEERING.build,
) -> BlockSystem:
    """Build the rows of every block, or of as many as a share of the clock's time allows.

    UsageError when there are more pairs than a big-C model can hold.
    """
    most = LARGEST_SYSTEM if reduce and problem.aggregator.monotone else LARGEST_UNREDUCED
    if model and pairs_of(problem) > most:
        raise UsageError(
            f"{problem.pair.blocks:,} records and {len(problem.pair.candidates):,} candidates make "
            f"{pairs_of(problem):,} comparisons, more than the {most:,} that the big-C model can hold: take "
            f"a sample of the records, fit with {called('engine', 'exact')}, or judge given parameters with "
            "`evaluate`",
            option="engine",
        )
    reduce = reduce or not model
    if clock is None:
        return block_system(problem.pair, problem.aggregator, reduce=reduce)
    until = max(steering.moment, clock.share(steering.model_share if model else 1.0, float("inf")))
    return block_system(
        problem.pair,
        problem.aggregator,
        reduce=reduce,
        expired=lambda: clock.stopped or clock.out_of_memory or clock.now >= until,
    )


def first_incumbent(system: BlockSystem, evaluator: Evaluator, clock: Clock) -> Incumbent[FloatArray]:
    """Make the first incumbent: equal weights as attack, and all blocks that are not lost as bound."""
    theta = system.aggregator.equal()
    linked = evaluator.weight(system.aggregator.form(theta))
    incumbent = Incumbent(clock, theta, linked, system.kept_weight)
    incumbent.note()
    return incumbent


def pairs_of(problem: Searched) -> int:
    """Count the pairs of a block and a candidate."""
    return problem.pair.blocks * len(problem.pair.candidates)


_BEYOND_TIES = (
    "{:.6g} are re-identified by comparing {}, so the bound is not lower; the bound of distances is {:.6g}, "
    "as differences that are very small compared with others count as ties: take codes such as 99999999 out "
    "of the columns, or give the fine ones in coarser units"
)

_ORDERS_UNCOUNTED = (
    "there was no time to count what comparing attributes (or ranks) one after another links: the bound is "
    "that of distances that differ by more than a tie"
)


def beside_orders(run: Run, searched: Searched) -> Run:
    """Raise the bound to the links of lexicographic comparison, and note it, also if not counted.

    A bound on distances that differ by more than ties does not cover lexicographic orders.
    """
    notes, pair, incumbent = list(run.outcome.notes), searched.pair, run.incumbent
    best = run.orders.best
    if best is not None and best.weight > incumbent.bound + 1e-9:
        unit, said = searched.unit, _described(best, pair.attributes)
        notes.append(_BEYOND_TIES.format(best.weight * unit, said, incumbent.bound * unit))
        incumbent.bound, run.in_order = best.weight, best.linked
        run.outcome = replace(run.outcome, limit=run.outcome.limit or Limit.TIES)
    if not run.orders.counted and incumbent.bound < pair.weight[pair.reachable].sum() - 1e-9:
        notes.append(_ORDERS_UNCOUNTED)
    run.outcome = out_of_time(incumbent, replace(run.outcome, notes=tuple(notes)))
    return run


def _described(best: Ordered, attributes: tuple[str, ...]) -> str:
    """Describe an order of comparison in words."""
    ranks = [f"the attribute distance of rank {k + 1}" for k in range(len(attributes))]
    names = ranks if best.ranked else [shown_name(name) for name in attributes]
    said = " and then ".join(names[k] for k in best.order)
    return f"{said} alone" if len(best.order) == 1 else f"{said}, each only where those before it tie"
