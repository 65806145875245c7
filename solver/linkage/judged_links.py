"""All that is said of a linker's scores: here in several looks at all pairs, by workers in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.linkage.curves import (
    Claim,
    PrecisionRecall,
    Top,
    all_scores,
    between,
    claim_of,
    curve_of,
    most_probable_claim,
    precision_recall,
    thresholds_of,
    top_of,
)
from linkrisk.solver.linkage.evaluation import Evaluation
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.judging import (
    Sides,
    Standing,
    evaluated,
    judge,
    no_standing,
    own_scores,
    put_standing,
    standing,
)
from linkrisk.solver.linkage.linker import LearnedLinker, ScoredInShares, Truth, in_chunks
from linkrisk.solver.linkage.pair_shares import PairShare, shared_out
from linkrisk.solver.run.clock import Clock

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_PARTNERS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class JudgedLinks:
    """What a linker's scores come to.

    Attributes
    ----------
    evaluation : Evaluation
    curve : PrecisionRecall
    claim : Claim or None
    """

    evaluation: Evaluation
    curve: PrecisionRecall
    claim: Claim | None


def judged_links(linker: LearnedLinker, truth: Truth, helpers: Helpers | None = None) -> JudgedLinks:
    """Judge a linker, and count its claims at every threshold; by workers where that is worth it."""
    worth = helpers is not None and helpers.worth(truth.queries * truth.candidates)
    if helpers is not None and worth and isinstance(linker, ScoredInShares):
        return _by_workers(linker, truth, helpers)
    return JudgedLinks(
        judge(linker, truth),
        precision_recall(own_scores(linker, truth), all_scores(linker, truth)),
        most_probable_claim(linker, truth),
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """Some queries with some candidates; `blocks` are those of the queries that have a partner.

    Attributes
    ----------
    share : PairShare
    first_row : int
    query_rows : ndarray of int, shape (blocks,)
        Those of the blocks.
    own : ndarray of float64, shape (blocks,)
        Scores of their partners.
    sides : Sides
    """

    share: PairShare
    first_row: int
    query_rows: IndexArray
    own: FloatArray
    sides: Sides


@dataclass(frozen=True, eq=False)
class _Seen:
    """What was seen of them; `places` are those between thresholds that were met, with their `counts`."""

    standing: Standing
    places: IndexArray
    counts: IndexArray
    top: Top


def _by_workers(linker: ScoredInShares, truth: Truth, helpers: Helpers) -> JudgedLinks:
    """One look at all pairs; whatever is added up is whole, so that its order does not matter."""
    own = _own_scores(linker, truth)
    thresholds = thresholds_of(own)
    found, claimed, top = no_standing(own.size), np.zeros(thresholds.size + 1, dtype=np.intp), Top()
    parts: list[slice] = []

    def plan(many: int) -> list[_Task]:
        tasks = []
        for rows, columns in shared_out(truth.queries, truth.candidates, linker.width, many):
            part = slice(*np.searchsorted(truth.query_rows, [rows.start, rows.stop]).tolist())
            some = truth.query_rows[part], own[part], Sides.of(truth, part, columns)
            tasks.append(_Task(linker.share(rows, columns), rows.start, *some))
            parts.append(part)
        return tasks

    for at, seen in helpers.answers(thresholds, _look, plan):
        put_standing(found, parts[at], seen.standing)
        claimed[seen.places] += seen.counts
        top = top.or_of(seen.top)
    return JudgedLinks(evaluated(found, own, truth), curve_of(own, claimed), claim_of(linker, top))


def _own_scores(linker: ScoredInShares, truth: Truth) -> FloatArray:
    """The score of each block's partner, shape (blocks,), without a look at all pairs."""
    own = np.empty(truth.partner.size)
    for first in range(0, own.size, _PARTNERS_AT_ONCE):
        part = slice(first, first + _PARTNERS_AT_ONCE)
        partners, column = np.unique(truth.partner[part], return_inverse=True)
        share = linker.share(truth.query_rows[part], partners)
        rows = np.arange(column.size)
        own[part] = share.ready().scores(rows)[rows, column]
    return own


def _look(thresholds: FloatArray, task: _Task, clock: Clock) -> _Seen:
    """Look at a share of all pairs, at a worker."""
    ready, sides, known = task.share.ready(), task.sides, task.query_rows - task.first_row
    queries, candidates = ready.shape
    found, counts, top = no_standing(task.own.size), np.zeros(thresholds.size + 1, dtype=np.intp), Top()
    partner = np.full(queries, -1, dtype=np.intp)
    partner[known] = sides.partner
    for part, scores in in_chunks(ready, np.arange(queries), candidates):
        blocks = slice(*np.searchsorted(known, [part.start, part.stop]).tolist())
        some = scores[known[blocks] - part.start]
        put_standing(found, blocks, standing(some, task.own[blocks], sides.some(blocks)))
        counts += between(thresholds, scores)
        top = top.or_of(top_of(scores, partner[part], task.first_row + part.start, sides.first))
        if clock.expired:
            break
    places = np.flatnonzero(counts)
    return _Seen(found, places, counts[places], top)
