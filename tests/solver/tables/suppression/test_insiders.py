"""Patterns that protect from insiders: optima against all patterns of tiny tables, by plain programs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import insider, protects, table_of

from linkrisk.formulations.tables.crowd import Crowd
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.insider_cuts import InsiderCuts
from linkrisk.solver.tables.suppression.reachability import unreachable


def cheapest(table):
    """Over all patterns, the cheapest first; None where none protects."""
    free = np.flatnonzero(table.free)
    inside = table.relations.toarray() != 0
    patterns = []
    for bits in product((False, True), repeat=free.size):
        suppressed = table.primary.copy()
        suppressed[free] = bits
        if not (inside[:, suppressed].sum(axis=1) == 1).any():
            patterns.append((table.cost[suppressed & table.free].sum(), suppressed))
    for cost, suppressed in sorted(patterns, key=lambda one: one[0]):
        if protects(table, suppressed):
            return cost
    return None


smallest = st.lists(st.integers(1, 12), min_size=4, max_size=4)
tiny = st.lists(st.integers(0, 12), min_size=6, max_size=6)
known = st.dictionaries(st.integers(0, 11), st.sampled_from([None, 0.3, 0.6, 0.9]), max_size=4)


@settings(max_examples=15, deadline=None)
@given(
    inner=smallest,
    place=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    levels=st.tuples(st.integers(1, 4), st.integers(0, 4)),
    crowd=st.lists(
        st.dictionaries(st.integers(0, 8), st.sampled_from([None, 0.3, 0.8]), max_size=3),
        min_size=1,
        max_size=2,
    ),
    sliding=st.booleans(),
)
def test_optima_are_those_of_all_patterns(inner, place, levels, crowd, sliding):
    table = table_of(np.reshape(inner, (2, 2)), {place: levels}, sliding=sliding)
    insiders = tuple(
        insider(table, {at: None if part is None else part * table.value[at] for at, part in one.items()})
        for one in crowd
    )
    table = replace(table, insiders=insiders)
    best = cheapest(table)
    if best is None:
        with pytest.raises(UsageError, match=r"cannot be protected|not protected, whatever is suppressed"):
            suppress_cells(table, None, Clock(None))
        return
    found = suppress_cells(table, None, Clock(None))
    assert found.proven
    assert found.cost == pytest.approx(best)
    assert protects(table, found.suppressed)


def test_any_backend():
    table = table_of([[10, 20, 30], [40, 50, 60], [70, 80, 90]], {(0, 0): (3, 3)})
    own = insider(table, dict.fromkeys((6, 9)))
    table = replace(table, insiders=(own,))
    other = suppress_cells(table, get_backend("highs"), Clock(None))
    assert other.cost == suppress_cells(table, None, Clock(None)).cost
    assert protects(table, other.suppressed)


def test_two_singletons_in_a_row():
    """Two cells of one respondent each protect one another from outsiders, but not from themselves.

    The case of the Handbook (section 4.2.2): both know their own contribution, and so the other's.
    """
    table = table_of([[20, 30, 50], [40, 50, 60], [90, 70, 80]], {(0, 0): (4, 4), (0, 1): (6, 6)})
    outside = suppress_cells(table, None, Clock(None))
    first, second = (insider(table, {at: None}, f"only one of {at}") for at in (5, 6))
    both = replace(table, insiders=(first, second))
    assert protects(table, outside.suppressed)
    assert not protects(both, outside.suppressed)
    inside = suppress_cells(both, None, Clock(None))
    assert inside.cost > outside.cost
    assert protects(both, inside.suppressed)


def test_who_knows_nothing_is_the_outsider():
    table = table_of([[10, 20, 30], [40, 50, 60], [70, 80, 90]], {(0, 0): (3, 3)})
    nothing = insider(table, {5: 0.0, 7: 0.0})
    seen = replace(table, insiders=(nothing,))
    assert Crowd.of(seen).cell.size == 0
    assert suppress_cells(seen, None, Clock(None)).cost == suppress_cells(table, None, Clock(None)).cost


@settings(max_examples=25, deadline=None)
@given(
    inner=tiny,
    place=st.tuples(st.integers(0, 1), st.integers(0, 2)),
    one=known,
    bits=st.lists(st.booleans(), min_size=12, max_size=12),
    sliding=st.booleans(),
)
def test_the_crowd_is_the_views_together(inner, place, one, bits, sliding):
    """Bounds and levels are those of `seen_by`; a pattern holds where it protects; rows never cut one off."""
    table = table_of(np.reshape(inner, (2, 3)), {place: (2, 3)}, sliding=sliding)
    own = insider(table, {at: None if part is None else part * table.value[at] for at, part in one.items()})
    table = replace(table, insiders=(own,))
    crowd, view = Crowd.of(table), table.seen_by(own)
    assert crowd.bounds(1)[0] == pytest.approx(view.below)
    assert crowd.bounds(1)[1] == pytest.approx(view.above)
    demands = {(one.cell, one.up, one.down): one.level for one in view.demands}
    for demand in table.demands:
        kept = demands.get((demand.cell, demand.up, demand.down), 0.0)
        assert crowd.levels(demand).tolist() == pytest.approx([demand.level, kept])
    suppressed = (table.primary | np.array(bits)) & ~table.fixed
    cuts = InsiderCuts(crowd)
    assert cuts.holds(suppressed) == protects(table, suppressed)
    rows = InsiderCuts(crowd)(np.where(np.array(bits), 0.4, 0.0))
    if protects(table, suppressed):
        assert (rows.matrix @ suppressed >= rows.lower - 1e-6).all()


def test_what_cannot_be_kept_from_whom():
    """The total is published, and all other cells of the row are known to the insider."""
    table = table_of([[10, 20, 30], [40, 50, 60]], {(0, 0): (3, 3)})
    fixed = table.fixed.copy()
    fixed[4] = True  # the total of the row
    knows = insider(table, {6: None, 7: None}, "the neighbour")
    table = replace(table, fixed=fixed, insiders=(knows,))
    found = unreachable(table)
    assert [(one.owner, one.demand.cell, one.found) for one in found] == [(1, 5, 0.0), (1, 5, 0.0)]
    message = (
        "not protected, whatever is suppressed: cell 5 from the neighbour, by 3; cell 5 from the neighbour, "
        "by 3; lower their levels, let more cells be suppressed, or go as far as possible"
    )
    with pytest.raises(UsageError, match=message):
        suppress_cells(table, None, Clock(None))
    lowered = replace(knows, lowered={(5, True, False): 0.0, (5, False, True): 0.0})
    assert suppress_cells(replace(table, insiders=(lowered,)), None, Clock(None)).proven
