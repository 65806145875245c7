"""l-diversity and t-closeness: the examples of the papers, and their definitions on small files."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from key_tasks import GUIDE_KEYS, key_file, practice_guide

from linkrisk.datasets.microdata.schema import Attribute, Scale
from linkrisk.solver.measures.diversity import attribute_diversity, entries_of, l_diversity, t_closeness
from linkrisk.solver.measures.keys import MISSING, column_codes, groups_of

small = st.integers(1, 14).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, n, elements=st.integers(0, 3)), arrays(np.int64, n, elements=st.integers(0, 5))
    )
)


def test_the_salaries_of_li_li_and_venkatasubramanian():
    """ICDE 2007, Section 5.1: D[P1, Q] = 0.375 and D[P2, Q] = 0.167 for Tables 3 and 4."""
    salary = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10]) - 3
    groups = np.repeat([0, 1, 2], 3)
    found = t_closeness(entries_of(groups, salary), ordered=True)
    assert found[0] == pytest.approx(0.375)
    assert found[1] == pytest.approx(1 / 6)


def test_the_health_of_the_practice_guide():
    """Table 4.3."""
    file = practice_guide()
    groups = groups_of(key_file(file[GUIDE_KEYS]).codes)
    distinct = l_diversity(entries_of(groups, column_codes(file["health"]))).distinct[groups]
    assert distinct.tolist() == [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]


def test_l_by_hand():
    """Counts 4, 2, 1, 1: c = 2 gives 4 < 2 (2 + 1 + 1) but not 4 < 2 (1 + 1); counts 3: nothing but l = 1."""
    found = l_diversity(entries_of(np.repeat([0, 1], [8, 3]), np.array([0, 0, 0, 0, 1, 1, 2, 3, 2, 2, 2])))
    assert found.distinct.tolist() == [4, 1]
    assert found.recursive.tolist() == [2, 1]
    shares = [0.5, 0.25, 0.125, 0.125]
    assert found.entropy == pytest.approx([math.exp(-sum(p * math.log(p) for p in shares)), 1.0])


@given(small, st.floats(0.5, 4.0))
def test_l_is_that_of_the_definition(drawn, constant):
    groups, values = groups_of(drawn[0][:, None]), drawn[1]
    found = l_diversity(entries_of(groups, values), constant)
    for group in range(int(groups.max()) + 1):
        counts = sorted(np.unique(values[groups == group], return_counts=True)[1].tolist(), reverse=True)
        p = np.array(counts) / sum(counts)
        assert found.distinct[group] == len(counts)
        assert found.entropy[group] == pytest.approx(np.exp(-(p * np.log(p)).sum()))
        holds = [at + 1 for at in range(len(counts)) if counts[0] < constant * sum(counts[at:])]
        assert found.recursive[group] == max([1, *holds])


@given(small)
def test_t_is_that_of_the_definition(drawn):
    groups, values = groups_of(drawn[0][:, None]), np.unique(drawn[1], return_inverse=True)[1]
    entries, m = entries_of(groups, values), int(values.max()) + 1
    whole = np.bincount(values) / values.size
    apart, along = t_closeness(entries, ordered=False), t_closeness(entries, ordered=True)
    for group in range(int(groups.max()) + 1):
        inside = values[groups == group]
        difference = np.bincount(inside, minlength=m) / inside.size - whole
        assert apart[group] == pytest.approx(0.5 * np.abs(difference).sum(), abs=1e-12)
        moved = np.abs(np.cumsum(difference)).sum() / (m - 1) if m > 1 else 0.0
        assert along[group] == pytest.approx(moved, abs=1e-12)


def test_missing_values_are_not_counted_where_they_have_no_place():
    groups, values = np.array([0, 0, 1, 1, 2]), np.array([0, MISSING, 1, 1, MISSING])
    found = t_closeness(entries_of(groups, values), ordered=True)
    assert found == pytest.approx([2 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("categories", [("poor", "fair", "good"), ("good", "fair", "poor")])
@pytest.mark.parametrize("two", [("poor", "fair"), ("fair", "good"), ("poor", "good")])
def test_categories_that_do_not_occur_have_no_place_among_values(categories, two):
    """Of two values one group has the first alone, the other both: a quarter of each has to move one step."""
    groups = np.array([0, 0, 1, 1])
    column = pd.Series([two[0], two[0], *two])
    schema = Attribute("health", scale=Scale.ORDINAL, categories=categories)
    _, _, closeness = attribute_diversity(schema, column, groups)
    assert closeness == pytest.approx([0.25, 0.25, 0.25, 0.25])
