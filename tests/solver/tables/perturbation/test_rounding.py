"""Controlled rounding: proofs, the relaxation, and the walk of flips."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_tables import bench_folder, bench_table, drawn, with_margins

from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.inner_sums import InnerSums
from linkrisk.solver.backends.linear.base import LinearOptions, linear_program
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.perturbation import rounding
from linkrisk.solver.tables.perturbation.rounding import (
    Relaxed,
    best_in_time,
    dived,
    relaxation,
    round_cells,
    summed_up,
    walked,
)


def table_of(inner, base, *, zero_restricted):
    return replace(with_margins(np.asarray(inner, dtype=float), base), zero_restricted=zero_restricted)


def one_relation(value, row, *, zero_restricted=True):
    """To base 5."""
    table = {
        "value": np.array(value, dtype=float),
        "relations": sparse.csr_array(np.array([row], dtype=float)),
    }
    return ControlledRounding(**table, weight=np.ones(len(value)), base=5, zero_restricted=zero_restricted)


def cheapest(inner, base, *, zero_restricted):
    """By all roundings of the inner cells: none where no one will do."""
    inner = np.asarray(inner)
    value = with_margins(inner.astype(float)).value
    best = None
    reach = (0, 1) if zero_restricted else (-1, 0, 1, 2)
    for steps in itertools.product(reach, repeat=inner.size):
        moved = base * (inner // base + np.reshape(steps, inner.shape))
        far = np.abs(with_margins(moved.astype(float)).value - value)
        if (moved < 0).any() or (zero_restricted and (far >= base).any()):
            continue
        best = far.sum() if best is None else min(best, far.sum())
    return best


@settings(max_examples=50, deadline=None)
@given(
    inner=st.lists(st.integers(0, 14), min_size=8, max_size=8),
    shape=st.sampled_from([(2, 2), (2, 2), (2, 2, 2)]),
    base=st.integers(2, 6),
    tight=st.booleans(),
)
def test_the_optimum_is_that_of_all_roundings(inner, shape, base, tight):
    """Also in three dimensions, whose relaxation is not whole."""
    grid = np.array(inner)[: np.prod(shape)].reshape(shape)
    table = table_of(grid, base, zero_restricted=tight)
    best = cheapest(grid, base, zero_restricted=tight) if tight or grid.ndim == 2 else None
    if tight and best is None:
        with pytest.raises(UsageError, match=f"no zero-restricted rounding to base {base} adds up"):
            round_cells(table, get_backend("highs"), Clock(None))
        return
    found = round_cells(table, get_backend("highs"), Clock(None))
    assert found.proven
    assert best is None or found.cost == pytest.approx(best)
    assert table.wrong(found.values) is None
    assert (found.values >= 0).all()


@settings(max_examples=25, deadline=None)
@given(
    inner=st.lists(st.floats(-50, 50).map(lambda x: round(x, 2)), min_size=12, max_size=12),
    base=st.integers(2, 10),
)
def test_decimals_and_what_is_negative(inner, base):
    table = table_of(np.array(inner).reshape(3, 4), base, zero_restricted=True)
    found = round_cells(table, get_backend("highs"), Clock(None))
    assert found.proven
    assert table.wrong(found.values) is None
    assert (np.abs(found.values - table.value) < base).all()
    assert found.cost <= table.cost(found.values) + 1e-9
    sums = InnerSums.of(table.relations)
    assert sums.inner.size == 12
    assert np.allclose(sums.matrix @ table.value[sums.inner], table.value[sums.totals])


@settings(max_examples=15, deadline=None)
@given(inner=st.lists(st.integers(0, 9), min_size=4, max_size=4), base=st.integers(2, 5))
def test_where_no_zero_restricted_one_was_found_a_relaxed_one_is_at_hand(inner, base):
    grid = np.array(inner).reshape(2, 2)
    table = table_of(grid, base, zero_restricted=True)
    found = best_in_time(
        table, [None, summed_up(table)], np.inf
    )  # a bound of zero-restricted ones is none of relaxed ones
    assert found.zero_restricted == (table.wrong(found.values) is None)
    assert table_of(grid, base, zero_restricted=False).wrong(found.values) is None
    if not found.zero_restricted:
        assert found.bound <= cheapest(grid, base, zero_restricted=False) <= found.cost


def test_without_time_and_without_an_order_of_sums():
    """Two totals in one relation: nothing says which is to be summed up."""
    table = one_relation([3, 4, 2, 5], [1, 1, -1, -1])
    with pytest.raises(UsageError) as error:
        best_in_time(table, [summed_up(table)], 0.0)
    assert str(error.value) == "no zero-restricted rounding was found in time; give it more"


@pytest.mark.parametrize(
    ("change", "why"), [(1, "no multiple of 5"), (5, "does not add up"), (25, "does not add up")]
)
def test_the_count_would_notice(change, why):
    table = table_of([[1, 7], [8, 3]], 5, zero_restricted=True)
    values = round_cells(table, get_backend("highs"), Clock(None)).values
    values[4] += change
    assert why in table.wrong(values)
    values, table = np.zeros(9, dtype=np.int64), table_of([[1, 7], [8, 3]], 5, zero_restricted=True)
    assert "moved by a whole base" in table.wrong(values)


def test_tables_of_the_reference():
    folder = bench_folder() / "tiny"
    frames = [pd.read_csv(folder / f"tiny_{name}.csv") for name in ("cells", "equations")]
    for row in pd.read_csv(folder / "tiny_rounding.csv").itertuples():
        table = bench_table(*(one[one["table"] == row.table] for one in frames))
        how = {"base": row.base, "zero_restricted": bool(row.zero_restricted), "weight": table.cost}
        asked = ControlledRounding(value=table.value, relations=table.relations, **how)
        found = round_cells(asked, get_backend("highs"), Clock(None))
        assert (found.cost, found.proven) == (row.sum_abs_deviation, True)


def test_a_zero_restricted_rounding_in_three_dimensions_is_dived_for():
    """Its relaxation is not whole; a backend would find it, too, but later."""
    table = table_of(np.random.default_rng(1).integers(0, 60, (6, 6, 6)), 5, zero_restricted=True)
    model = table.model()
    program = linear_program(model, LinearOptions())
    solution = program.solve()
    point = solution.point
    assert (np.abs(point - np.round(point)) > 1e-6).any()
    values = dived(table, model, program, point, Clock(None))
    assert table.wrong(values) is None
    assert table.cost(values) >= solution.objective - 1e-6
    clock = Clock(None)
    clock.stop()
    assert dived(table, model, program, point, clock) is None


@pytest.mark.parametrize("large", [0, 6 * 10**9, 10**13])
@pytest.mark.parametrize("zero_restricted", [True, False])
def test_of_large_values_only_multiples_count_as_multiples(large, zero_restricted):
    """A value of 3,000,000,002 is none of 5, however small its rest is beside it."""
    value = [2.0 * large + 4.0, large + 2.0, large + 2.0]
    table = one_relation(value, [-1, 1, 1], zero_restricted=zero_restricted)
    found = round_cells(table, get_backend("highs"), Clock(None))
    assert (found.cost, found.proven) == (6.0, True)
    assert sorted(found.values - large) == sorted([large + 5, 5, 0])


def test_what_is_not_negative_stays_so_where_time_is_over_too():
    """The nearest multiples of -3, -3 and 6 sum to -5, where their sum is 0."""
    table = one_relation([-3, -3, 6, 0], [1, 1, 1, -1], zero_restricted=False)
    assert summed_up(table).tolist() == [-5, -5, 5, -5]
    with pytest.raises(UsageError, match="no relaxed rounding was found in time"):
        best_in_time(table, [summed_up(table)], 0.0)
    values = round_cells(table, get_backend("highs"), Clock(None)).values
    assert values[3] >= 0
    assert table.wrong(values) is None


@pytest.mark.parametrize("shape", [(5, 6), (6, 6, 6)])
def test_where_the_simplex_method_has_no_time_gradients_give_the_bound(shape, monkeypatch):
    """As for 130,000 cells in three dimensions, whose bases take minutes."""
    table = drawn(shape, 1)
    model = table.model()
    optimum = relaxation(table, model, Clock(None))
    assert optimum.whole == (len(shape) == 2)
    assert optimum.near
    assert optimum.program is not None
    monkeypatch.setattr(steering, "ROUNDING_SIMPLEX_SHARE", 0.0)
    found = relaxation(table, model, Clock(1000.0))
    assert found.near
    assert found.program is None
    assert not found.whole
    assert optimum.bound - 1e-3 * optimum.bound < found.bound <= optimum.bound + 1e-6
    loose = replace(table, zero_restricted=False)
    other = relaxation(loose, loose.model(), Clock(1000.0))
    assert other.near
    assert other.bound == -np.inf  # that of zero-restricted ones is none of others
    result = round_cells(table, get_backend("highs"), Clock(1000.0))
    assert result.zero_restricted
    assert result.proven
    assert result.cost == round_cells(table, get_backend("highs"), Clock(None)).cost


@pytest.mark.parametrize("zero_restricted", [True, False])
def test_where_nothing_has_time_there_is_still_a_rounding(zero_restricted, monkeypatch):
    table, clock = replace(drawn((12, 12, 12)), zero_restricted=zero_restricted), Clock(None)
    clock.stop()

    def unfinished(_, model, __):
        return Relaxed(-np.inf, np.zeros(model.objective.size), near=False)

    monkeypatch.setattr(rounding, "relaxation", unfinished)
    told = []
    found = round_cells(table, get_backend("highs"), clock, told.append)
    assert found.zero_restricted == zero_restricted
    assert table.wrong(found.values) is None
    assert 0.0 < found.bound < found.cost
    assert [one.work for one in told] == ["the relaxation", f"flips of cells, at least {found.bound:,.6g}"]


@pytest.mark.parametrize(
    "relations",
    [[[1.0, 1.0, -1.0, -1.0]], [[1.0, 1.0, 1.0, 1.0]], [[-1.0, 1.0, 1.0, 0.0], [1.0, -1.0, 0.0, 1.0]]],
)
def test_where_nothing_says_what_is_summed_up(relations):
    relations = sparse.csr_array(np.array(relations))
    assert InnerSums.of(relations) is None
    table = replace(one_relation(np.zeros(4), np.zeros(4)), relations=relations)
    assert walked(table, Clock(None)) is None
    assert summed_up(table) is None
    halves = sparse.csr_array(np.array([[-2.0, 1.0, 1.0, 0.0]]))  # a total that is half of a sum
    assert walked(replace(table, relations=halves), Clock(None)) is None


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


@pytest.mark.parametrize("shape", [(4, 5), (12, 12, 12), (30, 10, 8)])
def test_of_larger_tables_it_finds_one_that_is_near_the_nearest_multiples(shape):
    table = drawn(shape)
    values = walked(table, Clock(None))
    assert table.wrong(values) is None
    assert table.least <= table.cost(values) < 1.25 * table.least
