"""What `fit` and `evaluate` return: frozen, readable, and the same as their JSON."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from linkrisk.solver.run.plots import Plots
from linkrisk.solver.run.records import RecordsTable
from linkrisk.solver.run.result import Result

LINKED = ("linked", "linked_upper_bound")
EXPECTED = ("expected_links", "expected_links_upper_bound")
WEIGHTED = ("weighted_links", "weighted_links_upper_bound")
"""Keys of the JSON for the two ends of what a search maximises: records, with shared ties expected links,
with sampling weights the sum of theirs."""


_SAME = 1e-9
_NOTHING = 0.01
"""A bound that rules out no more than this share of what lies between the attack and all records is none."""


def objective(result: Container[str]) -> tuple[str, str]:
    """Which of these pairs of keys a result has for what was maximised."""
    return next((keys for keys in (WEIGHTED, EXPECTED) if keys[1] in result), LINKED)


def limit_key(keys: tuple[str, str]) -> str:
    """The key for what is not exceeded with some confidence, where samples were searched."""
    return f"{keys[0]}_confidence_limit"


def least_key(keys: tuple[str, str]) -> str:
    """The key for what is linked at least, with the same confidence, where not all records were counted."""
    return f"{keys[0]}_lower_limit"


def least_of(result: Mapping[str, Any]) -> float:
    """What the JSON of a fit says is linked at least: what was counted, or what that says of all records."""
    keys = objective(result)
    least: float = result.get(least_key(keys), result.get(keys[0], result["linked"]))
    return least


def says_more(low: float, high: float, total: float) -> bool:
    """Whether a bound says more than that no more than all are linked: it rules out some of what is open."""
    return total - high > max(_NOTHING * (total - low), 1e-9 * total)


def meets(low: float, high: float) -> bool:
    """Whether attack and bound are the same number, up to the rounding of sums."""
    return high - low <= _SAME * abs(low) + 1e-12


def is_bound(low: float, high: float, total: float) -> bool:
    """Whether an upper end is one: it meets the attack, or says more than that all may be linked."""
    return meets(low, high) or says_more(low, high, total)


def guessed_ends(
    fits: Iterable[Mapping[str, Any]], low: float, high: float, total: float
) -> tuple[float, float] | None:
    """What is linked where equal candidates are guessed among; None where no record has some, or they were.

    Parameters
    ----------
    fits : iterable of mapping
        Details or JSON of the fits that the ends are of.
    low, high, total : float
        What is linked without guessing, what none exceeds, and what both are part of.
    """
    tied = [one["tied"] for one in fits if "expected_links" in (one.get("tied") or {})]
    if not tied:
        return None
    least = max(low, *(one["expected_links"] for one in tied))
    more = max(one.get("guessed_at_most", total) for one in tied)
    return least, max(least, min(high + more, total))


def plain(value: Any) -> Any:
    """Whole floats as integers and infinities as None, so that JSON reads as people count."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value


NOT_YET = "it was asked for, and not made yet"
"""Why there is no certificate of a fit whose certificate is to come."""


def may_say_proven(fitted: Mapping[str, Any]) -> bool:
    """Whether a bound that a fit has reached may be called proven, from its details or its JSON.

    Not where an attribute cannot be compared, nor where a certificate was asked for that could not be made.
    """
    asked = fitted.get("certificate")
    made = not isinstance(asked, Mapping) or asked.get("made") is True
    return made and "not_comparable" not in fitted


@dataclass(frozen=True)
class FamilyFit(Result):
    """The worst case of a family of distances, and the bound on how much worse other parameters could be.

    Attributes
    ----------
    linked : int
        Records whose partner is strictly nearest under `parameters`, recounted by the evaluator.
    linked_upper_bound : int
        No parameters of this aggregator link more (that keep `margin`, where it is not None).
    status : str
        ``optimal`` (the two meet), ``feasible``, or ``interrupted``.
    limit : str or None
        ``time``, ``work``, ``memory`` or ``user`` when one was hit; ``ties`` (see the notes).
    parameters : dict
        The worst-case parameters, as the JSON shows them.
    records : int
        Number of blocks.
    table : RecordsTable
        What became of every record.
    details : dict
        Everything else of the JSON.
    certificate : dict or None
        What proves the bound, where asked for; the command `verify` checks it.
    """

    kind: ClassVar[str] = "fit"

    linked: int
    linked_upper_bound: int
    status: str
    limit: str | None
    parameters: dict[str, Any]
    records: int
    table: RecordsTable
    details: dict[str, Any] = field(repr=False)
    certificate: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def proven(self) -> bool:
        """Whether no other parameters can link more, of attributes that can all be compared."""
        return self.status == "optimal" and "not_comparable" not in self.details

    @property
    def said_proven(self) -> bool:
        """Whether that may be said: where a certificate was asked for, it must be there."""
        return self.proven and may_say_proven(self.details)

    @property
    def interval(self) -> tuple[float, float]:
        """What was maximised, and its bound: linked records, or one of the sums of `objective`.

        Where samples were searched, not the bound, which is certain and wide, but the limit; and where the
        attack was counted on a random part of the records, not that count, but the limit that it gives.
        """
        keys = objective(self.details)
        low = least_of({"linked": self.linked, **self.details})
        if self.confidence is not None:
            return low, self.details[limit_key(keys)]
        return low, self.details.get(keys[1], self.linked_upper_bound)

    @property
    def bounded(self) -> bool:
        """Whether more is known than that no more than all, or nearly all, can be linked."""
        return self.proven or says_more(*self.interval, self.total)

    @property
    def guessed(self) -> tuple[float, float] | None:
        """The same where equal candidates are guessed among; None where there are none, or they were."""
        return guessed_ends([self.details], *self.interval, self.total)

    @property
    def confidence(self) -> float | None:
        """How sure the upper end of the interval is; None where it is certain."""
        confidence: float | None = self.details.get("confidence")
        return confidence

    @property
    def linked_confidence_limit(self) -> int | None:
        """Records of the whole file that no parameters link, with `confidence`; None without samples."""
        limit: int | None = self.details.get(limit_key(LINKED))
        return limit

    @property
    def total(self) -> float:
        """What the interval is part of: the number of records, or the sum of their sampling weights."""
        weight: float = self.details.get("total_weight", self.records)
        return weight

    def content(self) -> dict[str, Any]:
        """The JSON of `fit --json` as a dictionary."""
        headline = {
            "records": self.records,
            "linked": self.linked,
            "linked_upper_bound": self.linked_upper_bound,
            "status": self.status,
            "limit": self.limit,
            "parameters": self.parameters,
        }
        return {**headline, **self.details, "records_table": self.table.to_dict()}

    @property
    def plot(self) -> Plots:
        """Charts of the result: ``result.plot.bound()``, and what else ``dir(result.plot)`` lists."""
        return Plots(self.to_dict)

    @property
    def said(self) -> str:
        """The family and its interval in one line."""
        share = 100.0 * self.linked / self.records
        most = f"at most {self.linked_upper_bound}" if self.bounded else "no bound in time"
        state = "proven" if self.said_proven else f"{most}, {self.status}"
        aggregator, direction = self.details["aggregator"], self.details["direction"]
        headline = f"{self.linked} of {self.records} linked ({share:.1f} %), {state}"
        return f"{aggregator}, {direction}: {headline}"

    def __repr__(self) -> str:
        return f"FamilyFit({self.said})"
