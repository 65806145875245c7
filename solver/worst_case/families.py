"""`fit` for several families of distances: files read once, time shared out, answers handed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.aggregators import AGGREGATORS, Aggregator, make_aggregator
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.solver.compiling.ahead import compile_once
from linkrisk.solver.inputs.problem import Problem, ProblemOptions, make_problem, with_aggregator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import INPUT_ERRORS, UsageError, noted
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import part_of_call
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.answers import work_done
from linkrisk.solver.worst_case.family_results import Family, FitResults
from linkrisk.solver.worst_case.search import Start
from linkrisk.solver.worst_case.single_fit import FitRequest, Fitted, fit_one

FloatArray = NDArray[np.float64]

ALL = "all"
"""What stands for all families."""

_STOPPED = "stopped before its search began"
_NO_TIME = "no time was left for it; a longer --time-limit would search it too"

_LONGER = 1.3
"""How much longer one more family may take to end than any before it."""

_SPARE = 0.5
"""Seconds of the promise, a tenth and a second beyond the limit, that no further family may use."""


def several(aggregator: str | Sequence[str]) -> tuple[str, ...] | None:
    """The families that are asked for, the poorer before the richer; None where it is one by its name.

    Parameters
    ----------
    aggregator : str or sequence of str
        A name, ``all``, names joined by commas, or a sequence of names.

    Raises
    ------
    FormulationError, UsageError
        If a name is unknown or given twice, or there is none.
    """
    if isinstance(aggregator, str):
        if aggregator != ALL and "," not in aggregator:
            return None
        asked = [name.strip() for name in aggregator.split(",")]
    else:
        asked = list(aggregator)
    if not asked or not all(isinstance(name, str) for name in asked):
        raise UsageError(f"the aggregators must be names, such as {', '.join(AGGREGATORS)}, or {ALL}")
    if ALL in asked:
        asked = list(AGGREGATORS)
    for name in asked:
        make_aggregator(name, ("A", "B"))  # which says what is wrong with a name
        if asked.count(name) > 1:
            raise UsageError(f"the aggregator '{name}' is given twice; give it once")
    return tuple(name for name in AGGREGATORS if name in asked)


def fit_families(
    original: Any, masked: Any, names: Sequence[str], options: ProblemOptions, request: FitRequest
) -> FitResults:
    """Search several families on one file pair.

    The time limit is shared out evenly over the families that are still to be searched, so what one leaves
    over goes to the next. Each starts from the answers of those that it contains.

    Parameters
    ----------
    original, masked
        As `fit` takes them.
    names : sequence of str
        The families, the poorer before the richer, as `several` gives them.
    options : ProblemOptions
        The problem, whatever its aggregator; `k_additive` is for ``choquet``.
    request : FitRequest

    Raises
    ------
    UsageError, DataError, FormulationError
        If the files cannot be used, or no family can take them.
    """
    if request.certificate:
        raise UsageError(
            "a certificate is about one family: name one aggregator, or leave the certificate out"
        )
    check_k_additive(names, options)
    first = read_once(original, masked, options)
    problems = family_problems(first, names, options)
    for name, problem in problems.items():
        if isinstance(problem, Problem):
            compile_once(name, request.report)  # before the clock runs
    clock = request.clock(first)
    with interruptible(clock):
        return search_families(first, problems, request, clock)


def check_k_additive(names: Sequence[str], options: ProblemOptions) -> None:
    """Refuse an option of a family that is not searched."""
    if options.k_additive is not None and Choquet.name not in names:
        raise UsageError(f"--k-additive is an option of choquet, not of {', '.join(names)}: leave it out")


def read_once(original: Any, masked: Any, options: ProblemOptions) -> Problem:
    """The files, with a family that takes any attributes."""
    signed = options.differences == Differences.SIGNED
    carrier = "mahalanobis" if signed else "weighted-mean"
    return make_problem(original, masked, replace(options, aggregator=carrier, k_additive=None))


def family_problems(
    first: Problem, names: Sequence[str], options: ProblemOptions
) -> dict[str, Problem | Exception]:
    """The problem of every family, or why it cannot take it; the reason is raised where none can."""
    problems = {name: _problem(first, name, options) for name in names}
    if not any(isinstance(problem, Problem) for problem in problems.values()):
        raise next(error for error in problems.values() if isinstance(error, Exception))
    return problems


def search_families(
    first: Problem,
    problems: Mapping[str, Problem | Exception],
    request: FitRequest,
    clock: Clock,
    starts: Mapping[str, Sequence[Start]] | None = None,
) -> FitResults:
    """Search every family that can take the files; UsageError where none has a result in the clock's time.

    `starts` are parameters that are known of some of the families, by name.
    """
    many = sum(isinstance(problem, Problem) for problem in problems.values())
    request = replace(request, sampling=replace(request.sampling, families=max(many, 1)))
    search = _Families(first, request, clock, starts or {})
    families = search.run(problems)
    if all(family.result is None for family in families):
        raise UsageError(next(family.reason for family in families if family.reason is not None))
    return FitResults(tuple(families), search.details())


def _problem(first: Problem, name: str, options: ProblemOptions) -> Problem | Exception:
    """The problem of one family, or why it cannot take it."""
    try:
        return with_aggregator(first, name, options.k_additive if name == Choquet.name else None)
    except INPUT_ERRORS as error:
        return error


class _Families:
    """The searches, one after the other."""

    def __init__(
        self, first: Problem, request: FitRequest, clock: Clock, starts: Mapping[str, Sequence[Start]]
    ) -> None:
        self._first, self._request, self.clock, self._starts = first, request, clock, starts
        self._found: list[tuple[Aggregator, Start]] = []
        self._beyond = 0.0

    def run(self, problems: Mapping[str, Problem | Exception]) -> list[Family]:
        """Search each family that can take the problem."""
        rows = []
        left = sum(isinstance(problem, Problem) for problem in problems.values())
        many = max(left, 1)
        for name, problem in problems.items():
            if isinstance(problem, Exception):
                rows.append(Family(name, None, str(problem)))
                continue
            why_not = self._why_not()
            share = ((many - left) / many, (many - left + 1) / many)
            rows.append(self._one(problem, left, share) if why_not is None else Family(name, None, why_not))
            left -= 1
        return rows

    def _why_not(self) -> str | None:
        """Why one more family is not searched; the first one always is, so that there is an interval."""
        if self.clock.stopped and self._found:
            return _STOPPED
        return _NO_TIME if self._late() else None

    def _late(self) -> bool:
        """Whether one more family would break the promise of the time limit; the first one never does."""
        limit = self.clock.time_limit
        if limit is None or self.clock.counts or not self._found:
            return False
        return self.clock.seconds + _LONGER * self._beyond > 1.0 + 1.1 * limit - _SPARE

    def _one(self, problem: Problem, left: int, part: tuple[float, float]) -> Family:
        """Search one family, this `part` of the call, within its share of what remains for `left` of them.

        A search comes to its end a moment after its time, and of large files that moment is long: what it
        took for one family is set aside for each of the others.
        """
        remaining = self.clock.remaining
        share = None if remaining is None else max(remaining / left - self._beyond, 1e-9)
        clock = self.clock.part(share)
        lifts = [(problem.aggregator.lift_from(other), start) for other, start in self._found]
        name = problem.aggregator.name
        starts = [replace(start, theta=lift(start.theta)) for lift, start in lifts if lift is not None]
        starts += self._starts.get(name, ())
        try:
            request = replace(self._request, report=part_of_call(self._request.report, *part))
            fitted: Fitted = fit_one(problem, request, clock, starts)
        except Exception as error:  # such as a model that is too large for this family
            return Family(name, None, noted(error))
        if share is not None:
            self._beyond = max(self._beyond, clock.now - share)
        run = fitted.run
        start = Start(run.incumbent.solution, run.final.linked, same_draw=not any(self._starts.values()))
        self._found.append((problem.aggregator, start))
        kept = fitted if self._request.proofs else None
        return Family(name, fitted.result, None, run.final, fitted.cores, kept)

    def details(self) -> dict[str, Any]:
        """What holds for the run as a whole."""
        described = self._first.describe()
        same = ("name", "direction", "attributes", "candidates", "ties", "standardisation")
        return {
            **{key: described[key] for key in same},
            **{key: described[key] for key in ("not_comparable",) if key in described},
            **self._first.survey.describe(),
            "notes": list(self._first.files.notes),
            "engine": self._request.engine.name,
            "seed": self._request.options.seed,
            "seconds": round(self.clock.seconds, 3),
            "time_limit": self._request.limits.time,
            **work_done(self.clock),
            "command": self._request.command,
            "linkrisk": library_versions()["linkrisk"],
        }
