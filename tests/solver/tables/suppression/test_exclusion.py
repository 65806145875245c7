"""The last units between cost and bound are searched one by one, within bounds that are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_tables import random_table
from small_tables import plain_short

from linkrisk.formulations.tables.suppression_model import alone_rows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.suppression import branch_and_cut
from linkrisk.solver.tables.suppression.branch_and_cut import BranchAndCut, Exclusion, Part
from linkrisk.solver.tables.suppression.branching import Contradictions
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.incumbent import Incumbent, Supports, Thinning
from linkrisk.solver.tables.suppression.relaxation import Relaxation


def drawn(seed, shape=((3, 3), (3, 3), (2, 2)), unit=True):
    table = random_table(np.random.default_rng(seed), shape, share=0.15, zeros=0.0)
    return replace(table, cost=np.ones(len(table))) if unit else table


def searched_up_to(table, most, nodes=np.inf):
    """A search that begins with all cells suppressed, for patterns that cost no more."""
    separator, objective = CapacityCuts(table), np.where(table.free, table.cost, 0.0)
    limits = (table.primary.astype(float), (~table.fixed).astype(float))
    supports = Supports(separator, Thinning(table, separator.holds))
    part = Part(Relaxation(alone_rows(table), objective, *limits), supports, nodes)
    incumbent = Incumbent(~table.fixed, objective, whole=True).up_to(most)
    search = BranchAndCut(table, separator, part, incumbent, 0.0)
    search.run(Clock(None), lambda _: None, lambda: False)
    return search


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unit", [True, False])
def test_the_unit_below_the_optimum_is_excluded_and_the_optimum_is_found(seed, unit):
    table = drawn(seed, unit=unit)
    least = suppress_cells(table, None, Clock(None))
    below = searched_up_to(table, least.cost - 1.0)
    assert below.bound == least.cost
    at = searched_up_to(table, least.cost)
    assert (at.cost, at.bound) == (least.cost, least.cost)
    assert not plain_short(table, at.best)


def test_what_had_no_nodes_excludes_nothing():
    table = drawn(2, ((4, 4), (4, 4), (2, 2)))
    least = suppress_cells(table, None, Clock(None))
    assert searched_up_to(table, least.cost - 1.0, nodes=0).bound < least.cost


def test_a_search_that_excludes_at_once_finds_the_same(monkeypatch):
    asked = []

    class Noted(Exclusion):
        def searched(self, *, excluded):
            asked.append(excluded)
            super().searched(excluded=excluded)

    tables = [drawn(seed, ((4, 4), (4, 4), (2, 2))) for seed in (1, 2, 5, 7)]
    before = [suppress_cells(table, None, Clock(None)) for table in tables]
    monkeypatch.setattr(steering, "NODES_BEFORE_EXCLUSION", 1)
    monkeypatch.setattr(steering, "EXCLUSION_LAST_UNIT", 1)
    monkeypatch.setattr(branch_and_cut, "Exclusion", Noted)
    for table, least in zip(tables, before, strict=True):
        found = suppress_cells(table, None, Clock(None))
        assert (found.cost, found.bound) == (least.cost, least.bound)
        assert not plain_short(table, found.suppressed)
    assert any(asked)


ROOT = 36.0


def test_it_is_due_where_few_units_are_left_and_later_for_the_last_one_or_after_one_in_vain():
    made = Exclusion()
    assert not made.due(99, ROOT, 43.0, 44.0)
    assert made.due(100, ROOT, 43.0, 44.0)
    assert not made.due(999, ROOT, 43.1, 44.0)
    assert made.due(1000, ROOT, 43.1, 44.0)
    assert not made.due(1000, ROOT, 42.0, 44.0)
    assert not made.due(1000, ROOT, 44.1, 44.0)
    nodes = made.nodes
    made.searched(excluded=True)
    assert made.due(100, ROOT, 43.0, 44.0)
    made.searched(excluded=False)
    assert made.nodes > nodes
    assert not made.due(100, ROOT, 43.0, 44.0)
    assert made.due(1000, ROOT, 43.0, 44.0)


def test_it_is_never_due_where_a_unit_is_nothing_beside_what_the_root_left():
    assert Exclusion().due(1000, 7320.0, 7335.0, 7336.0)
    assert not Exclusion().due(1000, 6402.3, 7335.0, 7336.0)


def test_decisions_on_the_wrong_side_of_their_reduced_cost_made_a_branch_empty():
    made = Contradictions(5)
    ones, zeros = np.array([0, 1]), np.array([2, 3])
    made.found(ones, zeros, np.array([2.0, -1.0, 1.0, -3.0, 9.0]))
    assert (made.weight > 0).tolist() == [True, False, False, True, False]
    first = made.weight.copy()
    made.found(ones, zeros, np.array([2.0, 0.0, 0.0, 0.0, 0.0]))
    assert made.weight[0] > 2 * first[0]
    assert made.weight[3] == first[3]


def test_weights_stay_finite():
    made = Contradictions(1)
    for _ in range(20_000):
        made.found(np.array([0]), np.array([], dtype=np.int64), np.ones(1))
    assert np.isfinite(made.weight).all()
    assert made.weight[0] > 0
