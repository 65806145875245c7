"""What link and find_links return: frozen, readable, and the same as their JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.precision_recall import PrecisionRecall
from linkrisk.solver.linkage.probabilistic.decisions import Decisions, Losses
from linkrisk.solver.linkage.probabilistic.learning import LearnedPasses
from linkrisk.solver.run.records import RecordsTable
from linkrisk.solver.run.result import Result

JUDGED = ("right", "lost", "lost_so_far", "precision", "recall")
"""What a report says where the true links are known."""

ESTIMATED = ("estimated_lost", "estimated_lost_so_far", "estimated_missed")
"""What it says where they are not; None where it cannot be estimated."""


@dataclass(frozen=True)
class PassReport:
    """What one pass did.

    Attributes
    ----------
    keys : str
    pairs : int
        Pairs that agree on all its keys.
    compared : int
        Those of them that no pass before it has compared, and whose records have not left.
    without_key : (int, int)
        Queries and candidates that have no value of a key.
    linked, clerical : int
        Of the pairs compared.
    estimated_false_links : float
        The sum over linked pairs of the probability that they are no match.
    right : int, optional
        Linked pairs that are true ones; None, like the next two, where the true links are not known.
    lost : float, optional
        Share of the true links whose records do not agree on its keys.
    lost_so_far : float, optional
        Share of the true links that neither it nor a pass before it has compared.
    estimated_lost, estimated_lost_so_far : float, optional
        The same, of the expected matches, where the true links are not known (`losses.Losses`).
    """

    keys: str
    pairs: int
    compared: int
    without_key: tuple[int, int]
    linked: int
    clerical: int
    estimated_false_links: float
    right: int | None = None
    lost: float | None = None
    lost_so_far: float | None = None
    estimated_lost: float | None = None
    estimated_lost_so_far: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        return _told(asdict(self), judged=self.right is not None)


def _told(every: dict[str, Any], *, judged: bool) -> dict[str, Any]:
    """What there is to say, with or without the true links."""
    silent = ESTIMATED if judged else JUDGED
    return {name: value for name, value in every.items() if name not in silent}


@dataclass(frozen=True, eq=False)
class LinkedPasses:
    """Links made in passes.

    Attributes
    ----------
    reports : tuple of PassReport
        One for each pass.
    decided : int
        Pairs that people have decided on.
    matches : int, optional
        Records that have a partner; None where the true links are not known.
    links, clerical : DataFrame
        The pairs that are linked, and those left for review: their pass (from 1), the labels of both records,
        match weight and probability; those for review also the values of both records that were compared, and
        an empty column for the decision. The likeliest come first.
    estimated_missed : float, optional
        Share of the expected matches that are not linked, where the true links are not known; None also where
        it cannot be estimated.
    """

    reports: tuple[PassReport, ...]
    decided: int
    matches: int | None
    links: pd.DataFrame
    clerical: pd.DataFrame
    estimated_missed: float | None = None

    def _sum(self, name: str) -> float:
        return float(sum(getattr(report, name) for report in self.reports))

    @property
    def estimated_false_links(self) -> float:
        """How many of the links are expected to be wrong."""
        return self._sum("estimated_false_links")

    @property
    def right(self) -> int | None:
        """Links that are true ones; None where the true links are not known."""
        return None if self.matches is None else int(self._sum("right"))

    @property
    def precision(self) -> float | None:
        """Share of the links that are right; None when there is no link, or the true ones are not known."""
        return None if self.right is None or not len(self.links) else self.right / len(self.links)

    @property
    def recall(self) -> float | None:
        """Share of the records with a partner that are linked to it; None where that is not known."""
        return None if self.right is None or self.matches is None else self.right / self.matches

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
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
        return _told(every, judged=self.matches is not None)


def report_passes(
    learned: LearnedPasses, decisions: Decisions, truth: Truth | None, losses: Losses | None = None
) -> tuple[PassReport, ...]:
    """Count what every pass did.

    Parameters
    ----------
    learned : LearnedPasses
    decisions : Decisions
    truth : Truth, optional
        The true links, where they are known.
    losses : Losses, optional
        What is expected to be lost, where they are not.
    """
    joined = learned.files.joined
    first_pass = learned.files.compared.pairs.first_pass
    many = len(joined.passes)

    def by_pass(which: Any, weights: Any = None) -> Any:
        return np.bincount(first_pass[which], weights, minlength=many)

    linked = np.flatnonzero(decisions.linked)
    counts = by_pass(linked), by_pass(np.flatnonzero(decisions.clerical))
    compared = [np.count_nonzero(decisions.looked_at & (first_pass == p)) for p in range(many)]
    false = by_pass(linked, 1.0 - decisions.probability[linked])
    told = _estimated(losses, many) if truth is None else _judged(learned, decisions, truth, by_pass)
    return tuple(
        PassReport(
            keys=str(one),
            pairs=joined.pairs[p],
            compared=int(compared[p]),
            without_key=joined.without_key[p],
            linked=int(counts[0][p]),
            clerical=int(counts[1][p]),
            estimated_false_links=float(false[p]),
            **told[p],
        )
        for p, one in enumerate(joined.passes)
    )


def _judged(
    learned: LearnedPasses, decisions: Decisions, truth: Truth, by_pass: Callable[[Any], Any]
) -> list[dict[str, Any]]:
    """What the true links say of every pass."""
    pairs = learned.scored_pairs
    partner = np.full(truth.queries, -1, dtype=np.int64)
    partner[truth.query_rows] = truth.partner
    linked = np.flatnonzero(decisions.linked)
    right = by_pass(linked[partner[pairs.query[linked]] == pairs.candidate[linked]])
    agree = learned.files.joined.agree(truth.query_rows, truth.partner).sum(axis=0)
    place = pairs.place(truth.query_rows, truth.partner)
    seen = place[place >= 0]
    so_far = np.cumsum(by_pass(seen[decisions.looked_at[seen]]))
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
    """What is expected of every pass."""
    if losses is None:
        return [{}] * many
    return [
        {"estimated_lost": own, "estimated_lost_so_far": so_far}
        for own, so_far in zip(losses.lost, losses.lost_so_far, strict=True)
    ]


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
