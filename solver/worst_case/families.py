"""Fit several families of distances: read files once, share time, and pass on attacks and bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkrisk.errors import LinkriskError, called
from linkrisk.formulations.linkage.aggregators import AGGREGATORS, make_aggregator
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem, with_aggregator
from linkrisk.solver.options.pair import ALL, ProblemOptions
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.errors import UsageError, noted
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.limits import no_time
from linkrisk.solver.run.progress import part_of_call
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.intervals import LINKED, limit_key, meets, objective
from linkrisk.solver.worst_case.answers import work_done
from linkrisk.solver.worst_case.parts import continued
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.result import Family, FamilyFit, FitResult
from linkrisk.solver.worst_case.search import Start
from linkrisk.solver.worst_case.single_fit import Fitted, fit_one, planned

_STOPPED = "stopped before its search began"

_AGAIN = 0.4
"""Share of the time for further searches: more tightens the deciding families, less of all first searches."""

_BRIEF = 0.2
"""Share of the remaining time in which a family adopts the better attack of a family inside it."""

_LEAST = 0.05
"""Share of the time below which no search is started."""

_LONGER = 1.3
"""Safety factor on the longest overrun so far: larger values search fewer families, but keep the limit."""

_SPARE = 0.5
"""Promised seconds, a tenth and a second beyond the limit, that no further family may use."""


def several(aggregator: str | Sequence[str]) -> tuple[str, ...] | None:
    """List the requested families, contained ones first; None for a single name.

    FormulationError or UsageError if a name is unknown or given twice, or there is none.
    """
    if isinstance(aggregator, str):
        if aggregator != ALL and "," not in aggregator:
            return None
        asked = [name.strip() for name in aggregator.split(",")]
    else:
        asked = list(aggregator)
    if not asked:
        raise UsageError(f"the aggregators must be names, such as {', '.join(AGGREGATORS)}, or {ALL}")
    if ALL in asked:
        asked = list(AGGREGATORS)
    for name in asked:
        make_aggregator(name, ("A", "B"))  # which refuses a wrong name
        if asked.count(name) > 1:
            raise UsageError(f"the aggregator '{name}' is given twice; give it once")
    return tuple(name for name in AGGREGATORS if name in asked)


def fit_families(
    original: Any, masked: Any, names: Sequence[str], options: ProblemOptions, request: FitRequest
) -> FitResult:
    """Search several families on one file pair.

    Half of the time is shared evenly, so that each family has an attack, and unused time goes to the next;
    each starts from the attacks of the families it contains. The reserve goes to families that decide the
    worst case (`_Families`), and a bound is passed down to contained families.
    """
    if request.certificate:
        raise UsageError(
            "a certificate is about one family: name one aggregator, or leave the certificate out"
        )
    check_k_additive(names, options)
    first = read_once(original, masked, options)
    problems = family_problems(first, names, options)
    able = [name for name, problem in problems.items() if isinstance(problem, Problem)]
    request.compile(*able)
    clock = request.clock(first, len(able))
    with interruptible(clock):
        return search_families(first, problems, request, clock)


def check_k_additive(names: Sequence[str], options: ProblemOptions) -> None:
    """Refuse options of families that are not searched."""
    if options.k_additive is not None and Choquet.name not in names:
        raise UsageError(
            f"{called('k_additive')} is an option of choquet, not of {', '.join(names)}: leave it out",
            option="k_additive",
        )


def read_once(original: Any, masked: Any, options: ProblemOptions) -> Problem:
    """Read the files with a family that accepts any attributes."""
    signed = options.differences == "signed"
    carrier = "mahalanobis" if signed else "weighted-mean"
    return make_problem(original, masked, replace(options, aggregator=carrier, k_additive=None))


def family_problems(
    first: Problem, names: Sequence[str], options: ProblemOptions
) -> dict[str, Problem | Exception]:
    """Build the problem of every family, or the reason why it cannot; raised where none can."""
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
) -> FitResult:
    """Search every family that fits the files; UsageError where none has a result in time.

    `starts` are known parameters of some families, by name.
    """
    many = sum(isinstance(problem, Problem) for problem in problems.values())
    request = replace(request, sampling=replace(request.sampling, families=max(many, 1)))
    search = _Families(first, request, clock, starts or {})
    families = search.run(problems)
    if all(family.result is None for family in families):
        raise UsageError(next(family.reason for family in families if family.reason is not None))
    return FitResult(tuple(families), search.details())


def _problem(first: Problem, name: str, options: ProblemOptions) -> Problem | Exception:
    """Build the problem of one family, or the reason why it cannot."""
    try:
        return with_aggregator(first, name, options.k_additive if name == Choquet.name else None)
    except LinkriskError as error:
        return error


class _Families:
    """Schedules the searches: a time slice for each family, then the rest for the deciding ones."""

    def __init__(
        self, first: Problem, request: FitRequest, clock: Clock, starts: Mapping[str, Sequence[Start]]
    ) -> None:
        self._first, self._request, self.clock, self._starts = first, request, clock, starts
        self._problems: dict[str, Problem] = {}
        self._rows: dict[str, Family] = {}
        self._found: dict[str, Start] = {}
        self._beyond = 0.0
        self._kept = self._keeps()

    def _keeps(self) -> float:
        """Time reserved for further searches; none for samples."""
        remaining = self.clock.remaining
        once = not self._request.engine.proves or planned(self._first, self._request) is not None
        return 0.0 if once or remaining is None else _AGAIN * remaining

    def run(self, problems: Mapping[str, Problem | Exception]) -> list[Family]:
        """Search each family that fits the problem."""
        self._problems = {name: each for name, each in problems.items() if isinstance(each, Problem)}
        many, part = len(self._problems), 1.0 - (_AGAIN if self._kept else 0.0)
        for name, problem in problems.items():
            if isinstance(problem, Exception):
                self._rows[name] = Family(name, None, str(problem))
                continue
            at = list(self._problems).index(name)
            why_not = self._why_not()
            if why_not is None:
                limits = at / many * part, (at + 1) / many * part
                self._rows[name] = self._one(name, self._slice(name, at), limits)
            else:
                self._rows[name] = Family(name, None, why_not)
        if self._kept:
            self._decide()
        return handed_down(list(self._rows.values()), self._contains)

    def _why_not(self) -> str | None:
        """Give the reason to skip a family; the first is always searched, so that there is an interval."""
        if self.clock.stopped and self._found:
            return _STOPPED
        return no_time("search") if self._late() else None

    def _late(self) -> bool:
        """Whether another search would overrun the time limit; never true for the first."""
        limit = self.clock.time_limit
        if limit is None or self.clock.counts or not self._found:
            return False
        return self.clock.seconds + _LONGER * self._beyond > 1.0 + 1.1 * limit - _SPARE

    def _contains(self, outer: str, inner: str) -> bool:
        """Whether one family contains another."""
        aggregator = self._problems[outer].aggregator
        return aggregator.lift_from(self._problems[inner].aggregator) is not None

    # ---- time

    def _slice(self, name: str, at: int) -> float | None:
        """Compute the time share of a family's first search.

        The last one takes all, unless a family that it does not contain is searched again.
        """
        remaining, left = self.clock.remaining, len(self._problems) - at
        if remaining is None:
            return None
        waiting = left > 1 or any(not self._contains(name, other) for other in self._open())
        return max((remaining - (self._kept if waiting else 0.0)) / left - self._beyond, 1e-9)

    def _open(self) -> dict[str, FamilyFit]:
        """List families that may exceed the best attack, and whose search was ended by time."""
        known = {
            one.aggregator: one.result
            for one in handed_down(list(self._rows.values()), self._contains)
            if one.result is not None
        }
        least = max((result.interval[0] for result in known.values()), default=0.0) * (1.0 + 1e-9)
        ended = (Limit.TIME.value, Limit.WORK.value)
        return {
            name: result
            for name, result in known.items()
            if result.limit in ended and result.interval[1] > least
        }

    def _decide(self) -> None:
        """Search the families again that decide the worst case, one after the other."""
        again: set[str] = set()
        total = self._kept / _AGAIN
        while (left := self.clock.remaining or 0.0) > _LEAST * total and not self._why_not():
            behind, deciding = self._behind(again), self._deciding(again)
            if not behind and not deciding:
                return
            name = (behind or deciding)[0]
            again.add(name)
            richer = any(self._contains(other, name) for other in self._found if other != name)
            share = _BRIEF if behind else (1.0 - _BRIEF * richer) / len(deciding)
            self._rows[name] = self._again(name, max(share * left - self._beyond, 1e-9))

    def _behind(self, asked: set[str]) -> list[str]:
        """List families that have not started from the better attack of a contained one."""
        results = {name: self._rows[name].result for name in self._found}
        low = {name: 0.0 if one is None else one.interval[0] for name, one in results.items()}
        return [
            name
            for name in low
            if name not in asked
            and any(
                low[other] > low[name] * (1.0 + 1e-9)
                for other in low
                if other != name and self._contains(name, other)
            )
        ]

    def _deciding(self, asked: set[str]) -> list[str]:
        """Select families to search again with the time left, the outermost of nested ones.

        Families without a bound come last, the smallest first, as they settle nothing.
        """
        known = {name: result for name, result in self._open().items() if name not in asked}
        bounded = [name for name, result in known.items() if result.bounded]
        inner = {
            name for name in bounded for other in bounded if other != name and self._contains(other, name)
        }
        if bounded:
            return [name for name in bounded if name not in inner]
        return sorted(known, key=lambda name: self._problems[name].aggregator.dimension)[:1]

    # ---- searches

    def _one(
        self, name: str, share: float | None, part: tuple[float, float], known: Sequence[Start] = ()
    ) -> Family:
        """Run one search, this `part` of the call, within its share of time.

        The overrun of a search, which is long on large files, is set aside for the others.
        """
        clock, problem = self.clock.part(share), self._problems[name]
        starts = [*known, *self._lifted(name), *self._starts.get(name, ())]
        try:
            request = replace(self._request, report=part_of_call(self._request.report, *part))
            fitted: Fitted = fit_one(problem, request, clock, starts)
        except Exception as error:  # such as a model that is too large for this family
            return Family(name, None, noted(error))
        if share is not None:
            self._beyond = max(self._beyond, clock.now - share)
        run = fitted.run
        self._found[name] = Start(
            run.incumbent.solution,
            run.final.linked,
            same_draw=not any(self._starts.values()),
            bound=run.incumbent.bound,
        )
        kept = fitted if self._request.proofs else None
        return Family(name, fitted.result, None, run.final, fitted.cores, kept)

    def _lifted(self, name: str) -> Iterator[Start]:
        """Lift attacks of contained families to parameters of this one."""
        aggregator = self._problems[name].aggregator
        for other, start in self._found.items():
            lift = aggregator.lift_from(self._problems[other].aggregator)
            if other != name and lift is not None:
                yield replace(start, theta=lift(start.theta), bound=np.inf)

    def _again(self, name: str, share: float) -> Family:
        """Search a family again, from its earlier results."""
        before, start = self._rows[name], self._found[name]
        again = self._one(name, share, (1.0 - _AGAIN, 1.0), [replace(start, cores=before.cores)])
        if again.result is None:
            self._found[name] = start
            return before
        joined = joined_searches(before, again, lower=self._found[name].bound < start.bound)
        if joined.counted is before.counted:  # there was no time to recount the start
            self._found[name] = replace(start, bound=min(start.bound, self._found[name].bound))
        return joined

    def details(self) -> dict[str, Any]:
        """Collect the details of the run that all families share."""
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


BOUND_FROM = "bound_from"
"""Key of a result whose bound comes from a larger family: the name of that family."""


def handed_down(families: Sequence[Family], contains: Callable[[str, str], bool]) -> list[Family]:
    """Give each family the smallest bound of those that contain it, and its name.

    Its certificate (`Family.fitted`) stays its own. Bounds that hold up to a margin, and bounds raised for
    lexicographic orders, are not passed down: they depend on the family.
    """
    found = {one.aggregator: one.result for one in families if one.result is not None}
    for name, result in list(found.items()):
        outer = [found[other] for other in found if other != name and contains(other, name)]
        lower = min(outer, key=lambda one: one.interval[1], default=result)
        if not meets(lower.interval[1], result.interval[1]) and _may(result, lower):
            found[name] = bounded_by(result, lower, lower.details["aggregator"])
    return [replace(one, result=found.get(one.aggregator)) for one in families]


def _may(result: FamilyFit, lower: FamilyFit) -> bool:
    """Whether a bound of another family holds for this one."""
    exact = result.details["margin"] is None and lower.details["margin"] is None
    return exact and result.limit != "ties" and meets(lower.interval[1], result.interval[0])


def bounded_by(result: FamilyFit, lower: FamilyFit, name: str | None = None) -> FamilyFit:
    """Lower the bounds of a result to those of another family, called `name`."""
    keys = objective(result.details)
    details: dict[str, Any] = {**result.details}
    for key, least in ((keys[1], keys[0]), (limit_key(LINKED), LINKED[0]), (limit_key(keys), keys[0])):
        if key in details:
            counted = details.get(least, result.linked)
            details[key] = max(counted, min(details[key], lower.details[key]))
    if name is not None:
        details.pop("parts", None)  # which is no sum over parts any more
        details[BOUND_FROM] = name
    most = max(result.linked, min(result.linked_upper_bound, lower.linked_upper_bound))
    bounded = replace(result, linked_upper_bound=most, details=details)
    met = bounded.confidence is None and meets(*bounded.interval)
    return replace(bounded, status=Status.OPTIMAL.value, limit=None) if met else bounded


def joined_searches(before: Family, again: Family, *, lower: bool) -> Family:
    """Join two searches of a family, the second started from the first; `lower`: it has the lower bound."""
    first, second = before.result, again.result
    assert first is not None
    assert second is not None
    if second.interval[0] >= first.interval[0]:
        kept, result = again, bounded_by(second, first)
    else:  # there was no time to recount the start
        kept, result = before, bounded_by(first, second)
    result = replace(result, details={**result.details, **_both(first.details, second.details)})
    fitted = again.fitted
    if not lower and before.fitted is not None:
        fitted = replace(before.fitted, result=result)
    return replace(kept, result=result, cores=again.cores or before.cores, fitted=fitted)


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Join time and trace of two searches."""
    began, phases = first["seconds"], dict(first["phases"])
    for phase, seconds in second["phases"].items():
        phases[phase] = round(phases.get(phase, 0.0) + seconds, 3)
    later = [(began + at, low, high) for at, low, high in second["trace"]]
    took = {"seconds": round(began + second["seconds"], 3), "phases": phases}
    took["trace"] = [list(moment) for moment in continued(first["trace"], later)]
    if "work" in first:
        took["work"] = round(first["work"] + second["work"], 6)
    return took
