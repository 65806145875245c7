"""The audit by everybody: against the plain programs of every attacker and cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import insider, plain_interval, plain_shortfall, table_of

from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.own_knowledge import Shares, carried_up, singletons
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.insiders import audit_by_everybody

known = st.dictionaries(st.integers(0, 11), st.sampled_from([None, 0.3, 0.6, 0.9]), max_size=4)


@settings(max_examples=25, deadline=None)
@given(
    inner=st.lists(st.integers(0, 12), min_size=6, max_size=6),
    place=st.tuples(st.integers(0, 1), st.integers(0, 2)),
    knowledge=st.lists(known, max_size=3),
    bits=st.lists(st.booleans(), min_size=12, max_size=12),
    sliding=st.booleans(),
)
def test_it_is_what_every_attacker_finds(inner, place, knowledge, bits, sliding):
    table = table_of(np.reshape(inner, (2, 3)), {place: (2, 3)}, sliding=sliding)
    insiders = tuple(
        insider(table, {at: None if part is None else part * table.value[at] for at, part in one.items()})
        for one in knowledge
    )
    table = replace(table, insiders=insiders)
    suppressed = (table.primary | np.array(bits)) & ~table.fixed
    found = audit_by_everybody(table, suppressed)
    views: list[CellTable] = [table, *(table.seen_by(one) for one in insiders)]
    for at, cell in enumerate(found.cells):
        ignorant = [view for view in views if view.lower[cell] < view.upper[cell] or view is table]
        widths = [np.ptp(plain_interval(view, suppressed, cell)) for view in ignorant]
        assert found.high[at] - found.low[at] == pytest.approx(min(widths), abs=1e-4)
        own = plain_interval(views[found.who[at]], suppressed, cell)
        assert (found.low[at], found.high[at]) == pytest.approx(own, abs=1e-4)
        worst = max(plain_shortfall(view, suppressed, cell) for view in views)
        assert found.short[at] == pytest.approx(worst if worst > 1e-4 else 0.0, abs=1e-4)
        if worst > 1e-4:
            view = views[found.short_of[at]]
            assert plain_shortfall(view, suppressed, cell) == pytest.approx(worst, abs=1e-4)


def test_an_audit_that_was_ended_has_not_passed():
    table = table_of([[10, 20], [30, 40]], {(0, 0): (3, 3)})
    found = audit_by_everybody(table, ~table.fixed, Clock(0.0))
    assert not found.audited
    assert not found.passed
    assert found.left == len(found.cells)  # and not as if somebody knew them exactly
    assert np.isnan(found.high).all()


def test_levels_are_looked_at_when_there_is_no_time_for_intervals(monkeypatch):
    table = table_of([[10, 20], [30, 40]], {(0, 0): (3, 3)})
    table = replace(table, insiders=(insider(table, {5: None}),))  # the 20, and with the margins all
    suppressed = np.isin(np.arange(9), [4, 5, 7, 8])
    whole = audit_by_everybody(table, suppressed)
    monkeypatch.setattr(steering, "INSIDER_INTERVAL_SHARE", 0.0)
    short = audit_by_everybody(table, suppressed, Clock(1e6))
    assert whole.left == 0
    assert short.left == 1  # that of the sensitive cell, whose levels come first
    assert short.audited
    assert (whole.short > 0).any()
    assert short.short.tolist() == whole.short.tolist()
    assert short.short_of.tolist() == whole.short_of.tolist()


def shares(rows, names):
    cell, who, amount = (np.array(column) for column in zip(*rows, strict=True))
    return Shares(cell, who, amount.astype(float), names)


def test_what_contributors_know():
    value = np.array([10.0, 7.0, 3.0, 0.0, -1.0])
    rows = [(0, 0, 6), (0, 1, 4), (1, 0, 7), (2, 1, 3), (2, 2, 0), (4, 0, -3), (4, 1, 2)]
    told = shares(rows, ["a", "b", "c"])
    first, second = list(told.insiders(value, alone=False))[:2]
    assert (first.name, first.cells.tolist()) == ("a", [0, 1])
    assert first.lower.tolist() == [6, 7]
    assert first.upper.tolist() == [np.inf, 7]
    assert second.cells.tolist() == [0, 2]
    assert second.upper.tolist() == [np.inf, np.inf]  # b does not know that c has nothing
    both = told.coalition("a and b", [0, 1], value)
    assert both.cells.tolist() == [0, 1, 2, 4]
    assert both.lower.tolist() == [10, 7, 3, -1]
    assert both.upper.tolist() == [10, 7, np.inf, -1]


@given(
    amounts=st.lists(st.integers(1, 50), min_size=3, max_size=8),
    cells=st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_a_coalition_of_two_is_their_holding(amounts, cells):
    """Who counts as one knows what two know who tell one another everything."""
    rows = [(cells[at], at, amount) for at, amount in enumerate(amounts)]
    value = np.bincount([row[0] for row in rows], [row[2] for row in rows], 4)
    pair = shares(rows, [str(at) for at in range(len(rows))]).coalition("pair", [0, 1], value)
    merged: dict[tuple[int, int], int] = {}
    for cell, who, amount in rows:
        merged[cell, max(who, 1)] = merged.get((cell, max(who, 1)), 0) + amount
    told = shares([(cell, who, amount) for (cell, who), amount in merged.items()], list("-1234567"))
    holding = next(one for one in told.insiders(value, alone=False) if one.name == "1")
    order = np.argsort(holding.cells)
    assert pair.cells.tolist() == holding.cells[order].tolist()
    assert pair.lower.tolist() == holding.lower[order].tolist()
    assert pair.upper.tolist() == holding.upper[order].tolist()


def test_the_only_respondents_of_cells():
    """One in (0, 0) and the same one in its row, where nobody else is; another one in (1, 1)."""
    table = table_of([[5, 0, 0], [30, 4, 9]], {})
    respondents = np.array([9, 4, 1, 4, 1, 1, 0, 0, 8, 3, 1, 4])
    found = list(carried_up(table, singletons(table, respondents)))
    names = ["the only respondent of cells 2, 10", "the only respondent of cells 4, 5"]
    assert [one.name for one in found] == names
    columns = (found[1].cells, found[1].lower, found[1].upper)
    knows = {int(cell): (low, high) for cell, low, high in zip(*columns, strict=True)}
    assert knows[5] == (5, 5)
    assert knows[1] == (5, np.inf)  # the column has at least what its cell has
    assert knows[0] == (5, np.inf)
