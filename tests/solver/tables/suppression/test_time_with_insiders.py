"""With insiders a limit holds in every step, and what is there then protects from everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_tables import insider, protects, table_of

from linkrisk import audit_table, suppress_table
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError
from linkrisk.solver.tables.operations import suppress_and_audit as suppress
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.reachability import unreachable

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


@pytest.mark.parametrize("limit", [0.01, 0.2, 1.0, 3.0, 10.0])
def test_a_limit_is_honoured_and_the_pattern_protects(virtual_time, limit):
    """In virtual time a second is a hundred questions: what is asked after the end is a few."""
    table = crowded()
    found = suppress_cells(table, None, Clock(limit))
    assert virtual_time.asked <= 100 * limit + 100
    assert protects(table, found.suppressed)
    best = suppress_cells(table, None, Clock(None))
    assert best.proven
    assert found.bound <= best.cost + 1e-9
    assert found.cost >= best.cost - 1e-9


def test_all_is_suppressed_when_there_was_no_time(virtual_time):
    table = crowded()
    clock = Clock(0.0)
    assert clock.expired
    found = suppress_cells(table, None, clock)
    assert found.suppressed.tolist() == (~table.fixed).tolist()
    assert found.bound <= found.cost
    assert virtual_time.asked < 100


def test_a_user_who_stops_is_heard():
    table, clock = crowded(), Clock(None)
    clock.stop()
    assert protects(table, suppress_cells(table, None, clock).suppressed)


def test_the_outsiders_optimum_is_a_bound():
    table = crowded()
    outside = suppress_cells(replace(table, insiders=()), None, Clock(None))
    inside = suppress_cells(table, None, Clock(None))
    assert outside.proven
    assert inside.proven
    assert outside.cost <= inside.bound
    assert not protects(table, outside.suppressed)


def test_who_changes_nothing_costs_nothing():
    """The outsider's optimum is theirs where it protects from them, without another search."""
    table = table_of([[10, 20, 30], [40, 50, 60], [70, 80, 90]], {(0, 0): (3, 3)})
    same = replace(table, insiders=(insider(table, {5: None}),))  # knows the sensitive cell, and no other
    assert suppress_cells(same, None, Clock(None)).cost == suppress_cells(table, None, Clock(None)).cost


def test_what_can_be_kept_is_looked_at_in_time(virtual_time):
    clock = Clock(0.0)
    assert clock.expired
    with pytest.raises(OutOfTimeError):
        unreachable(crowded(), clock)
    assert virtual_time.asked < 20


def as_files(table, fixed=()):
    """The cells and the relations."""
    cells = pd.DataFrame(
        {
            "cell": np.arange(len(table)),
            "value": table.value,
            "status": np.where(table.primary, "u", "s"),
            "lower_protection": table.lower_level,
            "upper_protection": table.upper_level,
            "lower_bound": table.lower,
            "upper_bound": table.upper,
        }
    )
    cells.loc[list(fixed), "status"] = "z"
    terms = table.relations.tocoo()
    relations = pd.DataFrame({"relation": terms.row, "cell": terms.col, "coefficient": terms.data})
    who = [
        (one.name, cell, low, high)
        for one in table.insiders
        for cell, low, high in zip(one.cells, one.lower, one.upper, strict=True)
    ]
    return cells, relations, pd.DataFrame(who, columns=["insider", "cell", "lower", "upper"])


def test_without_time_the_audit_still_decides(virtual_time):
    del virtual_time
    cells, relations, who = as_files(crowded())
    found = suppress_table(cells, relations, insiders=who, time_limit=0.01)
    assert found.insiders.audit.passed


def test_without_time_the_audit_says_what_cannot_be_kept(virtual_time):
    """The total is published, and all other cells of the row are known to the insider; these are amounts."""
    del virtual_time
    table = table_of([[10.5, 20, 30], [40, 50, 60]], {(0, 0): (3, 3)})
    table = replace(table, insiders=(insider(table, {6: None, 7: None}, "the neighbour"),))
    cells, relations, who = as_files(table, fixed=[4])
    message = (
        "not protected, whatever is suppressed: cell 5 from the neighbour, by 3; lower their levels, let "
        "more cells be suppressed, or go as far as possible"
    )
    with pytest.raises(UsageError) as told:
        suppress_table(cells, relations, insiders=who, time_limit=0.01)
    assert str(told.value) == message
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
