"""Judge a linker by its scores, with the same answer for every pair as the evaluator of distances gives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.ties import TIE_TOLERANCE
from linkrisk.solver.linkage.evaluation import Evaluation
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.judged_pairs import judged_pairs, partner_scores
from linkrisk.solver.linkage.linker import LearnedLinker, Truth, in_chunks

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


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
    distance = linker.judged_as(truth)
    if distance is not None:
        pair, form = distance
        return Evaluator(pair).table(form)
    if linker.scored_pairs is not None:
        return judged_pairs(linker.scored_pairs, truth)
    parts = [
        _judged(scores, truth, part) for part, scores in in_chunks(linker, truth.query_rows, truth.candidates)
    ]
    linked, rank, ties, own, best, rival = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Evaluation(
        linked=linked,
        rank=rank,
        ties=ties,
        distance=-own,
        nearest_other=-best,
        weight=truth.weight,
        rival=rival,
        settled=np.ones(linked.size, dtype=np.bool_),
    )


def own_scores(linker: LearnedLinker, truth: Truth) -> FloatArray:
    """The score of each block's partner, shape (blocks,)."""
    if linker.scored_pairs is not None:
        return partner_scores(linker.scored_pairs, truth)
    parts = [
        scores[np.arange(scores.shape[0]), truth.partner[part]]
        for part, scores in in_chunks(linker, truth.query_rows, truth.candidates)
    ]
    return np.concatenate(parts)


def _judged(scores: FloatArray, truth: Truth, part: slice) -> tuple[NDArray[np.generic], ...]:
    """Linked, rank, ties, own score, best score of a rival, and that rival, of the blocks of a part."""
    partner = truth.partner[part]
    blocks = np.arange(partner.size)
    own = scores[blocks, partner]
    rivals = _rivals(truth, part)
    tolerance = np.where(np.isfinite(own), TIE_TOLERANCE * np.abs(own), 0.0)
    nearer = (rivals & (scores > (own + tolerance)[:, None])).sum(axis=1)
    as_near = (rivals & (scores >= (own - tolerance)[:, None])).sum(axis=1) - nearer
    best = np.where(rivals, scores, -np.inf).max(axis=1)
    rival = (rivals & (scores == best[:, None])).argmax(axis=1)
    rival[~rivals.any(axis=1)] = -1
    linked = (nearer == 0) & (as_near == 0) & (own > -np.inf)
    return linked, 1 + nearer, as_near, own, best, rival


def _rivals(truth: Truth, part: slice) -> BoolArray:
    """Which candidates stand against the partner, shape (blocks of the part, candidates)."""
    partner = truth.partner[part]
    if truth.twin_group is not None:
        return np.asarray(truth.twin_group[None, :] != truth.twin_group[partner][:, None])
    rivals = np.ones((partner.size, truth.candidates), dtype=np.bool_)
    rivals[np.arange(partner.size), partner] = False
    return rivals
