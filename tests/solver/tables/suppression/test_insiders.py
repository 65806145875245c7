"""Patterns that protect from insiders: optima against all patterns of tiny tables; limits of time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import cheapest, frames_of, insider, protects, table_of

from linkrisk import audit_table, suppress_table
from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.operations import suppress_and_audit as suppress
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.insider_cuts import InsiderCuts
from linkrisk.solver.tables.suppression.reachability import unreachable

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
    crowds = tuple(
        insider(table, {at: None if part is None else part * table.value[at] for at, part in one.items()})
        for one in crowd
    )
    table = replace(table, insiders=crowds)
    best = cheapest(table)
    if best is None:
        with pytest.raises(UsageError, match=r"cannot be protected|not protected, whatever is suppressed"):
            suppress_cells(table, None, Clock(None))
        return
    found = suppress_cells(table, None, Clock(None))
    assert found.proven
    assert found.cost == pytest.approx(best)
    assert protects(table, found.suppressed)


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
    assert suppress_cells(both, get_backend("highs"), Clock(None)).cost == inside.cost
    assert inside.cost > outside.cost
    assert protects(both, inside.suppressed)


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
    crowd, view = AttackerKnowledge.of(table), table.seen_by(own)
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
    message = "not protected, whatever is suppressed: cell 5 from the neighbour, by 3; cell 5 from the"
    with pytest.raises(UsageError, match=message):
        suppress_cells(table, None, Clock(None))
    lowered = replace(knows, lowered={(5, True, False): 0.0, (5, False, True): 0.0})
    assert suppress_cells(replace(table, insiders=(lowered,)), None, Clock(None)).proven


# Where a limit of time, or a user, ends the search


OUT = (
    "the time was out before it was known which levels can be reached against whom; give a longer time limit"
)


def crowded():
    """Five by five cells, four of them sensitive, and eight who know a cell or two of them exactly."""
    inner = np.random.default_rng(5).integers(5, 60, (5, 5))
    table = table_of(inner, {(0, 0): (4, 4), (0, 1): (3, 5), (2, 2): (5, 2), (3, 4): (2, 2)})
    generator = np.random.default_rng(6)
    inside = [row * 6 + column for row in range(1, 6) for column in range(1, 6)]
    known = [generator.choice(inside, 2, replace=False) for _ in range(8)]
    people = [insider(table, dict.fromkeys(map(int, one)), f"p{at}") for at, one in enumerate(known)]
    return replace(table, insiders=tuple(people))


def as_files(table):
    who = [
        (one.name, cell, low, high)
        for one in table.insiders
        for cell, low, high in zip(one.cells, one.lower, one.upper, strict=True)
    ]
    known = pd.DataFrame(who, columns=["insider", "cell", "lower", "upper"])
    return *frames_of(replace(table, sliding_level=np.zeros(len(table)))), known


@pytest.mark.parametrize("limit", [0.0, 0.2, 3.0])
def test_a_limit_is_honoured_and_the_pattern_protects(virtual_time, limit):
    """In virtual time a second is a hundred questions: what is asked after the end is a few."""
    table = crowded()
    clock = Clock(limit)
    assert clock.expired == (limit == 0.0)
    found = suppress_cells(table, None, clock)
    assert virtual_time.asked <= 100 * limit + 100
    assert protects(table, found.suppressed)
    assert limit or found.suppressed.tolist() == (~table.fixed).tolist()
    best = suppress_cells(table, None, Clock(None))
    assert best.proven
    assert found.bound <= best.cost + 1e-9
    assert found.cost >= best.cost - 1e-9
    outside = suppress_cells(replace(table, insiders=()), None, Clock(None))
    assert outside.proven
    assert outside.cost <= best.bound
    assert not protects(table, outside.suppressed)


def test_without_time_the_audit_says_what_cannot_be_kept(virtual_time):
    """The total is published, and all other cells of the row are known to the insider; these are amounts."""
    crowd = as_files(crowded())
    assert suppress_table(*crowd[:2], insiders=crowd[2], time_limit=0.01).insiders.audit.passed
    clock, before = Clock(0.0), virtual_time.asked
    with pytest.raises(OutOfTimeError):
        unreachable(crowded(), clock)
    assert virtual_time.asked < before + 20
    table = table_of([[10.5, 20, 30], [40, 50, 60]], {(0, 0): (3, 3)})
    table = replace(table, insiders=(insider(table, {6: None, 7: None}, "the neighbour"),))
    cells, relations, who = as_files(table)
    cells.loc[4, "status"] = "z"
    with pytest.raises(UsageError, match="not protected, whatever is suppressed: cell 5 from the neighbour"):
        suppress_table(cells, relations, insiders=who, time_limit=0.01)
    with pytest.raises(UsageError) as told:
        suppress_table(cells, relations, insiders=who, time_limit=0.01, as_far_as_possible=True)
    assert str(told.value) == OUT


def test_after_a_stop_levels_are_audited_and_intervals_left_empty(monkeypatch):
    """As if there were too many intervals for the seconds after Ctrl-C."""
    cells, relations, who = as_files(crowded())
    whole = suppress_table(cells, relations, insiders=who)
    audit = suppress.audit
    cancel = Cancel()
    cancel.cancel()
    with monkeypatch.context() as hurried:
        hurried.setattr(suppress, "audit", lambda *asked: audit(*asked[:2], Clock(0.0)))
        hurried.setattr(steering, "INSIDER_INTERVAL_SHARE", 1e-12)
        found = suppress_table(cells, relations, insiders=who, cancel=cancel)
    assert (found.status, found.protected) == ("interrupted", True)
    left = ~found.audit.audited
    assert left.any()
    assert found.cells["low"].to_numpy()[found.audit.cells[left]].tolist() == pytest.approx(
        [np.nan] * int(left.sum()), nan_ok=True
    )
    assert found.insiders.audit.left == int(crowded().primary.sum())  # the others have no levels
    named = {one["cell"] for one in found.to_dict()["insiders"]["narrowest"]}
    assert not named & {*np.flatnonzero(crowded().primary).tolist()}
    assert whole.insiders.to_dict()["without_interval"] == 0
    again = audit_table(found.cells.drop(columns=["low", "high"]), relations, insiders=who)
    assert again.protected
