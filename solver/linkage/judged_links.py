"""All that is said of a linker's scores: here in several looks at all pairs, by workers in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import IndexArray
from linkrisk.solver.linkage.claims import Claim, Top, claim_of, top_of_pairs
from linkrisk.solver.linkage.curves import (
    PrecisionRecall,
    all_scores,
    curve_of,
    precision_recall,
    thresholds_of,
)
from linkrisk.solver.linkage.evaluation import Evaluation
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.judging import (
    evaluated,
    judged_without_a_look,
    own_of_kinds,
    own_scores,
    seen_by,
)
from linkrisk.solver.linkage.linker import LearnedLinker, ScoredInShares, Truth
from linkrisk.solver.linkage.looking import Blocks, Seen, Whole, look
from linkrisk.solver.linkage.pair_shares import PairShare, shared_out
from linkrisk.solver.linkage.scored_pairs import ScoredPairs
from linkrisk.solver.linkage.standing import Part, Standing, add_standing, no_standing
from linkrisk.solver.linkage.thresholds import Thresholds
from linkrisk.solver.run.clock import Clock


@dataclass(frozen=True, eq=False)
class JudgedLinks:
    """What a linker's scores come to.

    Attributes
    ----------
    evaluation : Evaluation
    curve : PrecisionRecall or None
    claim : Claim or None
    """

    evaluation: Evaluation
    curve: PrecisionRecall | None
    claim: Claim | None


def judged_links(
    linker: LearnedLinker, truth: Truth, helpers: Helpers | None = None, *, curve: bool = True
) -> JudgedLinks:
    """Judge a linker, and count its claims at every threshold; by workers where that is worth it.

    All of it comes from one look at the pairs of kinds of records that score alike. Without `curve` there is
    neither curve nor claim, and no look where partners can be judged without one.
    """
    known = judged_without_a_look(linker, truth)
    if known is not None and not curve:
        return JudgedLinks(known, None, None)
    if linker.scored_pairs is not None and known is not None:
        return _of_pairs(linker, linker.scored_pairs, known, truth)
    blocks = Blocks.of(linker, truth)

    def see(part: Part, thresholds: Thresholds) -> Seen:
        worth = helpers is not None and helpers.worth(part.times.size * part.rivals.times.size)
        if helpers is not None and worth and isinstance(linker, ScoredInShares) and blocks.of_linker(linker):
            return _by_workers(linker, part, thresholds, helpers)
        return look(Whole(linker, blocks), part, thresholds, standings=known is None)

    if not curve:
        return JudgedLinks(seen_by(linker, blocks, truth, see), None, None)
    own_of_each = own_of_kinds(linker, blocks)
    own = own_of_each[blocks.place]
    seen = see(blocks.with_own(own_of_each), Thresholds.of(thresholds_of(own)))
    evaluation = known or evaluated(blocks.spread(seen.standing), own, truth)
    found = curve_of(own, seen.counts)
    return JudgedLinks(evaluation, found, claim_of(linker, seen.top, own, found))


def most_probable_claim(linker: LearnedLinker, truth: Truth) -> Claim | None:
    """The pair of largest score; None when no pair can be a match."""
    return judged_links(linker, truth).claim


def _of_pairs(linker: LearnedLinker, pairs: ScoredPairs, evaluation: Evaluation, truth: Truth) -> JudgedLinks:
    """What comes of pairs that were scored one by one."""
    own = own_scores(linker, truth)
    curve = precision_recall(own, all_scores(linker, truth))
    return JudgedLinks(evaluation, curve, claim_of(linker, top_of_pairs(pairs), own, curve))


@dataclass(frozen=True, eq=False)
class _Task:
    """Some kinds of queries with some kinds of candidates.

    Attributes
    ----------
    share : PairShare
    part : Part
    """

    share: PairShare
    part: Part


@dataclass(frozen=True, eq=False)
class _Told:
    """What was seen of them; `places` are those between thresholds that were met, with their `counts`."""

    standing: Standing
    places: IndexArray
    counts: IndexArray
    top: Top


def _by_workers(linker: ScoredInShares, part: Part, thresholds: Thresholds, helpers: Helpers) -> Seen:
    """One look at all pairs; whatever is added up is whole, so that its order does not matter."""
    found, counts, top = no_standing(part.partners.own.size), thresholds.counts(), Top()
    places: list[slice] = []

    def plan(many: int) -> list[_Task]:
        tasks = []
        for rows, columns in shared_out(part.times.size, part.rivals.times.size, linker.width, many):
            tasks.append(_Task(linker.share(rows, columns), part.some(rows, columns)))
            places.append(part.partners.among(rows.start, rows.stop))
        return tasks

    for at, told in helpers.answers(thresholds, _look, plan):
        add_standing(found, places[at], told.standing)
        counts[told.places] += told.counts
        top = top.or_of(told.top)
    return Seen(found, counts, top)


def _look(thresholds: Thresholds, task: _Task, clock: Clock) -> _Told:
    """Look at a share of all pairs, at a worker."""
    seen = look(task.share.ready(), task.part, thresholds, threads=clock.threads, stop=lambda: clock.expired)
    places = np.flatnonzero(seen.counts)
    return _Told(seen.standing, places, seen.counts[places], seen.top)
