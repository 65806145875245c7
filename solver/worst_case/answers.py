"""Make the result of a finished search: recounts, parameters, comparisons, and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import Ties
from linkrisk.solver.inputs.problem import Problem, shares
from linkrisk.solver.linkage.baselines import best_known
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.linkage.records_table import RecordsTable
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.run.result import plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.intervals import EXPECTED, WEIGHTED
from linkrisk.solver.worst_case.parts import Part
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.result import FamilyFit
from linkrisk.solver.worst_case.search_state import Run

_MEET = 0.9e-9
"""Relative tolerance at which two sums of doubles are equal: slightly less than `verify` allows."""


def answer(problem: Problem, request: FitRequest, run: Run, parts: Sequence[Part] = ()) -> FamilyFit:
    """Make the result of one search, with every number recounted by the evaluator."""
    evaluation = run.final  # first, as it may use up the time
    engine, choices = request.engine, request.options
    aggregator, incumbent, outcome = problem.aggregator, run.incumbent, run.outcome
    seconds = incumbent.clock.seconds
    unit = problem.survey.unit
    versions = {**library_versions(), **outcome.versions}
    objective = _objective(problem, evaluation, incumbent.bound)
    details = {
        **problem.describe(),
        "engine": engine.name,
        "backend": choices.backend if "backend" in engine.takes else None,
        **objective,
        **problem.survey.strata(evaluation.linked),
        "lost": int(run.out_of_reach.sum()),
        "tied": tied_partners(problem, evaluation),
        "margin": outcome.margin,
        **_parts(parts),
        "importance": aggregator.importance(incumbent.solution),
        "interaction": aggregator.interaction(incumbent.solution),
        "tie_breaking": tie_breaking(aggregator, run, evaluation.count),
        **_comparison(problem, run),
        "notes": [*problem.files.notes, *outcome.notes],
        "certificate": None,
        "seconds": round(seconds, 3),
        "phases": {name: round(value, 3) for name, value in run.phases.items()},
        "model": outcome.model,
        "trace": [
            [time, plain(linked * unit), plain(bound * unit)] for time, linked, bound in incumbent.trace
        ],
        "seed": choices.seed,
        "threads": choices.threads,
        "time_limit": incumbent.clock.time_limit,
        **work_done(incumbent.clock),
        "command": request.command,
        "linkrisk": versions["linkrisk"],
        "versions": versions,
    }
    return FamilyFit(
        linked=evaluation.count,
        linked_upper_bound=most_blocks(problem.pair.weight[~run.out_of_reach], incumbent.bound),
        status=_status(outcome.status, objective).value,
        limit=None if outcome.limit is None else outcome.limit.value,
        parameters=aggregator.decode(incumbent.solution),
        records=problem.pair.blocks,
        table=records_table(problem.labels, evaluation),
        details=details,
    )


def _parts(parts: Sequence[Part]) -> dict[str, Any]:
    """Count the parts whose bounds the bound sums, and the closed ones among them."""
    if not parts:
        return {}
    return {
        "parts": {
            "parts": len(parts),
            "largest": max(part.blocks.size for part in parts),
            "searched": sum(part.search is not None for part in parts),
            "proven": sum(part.settled for part in parts),
        }
    }


def _objective(problem: Problem, evaluation: Evaluation, bound: float) -> dict[str, Any]:
    """Describe the engine's objective and its bound, where the objective is not the number of links."""
    found = problem.survey.links(evaluation.linked, shares(problem))
    if found:
        most = max(found[WEIGHTED[0]], bound * problem.survey.unit)
        return {**found, WEIGHTED[1]: plain(most)}
    if problem.pair.ties is Ties.SHARE:
        return dict(zip(EXPECTED, (evaluation.linked_weight, bound), strict=True))
    return {}


def _status(status: Status, objective: Mapping[str, float]) -> Status:
    """Set the final status: a gap small beside the mean weight may be wide beside the linked weight."""
    low, high = objective.values() if objective else (0.0, 0.0)
    open_end = high > low * (1.0 + _MEET)
    return Status.FEASIBLE if status is Status.OPTIMAL and open_end else status


def work_done(clock: Clock) -> dict[str, float]:
    """Report the work limit and the work done, in units, if there is a limit."""
    return {} if clock.work_limit is None else {"work_limit": clock.work_limit, "work": round(clock.now, 6)}


def _comparison(problem: Problem, run: Run) -> dict[str, Any]:
    """Compare with the baselines, and name the best outside the family where it links more."""
    known = best_known(problem.aggregator, problem.pair, run.baselines, run.incumbent.value)
    found = None
    if known is not None:
        above = known.linked > run.incumbent.bound + 1e-9
        found = {
            "attack": known.name,
            "linked": plain(known.linked * problem.survey.unit),
            "above_bound": above,
            "options": known.options,
        }
    return {"baselines": in_population(run.baselines, problem.survey.unit), "best_known": found}


def in_population(counts: Mapping[str, float | None], unit: float) -> dict[str, Any]:
    """Convert linked weights to units of the sampling weights; None stays None."""
    return {name: None if count is None else plain(count * unit) for name, count in counts.items()}


def tied_partners(problem: Problem, evaluation: Evaluation) -> dict[str, Any]:
    """Count records that only a tie keeps from being linked, and those tied with twins.

    Twins equal the partner on every attribute, so no parameters separate them. All other ties depend on the
    parameters, and matter only where no rival is nearer. With twins, also counts the expected links of
    guessing among them, and the most that guessing adds under any parameters.
    """
    pair = problem.pair
    tied = (evaluation.ties > 0) & (evaluation.rank > 0)
    twins = np.zeros(pair.blocks, dtype=np.bool_)
    if pair.ties is Ties.STRICT:
        twins = tied & (pair.equals > 1)
    alone = twins | (tied & (evaluation.rank == 1))
    found: dict[str, Any] = {"records": int(alone.sum()), "with_twins": int(twins.sum())}
    if found["with_twins"]:
        lots = twins & (evaluation.rank == 1) & (evaluation.ties == pair.equals - 1)
        share = np.where(evaluation.linked, pair.weight, 0.0) + np.where(lots, pair.weight / pair.equals, 0.0)
        found["expected_links"] = plain(float(share.sum()) * problem.survey.unit)
        lots = (pair.weight / pair.equals)[(pair.equals > 1) & pair.reachable]
        found["guessed_at_most"] = plain(float(lots.sum()) * problem.survey.unit)
    return found


def records_table(labels: Sequence[str], evaluation: Evaluation) -> RecordsTable:
    """Build the table of records from the evaluation of every block."""
    names = np.empty(len(labels), dtype=object)
    names[:] = labels
    return RecordsTable(
        record=names,
        linked=evaluation.linked,
        settled=evaluation.settled,
        rank=evaluation.rank,
        distance=_finite(evaluation.distance),
        nearest_other=_finite(evaluation.nearest_other),
        margin=_finite(evaluation.margin),
        ties=evaluation.ties,
    )


def _finite(values: FloatArray) -> FloatArray:
    """Replace values that are not finite by NaN."""
    return np.where(np.isfinite(values), values, np.nan)


def most_blocks(weight: FloatArray, bound: float) -> int:
    """Count the most blocks with a total weight within `bound`, the lightest first.

    Sums are compared with a tolerance under which a certificate with its exact bound agrees.
    """
    return int(np.searchsorted(np.cumsum(np.sort(weight)), bound * (1 + 2e-9) + 1e-9, side="right"))


SHOWN_AS_ZERO = 0.00005
"""Values below this print as 0.0000."""

_MOMENT = 0.15
"""Seconds for a recount after the time limit."""


def tie_breaking(aggregator: Aggregator, run: Run, linked: int) -> dict[str, Any] | None:
    """List attributes (of an OWA: ranks) whose parameters print as zero but decide links.

    Returns their names by `Words.owners`, and ``linked_without``, the links that remain without them; None
    where there was no time to count. None where no such parameter matters.
    """
    theta = run.incumbent.solution
    importance = aggregator.importance(theta)
    names = list(aggregator.decode(theta)["weights"] if importance is None else importance)
    values = np.asarray(theta if importance is None else list(importance.values()))
    small = np.flatnonzero((values > 0.0) & (values < SHOWN_AS_ZERO))
    small = small[np.argsort(values[small], kind="stable")]
    if small.size == 0:
        return None
    count = _Count(aggregator, run)
    without = count(small.tolist())
    if without == linked:
        return None
    # Drop those that make no difference, the smallest first.
    idle: list[int] = []
    for at in small.tolist() if small.size > 1 else ():
        if count([*idle, at]) == linked:
            idle.append(at)
    breaking = [names[at] for at in sorted(set(small.tolist()) - set(idle))]
    return {aggregator.words.owners: breaking, "linked_without": without}


class _Count:
    """Counts the records linked without some owners of parameters, such as attributes or ranks."""

    def __init__(self, aggregator: Aggregator, run: Run) -> None:
        self._aggregator, self._theta = aggregator, run.incumbent.solution
        until = _until(run.incumbent.clock)
        self._evaluator = Evaluator(run.evaluator.pair, stop=lambda: run.incumbent.clock.seconds >= until)

    def __call__(self, gone: Sequence[int]) -> int | None:
        """Count the links; None where there is no time for all records."""
        evaluation = self._evaluator.count(self._form(gone))
        return evaluation.count if evaluation.settled.all() else None

    def _form(self, gone: Sequence[int]) -> DistanceForm:
        if self._aggregator.importance(self._theta) is not None:
            return self._aggregator.form(self._theta).without(gone)
        rest = self._theta.copy()
        rest[list(gone)] = 0.0
        return self._aggregator.form(self._aggregator.domain.repair(rest))


def _until(clock: Clock) -> float:
    """Latest end of the count, in seconds of the clock."""
    if clock.stopped or clock.out_of_memory or clock.time_limit is not None:
        limit = 0.0 if clock.stopped or clock.out_of_memory else clock.time_limit or 0.0
        return max(limit, clock.seconds + _MOMENT)
    return float("inf")
