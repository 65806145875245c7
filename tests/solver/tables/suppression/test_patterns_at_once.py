"""Patterns by all movements at once, again and again: they protect, and get cheaper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_tables import linked_table, random_table
from small_tables import circle_table, circles, plain_short

from linkrisk.formulations.tables import implied_relations
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.suppression import cell_suppression
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large
from linkrisk.solver.tables.suppression.pattern_pool import AtOnce, Pool


def linked(seed):
    return linked_table(np.random.default_rng(seed), 6, [(3, 3), (2, 2)], common=0.5)


def search(table):
    separator = CapacityCuts(table)
    return AtOnce(table, separator.open, separator.holds)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_begins_with_them_where_relations_are_many(seed, monkeypatch):
    table = random_table(np.random.default_rng(seed), [(3, 2), (3, 3), (2, 2)], share=0.2)
    least = suppress_cells(table, None, Clock(None))
    monkeypatch.setattr(steering, "LEAST_ENERGY_RELATIONS", 0)
    monkeypatch.setattr(steering, "TRIES_WITHOUT_LIMIT", 4)
    found = suppress_cells(table, None, Clock(None))
    assert (found.cost, found.proven) == (least.cost, True)
    assert not plain_short(table, found.suppressed)


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_where_relations_run_in_circles(seed, monkeypatch):
    """It is that of another optimiser, without rows of implied relations."""
    generator = np.random.default_rng(seed)
    table = circle_table(generator, [circles(generator, 3, 3), circles(generator, 2, 2)], share=0.1)
    found = suppress_cells(table, None, Clock(None))
    assert found.proven
    assert not plain_short(table, found.suppressed)
    monkeypatch.setattr(implied_relations, "_ROWS", 0)
    again = suppress_cells(table, None, Clock(None))
    assert not plain_short(table, again.suppressed)
    assert again.cost == suppress_cells(table, get_backend("highs"), Clock(None)).cost == found.cost


@pytest.mark.parametrize("seed", [77, 287])
def test_the_optimum_where_a_cell_was_decided_twice(seed):
    """Its reduced cost said first that it is published, and later, at that bound, the opposite."""
    generator = np.random.default_rng(seed)
    table = circle_table(generator, [circles(generator, 2, 3), circles(generator, 3, 3)], share=0.15)
    table = replace(table, cost=np.ones(len(table)))
    found = suppress_cells(table, None, Clock(None))
    assert found.proven
    assert found.cost == suppress_cells(table, get_backend("highs"), Clock(None)).cost == 11


def test_every_try_that_is_told_of_protects_and_is_no_dearer(monkeypatch):
    monkeypatch.setattr(steering, "TRIES_WITHOUT_LIMIT", 10)
    reached = 0
    for seed in range(8):
        table, told = linked(seed), []
        patterns = search(table)
        found = patterns.start(Clock(None), told.append)
        if found is None:
            continue
        reached += 1
        assert not plain_short(table, found)
        assert told == sorted(told, reverse=True)
        assert told[-1] == table.cost_of(found)
        near = patterns.like(found.astype(float), Clock(None))
        assert near is None or not plain_short(table, near)
        thinned = patterns.thinned(~table.fixed, table.cost, Clock(None))
        assert not plain_short(table, thinned)
    assert reached >= 4


def test_it_is_left_to_others_without_time_and_with_sliding_levels(monkeypatch):
    monkeypatch.setattr(steering, "LEAST_ENERGY_RELATIONS", 0)
    table = linked(0)
    part = Clock(None)
    part.stop()
    assert search(table).start(part, lambda _: None) is None
    sliding = random_table(np.random.default_rng(1), [(4, 2), (4, 4)], share=0.4)
    assert (sliding.sliding_level > 0).any()
    assert not AtOnce.suits(sliding, sliding.demands)
    assert AtOnce.suits(table, [one for one in table.demands if one.up != one.down])


def test_where_no_way_has_a_pattern_in_its_time_the_modular_method_has_one_and_a_bound(monkeypatch):
    table, asked = linked(1), []

    def noted(*given):
        asked.append(suppress_large(*given))
        return asked[-1]

    monkeypatch.setattr(cell_suppression, "suppress_large", noted)
    monkeypatch.setattr(steering, "START_SHARE", 0.0)
    found = suppress_cells(table, None, Clock(1000.0))
    assert found.proven
    assert len(asked) == 1
    assert asked[0].bound <= found.cost <= asked[0].cost < table.cost_of(~table.fixed)
    monkeypatch.setattr(cell_suppression.WholeSearch, "run", lambda *_: None)
    begun = suppress_cells(table, None, Clock(1000.0))
    assert (begun.cost, begun.bound) == (asked[1].cost, asked[1].bound)
    assert not plain_short(table, begun.suppressed)


def test_where_time_is_over_the_modular_method_is_not_asked(monkeypatch):
    table = linked(1)
    monkeypatch.setattr(cell_suppression, "suppress_large", None)
    found = suppress_cells(table, None, Clock(0.0))
    assert np.array_equal(found.suppressed, ~table.fixed)
    assert found.bound == 0.0


def test_a_pool_keeps_the_cheapest_that_are_new():
    cost = np.arange(1.0, 13.0)
    pool = Pool(cost)
    first = pool.proposal()
    assert (first.cost == cost).all()
    assert first.among is None
    assert (pool.best, pool.least) == (None, np.inf)
    patterns = [np.arange(12) == number for number in range(12)]
    for pattern in [*patterns, patterns[0]]:
        pool.add(pattern, float(cost[pattern].sum()))
    assert (pool.best == patterns[0]).all()
    assert pool.least == 1.0
    second = pool.proposal()
    assert second.cost.tolist() == [0.5, *cost[1:].tolist()]
    among = [one.among for one in (pool.proposal() for _ in range(60))]
    two = [one for one in among if one is not None]
    assert 5 < len(two) < 40
    assert all(one.sum() == 2 and not one[10:].any() for one in two)  # the ten cheapest


def test_a_proposal_of_two_patterns_leaves_the_others_published():
    table = linked(1)
    pool = Pool(table.cost)
    for number in range(3):
        pool.add(np.arange(len(table)) % 3 == number, float(number))
    proposal = next(one for one in iter(pool.proposal, None) if one.among is not None)
    smaller = proposal.of(table)
    assert (smaller.fixed == (table.fixed | ~(proposal.among | table.primary))).all()
