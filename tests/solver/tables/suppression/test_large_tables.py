"""Tables beyond the optimum: every pattern passes the audit, and lies between the optimum and nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import linked_table, random_table
from small_tables import circle_table, circles, plain_short

from linkrisk import make_table, suppress_table
from linkrisk.formulations.tables import implied_relations
from linkrisk.formulations.tables.cell_table import Insider
from linkrisk.formulations.tables.subtables import subtables
from linkrisk.formulations.tables.witnesses import counted_reach, valid
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.audit import audit_levels
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.insiders import audit_by_everybody
from linkrisk.solver.tables.suppression import cell_suppression
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large
from linkrisk.solver.tables.suppression.least_energy_patterns import Needs, Shedding, conducting
from linkrisk.solver.tables.suppression.modular import Modular, within
from linkrisk.solver.tables.suppression.pattern_pool import AtOnce
from linkrisk.solver.tables.suppression.primal_heuristics import Witnesses
from linkrisk.solver.tables.suppression.repair import Attacked, Thinning, repaired

SHAPES = [[(9, 3)], [(4, 2), (3, 3)], [(6, 3), (3, 3)], [(3, 3), (2, 2), (2, 2)]]
CROSSED = [[(3, 3)], [(4, 2)], [(2, 2), (2, 2)]]
METHODS = ["modular", "heuristic"]


def drawn(seed, shape, share=0.15):
    """A table whose cells can all be protected; None where they cannot."""
    table = random_table(np.random.default_rng(seed), shape, share=share, level=0.15)
    return table if table.primary.any() and unmet(table, ~table.fixed).all else None


def linked(seed, crossed, common=0.5):
    """Two hierarchies of one variable, or tables that have some cells in common."""
    table = linked_table(np.random.default_rng(seed), 6, crossed, common=common)
    return table if table.primary.any() and unmet(table, ~table.fixed).all else None


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([*SHAPES, *CROSSED]), unit=st.booleans())
def test_every_pattern_protects_and_is_no_cheaper_than_the_optimum(seed, shape, unit):
    table = drawn(seed, shape) if shape in SHAPES else linked(seed, shape, 1.0 if unit else 0.5)
    if table is None:
        return
    if unit and shape in SHAPES:
        table = replace(table, cost=np.ones(len(table)))
    best = suppress_cells(table, None, Clock(None))
    assert best.proven
    for method in METHODS:
        found = suppress_large(table, method, Clock(None))
        assert plain_short(table, found.suppressed) == []
        assert not found.suppressed[table.fixed].any()
        assert found.cost == table.cost_of(found.suppressed)
        assert found.cost >= best.cost * (1.0 - 1e-9)
        assert 0.0 <= found.bound <= best.cost * (1.0 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_patterns_cost_little_more_than_the_optimum(method):
    """Of tables with high levels, as dominance rules ask for: what is open is met at its own least cost."""
    optimal = costs = 0.0
    for seed in range(4):
        table = random_table(np.random.default_rng(seed), [(4, 2), (3, 3)], share=0.3, level=0.4)
        if table.primary.any() and unmet(table, ~table.fixed).all:
            optimal += suppress_cells(table, None, Clock(None)).cost
            costs += suppress_large(table, method, Clock(None)).cost
    assert 0.0 < optimal <= costs <= 1.3 * optimal


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), local=st.sampled_from([1, 12, 10_000]))
def test_a_pattern_extended_level_by_level_protects(seed, local):
    table = drawn(seed, [(4, 2), (3, 3)])
    if table is None:
        return
    witnesses = Witnesses(table, local=local)
    demands = unmet(table, table.primary).unmet
    together = witnesses.extended(table.primary, demands, Clock(None))
    assert plain_short(table, together) == []
    shuffled = witnesses.extended(table.primary, demands, Clock(None), generator=np.random.default_rng(seed))
    assert plain_short(table, shuffled) == []
    thinning = Thinning([Attacked(table, table.above)], ~table.fixed)
    assert (
        thinning.run(table, Clock(None), lambda _: None, 4, 2) == (~table.fixed & ~thinning.suppressed).sum()
    )
    assert plain_short(table, thinning.suppressed) == []


def test_subtables_alone_leave_a_cell_at_risk_that_the_repair_protects():
    """A pattern that protects in every subtable by itself, but not over all relations at once."""
    table = drawn(20, [(6, 3), (6, 3)])
    alone = Modular(table, subtables(table.relations))
    alone.run(Clock(None), lambda *_: None)
    pattern = alone.dive(Clock(None), lambda *_: None, 0.1)
    for part in subtables(table.relations):
        local = within(table, part, table.primary[part.cells], np.zeros(len(table)))
        assert plain_short(local, pattern[part.cells]) == []
    assert plain_short(table, pattern)
    outsider = Attacked(table, unmet(table, ~table.fixed).reach.up)
    mended, opened, whole = repaired([outsider], pattern, Clock(None), lambda *_: None)
    assert whole
    assert opened == len(unmet(table, pattern).unmet)
    assert (mended >= pattern).all()
    assert plain_short(table, mended) == []
    before = alone.bound
    alone.widen(unmet(table, pattern).unmet)
    alone.run(Clock(None), lambda *_: None)
    assert alone.bound >= before
    found = suppress_large(table, "modular", Clock(None))
    assert found.cost == found.bound < table.cost_of(mended)


@pytest.mark.parametrize("method", METHODS)
def test_others_who_know_more_are_kept_out_as_well(method):
    table = drawn(3, [(6, 3), (6, 3)])
    cells = np.flatnonzero(table.primary)[:2]
    knows = Insider("one", cells, table.value[cells], table.value[cells])
    view = table.seen_by(knows)
    found = suppress_large(table, method, Clock(None), insiders=[view])
    assert plain_short(table, found.suppressed) == []
    assert unmet(view, found.suppressed).all
    assert not unmet(view, suppress_large(table, method, Clock(None)).suppressed).all


@pytest.mark.parametrize("method", METHODS)
def test_interrupted_it_still_protects_and_what_cannot_be_protected_is_named(method):
    table = drawn(1, [(6, 3), (6, 3)])
    clock = Clock(None)
    clock.stop()
    found = suppress_large(table, method, clock)
    assert plain_short(table, found.suppressed) == []
    assert 0.0 <= found.bound <= found.cost
    table = random_table(np.random.default_rng(1), [(4, 2), (4, 2)])
    one, other = (suppress_large(table, method, Clock(None)) for _ in range(2))
    assert (one.suppressed == other.suppressed).all()
    cell = int(np.flatnonzero(table.primary)[0])
    with pytest.raises(UsageError, match=rf"^cell {cell} cannot be protected: with all cells suppressed it"):
        suppress_large(replace(table, fixed=~table.primary), method, Clock(None))


def test_an_audit_of_levels():
    table = drawn(2, [(9, 3), (4, 4)])
    generator = np.random.default_rng(0)
    seen = set()
    for share in (0.1, 0.3, 0.5, 1.0):
        pattern = (table.primary | (generator.random(len(table)) < share)) & ~table.fixed
        found = audit_levels(table, pattern)
        short = plain_short(table, pattern)
        assert found.cells[found.short > 0].tolist() == short
        assert found.passed == (not short)
        assert not found.undecided.any()
        assert (found.low <= table.value[found.cells]).all()
        seen.add(found.passed)
    assert seen == {True, False}


def test_nothing_is_looked_at_when_the_time_is_out(monkeypatch):
    """No program is built, and nothing is called protected: levels of amounts ask the clock, as counts do."""
    table = drawn(20, [(6, 3), (6, 3)])

    def refuse(*_):
        raise AssertionError("a program was built after the time was out")

    for name in ("demands.Furthest", "demands.Together"):
        monkeypatch.setattr(f"linkrisk.solver.tables.attackers.{name}", refuse)
    monkeypatch.setattr("linkrisk.solver.tables.suppression.large_tables.Modular", refuse)
    out = Clock(1.0, spent=2.0)
    found = suppress_large(table, "modular", out)
    assert (found.suppressed == ~table.fixed).all()
    assert (found.bound, found.subtables) == (0.0, 0)
    audited = audit_levels(table, found.suppressed, out)
    assert audited.undecided[table.primary[audited.cells] & ~audited.exact].any()
    assert not audited.passed
    cell = np.array([int(np.flatnonzero(table.free)[0])])
    somebody = Insider("one", cell, table.value[cell], table.value[cell])
    assert not audit_by_everybody(replace(table, insiders=(somebody,)), found.suppressed, out).passed


def test_an_unaudited_table_is_not_called_protected(monkeypatch, tmp_path):
    generator = np.random.default_rng(4)
    firms = pd.DataFrame(generator.integers(0, 8, (150, 2)), columns=["a", "b"]).astype(str)
    made = make_table(
        firms.assign(x=generator.integers(1, 900, 150)), ["a", "b"], response="x", rules=["p=10"]
    )
    monkeypatch.setattr(
        "linkrisk.solver.tables.operations.suppress_and_audit._patience", lambda _: Clock(1.0, spent=2.0)
    )
    result = suppress_table(made, method="modular")
    assert not result.protected
    assert result.to_dict()["under_protected"] == []
    assert result.to_dict()["undecided"]
    with pytest.raises(UsageError, match="not protected"):
        result.write(tmp_path / "safe.csv")


# Patterns by movements of least energy: they conduct all needs, and what is shed was not needed


def nothing(_):
    """Tell nobody."""


def needs_of(table):
    outsider = Attacked(table, unmet(table, ~table.fixed).reach.up)
    return outsider, Needs.of(unmet(table, table.primary).unmet, outsider.most_up)


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), crossed=st.sampled_from(CROSSED))
def test_a_pattern_of_linked_tables_repaired_passes_the_audit(seed, crossed):
    table = linked(seed, crossed)
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


@pytest.mark.parametrize("limit", ["LEAST_ENERGY_MOVEMENTS", "LEAST_ENERGY_MOST_CELLS"])
def test_tables_that_are_too_large_are_left_to_others(monkeypatch, limit):
    table, clock = random_table(np.random.default_rng(3), [(6, 3), (6, 3)]), Clock(None)
    _, needs = needs_of(table)
    clock.stop()
    assert conducting(table, needs, clock, nothing, table.cost) is None  # without time
    monkeypatch.setattr(steering, limit, 3)
    assert conducting(table, needs, Clock(None), nothing, table.cost) is None
    shedding = Shedding(table, ~table.fixed, needs)
    shedding.run(Clock(None), nothing)
    assert not shedding.fits
    assert shedding.witnesses() == []
    assert (shedding.pattern == ~table.fixed).all()


# Patterns by all movements at once, again and again: they protect, and get cheaper


def circled(seed):
    return linked_table(np.random.default_rng(seed), 6, [(3, 3), (2, 2)], common=0.5)


def search(table):
    separator = CapacityCuts(table)
    return AtOnce(table, separator.open, separator.holds)


@pytest.mark.parametrize("seed", range(2))
def test_the_search_begins_with_them_where_relations_are_many(seed, monkeypatch):
    table = random_table(np.random.default_rng(seed), [(3, 2), (3, 3), (2, 2)], share=0.2)
    least = suppress_cells(table, None, Clock(None))
    monkeypatch.setattr(steering, "LEAST_ENERGY_RELATIONS", 0)
    monkeypatch.setattr(steering, "TRIES_WITHOUT_LIMIT", 4)
    found = suppress_cells(table, None, Clock(None))
    assert (found.cost, found.proven) == (least.cost, True)
    assert not plain_short(table, found.suppressed)


@pytest.mark.parametrize("seed", range(4))
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
    for seed in range(3):
        table, told = circled(seed), []
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
    assert reached >= 2


def test_it_is_left_to_others_without_time_and_with_sliding_levels(monkeypatch):
    monkeypatch.setattr(steering, "LEAST_ENERGY_RELATIONS", 0)
    table = circled(0)
    part = Clock(None)
    part.stop()
    assert search(table).start(part, lambda _: None) is None
    sliding = random_table(np.random.default_rng(1), [(4, 2), (4, 4)], share=0.4)
    assert (sliding.sliding_level > 0).any()
    assert not AtOnce.suits(sliding, sliding.demands)
    assert AtOnce.suits(table, [one for one in table.demands if one.up != one.down])


def test_where_no_way_has_a_pattern_in_its_time_the_modular_method_has_one_and_a_bound(monkeypatch):
    table, asked = circled(1), []

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
