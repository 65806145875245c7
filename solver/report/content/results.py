"""The JSON of `fit`, `risk` and `sweep`, read by what a report asks of it, whichever wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, guessed, interval, together

_NOT_READ = "give what `fit --json`, `risk --json`, `sweep --json` or `report --json` wrote"


@dataclass(frozen=True)
class FamilyResult:
    """The worst case of one family of distances, or why there is none.

    Attributes
    ----------
    name : str
    content : mapping
        What `fit --json` writes of it.
    """

    name: str
    content: Json

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
    """What there is to report: a worst case of one family or several, measures, a sweep, or several of these.

    Attributes
    ----------
    details : mapping
        Files and options of the worst case; of the sweep where there is none.
    families : tuple of FamilyResult
        Empty where there is no worst case.
    measures : mapping of str to mapping
        What each measure has found, by its name.
    not_measured : mapping of str to str
        Why others were not taken.
    verdict : mapping or None
        Beside what is tolerated.
    sweep : mapping or None
    """

    details: Json
    families: tuple[FamilyResult, ...] = ()
    measures: Mapping[str, Json] = field(default_factory=dict)
    not_measured: Mapping[str, str] = field(default_factory=dict)
    verdict: Json | None = None
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
        if not others:
            return sweeps[0]
        return replace(others[0], sweep=sweeps[0].sweep) if sweeps else others[0]

    @classmethod
    def _one(cls, given: Json) -> Results:
        if not isinstance(given, Mapping):
            raise UsageError(f"this is no JSON of results: {_NOT_READ}")
        if "runs" in given:
            return cls(given, sweep=given)
        if "worst_case" in given:
            return cls(
                given,
                tuple(_families(given["worst_case"])),
                given["measures"],
                given["not_measured"],
                given["verdict"],
            )
        if "families" in given or "aggregator" in given:
            return cls(given, tuple(_families(given)))
        raise UsageError(f"this is no JSON of results: {_NOT_READ}")

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
    def guessed(self) -> tuple[float, float] | None:
        """Both ends where equal candidates are guessed among; None where nothing is equal, or they were."""
        if (ends := self.interval) is None:
            return None
        return guessed((family.content for family in self.found), ends)

    @property
    def weighted(self) -> bool:
        """Whether links are counted by sampling weights."""
        return self.worst is not None and self.worst.interval.weighted

    # ---- measures

    def measure(self, name: str) -> Json | None:
        """What a measure has found."""
        return self.measures.get(name)

    def finding(self, measure: str, key: str) -> Json | None:
        """One number of a measure, where it has one."""
        found = self.measures.get(measure, {}).get("findings", ())
        return next((one for one in found if one["key"] == key and one["value"] is not None), None)

    def title(self, name: str) -> str:
        """What people read above the numbers of a measure."""
        titles: Mapping[str, str] = self.details.get("titles") or {}
        return titles.get(name) or name.replace("-", " ").capitalize()

    def of_measure(self, measure: str, key: str) -> Sequence[Any]:
        """A list of a measure; empty where there is none."""
        return self.measures.get(measure, {}).get(key) or ()

    @property
    def notes(self) -> list[str]:
        """What has to be known besides, each once: of the files first, then of searches, then of measures."""
        return list(dict.fromkeys(self._notes()))

    def _notes(self) -> Iterator[str]:
        yield from self.details.get("notes", ())
        for family in self.families:
            yield from family.content.get("notes", ())
        for content in self.measures.values():
            yield from content.get("notes", ())


def _families(content: Json) -> Iterator[FamilyResult]:
    for each in content.get("families", (content,)):
        yield FamilyResult(each["aggregator"], each)
