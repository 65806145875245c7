"""What each pass did: pairs compared, linked and left for review, wrong links, lost links."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.probabilistic.passes.deciding import Decisions
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses


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
    right : int
        Linked pairs that are true ones.
    lost : float
        Share of the true links whose records do not agree on its keys.
    lost_so_far : float
        Share of the true links that neither it nor a pass before it has compared.
    """

    keys: str
    pairs: int
    compared: int
    without_key: tuple[int, int]
    linked: int
    clerical: int
    estimated_false_links: float
    right: int
    lost: float
    lost_so_far: float

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class LinkedPasses:
    """Links made in passes.

    Attributes
    ----------
    reports : tuple of PassReport
        One for each pass.
    decided : int
        Pairs that people have decided on.
    matches : int
        Records that have a partner.
    links, clerical : DataFrame
        The pairs that are linked, and those left for review: their pass (from 1), the labels of both records,
        match weight and probability; those for review also the values of both records that were compared, and
        an empty column for the decision. The likeliest come first.
    """

    reports: tuple[PassReport, ...]
    decided: int
    matches: int
    links: pd.DataFrame
    clerical: pd.DataFrame

    def _sum(self, name: str) -> float:
        return float(sum(getattr(report, name) for report in self.reports))

    @property
    def precision(self) -> float | None:
        """Share of the links that are right; None when there is no link."""
        return self._sum("right") / len(self.links) if len(self.links) else None

    @property
    def recall(self) -> float:
        """Share of the records with a partner that are linked to it."""
        return self._sum("right") / self.matches

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        return {
            "passes": [report.to_dict() for report in self.reports],
            "linked": len(self.links),
            "clerical": len(self.clerical),
            "right": int(self._sum("right")),
            "estimated_false_links": self._sum("estimated_false_links"),
            "precision": self.precision,
            "recall": self.recall,
            "decided": self.decided,
        }


def report_passes(learned: LearnedPasses, decisions: Decisions, truth: Truth) -> tuple[PassReport, ...]:
    """Count what every pass did.

    Parameters
    ----------
    learned : LearnedPasses
    decisions : Decisions
    truth : Truth
    """
    joined, pairs = learned.files.joined, learned.scored_pairs
    first_pass = learned.files.compared.pairs.first_pass
    many = len(joined.passes)

    def by_pass(which: Any, weights: Any = None) -> Any:
        return np.bincount(first_pass[which], weights, minlength=many)

    partner = np.full(truth.queries, -1, dtype=np.int64)
    partner[truth.query_rows] = truth.partner
    linked = np.flatnonzero(decisions.linked)
    right = linked[partner[pairs.query[linked]] == pairs.candidate[linked]]
    agree = joined.agree(truth.query_rows, truth.partner)
    place = pairs.place(truth.query_rows, truth.partner)
    seen = place[place >= 0]
    seen = seen[decisions.looked_at[seen]]
    true_links = max(1, truth.partner.size)
    clerical = by_pass(np.flatnonzero(decisions.clerical))
    compared = [np.count_nonzero(decisions.looked_at & (first_pass == p)) for p in range(many)]
    false = by_pass(linked, 1.0 - decisions.probability[linked])
    so_far = np.cumsum(by_pass(seen))
    return tuple(
        PassReport(
            keys=str(one),
            pairs=joined.pairs[p],
            compared=int(compared[p]),
            without_key=joined.without_key[p],
            linked=int(by_pass(linked)[p]),
            clerical=int(clerical[p]),
            estimated_false_links=float(false[p]),
            right=int(by_pass(right)[p]),
            lost=float(1.0 - agree[:, p].sum() / true_links),
            lost_so_far=float(1.0 - so_far[p] / true_links),
        )
        for p, one in enumerate(joined.passes)
    )
