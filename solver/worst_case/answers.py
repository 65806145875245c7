"""Make the result of a finished search: recounts, parameters, comparisons, and how it was made."""

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
"""Relative difference of two sums of doubles that are the same: a little less than `verify` allows."""


def answer(problem: Problem, request: FitRequest, run: Run, parts: Sequence[Part] = ()) -> FamilyFit:
    """Make the result of one search, every number of it recounted by the evaluator."""
    evaluation = run.final  # before all else, which may depend on it
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
    """Number of parts that the bound is the sum of, and how many of them were closed."""
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
    """Objective of the engine and its bound, where that is not the number of linked records."""
    found = problem.survey.links(evaluation.linked, shares(problem))
    if found:
        most = max(found[WEIGHTED[0]], bound * problem.survey.unit)
        return {**found, WEIGHTED[1]: plain(most)}
    if problem.pair.ties is Ties.SHARE:
        return dict(zip(EXPECTED, (evaluation.linked_weight, bound), strict=True))
    return {}


def _status(status: Status, objective: Mapping[str, float]) -> Status:
    """Final status: a gap that is small beside the mean weight may be wide beside the linked weight."""
    low, high = objective.values() if objective else (0.0, 0.0)
    open_end = high > low * (1.0 + _MEET)
    return Status.FEASIBLE if status is Status.OPTIMAL and open_end else status


def work_done(clock: Clock) -> dict[str, float]:
    """The work limit and the work done, in units, where there is a limit."""
    return {} if clock.work_limit is None else {"work_limit": clock.work_limit, "work": round(clock.now, 6)}


def _comparison(problem: Problem, run: Run) -> dict[str, Any]:
    """The baselines, and the best of those outside of the family where it links more."""
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
    """Linked weights in the units of the sampling weights; None stays None."""
    return {name: None if count is None else plain(count * unit) for name, count in counts.items()}


def tied_partners(problem: Problem, evaluation: Evaluation) -> dict[str, Any]:
    """Records that only a tie keeps from being linked, and those of them tied with twins.

    Twins equal the partner on every attribute: no parameters separate them. All other ties are those of the
    parameters found, and decide only where no rival is nearer. With twins also the expected links of guessing
    among them, and what guessing adds at most, whatever the parameters.
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
    """The evaluation of every block with the record's label."""
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
    """The values, NaN where there is none."""
    return np.where(np.isfinite(values), values, np.nan)


def most_blocks(weight: FloatArray, bound: float) -> int:
    """Largest number of blocks with a total weight within `bound`: the lightest first.

    Sums are equal where a certificate, with its exact bound, takes them for equal.
    """
    return int(np.searchsorted(np.cumsum(np.sort(weight)), bound * (1 + 2e-9) + 1e-9, side="right"))


SHOWN_AS_ZERO = 0.00005
"""Smaller values print as 0.0000."""

_MOMENT = 0.15
"""Seconds that counting may take where the time limit has passed."""


def tie_breaking(aggregator: Aggregator, run: Run, linked: int) -> dict[str, Any] | None:
    """Attributes (of an OWA: ranks) that print as zero, although links depend on them.

    Their names by `Words.owners`, and ``linked_without``, the records linked if records never differed in
    them; None where there was no time to count. None where no such parameter matters.
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
    # Those that make no difference after all, the smallest first, are left out.
    idle: list[int] = []
    for at in small.tolist() if small.size > 1 else ():
        if count([*idle, at]) == linked:
            idle.append(at)
    breaking = [names[at] for at in sorted(set(small.tolist()) - set(idle))]
    return {aggregator.words.owners: breaking, "linked_without": without}


class _Count:
    """Count records linked without some attributes (or ranks, or other owners of parameters)."""

    def __init__(self, aggregator: Aggregator, run: Run) -> None:
        self._aggregator, self._theta = aggregator, run.incumbent.solution
        until = _until(run.incumbent.clock)
        self._evaluator = Evaluator(run.evaluator.pair, stop=lambda: run.incumbent.clock.seconds >= until)

    def __call__(self, gone: Sequence[int]) -> int | None:
        """Number linked; None where there is no time for all records."""
        evaluation = self._evaluator.count(self._form(gone))
        return evaluation.count if evaluation.settled.all() else None

    def _form(self, gone: Sequence[int]) -> DistanceForm:
        if self._aggregator.importance(self._theta) is not None:
            return self._aggregator.form(self._theta).without(gone)
        rest = self._theta.copy()
        rest[list(gone)] = 0.0
        return self._aggregator.form(self._aggregator.domain.repair(rest))


def _until(clock: Clock) -> float:
    """When counting must end, in seconds of the clock."""
    if clock.stopped or clock.out_of_memory or clock.time_limit is not None:
        limit = 0.0 if clock.stopped or clock.out_of_memory else clock.time_limit or 0.0
        return max(limit, clock.seconds + _MOMENT)
    return float("inf")
