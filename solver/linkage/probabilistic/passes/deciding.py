"""What becomes of the pairs of passes: linked, for clerical review, or non-linked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.linkage.pair_matching import matched_pairs
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses
from linkrisk.solver.run.errors import UsageError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Reviewed:
    """Pairs that people have decided on.

    Attributes
    ----------
    query, candidate : ndarray of int, shape (any,)
        Their rows.
    link : ndarray of bool, shape (any,)
        Whether the pair is a link.
    """

    query: IndexArray
    candidate: IndexArray
    link: BoolArray


@dataclass(frozen=True, eq=False)
class Decisions:
    """What becomes of every compared pair; a pair that is neither linked nor clerical is non-linked.

    Attributes
    ----------
    linked, clerical : ndarray of bool, shape (pairs,)
    looked_at : ndarray of bool, shape (pairs,)
        Whether both records were still there in the pass of the pair.
    probability : ndarray of float64, shape (pairs,)
        Of a match; 1 or 0 where people have decided.
    """

    linked: BoolArray
    clerical: BoolArray
    looked_at: BoolArray
    probability: FloatArray


def decide(
    learned: LearnedPasses, one_to_one: str | None = None, reviewed: Reviewed | None = None, seed: int = 0
) -> Decisions:
    """Link pairs by the thresholds that were learned, in the union of all passes or pass by pass.

    Parameters
    ----------
    learned : LearnedPasses
        Its parameters have the thresholds, and whether linked records leave.
    one_to_one : str, optional
        The matching that links each record at most once; without it every pair above the threshold is linked.
    reviewed : Reviewed, optional
        Links among them come first, whatever they weigh; other pairs are non-linked.
    seed : int
        Of the order of equal weights.

    Raises
    ------
    UsageError
        If a reviewed link is compared by no pass, or one-to-one links are asked for and a record has two.
    """
    pairs = learned.scored_pairs
    thresholds, leave = learned.parameters["thresholds"], bool(learned.parameters["linked_leave"])
    link = np.inf if thresholds["link"] is None else float(thresholds["link"])
    non_link = np.inf if thresholds["non_link"] is None else float(thresholds["non_link"])
    decided = None if reviewed is None else _places(learned, reviewed, one_to_one)
    score, probability = pairs.score, learned.probabilities(pairs.score)
    if decided is not None and reviewed is not None:
        known = decided >= 0
        score = score.copy()
        score[decided[known]] = np.where(reviewed.link[known], np.inf, -np.inf)
        probability[decided[known]] = reviewed.link[known]
    possible = score >= link if np.isfinite(link) else score == np.inf
    first_pass = learned.files.compared.pairs.first_pass
    stages = range(len(learned.files.joined.passes)) if leave else (None,)
    free = np.ones(pairs.queries, dtype=np.bool_), np.ones(pairs.candidates, dtype=np.bool_)
    linked = np.zeros(score.size, dtype=np.bool_)
    looked_at = np.ones(score.size, dtype=np.bool_)
    for stage in stages:
        own = slice(None) if stage is None else np.flatnonzero(first_pass == stage)
        looked_at[own] = free[0][pairs.query[own]] & free[1][pairs.candidate[own]]
        among = possible & looked_at if stage is None else possible & looked_at & (first_pass == stage)
        chosen = np.flatnonzero(among)
        if one_to_one is not None:
            taken = matched_pairs(
                pairs.query[chosen], pairs.candidate[chosen], score[chosen], one_to_one, seed
            )
            chosen = chosen[taken]
        linked[chosen] = True
        free[0][pairs.query[chosen]] = free[1][pairs.candidate[chosen]] = False
    clerical = (score >= non_link) & ~possible & looked_at
    if leave or one_to_one is not None:
        # A pair is only for review while both records are free.
        clerical &= free[0][pairs.query] & free[1][pairs.candidate]
    return Decisions(linked, clerical, looked_at, probability)


def _places(learned: LearnedPasses, reviewed: Reviewed, one_to_one: str | None) -> IndexArray:
    """Where the reviewed pairs stand among the compared ones, -1 where they do not."""
    pairs = learned.scored_pairs
    every = pairs.query.astype(np.int64) * pairs.candidates + pairs.candidate
    wanted = reviewed.query.astype(np.int64) * pairs.candidates + reviewed.candidate
    order = np.argsort(wanted, kind="stable")
    at = np.minimum(np.searchsorted(wanted[order], every), wanted.size - 1)
    met = np.flatnonzero(wanted[order][at] == every)
    place = np.full(wanted.size, -1, dtype=np.intp)
    place[order[at[met]]] = met
    lost = int((reviewed.link & (place < 0)).sum())
    if lost:
        raise UsageError(
            f"{lost:,} of the decided links are compared by no pass: add a pass whose keys these records "
            "share"
        )
    if one_to_one is not None:
        for rows, what in ((reviewed.query, "first"), (reviewed.candidate, "second")):
            if np.bincount(rows[reviewed.link]).max(initial=0) > 1:
                raise UsageError(
                    f"the decisions link a record of the {what} file twice, but links are to be one to one: "
                    "leave --one-to-one out, or decide for one of them"
                )
    return place
