"""The worst case in the JSON of a fit or of measures, whichever wrote it, for pages, charts and app."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from linkrisk.solver.run.results import (
    WEIGHTED,
    guessed_ends,
    least_of,
    limit_key,
    may_say_proven,
    meets,
    objective,
    says_more,
)
from linkrisk.solver.schemas.keys import Json


@dataclass(frozen=True)
class Interval:
    """How much can be linked at worst.

    Attributes
    ----------
    low, high : float
        Records, expected links or sampling weights; `high` holds with `confidence` where there is one.
    total : float
        What they are part of.
    confidence : float or None
    comparable : bool
        Whether all attributes can be compared: else the ends say nothing of who knows how they were recoded.
    weighted : bool
        Whether they are sampling weights.
    """

    low: float
    high: float
    total: float
    confidence: float | None = None
    comparable: bool = True
    weighted: bool = False

    @property
    def proven(self) -> bool:
        """Whether the two ends meet, for certain."""
        return self.comparable and self.confidence is None and meets(self.low, self.high)

    @property
    def bounded(self) -> bool:
        """Whether more is known than that no more than all, or nearly all, can be linked."""
        return self.proven or says_more(self.low, self.high, self.total)

    @property
    def shares(self) -> tuple[float, float]:
        """Both ends as shares; 0 of nothing."""
        whole = self.total or 1.0
        return self.low / whole, self.high / whole


def families_of(result: Json) -> Sequence[Json]:
    """The families of a fit or of measures, with those that have no result; none of another JSON."""
    if "runs" in result:
        return ()
    worst = result.get("worst_case") or result
    return worst.get("families") or ([worst] if "aggregator" in worst else [])


def interval(family: Json) -> Interval:
    """What the learned distance of a family links, and what none of the family exceeds."""
    keys = objective(family)
    total = family["total_weight"] if keys == WEIGHTED else family["records"]
    confidence = family.get("confidence")
    high = family[keys[1] if confidence is None else limit_key(keys)]
    comparable = may_say_proven(family)
    return Interval(least_of(family), high, total, confidence, comparable, keys == WEIGHTED)


def together(intervals: Iterable[Interval]) -> Interval:
    """Of several families: the worst of them, and what none exceeds."""
    every = list(intervals)
    worst = max(every, key=lambda one: one.low)
    return replace(worst, high=max(one.high for one in every))


def guessed(families: Iterable[Json], whole: Interval) -> tuple[float, float] | None:
    """Both ends where equal candidates are guessed among; None where nothing is equal, or they were."""
    return guessed_ends(families, whole.low, whole.high, whole.total)
