"""One-to-one matching by distances, scores and at random: against every permutation, and as published."""

from __future__ import annotations

from itertools import permutations

import brute_force as plain
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CASES, LABELS
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.linkage import matching as assignment
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.matching import (
    MATCHINGS,
    RandomMatching,
    assigned_blocks,
    check_size,
    distance_matrix,
    greedy,
    hungarian,
    matched,
    probability_of_at_least,
    probability_of_links,
    score_matrix,
)
from linkrisk.solver.run.errors import UsageError


def random_pair(seed, n=6, attributes=3):
    random = np.random.default_rng(seed)
    masked = random.normal(size=(n, attributes))
    return make_pair(masked + 0.9 * random.normal(size=masked.shape), masked)


@pytest.mark.parametrize("case", CASES, ids=LABELS)
@pytest.mark.parametrize("seed", range(2))
def test_the_assignment_is_the_best_of_all_permutations(case, seed):
    pair, aggregator = random_pair(seed), case.make(3)
    theta = aggregator.domain.sample(1, np.random.default_rng(seed))[0]
    form, define = aggregator.form(theta), case.define(aggregator, aggregator.decode(theta))
    kind, reference = aggregator.differences.value, plain.of_pair(pair)
    matrix = np.array([[define(c) for c in reference.distances(block, kind)] for block in range(6)])
    np.testing.assert_allclose(distance_matrix(pair, form), matrix, rtol=1e-9, atol=1e-12)
    best = min(permutations(range(6)), key=lambda order: sum(matrix[i, j] for i, j in enumerate(order)))
    assert assigned_blocks(pair, form).sum() == sum(i == j for i, j in enumerate(best))


VALUES = st.sampled_from([-np.inf, -3.0, -1.0, 0.0, 0.5, 2.0, 7.0])


@st.composite
def matrices(draw):
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    cells = draw(st.lists(VALUES, min_size=rows * columns, max_size=rows * columns))
    return np.array(cells).reshape(rows, columns)


def worth(scores, matched):
    """How many pairs, and what they score."""
    taken = [(row, column) for row, column in enumerate(matched) if column >= 0]
    return len(taken), sum(scores[pair] for pair in taken)


def best_worth(scores):
    rows, columns = scores.shape
    places = [*range(columns), *[-1] * rows]
    found = (0, 0.0)
    for chosen in set(permutations(places, rows)):
        if all(column < 0 or scores[row, column] > -np.inf for row, column in enumerate(chosen)):
            found = max(found, worth(scores, chosen))
    return found


@given(matrices())
def test_the_largest_total_among_the_largest_matchings(scores):
    matched, (many, total) = hungarian(scores), best_worth(scores)
    used = [column for column in matched if column >= 0]
    assert len(set(used)) == len(used)
    assert worth(scores, matched) == (many, pytest.approx(total))


@given(matrices())
def test_greedy_takes_the_best_free_pair(scores):
    expected = np.full(scores.shape[0], -1)
    order = sorted(np.ndindex(scores.shape), key=lambda pair: (-scores[pair], pair))
    for row, column in order:
        if scores[row, column] > -np.inf and expected[row] < 0 and column not in expected:
            expected[row] = column
    assert (greedy(scores) == expected).all()


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_equal_scores_favour_nobody(name):
    right = [int((matched(np.zeros((40, 40)), name, seed) == np.arange(40)).sum()) for seed in range(60)]
    assert 0.5 < np.mean(right) < 1.6


TABLE_4 = """0 0.36787944 1
1 0.36787944 0.63212056
2 0.18393972 0.26424112
3 0.06131324 0.08030140
5 0.00306566 0.00365985
10 1.0138E-7 1.1143E-7
15 2.8132E-13 3.0000E-13
20 1.5121E-19 1.5875E-19
26 9.1219E-28 9.4723E-28
28 1.2066E-30 1.2496E-30
30 1.3869E-33 1.4331E-33
50 1.2096E-65 1.2338E-65"""


def as_printed(value, text):
    """The number with as many digits, written as the paper does."""
    mantissa, letter, _ = text.partition("E")
    digits = len(mantissa.partition(".")[2])
    if not letter:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}E}".replace("E-0", "E-")


def test_what_is_too_large_or_empty_is_refused(monkeypatch):
    with pytest.raises(UsageError, match="20,000 x 10,000 scores, more than the 100,000,000"):
        check_size(20_000, 10_000)
    with pytest.raises(UsageError, match="no candidate to draw"):
        RandomMatching().learn(task(3, 0))
    monkeypatch.setattr(assignment, "LARGEST_MATRIX", 1000)
    pair = random_pair(0, 40)
    form = make_aggregator("weighted-mean", pair.attributes).form(np.full(3, 1 / 3))
    assert refusal(lambda: assigned_blocks(pair, form).sum()) == (
        "one-to-one assignment needs a matrix of 40 x 40 distances, more than the 1,000 that are allowed: "
        "take a sample, or leave one_to_one out"
    )


def test_table_4_to_the_printed_digits():
    for line in TABLE_4.splitlines():
        links, exactly, at_least = line.split()
        assert as_printed(probability_of_links(int(links), 100), exactly) == exactly
        assert as_printed(probability_of_at_least(int(links), 100), at_least) == at_least
    for probability in (probability_of_links(100, 100), probability_of_at_least(100, 100)):
        assert f"{probability:.5E}" == "1.07151E-158"  # 1/100!, which the paper cuts off as 1.071E-158


@pytest.mark.parametrize("records", range(1, 8))
def test_against_all_permutations(records):
    fixed = [sum(at == to for at, to in enumerate(order)) for order in permutations(range(records))]
    for links in range(records + 1):
        assert probability_of_links(links, records) == fixed.count(links) / len(fixed)
        expected = sum(count >= links for count in fixed) / len(fixed)
        assert probability_of_at_least(links, records) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("links", "records", "message"),
    [
        (0, 0, "a random matching of 0 records has no probabilities; give at least one"),
        (-1, 4, "-1 links of 4 records are impossible; give 0 to 4"),
        (5, 4, "5 links of 4 records are impossible; give 0 to 4"),
    ],
)
def test_what_has_no_probability(links, records, message):
    for probability in (probability_of_links, probability_of_at_least):
        assert refusal(lambda of=probability: of(links, records)) == message


def task(queries, candidates, seed=0):
    frames = pd.DataFrame({"a": np.zeros(queries)}), pd.DataFrame({"b": np.zeros(candidates)})
    schema = Schema((Attribute("a", scale=Scale.NUMERIC), Attribute("b", scale=Scale.NUMERIC)))
    return LinkageTask(*frames, ("a",), ("b",), schema, seed=seed)


@pytest.mark.parametrize(("queries", "candidates"), [(6, 6), (4, 9), (9, 4)])
def test_everybody_gets_one_and_nobody_two_before_all_are_taken(queries, candidates):
    matrix = score_matrix(RandomMatching().learn(task(queries, candidates)), queries, candidates)
    assert (matrix.sum(axis=1) == 1.0).all()
    taken = matrix.sum(axis=0)
    assert taken.max() - taken.min() <= 1.0


def test_links_follow_the_exact_probabilities():
    truth, counts = Truth.of(np.arange(5), 5), np.zeros(6)
    for seed in range(300):
        linker = RandomMatching().learn(task(5, 5, seed))
        linked = judge(linker, truth).count
        assert linked == (hungarian(score_matrix(linker, 5, 5)) == np.arange(5)).sum()
        counts[linked] += 1
    expected = np.array([300 * probability_of_links(links, 5) for links in range(6)])
    assert (np.abs(counts - expected) <= 4 * np.sqrt(np.maximum(expected, 1.0))).all()


def test_the_seed_decides():
    everyone = np.arange(50)
    first, again, other = (RandomMatching().learn(task(50, 50, seed)) for seed in (3, 3, 4))
    scores, same, others = (each.scores(everyone) for each in (first, again, other))
    assert (scores == same).all()
    assert (scores != others).any()
    restored = RandomMatching.restored(first.parameters, task(50, 50, 9))
    assert (restored.scores(everyone[7:9]) == scores[7:9]).all()
    with pytest.raises(UsageError, match="not parameters of random: they need a seed"):
        RandomMatching.restored({}, task(50, 50))
