"""Scores of some pairs are judged as the matrix is that has -inf for all others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from test_judging import cases

from linkrisk.solver.linkage.judging import judge, most_probable_claim
from linkrisk.solver.linkage.kinds import ScoredPairs
from linkrisk.solver.linkage.linker import LearnedLinker
from linkrisk.solver.linkage.precision_recall import all_scores, precision_recall


class Some(LearnedLinker):
    """A linker that has scored the finite pairs of a matrix."""

    def __init__(self, matrix):
        query, candidate = np.nonzero(np.isfinite(matrix))
        self._pairs = ScoredPairs(
            query.astype(np.int32), candidate.astype(np.int32), matrix[query, candidate], *matrix.shape
        )

    @property
    def scored_pairs(self):
        return self._pairs

    def scores(self, rows):
        return self._pairs.dense(rows)

    def probabilities(self, scores):
        return 1.0 / (1.0 + np.exp(-scores))


@given(cases())
def test_pairs_are_judged_as_the_matrix(case):
    whole, some = case.linker, Some(case.linker.matrix)
    assert (some.scores(np.arange(case.partner.size)) == whole.matrix).all()
    expected, found = judge(whole, case.truth), judge(some, case.truth)
    for name in ("linked", "rank", "ties", "distance", "nearest_other", "weight", "rival", "settled"):
        assert (getattr(found, name) == getattr(expected, name)).all(), name
    own = -judge(whole, case.truth).distance
    assert (-judge(some, case.truth).distance == own).all()
    curves = [precision_recall(own, all_scores(linker, case.truth)) for linker in (whole, some)]
    assert (curves[0].claimed == curves[1].claimed).all()
    assert curves[0].average_precision == pytest.approx(curves[1].average_precision)
    assert most_probable_claim(some, case.truth) == most_probable_claim(whole, case.truth)
