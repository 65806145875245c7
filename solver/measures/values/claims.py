"""Which record an attack takes for the partner of each: the nearest one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.evaluation import Evaluation

IndexArray = NDArray[np.intp]


def claimed(pair: LinkagePair, evaluation: Evaluation, seed: int) -> IndexArray:
    """The candidate that each block is linked to, shape (blocks,); -1 where nobody looked or there is none.

    The partner where it is nearest, else the nearest rival. Of candidates that are equal in all attributes,
    or equally near, an intruder takes one at random: the partner among t tied rivals with probability
    1 / (1 + t), else the first of them.
    """
    random = np.random.default_rng(seed)
    first = (evaluation.rank == 1) & np.isfinite(evaluation.distance)
    is_partner = first & (random.random(pair.blocks) * (1.0 + evaluation.ties) < 1.0)
    chosen = np.where(is_partner | (first & (evaluation.rival < 0)), pair.partner, evaluation.rival)
    chosen[~evaluation.settled] = -1
    group = pair.twin_group
    ordered = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[ordered], group[chosen])
    sizes = np.searchsorted(group[ordered], group[chosen], side="right") - starts
    twin = ordered[starts + (random.random(pair.blocks) * sizes).astype(np.intp)]
    return np.where(chosen < 0, -1, twin).astype(np.intp)
