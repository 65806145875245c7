"""What becomes of the pairs of passes: linked, for clerical review, or non-linked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.errors import called
from linkrisk.solver.linkage.pair_matching import matched_pairs
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses
from linkrisk.solver.linkage.scored_pairs import ScoredPairs
from linkrisk.solver.run.errors import UsageError

_LEAST_GAIN = 1e-6
"""Bits that every link gains, so that one of even odds is taken where nothing stands against it."""


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
    pairs, parameters = learned.scored_pairs, learned.parameters
    link, non_link = (_weight(parameters["thresholds"][end]) for end in ("link", "non_link"))
    leave = bool(parameters["linked_leave"])
    probability = learned.probabilities(pairs.score)
    linked, undecided = np.zeros(pairs.score.size, np.bool_), np.ones(pairs.score.size, np.bool_)
    if reviewed is not None:
        place = _places(learned, reviewed, one_to_one)
        known, said = place[place >= 0], reviewed.link[place >= 0]
        linked[known], probability[known], undecided[known] = said, said, False
    free = _Free(pairs)
    if leave or one_to_one is not None:
        free.take(np.flatnonzero(linked))
    looked_at = np.ones(pairs.score.size, np.bool_)
    first_pass = learned.files.compared.pairs.first_pass
    for stage in range(len(learned.files.joined.passes)) if leave else (None,):
        likely = (pairs.score >= link) & undecided
        if stage is not None:
            own = np.flatnonzero(first_pass == stage)
            looked_at[own] = free.both(own)
            likely &= first_pass == stage
        chosen = np.flatnonzero(likely)
        chosen = chosen[free.both(chosen)]
        if one_to_one is not None:
            some = pairs.query[chosen], pairs.candidate[chosen], _gains(pairs.score[chosen], learned.even)
            chosen = chosen[matched_pairs(*some, one_to_one, seed)]
        linked[chosen] = True
        free.take(chosen)
    clerical = np.flatnonzero((pairs.score >= non_link) & (pairs.score < link) & undecided & looked_at)
    if leave or one_to_one is not None:
        # A pair is only for review while both records are free.
        clerical = clerical[free.both(clerical)]
    for_review = np.zeros(pairs.score.size, np.bool_)
    for_review[clerical] = True
    return Decisions(linked, for_review, looked_at | ~undecided, probability)


def _weight(threshold: float | None) -> float:
    return np.inf if threshold is None else float(threshold)


def _gains(weights: FloatArray, even: float) -> FloatArray:
    """What links gain: their log odds in bits, so that the largest total is the likeliest set of links.

    Where worse than even odds are linked too, what they gain more than the least of them.
    """
    return np.asarray(weights - min(even, weights.min(initial=np.inf)) + _LEAST_GAIN)


class _Free:
    """Which records no link has taken yet."""

    def __init__(self, pairs: ScoredPairs) -> None:
        self._pairs = pairs
        self._query = np.ones(pairs.queries, dtype=np.bool_)
        self._candidate = np.ones(pairs.candidates, dtype=np.bool_)

    def both(self, which: IndexArray) -> BoolArray:
        """Whether both records of some pairs are free."""
        pairs = self._pairs
        return np.asarray(self._query[pairs.query[which]] & self._candidate[pairs.candidate[which]])

    def take(self, which: IndexArray) -> None:
        """The records of some pairs are free no more."""
        self._query[self._pairs.query[which]] = False
        self._candidate[self._pairs.candidate[which]] = False


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
                    f"leave {called('one_to_one')} out, or decide for one of them",
                    option="one_to_one",
                )
    return place
