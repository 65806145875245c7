"""Judge a linker by its scores, with the same answer for every pair as the evaluator of distances gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.ties import TIE_TOLERANCE
from linkrisk.solver.linkage.evaluation import Evaluation
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.judged_pairs import judged_pairs, partner_scores
from linkrisk.solver.linkage.linker import LearnedLinker, Truth, in_chunks

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]


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
    own = np.empty(truth.partner.size)
    found = no_standing(own.size)
    for part, scores in in_chunks(linker, truth.query_rows, truth.candidates):
        own[part] = scores[np.arange(len(scores)), truth.partner[part]]
        put_standing(found, part, standing(scores, own[part], Sides.of(truth, part)))
    return evaluated(found, own, truth)


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
    parts = [
        scores[np.arange(scores.shape[0]), truth.partner[part]]
        for part, scores in in_chunks(linker, truth.query_rows, truth.candidates)
    ]
    return np.concatenate(parts)


class Sides(NamedTuple):
    """Some blocks and some candidates.

    Attributes
    ----------
    partner : ndarray of int, shape (blocks,)
        The row of each block's partner among all candidates.
    first : int
        The row of the first of the candidates, which follow one another.
    mine, group : ndarray of int, shapes (blocks,), (candidates,), or None
        Twin groups of the partners and of the candidates, where twins are no rivals.
    """

    partner: IndexArray
    first: int = 0
    mine: IndexArray | None = None
    group: IndexArray | None = None

    @classmethod
    def of(cls, truth: Truth, part: slice, columns: slice = slice(None)) -> Sides:
        """Blocks of a part, and candidates, all of them when absent."""
        partner, twins = truth.partner[part], truth.twin_group
        first = columns.start or 0
        return cls(partner, first) if twins is None else cls(partner, first, twins[partner], twins[columns])

    def some(self, blocks: slice) -> Sides:
        """Some of the blocks."""
        mine = None if self.mine is None else self.mine[blocks]
        return Sides(self.partner[blocks], self.first, mine, self.group)

    def rivals(self, candidates: int) -> BoolArray:
        """Which candidates stand against the partner, shape (blocks, candidates)."""
        if self.mine is not None and self.group is not None:
            return np.asarray(self.group[None, :] != self.mine[:, None])
        rivals = np.ones((self.partner.size, candidates), dtype=np.bool_)
        column = self.partner - self.first
        here = np.flatnonzero((column >= 0) & (column < candidates))
        rivals[here, column[here]] = False
        return rivals


class Standing(NamedTuple):
    """How partners stand among rivals.

    Attributes
    ----------
    nearer, at_least : ndarray of int, shape (blocks,)
        How many rivals score higher, and how many at least as high.
    best : ndarray of float64, shape (blocks,)
        The highest score of a rival.
    rival : ndarray of int, shape (blocks,)
        The first rival that has it, -1 where there is none.
    """

    nearer: IndexArray
    at_least: IndexArray
    best: FloatArray
    rival: IndexArray


def no_standing(blocks: int) -> Standing:
    """How partners stand before any rival has been looked at."""
    nearer, at_least = (np.zeros(blocks, dtype=np.intp) for _ in range(2))
    return Standing(nearer, at_least, np.full(blocks, -np.inf), np.full(blocks, -1, dtype=np.intp))


def standing(scores: FloatArray, own: FloatArray, sides: Sides) -> Standing:
    """How partners with the scores `own` stand among some candidates; `scores` is (blocks, candidates)."""
    rivals = sides.rivals(scores.shape[1])
    tolerance = np.where(np.isfinite(own), TIE_TOLERANCE * np.abs(own), 0.0)
    best = np.where(rivals, scores, -np.inf).max(axis=1, initial=-np.inf)
    rival = sides.first + (rivals & (scores == best[:, None])).argmax(axis=1)
    rival[~rivals.any(axis=1)] = -1
    return Standing(
        nearer=(rivals & (scores > (own + tolerance)[:, None])).sum(axis=1),
        at_least=(rivals & (scores >= (own - tolerance)[:, None])).sum(axis=1),
        best=best,
        rival=rival,
    )


def put_standing(whole: Standing, place: slice | IndexArray, some: Standing) -> None:
    """Add what was found of some blocks among some rivals; the first of the best is kept, in any order."""
    whole.nearer[place] += some.nearer
    whole.at_least[place] += some.at_least
    best, rival = whole.best[place], whole.rival[place]
    as_good = (some.best == best) & ((rival < 0) | (some.rival < rival))
    better = (some.rival >= 0) & ((some.best > best) | as_good)
    whole.best[place] = np.where(better, some.best, best)
    whole.rival[place] = np.where(better, some.rival, rival)
