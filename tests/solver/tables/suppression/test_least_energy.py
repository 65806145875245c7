"""Patterns by movements of least energy: they conduct all needs, and what is shed was not needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import linked_table, random_table
from small_tables import plain_short

from linkrisk.formulations.tables.witnesses import counted_reach, valid
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.suppression.least_energy_patterns import Needs, Shedding, conducting
from linkrisk.solver.tables.suppression.repair import Attacked, repaired


def nothing(_):
    """Tell nobody."""


def needs_of(table):
    outsider = Attacked(table, unmet(table, ~table.fixed).reach.up)
    return outsider, Needs.of(unmet(table, table.primary).unmet, outsider.most_up)


def drawn(seed, crossed):
    """Linked tables whose cells can all be protected; None where they cannot."""
    table = linked_table(np.random.default_rng(seed), 6, crossed, common=0.5)
    return table if table.primary.any() and unmet(table, ~table.fixed).all else None


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), crossed=st.sampled_from([[(3, 3)], [(4, 2)], [(2, 2), (2, 2)]]))
def test_a_pattern_of_linked_tables_repaired_passes_the_audit(seed, crossed):
    table = drawn(seed, crossed)
    if table is None:
        return
    outsider, needs = needs_of(table)
    pattern = conducting(table, needs, Clock(None), nothing, table.cost)
    if pattern is None:
        assert not len(needs)
        return
    assert (table.primary <= pattern).all()
    assert not pattern[table.fixed].any()
    shedding = Shedding(table, pattern, needs)
    shedding.run(Clock(None), nothing)
    assert (shedding.pattern <= pattern).all()
    mended, _, whole = repaired([outsider], shedding.pattern, Clock(None), nothing, shedding.witnesses())
    assert whole
    assert plain_short(table, mended) == []


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([[(6, 3), (3, 3)], [(3, 3), (2, 2), (2, 2)]]))
def test_what_was_met_stays_met_whatever_is_shed(seed, shape):
    table = random_table(np.random.default_rng(seed), shape)
    table = replace(table, sliding_level=np.zeros(len(table)))
    _, needs = needs_of(table)
    if not len(needs):
        return
    shedding = Shedding(table, ~table.fixed, needs)
    before = shedding.witnesses()
    shedding.run(Clock(None), nothing)
    after = shedding.witnesses()
    assert len(after) == len(before)
    assert len(valid(table, shedding.pattern, after)) == len(after)
    reach = counted_reach(table, shedding.pattern, after)
    met = [one for one in table.demands if reach.meets(one, 1e-6)]
    assert len(met) >= len(after)


def test_nothing_that_is_left_could_be_shed():
    """Where bounds are wide, movements of least energy are all that matters."""
    table = random_table(np.random.default_rng(3), [(6, 3), (6, 3)])
    table = replace(
        table,
        lower=np.full(len(table), -1e6),
        upper=np.full(len(table), 1e6),
        sliding_level=np.zeros(len(table)),
    )
    _, needs = needs_of(table)
    shedding = Shedding(table, ~table.fixed, needs)
    shedding.run(Clock(None), nothing)
    assert plain_short(table, shedding.pattern) == []
    assert table.cost_of(shedding.pattern) < 0.5 * table.cost_of(~table.fixed)
    for cell in np.flatnonzero(shedding.pattern & table.free):
        without = shedding.pattern
        without[cell] = False
        assert plain_short(table, without)


def test_a_pattern_that_conducts_costs_far_less_than_all_cells():
    table = random_table(np.random.default_rng(3), [(6, 3), (6, 3)])
    _, needs = needs_of(table)
    told = []
    pattern = conducting(table, needs, Clock(None), told.append, table.cost)
    assert table.cost_of(pattern) < 0.5 * table.cost_of(~table.fixed)
    assert told == sorted(told, reverse=True)


def test_without_time_there_is_no_pattern():
    table = random_table(np.random.default_rng(3), [(6, 3), (6, 3)])
    _, needs = needs_of(table)
    clock = Clock(None)
    clock.stop()
    assert conducting(table, needs, clock, nothing, table.cost) is None


@pytest.mark.parametrize("limit", ["LEAST_ENERGY_MOVEMENTS", "LEAST_ENERGY_MOST_CELLS"])
def test_tables_that_are_too_large_are_left_to_others(monkeypatch, limit):
    table = random_table(np.random.default_rng(3), [(6, 3), (6, 3)])
    _, needs = needs_of(table)
    monkeypatch.setattr(steering, limit, 3)
    assert conducting(table, needs, Clock(None), nothing, table.cost) is None
    shedding = Shedding(table, ~table.fixed, needs)
    shedding.run(Clock(None), nothing)
    assert not shedding.fits
    assert shedding.witnesses() == []
    assert (shedding.pattern == ~table.fixed).all()


def test_needs_that_are_open_are_those_without_a_witness():
    """Bounds are tight here: what least energy does not meet is open, less of it with more cells."""
    table = random_table(np.random.default_rng(5), [(6, 3), (6, 3)], level=0.45)
    table = replace(table, sliding_level=np.zeros(len(table)))
    outsider, needs = needs_of(table)
    pattern = conducting(table, needs, Clock(None), nothing, table.cost)
    shedding = Shedding(table, pattern, needs)
    assert 0 < len(shedding.open) < len(needs)
    assert len(shedding.open) + len(shedding.witnesses()) == len(needs)
    assert shedding.met == 1.0 - len(shedding.open) / len(needs)
    wider = pattern.copy()
    for cell in shedding.open.cell.tolist():
        wider[outsider.witnesses.around(cell, 4)] = True
    assert not wider[table.fixed].any()
    assert len(Shedding(table, wider, needs).open) <= len(shedding.open)
