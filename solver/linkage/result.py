"""What `link` returns: frozen, readable, and the same as its JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from linkrisk.solver.linkage.curves import PrecisionRecall
from linkrisk.solver.linkage.probabilistic.passes.reporting import LinkedPasses
from linkrisk.solver.run.records import RecordsTable
from linkrisk.solver.run.result import Result

_MOST_POINTS = 500
"""Points of the precision-recall curve that the JSON holds."""


@dataclass(frozen=True)
class OneToOne:
    """What a one-to-one matching links.

    Attributes
    ----------
    matching : str
        Its name.
    threshold : float or None
        The smallest score of a link.
    claimed, correct : int
        Its links, and those that are right.
    matches : int
        Records that have a partner.
    """

    matching: str
    threshold: float | None
    claimed: int
    correct: int
    matches: int

    @property
    def precision(self) -> float | None:
        """Share of the links that are right; None when there is no link."""
        return self.correct / self.claimed if self.claimed else None

    @property
    def recall(self) -> float:
        """Share of the records with a partner that are linked to it."""
        return self.correct / self.matches

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        counts = {name: getattr(self, name) for name in ("matching", "threshold", "claimed", "correct")}
        return {**counts, "precision": self.precision, "recall": self.recall}


@dataclass(frozen=True)
class LinkResult(Result):
    """What a linker re-identifies in a file pair.

    Attributes
    ----------
    method : str
        The linker.
    linked : int
        Records whose partner scores strictly higher than every other candidate.
    records : int
        Number of blocks: records with a partner.
    parameters : dict
        What the linker learned.
    one_to_one : OneToOne or None
        What a one-to-one matching links, where asked for.
    curve : PrecisionRecall or None
        Precision and recall of all pairs with at least some score, unless it was left out.
    table : RecordsTable
        What became of every record; a distance is a score with its sign changed.
    details : dict
        Everything else of the JSON.
    passes : LinkedPasses or None
        What linkage in passes made: a report per pass, the links, the pairs for clerical review.
    """

    kind: ClassVar[str] = "link"

    method: str
    linked: int
    records: int
    parameters: dict[str, Any]
    one_to_one: OneToOne | None
    curve: PrecisionRecall | None = field(repr=False)
    table: RecordsTable
    details: dict[str, Any] = field(repr=False)
    passes: LinkedPasses | None = field(default=None, repr=False)

    def content(self) -> dict[str, Any]:
        """The JSON of `link --json` as a dictionary; `linked_upper_bound` is null, as there is none."""
        headline = {
            "method": self.method,
            "records": self.records,
            "linked": self.linked,
            "linked_upper_bound": None,
            "status": "linked",
            "limit": None,
            "parameters": self.parameters,
            "one_to_one": None if self.one_to_one is None else self.one_to_one.to_dict(),
            "precision_recall": None if self.curve is None else self.curve.thinned(_MOST_POINTS).to_dict(),
        }
        if self.passes is not None:
            headline["passes"] = self.passes.to_dict()
        return {**headline, **self.details, "records_table": self.table.to_dict()}

    @property
    def said(self) -> str:
        """The linker and what it links in one line."""
        share = 100.0 * self.linked / self.records
        ways = self.details["direction"]
        return f"{self.method}, {ways}: {self.linked} of {self.records} linked ({share:.1f} %)"

    def __repr__(self) -> str:
        return f"LinkResult({self.said})"


@dataclass(frozen=True)
class FoundLinks(Result):
    """The links between two files of which nobody knows the true ones.

    Attributes
    ----------
    method : str
        The linker.
    parameters : dict
        What it learned.
    matching : str or None
        The one-to-one matching, where asked for.
    passes : LinkedPasses
        A report per pass, the links, the pairs for clerical review.
    details : dict
        Everything else of the JSON.
    """

    kind: ClassVar[str] = "links"

    method: str
    parameters: dict[str, Any] = field(repr=False)
    matching: str | None
    passes: LinkedPasses
    details: dict[str, Any] = field(repr=False)

    @property
    def links(self) -> pd.DataFrame:
        """The linked pairs, the likeliest first."""
        return self.passes.links

    @property
    def clerical(self) -> pd.DataFrame:
        """The pairs for clerical review, with an empty column for the decision."""
        return self.passes.clerical

    def content(self) -> dict[str, Any]:
        """The JSON of `find-links --json` as a dictionary."""
        headline = {
            "method": self.method,
            "status": "linked",
            "parameters": self.parameters,
            "matching": self.matching,
            "passes": self.passes.to_dict(),
        }
        return {**headline, **self.details}

    def __repr__(self) -> str:
        sizes = f"{self.details['queries']} and {self.details['candidates']} records"
        return f"FoundLinks({self.method}, {self.details['direction']}: {len(self.links)} links of {sizes})"
