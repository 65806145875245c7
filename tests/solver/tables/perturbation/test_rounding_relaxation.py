"""What is known of the relaxation of a rounding, by whichever method has time for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rounded_tables import drawn

from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.perturbation import rounding, rounding_relaxation
from linkrisk.solver.tables.perturbation.rounding import Relaxed, relaxation, round_cells, walked


def test_a_table_of_two_dimensions_has_a_whole_optimum_and_a_cube_has_none():
    for shape, whole in (((5, 6), True), ((6, 6, 6), False)):
        table = drawn(shape, 1)
        assert relaxation(table, table.model(), Clock(None)).whole == whole


def test_where_there_is_no_point_it_says_so():
    table = drawn((3, 4))
    wrong = replace(table, value=table.value + np.arange(table.value.size) * 7.0)
    assert relaxation(wrong, wrong.model(), Clock(None)) is None


@pytest.mark.parametrize("shape", [(5, 6), (6, 6, 6)])
def test_where_the_simplex_method_has_no_time_gradients_give_the_bound(shape, monkeypatch):
    """As for 130,000 cells in three dimensions, whose bases take minutes."""
    table = drawn(shape)
    model = table.model()
    optimum = relaxation(table, model, Clock(None))
    assert optimum.near
    assert optimum.program is not None
    monkeypatch.setattr(rounding_relaxation, "_SIMPLEX", 0.0)
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


def test_a_relaxed_rounding_begins_near_its_relaxation_too(monkeypatch):
    near = []

    def noted(table, clock, seed, point=None):
        near.append(point)
        return walked(table, clock, seed, point)

    monkeypatch.setattr(rounding, "walked", noted)
    for zero_restricted in (True, False):
        table = replace(drawn((6, 6, 6), 1), zero_restricted=zero_restricted)
        found = round_cells(table, get_backend("highs"), Clock(None))
        assert found.proven
    assert [None if point is None else point.shape for point in near] == [(343,), None, (343,), None]
