"""Tables beyond the optimum: every pattern passes the audit, and lies between the optimum and nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import linked_table, random_table
from small_tables import plain_short

from linkrisk import make_table, suppress_table
from linkrisk.formulations.tables.cell_table import Insider
from linkrisk.formulations.tables.subtables import subtables
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.attackers.audit import audit_levels
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.insiders import audit_by_everybody
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large
from linkrisk.solver.tables.suppression.modular import Modular, within
from linkrisk.solver.tables.suppression.patterns import Witnesses
from linkrisk.solver.tables.suppression.repair import Attacked, Thinning, repaired

SHAPES = [[(9, 3)], [(4, 2), (3, 3)], [(6, 3), (3, 3)], [(3, 3), (2, 2), (2, 2)]]
METHODS = ["modular", "heuristic"]


def drawn(seed, shape, share=0.15):
    """A table whose cells can all be protected; None where they cannot."""
    table = random_table(np.random.default_rng(seed), shape, share=share, level=0.15)
    return table if table.primary.any() and unmet(table, ~table.fixed).all else None


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from(SHAPES), unit=st.booleans())
def test_every_pattern_protects_and_is_no_cheaper_than_the_optimum(seed, shape, unit):
    table = drawn(seed, shape)
    if table is None:
        return
    if unit:
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


@settings(max_examples=4, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    crossed=st.sampled_from([[(3, 3)], [(4, 2)], [(2, 2), (2, 2)]]),
    common=st.sampled_from([1.0, 0.5]),
)
def test_every_pattern_of_linked_tables_protects(seed, crossed, common):
    """Two hierarchies of one variable; and two tables that have some cells in common."""
    table = linked_table(np.random.default_rng(seed), 6, crossed, common=common)
    assert np.abs(table.relations @ table.value).max() < 1e-9
    if not table.primary.any() or not unmet(table, ~table.fixed).all:
        return
    for method in METHODS:
        found = suppress_large(table, method, Clock(None))
        assert plain_short(table, found.suppressed) == []
        assert not found.suppressed[table.fixed].any()
        assert 0.0 <= found.bound <= found.cost


@pytest.mark.parametrize("method", METHODS)
def test_patterns_cost_little_more_than_the_optimum(method):
    """Of tables with high levels, as dominance rules ask for: what is open is met at its own least cost."""
    optimal = costs = 0.0
    for seed in range(12):
        table = random_table(np.random.default_rng(seed), [(4, 2), (3, 3)], share=0.3, level=0.4)
        if table.primary.any() and unmet(table, ~table.fixed).all:
            optimal += suppress_cells(table, None, Clock(None)).cost
            costs += suppress_large(table, method, Clock(None)).cost
    assert 0.0 < optimal <= costs <= 1.3 * optimal


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), local=st.sampled_from([1, 12, 10_000]))
def test_a_pattern_extended_level_by_level_protects(seed, local):
    """In any order, however few cells are tried first; and so does what is thinned."""
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
    """An insider who knows some cells exactly; the outsider's pattern does not do."""
    table = drawn(3, [(6, 3), (6, 3)])
    cells = np.flatnonzero(table.primary)[:2]
    knows = Insider("one", cells, table.value[cells], table.value[cells])
    view = table.seen_by(knows)
    found = suppress_large(table, method, Clock(None), insiders=[view])
    assert plain_short(table, found.suppressed) == []
    assert unmet(view, found.suppressed).all
    assert not unmet(view, suppress_large(table, method, Clock(None)).suppressed).all


@pytest.mark.parametrize("method", METHODS)
def test_interrupted_it_still_protects(method):
    table = drawn(1, [(6, 3), (6, 3)])
    clock = Clock(None)
    clock.stop()
    found = suppress_large(table, method, clock)
    assert plain_short(table, found.suppressed) == []
    assert 0.0 <= found.bound <= found.cost


@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_protected_is_named(method):
    table = random_table(np.random.default_rng(1), [(4, 2), (4, 2)])
    cell = int(np.flatnonzero(table.primary)[0])
    fixed = ~table.primary
    table = replace(table, fixed=fixed)
    with pytest.raises(UsageError, match=rf"^cell {cell} cannot be protected: with all cells suppressed it"):
        suppress_large(table, method, Clock(None))


def test_the_same_table_gives_the_same_pattern():
    table = drawn(1, [(6, 3), (6, 3)])
    one, other = (suppress_large(table, "modular", Clock(None)) for _ in range(2))
    assert (one.suppressed == other.suppressed).all()


def test_an_audit_of_levels():
    """What it says of every sensitive cell is what the audit of intervals says."""
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
    """The pattern is there, what nobody has seen of it is said, and nothing is published."""
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
