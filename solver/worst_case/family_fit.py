"""What `fit` returns of one family of distances: its worst case, and the bound on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from linkrisk.solver.linkage.records_table import RecordsTable
from linkrisk.solver.run.result import Plots, Result
from linkrisk.solver.schemas.intervals import (
    LINKED,
    guessed_ends,
    least_of,
    limit_key,
    may_say_proven,
    objective,
    says_more,
)


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
