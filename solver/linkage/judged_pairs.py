"""Judge scores of some pairs as if all the others were there too, with -inf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, IntArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.ties import TIE_TOLERANCE
from linkrisk.solver.linkage.evaluation import Evaluation
from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.scored_pairs import ScoredPairs


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
