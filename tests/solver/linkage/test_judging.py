"""Judging by scores, precision and recall, single claims: against the definitions, pair by pair."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.judging import judge, judged_links, most_probable_claim
from linkrisk.solver.linkage.linker import LearnedLinker, Truth
from linkrisk.solver.linkage.precision_recall import all_scores, precision_recall


class Given(LearnedLinker):
    """A linker whose scores are given."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, dtype=np.float64)

    def scores(self, rows):
        return self.matrix[rows]

    def probabilities(self, scores):
        return 1.0 / (1.0 + np.exp(-scores))


@st.composite
def cases(draw):
    """Small whole scores, with many ties, some pairs impossible, some queries without a partner."""
    queries, candidates = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    value = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 1.0, 2.0])
    matrix = np.array(draw(st.lists(value, min_size=queries * candidates, max_size=queries * candidates)))
    partner = np.array(
        draw(st.lists(st.integers(-1, candidates - 1), min_size=queries, max_size=queries)), dtype=np.intp
    )
    partner[draw(st.integers(0, queries - 1))] = 0
    twins = draw(st.none() | st.lists(st.integers(0, 2), min_size=candidates, max_size=candidates))
    group = None if twins is None else np.unique(twins, return_inverse=True)[1].astype(np.intp)
    return SimpleNamespace(
        linker=Given(matrix.reshape(queries, candidates)),
        partner=partner,
        truth=Truth.of(partner, candidates, group),
        group=group,
    )


@given(cases())
def test_links_ranks_and_ties_by_definition(case):
    made = judge(case.linker, case.truth)
    blocks = [row for row, partner in enumerate(case.partner) if partner >= 0]
    assert made.linked.size == len(blocks)
    for at, row in enumerate(blocks):
        scores, partner = case.linker.matrix[row], case.partner[row]
        rivals = [
            j
            for j in range(scores.size)
            if (j != partner if case.group is None else case.group[j] != case.group[partner])
        ]
        nearer = sum(scores[j] > scores[partner] for j in rivals)
        alike = sum(scores[j] == scores[partner] for j in rivals)
        assert (made.rank[at], made.ties[at]) == (1 + nearer, alike)
        assert made.linked[at] == (nearer == 0 and alike == 0 and scores[partner] > -np.inf)
        assert made.distance[at] == -scores[partner]
        assert made.nearest_other[at] == -max((scores[j] for j in rivals), default=-np.inf)
        assert made.rival[at] == -1 if not rivals else made.rival[at] in rivals
        group = 1 if case.group is None else int((case.group == case.group[partner]).sum())
        assert made.weight[at] == 1 / group


def test_a_distance_is_a_score_with_its_sign_changed():
    random = np.random.default_rng(5)
    original = random.normal(size=(60, 3))
    pair = make_pair(original, original + random.normal(scale=0.5, size=original.shape))
    aggregator = make_aggregator("weighted-mean", pair.attributes)
    form = aggregator.form(aggregator.equal())
    expected = Evaluator(pair).rank(form)
    distances = np.vstack([form(values) for _, values in pair.chunks(form.differences)])
    made = judge(Given(-distances), Truth.of(pair.partner, 60))
    assert 5 < made.count < 55
    for name in ("linked", "rank", "ties", "rival"):
        assert (getattr(made, name) == getattr(expected, name)).all(), name
    np.testing.assert_allclose(made.margin, expected.margin, atol=1e-12)


def test_scores_apart_by_rounding_tie():
    truth = Truth.of(np.array([0]), 2)
    assert judge(Given([[0.3, 0.1 + 0.2]]), truth).ties.tolist() == [1]
    assert judge(Given([[0.3, 0.3 - 1e-9]]), truth).linked.tolist() == [True]


@given(cases())
def test_precision_and_recall_by_definition(case):
    own = -judge(case.linker, case.truth).distance
    curve = precision_recall(own, all_scores(case.linker, case.truth))
    everything = case.linker.matrix
    assert curve.thresholds.tolist() == sorted(set(own[own > -np.inf]), reverse=True)
    for threshold, precision, recall in zip(curve.thresholds, curve.precision, curve.recall, strict=True):
        correct = sum(
            everything[row, partner] >= threshold for row, partner in enumerate(case.partner) if partner >= 0
        )
        assert precision == correct / (everything >= threshold).sum()
        assert recall == correct / own.size


def test_average_precision_of_an_example():
    """Three matches, ranked first, third and fifth of nine pairs: (1/1 + 2/3 + 3/5) / 3."""
    matrix = [[9.0, 8.0, 1.0], [2.0, 7.0, 6.0], [3.0, 4.0, 5.0]]
    truth = Truth.of(np.arange(3), 3)
    linker = Given(matrix)
    curve = precision_recall(-judge(linker, truth).distance, all_scores(linker, truth))
    assert curve.average_precision == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert set(curve.to_dict()) == {"average_precision", "threshold", "precision", "recall"}


def test_what_ties_is_claimed_together():
    """0.1 + 0.2 is a little more than 0.3: sums of the same weights in different orders."""
    for own, rival in ((0.3, 0.1 + 0.2), (0.1 + 0.2, 0.3)):
        linker, truth = Given([[own, rival, 0.0], [0.3, 0.1 + 0.2, 0.1]]), Truth.of(np.arange(2), 3)
        judged = judged_links(linker, truth)
        assert judged.evaluation.ties.tolist() == [1, 1]
        assert judged.claim.correct == 0.5
        assert (judged.curve.correct.tolist(), judged.curve.claimed.tolist()) == ([2], [4])
        assert judged.curve.thresholds.tolist() == [min(own, 0.1 + 0.2)]


@given(cases())
def test_the_most_probable_claim(case):
    claim = most_probable_claim(case.linker, case.truth)
    best = case.linker.matrix.max()
    if best == -np.inf:
        assert claim is None
        return
    top = [tuple(pair) for pair in np.argwhere(case.linker.matrix == best)]
    assert (claim.query, claim.candidate) == top[0]
    assert claim.score == best
    assert claim.probability == pytest.approx(1 / (1 + np.exp(-best)))
    assert claim.correct == np.mean([case.partner[row] == column for row, column in top])
