"""Judge a linker by its scores: ranks of partners, precision and recall, the most probable claim."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.ties import TIE_TOLERANCE
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.kinds import Kinds, ScoredPairs
from linkrisk.solver.linkage.linker import LearnedLinker, ScoredInShares, Truth
from linkrisk.solver.linkage.pair_shares import PairShare, ReadyPairs, shared_out
from linkrisk.solver.linkage.precision_recall import (
    Claim,
    PrecisionRecall,
    Thresholds,
    Top,
    all_scores,
    claim_of,
    count_between,
    curve_of,
    precision_recall,
    thresholds_of,
    top_of,
    top_of_pairs,
)
from linkrisk.solver.linkage.score_ranks import (
    Part,
    Partners,
    Rivals,
    Standing,
    add_standing,
    no_standing,
    stand,
)
from linkrisk.solver.run.clock import Clock


def partner_scores(pairs: ScoredPairs, truth: Truth) -> FloatArray:
    """The score of each block's partner, shape (blocks,)."""
    place = pairs.place(truth.query_rows, truth.partner)
    own = np.full(place.size, -np.inf)
    own[place >= 0] = pairs.score[place[place >= 0]]
    return own


def judged_pairs(pairs: ScoredPairs, truth: Truth) -> Evaluation:
    """What becomes of every block (see `judging.judge`)."""
    own = partner_scores(pairs, truth)
    group = np.arange(truth.candidates) if truth.twin_group is None else truth.twin_group
    mine = group[truth.partner]
    blocks = truth.partner.size
    nearer, as_near, scored, rival = (np.zeros(blocks, dtype=np.intp) for _ in range(4))
    best = np.full(blocks, -np.inf)
    tolerance = np.where(np.isfinite(own), TIE_TOLERANCE * np.abs(own), 0.0)
    first = pairs.first[truth.query_rows], pairs.first[truth.query_rows + 1]
    _look_at_rivals(
        _Scored(*first, pairs.candidate, pairs.score),
        group,
        mine,
        own,
        tolerance,
        _Found(nearer, as_near, scored, best, rival),
    )
    rivals = truth.candidates - np.bincount(group)[mine]
    # Pairs that were not scored have -inf: they tie with a partner that was not scored either.
    as_near += np.where(own == -np.inf, rivals - scored, 0)
    for block in np.flatnonzero((scored == 0) & (rivals > 0)):
        rival[block] = int(np.argmax(group != mine[block])) if truth.candidates else -1
    rival[rivals == 0] = -1
    return Evaluation(
        linked=(nearer == 0) & (as_near == 0) & (own > -np.inf),
        rank=1 + nearer,
        ties=as_near,
        distance=-own,
        nearest_other=-best,
        weight=truth.weight,
        rival=rival,
        settled=np.ones(blocks, dtype=np.bool_),
    )


class _Scored(NamedTuple):
    """Candidates with their scores, and where those of every block begin and end."""

    begin: IndexArray
    end: IndexArray
    candidate: IntArray
    score: FloatArray


class _Found(NamedTuple):
    """Of every block, how many rivals were nearer, as near and scored, and the best of them."""

    nearer: IndexArray
    as_near: IndexArray
    scored: IndexArray
    best: FloatArray
    rival: IndexArray


@kernel
def _look_at_rivals(
    pairs: _Scored,
    group: IndexArray,
    mine: IndexArray,
    own: FloatArray,
    tolerance: FloatArray,
    found: _Found,
) -> None:
    """Count the rivals of every block that were scored, and find the best of them, the first in the file."""
    begin, end, candidate, score = pairs
    nearer, as_near, scored, best, rival = found
    for block in range(begin.size):
        for at in range(begin[block], end[block]):
            other = candidate[at]
            if group[other] == mine[block]:
                continue
            scored[block] += 1
            if score[at] > own[block] + tolerance[block]:
                nearer[block] += 1
            elif score[at] >= own[block] - tolerance[block]:
                as_near[block] += 1
            if score[at] > best[block] or (score[at] == best[block] and other < rival[block]):
                best[block], rival[block] = score[at], other


_CELLS_AT_ONCE = 1 << 20
"""Scores that a thread holds at a time: 8 MB, of which most are still at hand when they are looked at."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks by kinds of queries and candidates: those that stand alike are looked at once.

    Attributes
    ----------
    kinds : (Kinds, Kinds) or None
        Those by which the linker scores; None where each record is looked at.
    part : Part
        All kinds; the partners' scores are not known.
    place : ndarray of int, shape (blocks,)
        Where each block is among the partners of the part.
    """

    kinds: tuple[Kinds, Kinds] | None
    part: Part
    place: IndexArray

    @classmethod
    def of(cls, linker: LearnedLinker, truth: Truth) -> Blocks:
        """Put together what stands alike."""
        group = np.arange(truth.candidates) if truth.twin_group is None else truth.twin_group
        kinds = linker.kinds
        if kinds is not None and not _nested(kinds[1], group):
            kinds = None
        queries, candidates = kinds or (Kinds.each(truth.queries), Kinds.each(truth.candidates))
        rivals = Rivals.of(candidates, group)
        query, partner = queries.kind[truth.query_rows], candidates.kind[truth.partner]
        mine, together = group[truth.partner], Kinds.of((group, candidates.kind), group.size)
        away = together.times[together.kind][truth.partner]
        key = Kinds.of((query, partner, away, rivals.group[partner] == mine), query.size)
        some = key.first[np.argsort(query[key.first], kind="stable")]
        place = np.empty_like(some)
        place[key.kind[some]] = np.arange(some.size)
        partners = Partners(query[some], partner[some], mine[some], away[some], np.zeros(some.size))
        return cls(kinds, Part(0, queries.times, queries.first, partners, rivals), place[key.kind])

    def of_linker(self, linker: LearnedLinker) -> bool:
        """Whether kinds are those that the linker scores; otherwise records have to be told apart."""
        return self.kinds is not None or linker.kinds is None

    def with_own(self, own: FloatArray) -> Part:
        """All kinds with the scores of the partners."""
        part = self.part
        return Part(part.start, part.times, part.first, part.partners._replace(own=own), part.rivals)

    def spread(self, found: Standing) -> Standing:
        """How each block stands."""
        return Standing._make(values[self.place] for values in found)


def _nested(kinds: Kinds, group: IndexArray) -> bool:
    """Whether candidates of a group are of one kind, or else the only ones of their kinds."""
    groups = Kinds.of((group,), group.size)
    apart = kinds.kind != kinds.kind[groups.first][groups.kind]
    torn = np.bincount(groups.kind, apart, groups.first.size)[groups.kind] > 0
    alone = Rivals.of(kinds, group).other < 0
    return bool(alone[kinds.kind[torn]].all())


class Whole(ReadyPairs):
    """All kinds of a linker, or all records."""

    def __init__(self, linker: LearnedLinker, blocks: Blocks) -> None:
        self._score = linker.scores if blocks.kinds is None else linker.kind_scores
        self._shape = blocks.part.times.size, blocks.part.rivals.times.size

    @property
    def shape(self) -> tuple[int, int]:
        """How many kinds there are."""
        return self._shape

    def scores(self, rows: IndexArray) -> FloatArray:
        """Scores of some kinds of queries."""
        return self._score(rows)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of some kinds.

    Attributes
    ----------
    standing : Standing
        Of the partners.
    counts : ndarray of int64, shape (thresholds + 1,)
        How many pairs of records reach so many thresholds.
    top : Top
    """

    standing: Standing
    counts: LongArray
    top: Top


def look(
    pairs: ReadyPairs,
    part: Part,
    thresholds: Thresholds,
    *,
    standings: bool = True,
    threads: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Seen:
    """Look once at the scores of some kinds.

    Whatever is added up is whole, so that the order in which threads come does not matter.

    Parameters
    ----------
    pairs : ReadyPairs
        The kinds of the part, counted from 0.
    part : Part
    thresholds : Thresholds
    standings : bool
        Whether to look how partners stand.
    threads : int, optional
        All cores when absent.
    stop : callable
        Asked now and then whether to give up: nobody then looks at what was seen.
    """
    queries, candidates = pairs.shape
    height = max(1, _CELLS_AT_ONCE // max(1, candidates))
    firsts = iter(range(0, queries, height))  # taken by whoever is free: next() is atomic
    found = no_standing(part.partners.own.size)
    many = min(threads or os.cpu_count() or 1, -(-queries // height))

    def task(_: int) -> tuple[LongArray, Top]:
        counts, top = thresholds.counts(), Top()
        for first in firsts:
            rows = slice(first, min(first + height, queries))
            times = part.times[rows]
            scores = np.ascontiguousarray(pairs.scores(np.arange(rows.start, rows.stop)))
            if standings:
                start = part.start + first
                some = part.partners.among(start, start + times.size)
                add_standing(found, some, stand(scores, start, part.partners.part(some), part.rivals))
            if thresholds.values.size:
                count_between(scores, times, part.rivals.times, thresholds, counts)
            top = top.or_of(top_of(scores, part.first[rows], part.rivals.first))
            if stop():
                break
        return counts, top

    if many <= 1:
        seen = [task(0)]
    else:
        with ThreadPoolExecutor(many) as pool:
            seen = list(pool.map(task, range(many)))
    top = Top()
    for _, best in seen:
        top = top.or_of(best)
    return Seen(found, np.sum([counts for counts, _ in seen], axis=0), top)


See = Callable[[Part, Thresholds], Seen]


def judge(linker: LearnedLinker, truth: Truth) -> Evaluation:
    """What becomes of every block: linked when its partner scores strictly higher than every rival.

    Scores that stand for a distance of `fit` are judged as that distance, by the evaluator, which alone knows
    what ties. Others tie when they differ by no more than rounding (`TIE_TOLERANCE` of the partner's), and a
    tie is not a link.

    Parameters
    ----------
    linker : LearnedLinker
    truth : Truth

    Returns
    -------
    Evaluation
    """
    known = judged_without_a_look(linker, truth)
    return seen_by(linker, Blocks.of(linker, truth), truth) if known is None else known


def seen_by(linker: LearnedLinker, blocks: Blocks, truth: Truth, see: See | None = None) -> Evaluation:
    """What becomes of every block by the scores of a linker; without a look at them where it knows.

    Parameters
    ----------
    linker : LearnedLinker
    blocks : Blocks
    truth : Truth
    see : callable, optional
        Looks at all kinds; here when absent.
    """
    own = own_of_kinds(linker, blocks)
    part = blocks.with_own(own)
    found = linker.standing(part) if blocks.of_linker(linker) else None
    if found is None:
        none = Thresholds.of(np.empty(0))
        found = (see(part, none) if see else look(Whole(linker, blocks), part, none)).standing
    return evaluated(blocks.spread(found), own[blocks.place], truth)


def judged_without_a_look(linker: LearnedLinker, truth: Truth) -> Evaluation | None:
    """What becomes of every block where not all pairs have to be scored for that."""
    distance = linker.judged_as(truth)
    if distance is not None:
        pair, form = distance
        return Evaluator(pair).table(form)
    return None if linker.scored_pairs is None else judged_pairs(linker.scored_pairs, truth)


def evaluated(found: Standing, own: FloatArray, truth: Truth) -> Evaluation:
    """What becomes of every block whose partner has these scores and stands like this among its rivals."""
    as_near = found.at_least - found.nearer
    return Evaluation(
        linked=(found.nearer == 0) & (as_near == 0) & (own > -np.inf),
        rank=1 + found.nearer,
        ties=as_near,
        distance=-own,
        nearest_other=-found.best,
        weight=truth.weight,
        rival=found.rival,
        settled=np.ones(own.size, dtype=np.bool_),
    )


def own_scores(linker: LearnedLinker, truth: Truth) -> FloatArray:
    """The score of each block's partner, shape (blocks,)."""
    if linker.scored_pairs is not None:
        return partner_scores(linker.scored_pairs, truth)
    blocks = Blocks.of(linker, truth)
    return own_of_kinds(linker, blocks)[blocks.place]


def own_of_kinds(linker: LearnedLinker, blocks: Blocks) -> FloatArray:
    """The same for partners that stand alike, once each."""
    part = blocks.part
    return linker.pair_scores(part.first[part.partners.query], part.rivals.first[part.partners.partner])


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
