"""Whole households by what their members say together, and members by elimination.

Whoever finds a household by some of its members has the others among few: one of them who was changed beyond
recognition is who is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.measures.links.likelihoods import Both, Equal, Model, Sides, folds

_CELLS_AT_ONCE = 2_000_000

_ODD = np.log(0.01)
"""Logarithm of the likelihood ratio that no record is held to be below: any may have been changed much."""

_SAME = 1e-5
"""Logarithms of likelihood ratios that differ by less are the same."""


def by_members(
    problem: Problem, beside: Both, homes: tuple[IndexArray, IndexArray], seed: int, stop: Callable[[], bool]
) -> FloatArray | None:
    """What is linked of each fifth of households by who knows the others, shape (blocks,).

    `beside`: what either file has besides attributes (`likelihoods.by_likelihood`). `homes` (original
    records,): numbers of households from 0.
    """
    pair = problem.pair
    turned = Direction(problem.options.direction) is Direction.MASKED_TO_ORIGINAL
    mine, theirs = homes[::-1] if turned else homes
    households = _Households(mine[pair.query_rows], theirs, pair.partner)
    sides = Sides.of(problem.files, beside, pair.query_rows, turned=turned)
    alike, linked = sides.alike, np.zeros(pair.blocks)
    for known, attacked in folds(households.count, seed):
        blocks = households.members(known)
        model = Model(sides, blocks, pair.partner[blocks])
        sizes = Equal(*households.sizes, known, households.partner[known])
        for some in households.parts(attacked, max(1, _CELLS_AT_ONCE // len(pair.candidates))):
            if stop():
                return None
            rows = households.members(some)
            scores = model.scores(rows)
            chance = households.found(some, rows, scores, sizes)
            for place, home in zip(*_placed(households.mine[rows], some, chance), strict=True):
                among = households.inside(households.partner[home])
                right = _eliminated(scores[np.ix_(place, among)], alike[among])
                partner = alike[pair.partner[rows[place]]]
                lives = np.isin(pair.partner[rows[place]], among)
                linked[rows[place]] = chance[some == home] * right(partner) * lives
    return linked


def _placed(mine: IndexArray, some: IndexArray, chance: FloatArray) -> tuple[list[IndexArray], list[int]]:
    """Households that may be found, and where their members are."""
    found = some[chance > 0.0]
    return [np.flatnonzero(mine == home) for home in found], found.tolist()


def _eliminated(scores: FloatArray, alike: IndexArray) -> Callable[[IndexArray], FloatArray]:
    """Chances of labels of partners in the likeliest assignment of members, by lot among equal ones."""
    rows, columns = linear_sum_assignment(np.maximum(scores, _ODD), maximize=True)
    given = np.full(len(scores), -1, dtype=np.intp)
    given[rows] = alike[columns]

    def right(partner: IndexArray) -> FloatArray:
        many = (alike == partner[:, None]).sum(axis=1)
        return np.asarray((given == partner) / np.maximum(many, 1))

    return right


class _Households:
    """Households of blocks and of candidates, and which are the same.

    `sizes`: Members of the households of blocks, and of candidates. `partner`: The household in which the
    partner of their first member is.
    """

    def __init__(self, mine: IndexArray, theirs: IndexArray, partner: IndexArray) -> None:
        _, first, self.mine = np.unique(mine, return_index=True, return_inverse=True)
        self.count = int(self.mine.max()) + 1
        self.partner = theirs[partner[first]]
        self._order = np.argsort(theirs, kind="stable")
        sizes = np.bincount(theirs)
        self._first = np.r_[0, np.cumsum(sizes)]
        self.sizes = np.bincount(self.mine).astype(np.float64), sizes.astype(np.float64)
        self._own = np.argsort(self.mine, kind="stable")
        self._own_first = np.r_[0, np.cumsum(np.bincount(self.mine))]

    def members(self, homes: IndexArray) -> IndexArray:
        """The blocks of some households, one household after the other."""
        pieces = [self._own[self._own_first[home] : self._own_first[home + 1]] for home in homes]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.intp)

    def inside(self, home: int) -> IndexArray:
        """The candidates of a household."""
        return self._order[self._first[home] : self._first[home + 1]]

    def parts(self, homes: IndexArray, most: int) -> Iterator[IndexArray]:
        """Some households at a time, of so many members, or one."""
        number = np.cumsum(self.sizes[0][homes]) // most
        yield from np.split(homes, np.flatnonzero(np.diff(number)) + 1)

    def found(self, homes: IndexArray, rows: IndexArray, scores: FloatArray, sizes: Equal) -> FloatArray:
        """Chances that households are taken for their own, where lots decide among the likeliest."""
        most = scores.max(axis=1, keepdims=True)
        ratios = np.exp(scores - most)[:, self._order]
        with np.errstate(divide="ignore"):
            together = np.log(np.add.reduceat(ratios, self._first[:-1], axis=1) / self.sizes[1]) + most
        together = np.logaddexp(together, _ODD)
        starts = np.r_[0, np.flatnonzero(np.diff(self.mine[rows])) + 1]
        each = np.add.reduceat(together, starts, axis=0) + sizes.scores(homes)
        best = each >= each.max(axis=1, keepdims=True) - _SAME
        own = best[np.arange(len(homes)), self.partner[homes]]
        return np.asarray(own / best.sum(axis=1))
