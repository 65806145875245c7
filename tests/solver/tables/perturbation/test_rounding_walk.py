"""A rounding by flips adds up, goes to neighbouring multiples, and is never cheaper than the least one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounded_tables import drawn, with_margins
from scipy import sparse

from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.inner_sums import InnerSums
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.perturbation.rounding import round_cells, summed_up, walked


@pytest.mark.parametrize("seed", range(5))
def test_cells_that_no_relation_sums_up_make_all_others(seed):
    table = drawn((3, 4, 2), seed)
    sums = InnerSums.of(table.relations)
    assert sums.inner.size == 24
    assert np.allclose(sums.matrix @ table.value[sums.inner], table.value[sums.totals])
    assert sums.whole(table.value[sums.inner].astype(np.int64)).tolist() == table.value.tolist()


@pytest.mark.parametrize(
    "relations",
    [[[1.0, 1.0, -1.0, -1.0]], [[1.0, 1.0, 1.0, 1.0]], [[-1.0, 1.0, 1.0, 0.0], [1.0, -1.0, 0.0, 1.0]]],
)
def test_where_nothing_says_what_is_summed_up(relations):
    relations = sparse.csr_array(np.array(relations))
    assert InnerSums.of(relations) is None
    table = ControlledRounding(
        value=np.zeros(4), relations=relations, weight=np.ones(4), base=5, zero_restricted=True
    )
    assert walked(table, Clock(None)) is None
    assert summed_up(table) is None


def test_totals_of_totals_that_are_half_of_a_sum_are_left_to_others():
    relations = sparse.csr_array(np.array([[-2.0, 1.0, 1.0]]))
    table = ControlledRounding(
        value=np.array([3.0, 3.0, 3.0]), relations=relations, weight=np.ones(3), base=5, zero_restricted=True
    )
    assert walked(table, Clock(None)) is None


@settings(max_examples=30, deadline=None)
@given(
    shape=st.sampled_from([(2, 3), (4, 4), (2, 2, 2), (3, 2, 2)]),
    seed=st.integers(0, 10_000),
    base=st.integers(2, 7),
)
def test_it_adds_up_and_where_it_is_zero_restricted_it_is_no_cheaper_than_the_least(shape, seed, base):
    table = drawn(shape, seed, base)
    values = walked(table, Clock(None))
    assert replace(table, zero_restricted=False).wrong(values) is None
    if table.wrong(values) is None:
        assert table.cost(values) >= round_cells(table, get_backend("highs"), Clock(None)).cost


def test_where_there_is_none_it_says_none():
    """Cubes of zeros and ones, to base 2: some have none."""
    found, none = 0, 0
    for inner in list(product((0.0, 1.0), repeat=8))[::5]:
        table = with_margins(np.array(inner).reshape(2, 2, 2), 2)
        right = table.wrong(walked(table, Clock(None))) is None
        try:
            least = round_cells(table, get_backend("highs"), Clock(None))
        except UsageError:
            assert not right
            none += 1
            continue
        assert least.zero_restricted
        found += right
    assert found + none == 52
    assert none > 0
    assert found > 40


@pytest.mark.parametrize("shape", [(4, 5), (12, 12, 12), (30, 10, 8)])
def test_of_larger_tables_it_finds_one_that_is_near_the_nearest_multiples(shape):
    table = drawn(shape)
    values = walked(table, Clock(None))
    assert table.wrong(values) is None
    assert table.least <= table.cost(values) < 1.25 * table.least


def test_near_the_relaxation_it_is_cheaper():
    table = drawn((12, 12, 12))
    relaxed = linear_program(table.model(), LinearOptions()).solve()
    near = walked(table, Clock(None), near=relaxed.point)
    assert table.wrong(near) is None
    assert relaxed.objective - 1e-6 <= table.cost(near) < table.cost(walked(table, Clock(None)))


def test_what_is_weighed_more_changes_less():
    inner = np.random.default_rng(3).integers(0, 60, (10, 10, 6)).astype(float)
    even = with_margins(inner)
    heavy = np.random.default_rng(4).random(even.value.size) < 0.1
    uneven = with_margins(inner, weight=np.where(heavy, 20.0, 1.0))
    away = [np.abs(walked(table, Clock(None)) - even.value)[heavy].sum() for table in (even, uneven)]
    assert away[1] < away[0]


def test_chance_is_that_of_the_seed():
    table = drawn((8, 8, 8))
    first, again, other = (walked(table, Clock(None), seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert not (first == other).all()


def test_without_time_it_is_made_no_cheaper():
    clock, table = Clock(None), drawn((12, 12, 12))
    at_rest = table.cost(walked(table, clock))
    clock.stop()
    hasty = walked(table, clock)
    assert table.wrong(hasty) is None
    assert table.cost(hasty) > at_rest
