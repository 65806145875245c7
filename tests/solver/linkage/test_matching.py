"""One-to-one matchings: against brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.linkage.matching import MATCHINGS, check_size, greedy, hungarian, matched
from linkrisk.solver.run.errors import UsageError

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
    matched = hungarian(scores)
    used = [column for column in matched if column >= 0]
    assert len(set(used)) == len(used)
    many, total = worth(scores, matched)
    assert many == best_worth(scores)[0]
    assert total == pytest.approx(best_worth(scores)[1])


@given(matrices())
def test_greedy_takes_the_best_free_pair(scores):
    expected = np.full(scores.shape[0], -1)
    order = sorted(np.ndindex(scores.shape), key=lambda pair: (-scores[pair], pair))
    for row, column in order:
        if scores[row, column] > -np.inf and expected[row] < 0 and column not in expected:
            expected[row] = column
    assert (greedy(scores) == expected).all()


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_the_diagonal_of_distances(name):
    points = np.arange(50.0)
    scores = -np.abs(points[:, None] - points[None, :] - 0.2)
    assert (MATCHINGS[name](scores) == np.arange(50)).all()


def test_too_many_pairs():
    with pytest.raises(UsageError, match="20,000 x 10,000 scores, more than the 100,000,000"):
        check_size(20_000, 10_000)


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_equal_scores_favour_nobody(name):
    """All pairs alike, so one in expectation is right by chance; aligned files must not do better."""
    right = [int((matched(np.zeros((40, 40)), name, seed) == np.arange(40)).sum()) for seed in range(60)]
    assert 0.5 < np.mean(right) < 1.6


@given(matrices(), st.integers(0, 100))
def test_shuffling_changes_no_total(scores, seed):
    assert worth(scores, matched(scores, "hungarian", seed)) == pytest.approx(
        worth(scores, hungarian(scores))
    )
