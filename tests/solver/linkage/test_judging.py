"""Judging by scores: ranks, precision and recall, claims, kinds of records, by their definitions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import task_of

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.linkage import judging
from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.judging import judge, judged_links, most_probable_claim
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, ScoredByKind, Truth
from linkrisk.solver.linkage.precision_recall import Thresholds, all_scores, count_between, precision_recall
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.quantifiers import parse_family
from linkrisk.solver.linkage.representatives import (
    Nearest,
    OrderedWeightedAverages,
    PrincipalComponent,
    SumOfStandardised,
)
from linkrisk.solver.linkage.score_ranks import Kinds, ScoredPairs


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

    def drawn(values, size):
        return np.array(draw(st.lists(values, min_size=size, max_size=size)))

    matrix = drawn(st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 1.0, 2.0]), queries * candidates)
    partner = drawn(st.integers(-1, candidates - 1), queries).astype(np.intp)
    partner[draw(st.integers(0, queries - 1))] = 0
    twins = drawn(st.integers(0, 2), candidates) if draw(st.booleans()) else None
    group = None if twins is None else np.unique(twins, return_inverse=True)[1].astype(np.intp)
    linker, truth = Given(matrix.reshape(queries, candidates)), Truth.of(partner, candidates, group)
    return SimpleNamespace(linker=linker, partner=partner, truth=truth, group=group)


@given(cases())
def test_links_ranks_and_ties_by_definition(case):
    made, group = judge(case.linker, case.truth), case.group
    blocks = [row for row, partner in enumerate(case.partner) if partner >= 0]
    assert made.linked.size == len(blocks)
    for at, row in enumerate(blocks):
        scores, partner = case.linker.matrix[row], case.partner[row]
        twins = [j == partner if group is None else group[j] == group[partner] for j in range(scores.size)]
        rivals = [j for j, twin in enumerate(twins) if not twin]
        nearer = sum(scores[j] > scores[partner] for j in rivals)
        alike = sum(scores[j] == scores[partner] for j in rivals)
        assert (made.rank[at], made.ties[at]) == (1 + nearer, alike)
        assert made.linked[at] == (nearer == 0 and alike == 0 and scores[partner] > -np.inf)
        assert made.distance[at] == -scores[partner]
        assert made.nearest_other[at] == -max((scores[j] for j in rivals), default=-np.inf)
        assert made.rival[at] == -1 if not rivals else made.rival[at] in rivals
        assert made.weight[at] == 1 / sum(twins)


@given(cases())
def test_precision_and_recall_by_definition(case):
    own = -judge(case.linker, case.truth).distance
    curve = precision_recall(own, all_scores(case.linker, case.truth))
    everything, known = case.linker.matrix, [(row, at) for row, at in enumerate(case.partner) if at >= 0]
    assert curve.thresholds.tolist() == sorted(set(own[own > -np.inf]), reverse=True)
    for threshold, precision, recall in zip(curve.thresholds, curve.precision, curve.recall, strict=True):
        correct = sum(everything[pair] >= threshold for pair in known)
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


class Some(Given):
    """A linker that has scored the finite pairs of a matrix."""

    def __init__(self, matrix):
        query, candidate = np.nonzero(np.isfinite(matrix))
        pairs = query.astype(np.int32), candidate.astype(np.int32)
        self._pairs = ScoredPairs(*pairs, matrix[query, candidate], *matrix.shape)

    @property
    def scored_pairs(self):
        return self._pairs

    def scores(self, rows):
        return self._pairs.dense(rows)


@given(cases())
def test_pairs_are_judged_as_the_matrix(case):
    whole, some = case.linker, Some(case.linker.matrix)
    assert (some.scores(np.arange(case.partner.size)) == whole.matrix).all()
    same(judge(some, case.truth), judge(whole, case.truth))
    own = -judge(whole, case.truth).distance
    curves = [precision_recall(own, all_scores(linker, case.truth)) for linker in (whole, some)]
    assert (curves[0].claimed == curves[1].claimed).all()
    assert curves[0].average_precision == pytest.approx(curves[1].average_precision)
    assert most_probable_claim(some, case.truth) == most_probable_claim(whole, case.truth)


FIELDS = ("linked", "rank", "ties", "distance", "nearest_other", "weight", "rival", "settled")


def same(one, other):
    for name in FIELDS:
        assert (getattr(one, name) == getattr(other, name)).all(), name


def alike(linker, truth):
    """Judged by kinds as by pairs; with a curve and without."""
    plain = Given(linker.scores(np.arange(truth.queries)))  # with every record a kind of its own
    plain.probabilities = linker.probabilities
    expected, found = judged_links(plain, truth), judged_links(linker, truth)
    if linker.judged_as(truth) is None:
        same(found.evaluation, expected.evaluation)
        same(judge(linker, truth), expected.evaluation)
    same(judged_links(linker, truth, curve=False).evaluation, found.evaluation)
    for name in ("thresholds", "correct", "claimed", "matches"):
        assert np.array_equal(getattr(found.curve, name), getattr(expected.curve, name)), name
    assert found.claim == expected.claim


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", None])), max_size=12))
def test_kinds_by_definition(rows):
    columns = [np.array([row[at] for row in rows], dtype=object) for at in range(2)]
    kinds = Kinds.of(columns, len(rows))
    assert [rows[first] for first in kinds.first] == list(dict.fromkeys(rows))
    assert [rows[kinds.first[kind]] for kind in kinds.kind] == rows
    assert kinds.times.tolist() == [rows.count(row) for row in dict.fromkeys(rows)]


class ByKind(ScoredByKind):
    """Scores of kinds that are given."""

    def __init__(self, matrix, both):
        self._matrix, self._both, self.parameters = np.asarray(matrix, dtype=np.float64), both, {}

    @property
    def both(self):
        return self._both

    def kind_scores(self, rows):
        return self._matrix[rows]


@st.composite
def by_kind(draw):
    """Kinds with few scores, so that much ties; partners, and twins that may be of several kinds."""

    def many_of(values, least, most):
        return np.array(draw(st.lists(values, min_size=least, max_size=most)))

    codes = [many_of(st.integers(0, 2), 1, 9) for _ in range(2)]
    sides = [Kinds.of([each], each.size) for each in codes]
    size, many = (each.size for each in codes)
    shape = [side.first.size for side in sides]
    value = st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 1.0 + 2e-16])
    matrix = many_of(value, *[shape[0] * shape[1]] * 2)
    partner = many_of(st.integers(-1, many - 1), size, size)
    partner[0] = 0
    twins, label = (
        draw(st.sampled_from(["none", "kinds", "parts", "any"])),
        many_of(st.integers(0, 1), many, many),
    )
    group = {"none": None, "kinds": codes[1], "parts": 2 * codes[1] + label, "any": label}[twins]
    if group is not None:
        group = np.unique(group, return_inverse=True)[1].astype(np.intp)
    linker = ByKind(matrix.reshape(shape), (sides[0], sides[1]))
    return linker, Truth.of(partner.astype(np.intp), many, group)


@given(
    st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1e-300, 5e-324, 1.0, np.nextafter(1, 2)])),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=5),
)
def test_scores_between_thresholds(values, more):
    thresholds = np.unique(np.array(values + [value for value in more if np.isfinite(value)] or [0.0]))
    with np.errstate(over="ignore"):
        scores = np.concatenate([thresholds, more, np.nextafter(thresholds, -np.inf)])
    made, times = Thresholds.of(thresholds), np.arange(1, scores.size + 1)
    counts = made.counts()
    count_between(scores[None, :], np.array([3]), times, made, counts)
    expected = [
        3 * times[(thresholds[None, :] <= scores[:, None]).sum(axis=1) == at].sum()
        for at in range(thresholds.size + 1)
    ]
    assert counts.tolist() == expected


def survey(seed, many, missing=0.05):
    chance = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "work": chance.choice(["a", "b", "c"], many),
            "home": chance.choice(["x", "y"], many),
            "age": chance.integers(0, 4, many).astype(float),
            "hours": chance.integers(0, 3, many).astype(float),
        }
    )
    return frame.mask(chance.random(frame.shape) < missing)


def apart(many, training=200):
    """Files without common attributes."""
    frame = survey(3, many)
    return LinkageTask(
        frame[["work", "age"]],
        frame[["home", "hours"]],
        ("work", "age"),
        ("home", "hours"),
        Schema.from_frame(frame),
        training=survey(4, training),
    )


@settings(max_examples=80)
@given(by_kind(), st.sampled_from([1, 2, 3, 10**6]))
def test_kinds_are_judged_as_their_records_in_parts_of_any_height(case, height):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "_CELLS_AT_ONCE", height)
        alike(*case)


def numbers(seed, many):
    return survey(seed, many)[["age", "hours"]]


CASES = {
    "prl": (Probabilistic(match_share=0.02), lambda: task_of(survey(1, 60), survey(2, 70))),
    "bayes": (Bayesian(), lambda: apart(80)),
    "dbrl": (DistanceBased(), lambda: task_of(survey(1, 60), survey(2, 70))),
    "nearest": (Nearest(), lambda: task_of(numbers(1, 50), numbers(2, 60))),
    "one quantifier": (
        OrderedWeightedAverages(quantifiers=(parse_family("power:2"),)),
        lambda: task_of(numbers(1, 50), numbers(2, 60)),
    ),
}


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_linkers_score_kinds_as_records(name, twins):
    linker, make = CASES[name]
    task = make()
    learned = linker.learn(task)
    assert learned.kinds is not None
    names = list(task.candidate_attributes)
    group = task.candidates.groupby(names, dropna=False, sort=False).ngroup().to_numpy() if twins else None
    partner = np.arange(len(task.queries)) % len(task.candidates)
    alike(learned, Truth.of(partner.astype(np.intp), len(task.candidates), group))


@pytest.mark.parametrize(
    "linker", [PrincipalComponent(), SumOfStandardised(compare_by="score")], ids=["pca", "zscore"]
)
@pytest.mark.parametrize("digits", [0, 1, 12])
@pytest.mark.parametrize("twins", [False, True])
def test_places_on_a_line_are_searched(linker, digits, twins, monkeypatch):
    chance = np.random.default_rng(5)
    frame = pd.DataFrame(chance.normal(size=(150, 3)).round(digits), columns=list("ABC"))
    moved = (frame + chance.normal(scale=0.3, size=frame.shape)).round(digits)
    learned = linker.learn(task_of(frame, moved))
    group = moved.groupby(list("ABC"), sort=False).ngroup().to_numpy() if twins else None
    truth = Truth.of(np.arange(150), 150, group)
    alike(learned, truth)
    monkeypatch.setattr(type(learned), "kind_scores", None)  # whoever scores all pairs needs it
    judge(learned, truth)


def test_a_large_file_is_compared_by_kinds(monkeypatch):
    learned = Probabilistic().learn(task_of(survey(6, 10_000), survey(7, 10_000)))
    queries, candidates = learned.files.shape
    assert max(queries, candidates) <= 4 * 3 * 5 * 4
    assert learned.parameters["compared_pairs"] == 10**8
    seen, score = [], type(learned).kind_scores
    counting = lambda self, rows: seen.append(rows.size) or score(self, rows)  # noqa: E731
    monkeypatch.setattr(type(learned), "kind_scores", counting)
    found = judged_links(learned, Truth.of(np.arange(10_000), 10_000))
    assert sum(seen) <= queries
    assert found.curve.matches == 10_000
    assert found.curve.claimed[-1] <= 10**8
