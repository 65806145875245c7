"""Evaluate the scores of a linker: ranks of partners, precision and recall, the most probable claim."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.linkage.linker import (
    Helpers,
    LearnedLinker,
    ReadyPairs,
    ScoredInShares,
    Truth,
    shared_out,
)
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
    Kinds,
    Part,
    PartnerRanks,
    Partners,
    Rivals,
    ScoredPairs,
    limits,
    no_ranks,
    rank_pairs,
    rank_partners,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.remote import Deferred

_CELLS_AT_ONCE = 1 << 20
"""Scores that a thread holds at a time: 8 MB, which mostly stay in the cache."""


@dataclass(frozen=True, eq=False)
class JudgedLinks:
    """Ranks of partners by a linker's scores; precision and recall, and a claim, where requested."""

    evaluation: Evaluation
    curve: PrecisionRecall | None = None
    claim: Claim | None = None


def judge(linker: LearnedLinker, truth: Truth) -> Evaluation:
    """Rank the partners of all blocks: one is linked if its partner scores strictly higher than every rival.

    Scores that represent a distance of `fit` are judged as that distance, by the evaluator, which alone knows
    what ties. Others tie when they differ by no more than rounding (`TIE_TOLERANCE` of the partner's), and a
    tie is not a link.

    Parameters
    ----------
    linker : LearnedLinker
    truth : Truth

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> names = tuple(iris)
    >>> task = linkrisk.linkers.LinkageTask(iris, masked, names, names, linkrisk.describe(iris).schema)
    >>> learned = linkrisk.linkers.SumOfStandardised().learn(task)
    >>> judged = linkrisk.linkers.judge(learned, linkrisk.linkers.Truth.of(np.arange(15), 15))
    >>> int(judged.linked.sum())
    8
    """
    return judged_links(linker, truth, curve=False).evaluation


def most_probable_claim(linker: LearnedLinker, truth: Truth) -> Claim | None:
    """Find the pair of largest score; None when no pair can be a match.

    Examples
    --------
    >>> import numpy as np
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> names = tuple(iris)
    >>> task = linkrisk.linkers.LinkageTask(iris, masked, names, names, linkrisk.describe(iris).schema)
    >>> learned = linkrisk.linkers.Probabilistic().learn(task)
    >>> claim = linkrisk.linkers.most_probable_claim(learned, linkrisk.linkers.Truth.of(np.arange(15), 15))
    >>> claim is not None
    True
    """
    return judged_links(linker, truth).claim


def judged_links(
    linker: LearnedLinker, truth: Truth, helpers: Helpers | None = None, *, curve: bool = True
) -> JudgedLinks:
    """Evaluate a linker, and count its claims at every threshold, in one pass over the score matrix.

    Workers share the pass where that is worth it. Without `curve` there is neither curve nor claim, and no
    pass where partners can be ranked without one.
    """
    evaluation, distance, pairs = None, linker.judged_as(truth), linker.scored_pairs
    if distance is not None:
        evaluation = Evaluator(distance[0]).rank(distance[1])
    if pairs is not None:
        return _judged_pairs(linker, pairs, truth, curve=curve)
    if evaluation is not None and not curve:
        return JudgedLinks(evaluation)
    blocks = BlockKinds.of(linker, truth)
    part = blocks.part
    own = part.partners.own[blocks.place]
    ranks = linker.partner_ranks(part) if blocks.of_linker and not curve else None
    if ranks is not None:
        return JudgedLinks(_evaluation(ranks, own, truth, blocks.place))
    thresholds = Thresholds.of(thresholds_of(own) if curve else np.empty(0))
    if (
        helpers is not None
        and blocks.of_linker
        and isinstance(linker, ScoredInShares)
        and helpers.worth(part.times.size * part.rivals.times.size)
    ):
        scan = _scan_by_workers(linker, part, thresholds, helpers)
    else:
        scan = scan_scores(blocks.scores, part, thresholds, ranked=evaluation is None)
    if evaluation is None:
        evaluation = _evaluation(scan.ranks, own, truth, blocks.place)
    if not curve:
        return JudgedLinks(evaluation)
    found = curve_of(own, scan.counts)
    return JudgedLinks(evaluation, found, claim_of(linker, scan.top, own, found))


def _evaluation(
    ranks: PartnerRanks, own: FloatArray, truth: Truth, place: IndexArray | None = None
) -> Evaluation:
    """Build the evaluation of blocks whose partners have the scores `own`, and are at `place` in `ranks`."""
    if place is not None:
        ranks = PartnerRanks._make(values[place] for values in ranks)
    as_near = ranks.at_least - ranks.nearer
    return Evaluation(
        linked=(ranks.nearer == 0) & (as_near == 0) & (own > -np.inf),
        rank=1 + ranks.nearer,
        ties=as_near,
        distance=-own,
        nearest_other=-ranks.best,
        weight=truth.weight,
        rival=ranks.rival,
        settled=np.ones(own.size, dtype=np.bool_),
    )


def _judged_pairs(linker: LearnedLinker, pairs: ScoredPairs, truth: Truth, *, curve: bool) -> JudgedLinks:
    """Evaluate a linker that scored single pairs."""
    place = pairs.place(truth.query_rows, truth.partner)
    own = np.full(place.size, -np.inf)
    own[place >= 0] = pairs.score[place[place >= 0]]
    evaluation = _evaluation(_ranks_among_pairs(pairs, truth, own), own, truth)
    if not curve:
        return JudgedLinks(evaluation)
    found = precision_recall(own, all_scores(linker, truth))
    return JudgedLinks(evaluation, found, claim_of(linker, top_of_pairs(pairs), own, found))


def _ranks_among_pairs(pairs: ScoredPairs, truth: Truth, own: FloatArray) -> PartnerRanks:
    """Rank partners of scores `own` among the scored pairs; all other pairs have the score -inf."""
    group = truth.groups
    mine, blocks = group[truth.partner], truth.partner.size
    found, scored = no_ranks(blocks), np.zeros(blocks, dtype=np.intp)
    spans = pairs.first[truth.query_rows], pairs.first[truth.query_rows + 1]
    rank_pairs(spans, pairs.candidate, pairs.score, group, mine, limits(own), found, scored)
    rivals = truth.candidates - np.bincount(group)[mine]
    # Pairs without a score tie with a partner that was not scored either.
    found.at_least[:] += np.where(own == -np.inf, rivals - scored, 0)
    for block in np.flatnonzero((scored == 0) & (rivals > 0)):
        found.rival[block] = int(np.argmax(group != mine[block]))
    return found


@dataclass(frozen=True, eq=False)
class BlockKinds:
    """Blocks grouped by kinds of queries and candidates, so that equal ones are ranked once."""

    part: Part  # all kinds, with the partners' scores
    place: IndexArray  # (blocks,): place of each block among the partners of the part
    scores: Callable[[IndexArray], FloatArray]  # of some kinds of queries with all kinds of candidates
    of_linker: bool  # whether kinds are those of the linker; otherwise every record is one

    @classmethod
    def of(cls, linker: LearnedLinker, truth: Truth) -> BlockKinds:
        """Group the blocks of a truth, and score the partners."""
        group, kinds = truth.groups, linker.kinds
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
        own = linker.pair_scores(queries.first[query[some]], rivals.first[partner[some]])
        partners = Partners(query[some], partner[some], mine[some], away[some], own)
        return cls(
            part=Part(0, queries.times, queries.first, partners, rivals),
            place=place[key.kind],
            scores=linker.scores if kinds is None else linker.kind_scores,
            of_linker=kinds is not None or linker.kinds is None,
        )


def _nested(kinds: Kinds, group: IndexArray) -> bool:
    """Whether candidates of a group are of one kind, or else the only ones of their kinds."""
    groups = Kinds.of((group,), group.size)
    apart = kinds.kind != kinds.kind[groups.first][groups.kind]
    torn = np.bincount(groups.kind, apart, groups.first.size)[groups.kind] > 0
    alone = Rivals.of(kinds, group).other < 0
    return bool(alone[kinds.kind[torn]].all())


@dataclass(frozen=True, eq=False)
class ScoreScan:
    """Statistics of the scores of some kinds."""

    ranks: PartnerRanks  # of the partners
    counts: LongArray  # (thresholds + 1,): number of pairs of records that reach so many thresholds
    top: Top


def scan_scores(
    scores: Callable[[IndexArray], FloatArray],
    part: Part,
    thresholds: Thresholds,
    *,
    ranked: bool = True,
    threads: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> ScoreScan:
    """Gather all statistics in one pass over the scores of some kinds, on all cores or `threads`.

    All sums are of integers, so that the order of threads does not matter. With `stop` the scan is given up.
    """
    queries, candidates = part.times.size, part.rivals.times.size
    height = max(1, _CELLS_AT_ONCE // max(1, candidates))
    firsts = iter(range(0, queries, height))  # shared by the threads: next() is atomic
    found = no_ranks(part.partners.own.size)
    many = min(threads or os.cpu_count() or 1, -(-queries // height))

    def task(_: int) -> tuple[LongArray, Top]:
        counts, top = thresholds.counts(), Top()
        for first in firsts:
            rows = slice(first, min(first + height, queries))
            times = part.times[rows]
            block = np.ascontiguousarray(scores(np.arange(rows.start, rows.stop)))
            if ranked:
                start = part.start + first
                some = part.partners.among(start, start + times.size)
                found.add(some, rank_partners(block, start, part.partners.part(some), part.rivals))
            if thresholds.values.size:
                count_between(block, times, part.rivals.times, thresholds, counts)
            top = top.or_of(top_of(block, part.first[rows], part.rivals.first))
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
    return ScoreScan(found, np.sum([counts for counts, _ in seen], axis=0), top)


def _scan_by_workers(
    linker: ScoredInShares, part: Part, thresholds: Thresholds, helpers: Helpers
) -> ScoreScan:
    """Run `scan_scores` on workers; integer sums make the order of answers irrelevant."""
    found, counts, top = no_ranks(part.partners.own.size), thresholds.counts(), Top()
    places: list[slice] = []

    def plan(many: int) -> Sequence[tuple[Deferred[ReadyPairs], Part]]:
        tasks = []
        for rows, columns in shared_out(part.times.size, part.rivals.times.size, linker.width, many):
            tasks.append((linker.share(rows, columns), part.some(rows, columns)))
            places.append(part.partners.among(rows.start, rows.stop))
        return tasks

    for at, (occupied, scan) in helpers.answers(thresholds, _scan_share, plan):
        found.add(places[at], scan.ranks)
        counts[occupied] += scan.counts
        top = top.or_of(scan.top)
    return ScoreScan(found, counts, top)


def _scan_share(
    thresholds: Thresholds, task: tuple[Deferred[ReadyPairs], Part], clock: Clock
) -> tuple[IndexArray, ScoreScan]:
    """Scan a share of all pairs on a worker; non-zero counts are returned with their positions."""
    share, part = task
    scan = scan_scores(
        share.made().scores, part, thresholds, threads=clock.threads, stop=lambda: clock.expired
    )
    occupied = np.flatnonzero(scan.counts)
    return occupied, replace(scan, counts=scan.counts[occupied])
