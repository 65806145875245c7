"""Branch and cut for patterns: rows, bounds, exclusion and neighbourhoods keep what protects."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_table
from scipy import sparse
from scipy.optimize import linprog
from small_tables import plain_short

from linkrisk.formulations.programs import Cuts
from linkrisk.formulations.tables.suppression_model import BridgeRows, alone_rows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.suppression import branch_and_cut
from linkrisk.solver.tables.suppression.branch_and_cut import BranchAndCut, Exclusion, Part
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.incumbent import Incumbent, Supports, Thinning, protection
from linkrisk.solver.tables.suppression.pattern import unit_of
from linkrisk.solver.tables.suppression.relaxation import Relaxation, rounded, rounding_cuts


def corners(count):
    return np.array(list(product((0.0, 1.0), repeat=count)))


def covering(generator, rows, columns):
    matrix = generator.integers(0, 3, (rows, columns)) * (generator.random((rows, columns)) < 0.6)
    matrix = matrix * np.where(generator.random((rows, 1)) < 0.3, 0.37, 1.0)
    right = np.floor(matrix.sum(axis=1) * generator.random(rows) * 10.0) / 10.0
    cuts = Cuts(sparse.csr_array(matrix), right, np.full(rows, np.inf))
    cost = generator.integers(1, 9, columns).astype(float)
    return Relaxation(cuts, cost, np.zeros(columns), np.ones(columns)), matrix, right, cost


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_rounded_rows_keep_all_points_of_zeros_and_ones(seed):
    generator = np.random.default_rng(seed)
    sums = np.round(generator.normal(size=(6, 7)) * 2.0, generator.integers(0, 3))
    right, point = np.round(generator.normal(size=6), 2), generator.random(7)
    point[generator.random(7) < 0.3] = 1.0
    rows, wanted, _ = rounded(sums, right, point)
    for corner in corners(7):
        kept = sums @ corner >= right - 1e-12
        assert (rows[kept] @ corner >= wanted[kept] - 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_rows_made_of_a_basis_cut_off_its_point_and_no_whole_one(seed):
    relaxation, matrix, right, _ = covering(np.random.default_rng(seed), 6, 8)
    solved = relaxation.solve()
    rows, wanted = rounding_cuts(relaxation, solved.point)
    assert (rows @ solved.point < wanted).all()
    for corner in corners(8):
        if (matrix @ corner >= right - 1e-12).all():
            assert (rows @ corner >= wanted - 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_multipliers_give_a_bound(seed):
    """Counted in fractions: no point is cheaper, whatever the duals are."""
    generator = np.random.default_rng(seed)
    relaxation, matrix, right, cost = covering(generator, 5, 6)
    best = linprog(cost, A_ub=-matrix, b_ub=-right, bounds=(0, 1)).fun
    assert relaxation.solve().bound == pytest.approx(best, abs=1e-9)
    duals = generator.normal(size=5) * 3.0
    bound, _ = relaxation._safe(duals)
    y = [Fraction(max(one, 0.0)) for one in duals]
    exact = sum((Fraction(r) * u for r, u in zip(right, y, strict=True)), Fraction(0))
    for column in range(6):
        reduced = Fraction(cost[column]) - sum(
            (Fraction(matrix[row, column]) * y[row] for row in range(5)), Fraction(0)
        )
        exact += min(Fraction(0), reduced)
    assert Fraction(bound) <= exact
    assert bound >= float(exact) - 1e-9 * (1.0 + abs(float(exact)))


def test_what_is_decided_goes_to_the_right_hand_sides():
    generator = np.random.default_rng(4)
    whole, *_ = covering(generator, 6, 9)
    objective = whole.objective.copy()
    none = np.zeros(9, dtype=bool)
    ones, zeros = none.copy(), none.copy()
    ones[[2, 5]], zeros[7] = True, True
    whole.decide(zeros, ones)
    whole.restrict(whole.lower.copy(), whole.upper.copy())
    part = whole.smaller(objective)
    assert part.cells.tolist() == [0, 1, 3, 4, 6, 8]
    first, second = whole.solve(), part.solve()
    assert second.bound == pytest.approx(first.bound)
    assert part.whole_point(second.point)[[2, 5, 7]].tolist() == [1.0, 1.0, 0.0]
    assert part.bounds_where(np.array([7]), np.array([], dtype=int)) is None
    assert part.bounds_where(np.array([2]), np.array([7])) is not None


def protecting(table):
    """All patterns that protect, and whether each has a free cell alone in a relation."""
    free, inside = np.flatnonzero(table.free), table.relations.toarray() != 0
    found = []
    for bits in product((False, True), repeat=free.size):
        suppressed = table.primary.copy()
        suppressed[free] = bits
        more = any((suppressed >= other).all() for other, _ in found)  # more protects, too
        if more or not plain_short(table, suppressed):
            alone = inside[inside[:, suppressed].sum(axis=1) == 1]
            found.append((suppressed.astype(float), bool((alone[:, suppressed & table.free]).any())))
    return found


SLOW = pytest.mark.slow


@pytest.mark.parametrize("seed", [2, pytest.param(0, marks=SLOW), pytest.param(1, marks=SLOW)])
def test_no_row_cuts_off_a_pattern_that_protects(seed):
    generator = np.random.default_rng(seed)
    table = random_table(generator, [(2, 2), (2, 2)], zeros=0.0, share=0.4, most=12)
    if not table.primary.any():
        table = random_table(generator, [(2, 2), (2, 2)], zeros=0.0, share=0.9, most=12)
    patterns = protecting(table)
    separator, bridges = CapacityCuts(table), BridgeRows(table)
    first = alone_rows(table)
    for suppressed, _ in patterns:
        assert first.violation(suppressed) == 0.0
    for _ in range(12):
        point = np.where(table.fixed, 0.0, generator.random(len(table)) ** generator.integers(1, 6))
        cuts, alone = separator(point), bridges(np.where(table.primary, 1.0, point), 1e-3)
        capacity = cuts.count - alone.count
        for suppressed, has_bridge in patterns:
            kept = cuts.matrix @ suppressed >= cuts.lower - 1e-9
            assert kept[:capacity].all()
            assert kept.all() or has_bridge


@pytest.mark.parametrize("seed", range(2))
def test_nothing_can_be_left_out_of_what_is_thinned(seed):
    table = random_table(np.random.default_rng(seed), [(4, 2), (4, 4)])
    separator = CapacityCuts(table)
    thinned = Thinning(table, protection(separator))(~table.fixed, table.cost, Clock(None))
    assert not plain_short(table, thinned)
    for cell in np.flatnonzero(thinned & table.free):
        less = thinned.copy()
        less[cell] = False
        assert plain_short(table, less)


def test_costs_that_are_decimals_are_proven():
    units = {(1.0, 5.0): 1.0, (0.1, 0.2, 0.3): 0.1, (521925.478, 1.0): 0.001, (1 / 3,): 0.0, (1e16,): 0.0}
    assert {costs: unit_of(np.array(costs)) for costs in units} == units
    table = random_table(np.random.default_rng(8), [(5, 5), (4, 2)], decimals=3, most=90_000)
    found = suppress_cells(table, None, Clock(None))
    assert unit_of(table.cost[table.free]) == pytest.approx(1e-3)
    assert found.proven
    assert found.bound == found.cost
    assert not plain_short(table, found.suppressed)


@pytest.mark.parametrize("seed", range(4))
def test_many_demands_are_looked_at_together(seed, monkeypatch):
    table = random_table(np.random.default_rng(seed), [(4, 2), (4, 4)], share=0.4)
    one_by_one = CapacityCuts(table).open
    monkeypatch.setattr(steering, "SEEN_AT_ONCE_DEMANDS", 0)
    assert CapacityCuts(table).open == one_by_one
    out = Clock(None)
    out.stop()
    separator = CapacityCuts(table, clock=out)
    assert set(separator.open) >= set(one_by_one)  # nobody knows of the others
    assert separator.open
    with pytest.raises(OutOfTimeError):
        separator.holds(table.primary)


# The last units between cost and bound, and neighbourhoods of the best pattern


def drawn(seed, shape=((3, 3), (3, 3), (2, 2)), unit=True):
    table = random_table(np.random.default_rng(seed), shape, share=0.15, zeros=0.0)
    return replace(table, cost=np.ones(len(table))) if unit else table


def searched_up_to(table, most, nodes=np.inf):
    separator, objective = CapacityCuts(table), np.where(table.free, table.cost, 0.0)
    limits = (table.primary.astype(float), (~table.fixed).astype(float))
    supports = Supports(separator, Thinning(table, separator.holds))
    part = Part(Relaxation(alone_rows(table), objective, *limits), supports, nodes)
    incumbent = Incumbent(~table.fixed, objective, whole=True).up_to(most)
    search = BranchAndCut(table, separator, part, incumbent, 0.0)
    search.run(Clock(None), lambda _: None, lambda: False)
    return search


@pytest.mark.parametrize(("seed", "unit"), [(0, True), (1, False), (2, True), (3, False)])
def test_the_unit_below_the_optimum_is_excluded_and_the_optimum_is_found(seed, unit):
    table = drawn(seed, unit=unit)
    least = suppress_cells(table, None, Clock(None))
    below = searched_up_to(table, least.cost - 1.0)
    assert below.bound == least.cost
    at = searched_up_to(table, least.cost)
    assert (at.cost, at.bound) == (least.cost, least.cost)
    assert not plain_short(table, at.best)


def test_a_search_that_excludes_at_once_finds_the_same(monkeypatch):
    asked = []

    class Noted(Exclusion):
        def searched(self, *, excluded):
            asked.append(excluded)
            super().searched(excluded=excluded)

    table = drawn(5, ((4, 4), (4, 4), (2, 2)))
    least = suppress_cells(table, None, Clock(None))
    monkeypatch.setattr(steering, "NODES_BEFORE_EXCLUSION", 1)
    monkeypatch.setattr(steering, "EXCLUSION_LAST_UNIT", 1)
    monkeypatch.setattr(branch_and_cut, "Exclusion", Noted)
    found = suppress_cells(table, None, Clock(None))
    assert (found.cost, found.bound) == (least.cost, least.bound)
    assert not plain_short(table, found.suppressed)
    assert any(asked)


@pytest.mark.parametrize("seed", [1, 4])
def test_with_many_of_them_the_optimum_is_the_same(monkeypatch, seed):
    table = random_table(np.random.default_rng(seed), [(6, 6), (6, 6)], share=0.3, level=0.3)
    plain = suppress_cells(table, None, Clock(None))
    monkeypatch.setattr(steering, "NODES_BEFORE_NEIGHBOURHOODS", 0)
    monkeypatch.setattr(steering, "NEIGHBOURHOOD_CELLS", (6, 8))
    monkeypatch.setattr(steering, "NEIGHBOURHOOD_SHARE", 2.0)
    monkeypatch.setattr(steering, "THINNED_FIRST_NODES", 0)
    monkeypatch.setattr(steering, "ROOT_HEURISTIC_ROUNDS", ())
    found = suppress_cells(table, None, Clock(None))
    assert found.proven
    assert found.cost == plain.cost == plain.bound
    assert not plain_short(table, found.suppressed)
