"""Hold what `fit` returns: the result of each family of distances, and the worst of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from linkrisk.solver.linkage.evaluator import Evaluation
from linkrisk.solver.linkage.records_table import RecordsTable
from linkrisk.solver.run.result import Plots, Result
from linkrisk.solver.schemas.intervals import (
    LINKED,
    guessed_ends,
    least_key,
    least_of,
    limit_key,
    may_say_proven,
    meets,
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

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> worst = linkrisk.fit(iris, masked).worst
    >>> worst.status, worst.linked
    ('optimal', 14)
    >>> sorted(worst.parameters["weights"])
    ['petal_length', 'petal_width', 'sepal_length', 'sepal_width']
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
        """Whether a proof may be claimed: where a certificate was asked for, it must be there."""
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


TABLE_COLUMNS = ("aggregator", "linked", "linked_upper_bound", "status", "limit", "seconds", "reason")


@dataclass(frozen=True)
class Family:
    """One family of distances.

    Attributes
    ----------
    aggregator : str
        Its name.
    result : FamilyFit or None
        None where there is none.
    reason : str or None
        Why there is none.
    counted : Evaluation or None
        Evaluation of every record, as far as time allowed.
    cores : tuple of frozenset of int
        Sets of blocks proved not to be linkable together.
    fitted : single_fit.Fitted or None
        What a certificate would be made of, where it was to be kept.
    """

    aggregator: str
    result: FamilyFit | None
    reason: str | None = None
    counted: Evaluation | None = field(default=None, repr=False)
    cores: tuple[frozenset[int], ...] = field(default=(), repr=False)
    fitted: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class FitResult(Result):
    """The worst case that `fit` found, and the bound on how much worse any other parameters could be.

    Its numbers are those of all families of distances that were searched; parameters, records and certificate
    are those of the worst of them, which may be the only one.

    Attributes
    ----------
    families : tuple of Family
        In the order in which they were searched; at least one has a result.
    details : dict
        Everything else of the JSON; of several families what they share: files, notes on them, seconds,
        limits and command of the run.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> result = linkrisk.fit(iris, masked, aggregator="weighted-mean,owa")
    >>> result.worst.details["aggregator"], result.interval
    ('weighted-mean', (14, 14))
    >>> len(result.table.to_frame())
    15
    """

    kind: ClassVar[str] = "fit"

    families: tuple[Family, ...]
    details: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, result: FamilyFit) -> FitResult:
        """The result of one family, requested by its name."""
        return cls((Family(result.details["aggregator"], result),), result.details)

    @property
    def alone(self) -> bool:
        """Whether one family was requested by its name: then the details are its own."""
        return "aggregator" in self.details

    @property
    def results(self) -> dict[str, FamilyFit]:
        """The result of each family that has one, by name."""
        return {family.aggregator: family.result for family in self.families if family.result is not None}

    @property
    def worst(self) -> FamilyFit:
        """The result that links most records (of expected links, with shared ties); of equals the first."""
        return max(self.results.values(), key=lambda result: result.interval[0])

    @property
    def status(self) -> str:
        """``optimal`` (attack and bound meet), ``feasible``, or ``interrupted``."""
        stati = [result.status for result in self.results.values()]
        if self.alone or meets(*self.interval):
            return self.worst.status
        return "interrupted" if "interrupted" in stati else "feasible"

    @property
    def limit(self) -> str | None:
        """``time``, ``work``, ``memory`` or ``user`` when one was hit; ``ties`` (see the notes)."""
        if self.alone or meets(*self.interval):
            return self.worst.limit
        return next((result.limit for result in self.results.values() if result.limit is not None), None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The worst-case parameters, as the JSON shows them."""
        return self.worst.parameters

    @property
    def records(self) -> int:
        """Number of blocks."""
        return self.worst.records

    @property
    def total(self) -> float:
        """What the interval is part of: the number of records, or the sum of their sampling weights."""
        return self.worst.total

    @property
    def table(self) -> RecordsTable:
        """Evaluation of every record under the worst-case parameters."""
        return self.worst.table

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The proof of the bound, where requested; the command `verify` checks it."""
        return self.worst.certificate

    @property
    def linked(self) -> int:
        """Records that the worst of the attacks links, recounted by the evaluator."""
        return self.worst.linked

    @property
    def linked_upper_bound(self) -> int:
        """No parameters of any family that has a result link more."""
        return max(result.linked_upper_bound for result in self.results.values())

    @property
    def proven(self) -> bool:
        """Whether no parameters of any family that has a result can link more than the worst.

        Of attributes that can all be compared.
        """
        if self.alone:
            return self.worst.proven
        if self.confidence is not None or "not_comparable" in self.worst.details:
            return False
        return meets(*self.interval)

    @property
    def confidence(self) -> float | None:
        """How sure the upper end is, for all families together; None where it is certain.

        All have one draw, and only the worst case of one of them is the worst of all: what each limit may be
        wrong with does not add up.
        """
        return next((result.confidence for result in self.results.values()), None)

    @property
    def interval(self) -> tuple[float, float]:
        """Links of the worst attack, and a bound for all families; expected links, with shared ties."""
        return self.worst.interval[0], max(result.interval[1] for result in self.results.values())

    @property
    def linked_confidence_limit(self) -> int | None:
        """Limit of linked records of the file, with `confidence`; None without samples."""
        limits = [result.linked_confidence_limit for result in self.results.values()]
        return max((limit for limit in limits if limit is not None), default=None)

    @property
    def with_bound(self) -> dict[str, FamilyFit]:
        """The results with a bound below all records."""
        return {name: result for name, result in self.results.items() if result.bounded}

    @property
    def bounded_interval(self) -> tuple[float, float]:
        """Links of the worst attack, and a bound for the families that have one."""
        among = (self.with_bound or self.results).values()
        return self.interval[0], max(self.interval[0], *(result.interval[1] for result in among))

    @property
    def guessed(self) -> tuple[float, float] | None:
        """The same where equal candidates are guessed among; None where there are none, or they were."""
        details = [result.details for result in self.results.values()]
        return guessed_ends(details, *self.bounded_interval, self.worst.total)

    def content(self) -> dict[str, Any]:
        """The JSON of `fit --json` as a dictionary."""
        return self.worst.content() if self.alone else self.of_families()

    def of_families(self) -> dict[str, Any]:
        """The same with a list of families, also where one alone was searched: `worst_case` of a risk."""
        return {
            "records": self.worst.records,
            "linked": self.linked,
            "linked_upper_bound": self.linked_upper_bound,
            **self._ends(),
            "proven": self.proven,
            "worst": self.worst.details["aggregator"],
            **self.details,
            "families": [_family(family) for family in self.families],
        }

    def _ends(self) -> dict[str, Any]:
        """The ends of the interval by their keys, where they are no numbers of records or not certain."""
        keys, results = objective(self.worst.details), self.results.values()
        ends: dict[str, Any] = {}
        if keys != LINKED:
            ends = {keys[0]: self.interval[0], keys[1]: max(result.details[keys[1]] for result in results)}
        if self.confidence is not None:
            ends["confidence"] = self.confidence
            for key in {limit_key(LINKED): None, limit_key(keys): None}:
                ends[key] = max(result.details[key] for result in results)
            if self.interval[0] > ends.get(keys[0], self.linked):
                ends[least_key(keys)] = self.interval[0]
        return ends

    def to_frame(self) -> pd.DataFrame:
        """As a data frame, one row per family."""
        return pd.DataFrame([_row(family) for family in self.families], columns=list(TABLE_COLUMNS))

    @property
    def plot(self) -> Plots:
        """Charts of the result: ``result.plot.bound()``, and what else ``dir(result.plot)`` lists."""
        return Plots(self.to_dict)

    def __repr__(self) -> str:
        if self.alone:
            return f"FitResult({self.worst.said})"
        lines = [
            f"  {family.aggregator}: no result, {family.reason}"
            if family.result is None
            else f"  {family.result!r}"
            for family in self.families
        ]
        return "\n".join([f"FitResult(worst: {self.worst.details['aggregator']}", *lines]) + ")"


def _family(family: Family) -> dict[str, Any]:
    if family.result is None:
        return {"aggregator": family.aggregator, "reason": family.reason}
    return family.result.content()


def _row(family: Family) -> tuple[Any, ...]:
    result = family.result
    if result is None:
        return family.aggregator, None, None, None, None, None, family.reason
    counts = (result.linked, result.linked_upper_bound)
    return (family.aggregator, *counts, result.status, result.limit, result.details["seconds"], None)
