"""Reader of the JSON of `fit`, `risk` and `sweep` for reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from linkrisk.solver.charts.chart import Chart, Table
from linkrisk.solver.documents.wording import family_words
from linkrisk.solver.measures.verdict import TOLERATED, answer_of, severity_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.intervals import shares_of, worst_sentence
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, families_of, guessed, interval, together, tolerated_of

ROUNDING = 1e-6
"""Sums of weights are rounded: ends of intervals may be wrong by so much, relatively."""


@dataclass(frozen=True)
class FamilyResult:
    """The worst case of one family of distances, or why there is none."""

    name: str
    content: Json  # what `fit --json` writes of it

    @property
    def reason(self) -> str | None:
        """Why there is no result; None where there is one."""
        reason: str | None = self.content.get("reason")
        return reason

    @cached_property
    def interval(self) -> Interval:
        """What the learned distance links, and what none of the family exceeds."""
        return interval(self.content)


@dataclass(frozen=True)
class Results:
    """What there is to report: a worst case of one family or several, measures, a sweep, or several."""

    details: Json  # files and options of the worst case; of the sweep where there is none
    families: tuple[FamilyResult, ...] = ()  # empty where there is no worst case
    measures: Mapping[str, Json] = field(default_factory=dict)  # what each measure has found, by its name
    not_measured: Mapping[str, str] = field(default_factory=dict)  # why others were not taken
    verdict: Json | None = None  # beside what is tolerated
    sweep: Json | None = None

    @classmethod
    def of(cls, *given: Json) -> Results:
        """Read one JSON or several, of which each may give what the others lack.

        Raises
        ------
        UsageError
            When one is no JSON of results, or two are about the same.
        """
        parts = [cls._one(each) for each in given]
        sweeps = [part for part in parts if part.sweep is not None]
        others = [part for part in parts if part.sweep is None]
        if not parts or len(sweeps) > 1 or len(others) > 1:
            raise UsageError("a report is about one worst case and one sweep: give one JSON of each at most")
        return replace((others or sweeps)[0], sweep=sweeps[0].sweep if sweeps else None)

    @classmethod
    def _one(cls, given: Json) -> Results:
        if not isinstance(given, Mapping) or not given.keys() & {
            "runs",
            "worst_case",
            "families",
            "aggregator",
        }:
            raise UsageError(
                "this is no JSON of results: give what `fit --json`, `risk --json`, `sweep --json` or "
                "`report --json` wrote"
            )
        if "runs" in given:
            return cls(given, sweep=given)
        measured = [given[name] for name in ("measures", "not_measured", "verdict") if "worst_case" in given]
        return cls(
            given, tuple(FamilyResult(one["aggregator"], one) for one in families_of(given)), *measured
        )

    # ---- the worst case

    @property
    def found(self) -> list[FamilyResult]:
        """Families with a result, the one that links most first."""
        found = [family for family in self.families if family.reason is None]
        return sorted(found, key=lambda family: -family.interval.low)

    @property
    def worst(self) -> FamilyResult | None:
        """The family that links most."""
        return next(iter(self.found), None)

    @property
    def bounded(self) -> list[FamilyResult]:
        """Families of which more is known than that they link no more than all."""
        return [family for family in self.found if family.interval.bounded]

    @cached_property
    def interval(self) -> Interval | None:
        """Of all families together; the upper end is of those that a bound was found of, if there are any."""
        if self.worst is None:
            return None
        whole = together(family.interval for family in self.bounded or self.found)
        return replace(self.worst.interval, high=max(self.worst.interval.low, whole.high))

    @property
    def ends(self) -> Interval:
        """The same where there is a worst case."""
        assert self.interval is not None
        return self.interval

    @property
    def guessed(self) -> tuple[float, float] | None:
        """Both ends where equal candidates are guessed among; None where nothing is equal, or they were."""
        return guessed((family.content for family in self.found), self.ends)

    @property
    def weighted(self) -> bool:
        """Whether links are counted by sampling weights."""
        return self.worst is not None and self.worst.interval.weighted

    @property
    def bar(self) -> tuple[float, float]:
        """Shares of the worst case, with guesses among equal candidates where there are some."""
        return shares_of(*(self.guessed or (self.ends.low, self.ends.high)), self.ends.total)

    @property
    def sentence(self) -> str:
        """The interval of all families in one sentence."""
        ends, some = self.ends, 0 < len(self.bounded) < len(self.found)
        bounded = [one.name for one in self.families if one.reason is None and one.interval.bounded]
        return worst_sentence(
            ends.low,
            ends.high,
            ends.total,
            weighted=self.weighted,
            confidence=ends.confidence,
            kinds=list(map(family_words, bounded)) if some else (),
            guessed=self.guessed,
        )

    @property
    def tolerated(self) -> float:
        """The share that may be re-identified; without a verdict that of the maskings of a sweep."""
        own = None if self.verdict is None else self.verdict["tolerated"]
        if own is None and self.sweep is not None:
            own = tolerated_of(self.sweep)
        return TOLERATED if own is None else float(own)

    # ---- measures and charts

    def finding(self, measure: str, key: str) -> Json | None:
        """One number of a measure, where it has one."""
        found = self.of_measure(measure, "findings")
        return next((one for one in found if one["key"] == key and one["value"] is not None), None)

    def title(self, name: str) -> str:
        """What people read above the numbers of a measure."""
        titles: Mapping[str, str] = self.details.get("titles") or {}
        return titles.get(name) or name.replace("-", " ").capitalize()

    def of_measure(self, measure: str, key: str) -> Sequence[Any]:
        """A list of a measure; empty where there is none."""
        return self.measures.get(measure, {}).get(key) or ()

    def drawn(self, *names: str, **options: Any) -> Iterator[Chart]:
        """Draw these charts, without those of fewer than two points; `options` are those of the chart."""
        return (one for one in self.shown(*names, **options) if isinstance(one, Chart))

    def shown(self, *names: str, **options: Any) -> Iterator[Chart | Table]:
        """The same, with the table behind a chart that has one point."""
        from linkrisk.solver.charts.gallery import draw

        for name in names:
            content = self.sweep if name == "risk-utility" else self.details
            chart = None if content is None else draw(name, content, **options)
            if chart is not None:
                table = replace(chart.table, caption=chart.title)
                yield chart if len(table.rows) > 1 else table

    @property
    def notes(self) -> list[str]:
        """What has to be known besides, each once: of the files first, then of searches, then of measures."""
        parts = [self.details, *(family.content for family in self.families), *self.measures.values()]
        return list(dict.fromkeys(note for part in parts for note in part.get("notes", ())))

    # ---- conflicts

    def check(self) -> None:
        """Refuse results that contradict themselves, as those of a JSON may that was edited or cut.

        That they agree does not make them true: what is true, certificates prove and `verify` checks.

        Raises UsageError with the first contradiction.
        """
        for fault in self._faults():
            raise UsageError(f"these results contradict themselves, {fault}: give the JSON as it was written")

    def _faults(self) -> Iterator[str]:
        if self.sweep is None and self.worst is None:
            yield "there is no worst case of any family"
        for family in self.found:
            low, high, total = family.interval.low, family.interval.high, family.interval.total
            finite = all(map(math.isfinite, (low, high, total)))
            if not (finite and _rising(0.0, low, high, total) and total > 0.0):
                yield f"the {family_words(family.name)} links {low:g}, at most {high:g}, of {total:g}"
        if self.verdict is not None:
            yield from self._of_verdict(self.verdict)

    def _of_verdict(self, verdict: Json) -> Iterator[str]:
        low, high, tolerated = (float(verdict[name]) for name in ("low", "high", "tolerated"))
        findings, ends = verdict["findings"], self.interval
        others = [one["severity"] for one in findings if one["low"] is None]
        answer = answer_of([severity_of(low, high, tolerated), *others])
        if not _rising(0.0, low, high, 1.0):
            yield f"the verdict is about {low:g} to {high:g} of 1"
        if verdict["answer"] != answer:
            yield f"the verdict says {verdict['answer']!s:.20} and its numbers say {answer}"
        if ends is not None and not (_rising(ends.shares[0], low) and _rising(ends.shares[1], high)):
            yield "the verdict is below the worst case of a family"
        if any(one["low"] is not None and not _rising(one["low"], low) for one in findings):
            yield "the verdict is below one of its own findings"


def _rising(*numbers: float) -> bool:
    """Whether none is below the one before it; false with what is no number."""
    return all(a <= b + ROUNDING * abs(a) for a, b in pairwise(numbers))
