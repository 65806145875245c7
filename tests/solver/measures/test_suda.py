"""SUDA: published scores to the digit, minimal sample uniques by definition, the file's risk shared out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from key_tasks import GUIDE_KEYS, key_file, practice_guide

from linkrisk.solver.measures.keys import MISSING
from linkrisk.solver.measures.suda import (
    Scoring,
    data_intrusion_risk,
    largest_size,
    minimal_uniques,
    shared_out,
    size_scores,
    special_uniques,
)
from linkrisk.solver.run.clock import Clock

small_codes = st.tuples(st.integers(1, 10), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(MISSING, 2))
)


def by_definition(codes: np.ndarray) -> list[set[tuple[int, ...]]]:
    """The minimal sample uniques of each record."""
    n, keys = codes.shape

    def alone(record: int, subset: tuple[int, ...]) -> bool:
        values = codes[record, list(subset)]
        same = (codes[:, list(subset)] == values).all(axis=1)
        return bool((values != MISSING).all() and same.sum() == 1)

    found: list[set[tuple[int, ...]]] = []
    for record in range(n):
        unique = [
            set(subset)
            for size in range(1, keys + 1)
            for subset in itertools.combinations(range(keys), size)
            if alone(record, subset)
        ]
        found.append({tuple(sorted(s)) for s in unique if not any(other < s for other in unique)})
    return found


@given(small_codes, st.data())
def test_what_is_found_is_what_the_definition_says(codes, data):
    keys = codes.shape[1]
    largest = data.draw(st.integers(1, keys))
    found = minimal_uniques(codes, largest)
    worth = [math.prod(keys - i for i in range(k, min(largest, keys - 1) + 1)) for k in range(1, largest + 1)]
    for record, sets in enumerate(by_definition(codes)):
        sets = [subset for subset in sets if len(subset) <= largest]
        sizes = [sum(len(subset) == k for subset in sets) for k in range(1, largest + 1)]
        assert found.counts[record].tolist() == sizes
        assert found.score[record] == sum(worth[len(subset) - 1] for subset in sets)
        parts = [sum(worth[len(s) - 1] for s in sets if key in s) for key in range(keys)]
        assert found.contribution[record].tolist() == parts


def test_the_scores_of_the_practice_guide():
    """Table 4.5: its SUDA scores are Elliot's, its DIS-SUDA scores come from the others (sdcMicro #226)."""
    keys = key_file(practice_guide()[GUIDE_KEYS])
    found = special_uniques(keys)
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert special_uniques(keys, largest=3).score.tolist() == found.score.tolist()
    before = special_uniques(keys, 0.01, scoring=Scoring.IHSN)
    assert before.score.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    assert before.dis_suda.round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert (found.uniques, found.paired) == (4, 6)


def test_the_scores_of_templs_book():
    """Statistical Disclosure Control for Microdata (2017), Section 3.5, as in sdcMicro #263."""
    file = pd.DataFrame(
        {
            "age": ["20s"] * 7 + ["60s"],
            "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
            "income": ["50k+"] * 2 + ["50k-"] * 6,
            "education": ["high"] * 4 + ["university", "high", "middle", "university"],
        }
    )
    keys = key_file(file)
    assert special_uniques(keys).score.tolist() == [0, 0, 0, 0, 4, 2, 6, 8]
    assert special_uniques(keys, scoring=Scoring.IHSN).score[-1] == 2.25


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_contributions_whatever_the_order_of_columns(order):
    """sdcMicro #275, where a column's place changed its contribution: 50, 37.5 and 37.5 %."""
    file = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})[list(order)]
    found = special_uniques(key_file(file))
    assert found.score.tolist() == [2, 4, 2]
    assert dict(zip(found.keys, found.attribute_contribution, strict=True)) == {
        "a": 0.5,
        "b": 0.375,
        "c": 0.375,
    }


def test_contributions_of_seven_records():
    """sdcMicro #356."""
    rows = ["AXP", "BXQ", "AYQ", "CZR", "BYR", "AXP", "BZQ"]
    found = special_uniques(key_file(pd.DataFrame([list(row) for row in rows])))
    assert found.score.tolist() == [0, 2, 3, 3, 3, 0, 2]
    assert (100.0 * found.attribute_contribution).round(5).tolist() == [61.53846, 69.23077, 53.84615]


def test_scores_by_size():
    assert size_scores(9, 9)[0] == math.factorial(8)
    assert size_scores(9, 9)[-2:].tolist() == [1, 1]
    assert size_scores(10, 3).tolist() == [9 * 8 * 7, 8 * 7, 7]
    assert size_scores(1, 1).tolist() == [1]
    assert size_scores(4, 4, Scoring.IHSN) == pytest.approx([7 / 4, 3 / 6, 1 / 4, 0])


def test_how_large_sets_are_searched():
    assert [largest_size(keys) for keys in (1, 9, 13, 14, 20, 10_000)] == [1, 9, 13, 6, 4, 1]


def test_the_risk_of_the_file_by_hand():
    """40 uniques, 60 records in pairs, a tenth of the population: 4 / (4 + 54)."""
    assert data_intrusion_risk(40, 60, 0.1) == pytest.approx(4 / 58)
    assert data_intrusion_risk(0, 0, 0.1) is None
    assert data_intrusion_risk(0, 2, 0.1) == 0.0
    assert data_intrusion_risk(5, 2, 1.0) == 1.0


@given(st.lists(st.floats(0.5, 1e9), min_size=1, max_size=20), st.integers(1, 40), st.floats(0.001, 1.0))
def test_the_mean_odds_against_are_those_of_the_file(scores, keys, risk):
    found = shared_out(np.array([*scores, 0.0]), keys, len(scores), risk)
    assert found[-1] == 0.0
    assert (1.0 / found[:-1] - 1.0).mean() == pytest.approx(1.0 / risk - 1.0, rel=1e-6, abs=1e-9)
    order = np.argsort(scores)
    assert np.all(np.diff(found[order]) >= -1e-12)


def test_when_time_is_up_the_sizes_that_were_finished_count():
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    gone = Clock(0.0)
    found = minimal_uniques(codes, 3, clock=gone)
    assert found.largest == 1
    assert found.score.tolist() == [0, 0, 0, 0]
    codes[0, 0] = 5
    found = minimal_uniques(codes, 3, clock=gone)
    only = minimal_uniques(codes, 1)
    assert (
        found.score.tolist()
        == only.score.tolist()
        == [2, 2, 0, 0][:1] + [2 * int(s > 0) for s in only.score[1:]]
    )
    assert found.contribution.tolist() == only.contribution.tolist()


def test_nothing_unique_and_everything_unique():
    nothing = special_uniques(key_file(pd.DataFrame({"a": [1, 1, 2, 2], "b": [3, 3, 3, 3]})))
    assert not nothing.score.any()
    assert not nothing.attribute_contribution.any()
    assert nothing.dis == 0.0
    assert "no record is unique" in nothing.paragraph
    everything = special_uniques(key_file(pd.DataFrame({"a": [1, 2, 3]})))
    assert everything.score.tolist() == [1, 1, 1]
    assert everything.dis == 1.0
    assert everything.dis_suda.tolist() == [1, 1, 1]
