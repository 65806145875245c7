"""Hold the results of link and find_links, frozen and equivalent to their JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.precision_recall import PrecisionRecall
from linkrisk.solver.linkage.probabilistic.decisions import Decisions, Losses
from linkrisk.solver.linkage.probabilistic.passes import LearnedPasses
from linkrisk.solver.linkage.records_table import RecordsTable
from linkrisk.solver.run.result import Result

JUDGED = ("right", "lost", "lost_so_far", "precision", "recall")
"""Fields of a report if the true links are known."""

ESTIMATED = ("estimated_lost", "estimated_lost_so_far", "estimated_missed")
"""Fields of a report if they are unknown; None where it cannot be estimated."""


@dataclass(frozen=True)
class PassReport:
    """Report of one pass."""

    keys: str
    pairs: int  # pairs that agree on all its keys
    compared: int  # those not compared by an earlier pass, with both records unlinked
    without_key: tuple[int, int]  # queries and candidates without a value of some key
    linked: int  # outcomes of the compared pairs
    clerical: int
    estimated_false_links: float  # expected wrong links: the sum of their non-match probabilities
    # linked pairs that are correct; None, like the next two, if the true links are unknown
    right: int | None = None
    lost: float | None = None  # share of the true links that disagree on its keys
    # share of the true links compared neither by it nor by an earlier pass
    lost_so_far: float | None = None
    # The same shares of the expected matches, if the true links are unknown (`Losses`).
    estimated_lost: float | None = None
    estimated_lost_so_far: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Build the part of the JSON."""
        return _applicable(asdict(self), judged=self.right is not None)


def _applicable(every: dict[str, Any], *, judged: bool) -> dict[str, Any]:
    """List the fields that apply with, or without, the true links."""
    silent = ESTIMATED if judged else JUDGED
    return {name: value for name, value in every.items() if name not in silent}


@dataclass(frozen=True, eq=False)
class LinkedPasses:
    """Links made in passes."""

    reports: tuple[PassReport, ...]  # one for each pass
    decided: int  # pairs of the clerical decisions
    matches: int | None  # records that have a partner; None where the true links are not known
    # Pass (from 1), labels of both records, match weight and probability, the likeliest pair first; pairs for
    # review also have the compared values of both records, and an empty column for the decision.
    links: pd.DataFrame
    clerical: pd.DataFrame
    # share of the expected matches that are not linked, where the true links are not known; None also where
    # it cannot be estimated
    estimated_missed: float | None = None

    @property
    def estimated_false_links(self) -> float:
        """Expected number of wrong links."""
        return float(sum(report.estimated_false_links for report in self.reports))

    @property
    def right(self) -> int | None:
        """Number of correct links; None if the true links are unknown."""
        return None if self.matches is None else sum(report.right or 0 for report in self.reports)

    @property
    def precision(self) -> float | None:
        """Share of correct links; None without links, or if the true ones are unknown."""
        return None if self.right is None or not len(self.links) else self.right / len(self.links)

    @property
    def recall(self) -> float | None:
        """Share of the records with a partner that are linked to it; None where unknown."""
        return None if self.right is None or self.matches is None else self.right / self.matches

    def to_dict(self) -> dict[str, Any]:
        """Build the part of the JSON."""
        every = {
            "passes": [report.to_dict() for report in self.reports],
            "linked": len(self.links),
            "clerical": len(self.clerical),
            "right": self.right,
            "estimated_false_links": self.estimated_false_links,
            "estimated_missed": self.estimated_missed,
            "precision": self.precision,
            "recall": self.recall,
            "decided": self.decided,
        }
        return _applicable(every, judged=self.matches is not None)


def report_passes(
    learned: LearnedPasses, decisions: Decisions, truth: Truth | None, losses: Losses | None = None
) -> tuple[PassReport, ...]:
    """Report every pass, by the true links or by the expected losses."""
    joined = learned.files.joined
    first_pass = learned.files.compared.pairs.first_pass
    many = len(joined.passes)

    def by_pass(which: Any, weights: Any = None) -> Any:
        return np.bincount(first_pass[which], weights, minlength=many)

    linked = np.flatnonzero(decisions.linked)
    counts = by_pass(linked), by_pass(np.flatnonzero(decisions.clerical))
    compared = [np.count_nonzero(decisions.available & (first_pass == p)) for p in range(many)]
    false = by_pass(linked, 1.0 - decisions.probability[linked])
    fields = _estimated(losses, many) if truth is None else _judged(learned, decisions, truth, by_pass)
    return tuple(
        PassReport(
            keys=str(one),
            pairs=joined.pairs[p],
            compared=int(compared[p]),
            without_key=joined.without_key[p],
            linked=int(counts[0][p]),
            clerical=int(counts[1][p]),
            estimated_false_links=float(false[p]),
            **fields[p],
        )
        for p, one in enumerate(joined.passes)
    )


def _judged(
    learned: LearnedPasses, decisions: Decisions, truth: Truth, by_pass: Callable[[Any], Any]
) -> list[dict[str, Any]]:
    """Compute the fields of every pass that need the true links."""
    pairs = learned.scored_pairs
    partner = np.full(truth.queries, -1, dtype=np.int64)
    partner[truth.query_rows] = truth.partner
    linked = np.flatnonzero(decisions.linked)
    right = by_pass(linked[partner[pairs.query[linked]] == pairs.candidate[linked]])
    agree = learned.files.joined.agree(truth.query_rows, truth.partner).sum(axis=0)
    place = pairs.place(truth.query_rows, truth.partner)
    seen = place[place >= 0]
    so_far = np.cumsum(by_pass(seen[decisions.available[seen]]))
    true_links = max(1, truth.partner.size)
    return [
        {
            "right": int(right[p]),
            "lost": float(1.0 - agree[p] / true_links),
            "lost_so_far": float(1.0 - so_far[p] / true_links),
        }
        for p in range(right.size)
    ]


def _estimated(losses: Losses | None, many: int) -> list[dict[str, Any]]:
    """Estimate the fields of every pass without the true links."""
    if losses is None:
        return [{}] * many
    return [
        {"estimated_lost": own, "estimated_lost_so_far": so_far}
        for own, so_far in zip(losses.lost, losses.lost_so_far, strict=True)
    ]


_MOST_POINTS = 500
"""Points of the precision-recall curve in the JSON."""


@dataclass(frozen=True)
class OneToOne:
    """Links of a one-to-one matching."""

    matching: str
    threshold: float | None  # the smallest score of a link
    claimed: int  # its links; `correct` are those that are right
    correct: int
    matches: int  # records that have a partner

    @property
    def precision(self) -> float | None:
        """Share of correct links; None without links."""
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
    """Records of a file pair that a linker re-identifies.

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
        Links of a one-to-one matching, where requested.
    curve : PrecisionRecall or None
        Precision and recall of all pairs with at least some score, unless it was left out.
    table : RecordsTable
        Rank and distance of every record; a distance is minus a score.
    details : dict
        Everything else of the JSON.
    passes : LinkedPasses or None
        Of linkage in passes: a report per pass, the links, the pairs for clerical review.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linked = linkrisk.link(iris, masked, method="prl")
    >>> linked.linked, linked.records
    (11, 15)
    >>> linked.curve is not None
    True
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
    def summary(self) -> str:
        """The linker and what it links in one line."""
        share = 100.0 * self.linked / self.records
        ways = self.details["direction"]
        return f"{self.method}, {ways}: {self.linked} of {self.records} linked ({share:.1f} %)"

    def __repr__(self) -> str:
        return f"LinkResult({self.summary})"


@dataclass(frozen=True)
class FoundLinks(Result):
    """Links between two files without known true links.

    Attributes
    ----------
    method : str
        The linker.
    parameters : dict
        What it learned.
    matching : str or None
        The one-to-one matching, where requested.
    passes : LinkedPasses
        A report per pass, the links, the pairs for clerical review.
    details : dict
        Everything else of the JSON.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> passes = {"passes": ("trade",)}
    >>> found = linkrisk.find_links(people, people[::-1], nominal=["town"], parameters=passes)
    >>> found.method, found.to_dict()["format"]
    ('prl', 'linkrisk-links')
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
