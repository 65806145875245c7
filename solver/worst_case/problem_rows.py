"""The rows of a whole problem, where they are all made at once, and what a search of them starts with."""

from __future__ import annotations

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.solver.engines.steering import STEERING, BuildSteering
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.incumbent import Incumbent

LARGEST_SYSTEM = 40_000_000
"""Most pairs of a block and a candidate for a big-C model that leaves dominated rows out."""

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
    """The inequalities of every block, or of as many as a share of the clock's time allows.

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
    """Equal weights as the first attack, and all blocks that are not lost as the first bound."""
    theta = system.aggregator.equal()
    linked = evaluator.weight(system.aggregator.form(theta))
    incumbent = Incumbent(clock, theta, linked, system.kept_weight)
    incumbent.note()
    return incumbent


def pairs_of(problem: Searched) -> int:
    """How many pairs of a block and a candidate there are."""
    return problem.pair.blocks * len(problem.pair.candidates)
