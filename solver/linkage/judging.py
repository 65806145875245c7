"""Judge a linker by its scores, with the same answer for every pair as the evaluator of distances gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.linkage.evaluation import Evaluation
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.judged_pairs import judged_pairs, partner_scores
from linkrisk.solver.linkage.linker import LearnedLinker, Truth
from linkrisk.solver.linkage.looking import Blocks, Seen, Whole, look
from linkrisk.solver.linkage.standing import Part, Standing
from linkrisk.solver.linkage.thresholds import Thresholds

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
