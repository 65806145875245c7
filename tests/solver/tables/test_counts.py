"""Tables of counts: nobody who reasons in whole numbers knows a cell that is called protected."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from whole_attacker import attacked, interval, known_too_closely

from linkrisk import audit_table, make_table, open_table, suppress_table, verify
from linkrisk.datasets.errors import DataError
from linkrisk.formulations.tables.own_knowledge import singletons
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.integer_attacks import (
    IntegerAttacks,
    IntegerProgram,
    unreachable_in_whole_numbers,
)
from linkrisk.solver.tables.operations.source import cell_table

ROWS = ["1A", "1B", *7 * ["1H"], "1M", "2A", *3 * ["2M"][:2], *8 * ["2W"]]
TWO_WAYS = pd.DataFrame({"v1": [one[0] for one in ROWS], "v2": [one[1] for one in ROWS]})
ONE_WAY = pd.DataFrame({"a": [*10 * ["1"], *3 * ["2"], "3", "4"]})
THREE_WAYS = pd.DataFrame(
    [list(one) for one in ("CBB", "AAB", "ABC", "CAA", "CBA", "ABA")], columns=["v0", "v1", "v2"]
)


def made(persons, rule="frequency=3,20", **how):
    return make_table(persons, list(persons.columns), rules=[rule], **how)


def in_amounts(stored):
    """The same table by one who does not know that it counts, with levels of 20 %."""
    level = np.where(stored.status == "u", 0.2 * stored.numbers["value"], 0.0)
    numbers = {"value": stored.numbers["value"], "lower_protection": level, "upper_protection": level}
    cells = stored.cells.drop(columns=["threshold", "respondents"])
    cells = cells.assign(lower_protection=level, upper_protection=level)
    return replace(stored, cells=cells, numbers=numbers, counts=False)


@pytest.mark.parametrize(
    ("persons", "how"),
    [
        (TWO_WAYS, {"exact": True}),
        (ONE_WAY, {"exact": True}),
        (TWO_WAYS, {"method": "modular"}),
        (TWO_WAYS, {"method": "heuristic"}),
        (TWO_WAYS, {"backend": "highs"}),
    ],
)
def test_ones_beside_shown_empties_are_not_known(persons, how):
    table = made(persons).stored()
    before = suppress_table(in_amounts(table))
    assert before.protected
    assert not audit_table(replace(before.table, counts=True)).protected
    result = suppress_table(table, **how)
    assert result.protected
    assert result.status == "optimal" or "method" in how
    assert known_too_closely(result, 3) == []


def test_six_persons_in_three_ways_are_refused():
    """All six are alone, empty cells are shown, and the total is known not to be above 6."""
    with pytest.raises(UsageError) as refused:
        suppress_table(made(THREE_WAYS, "frequency=2"))
    assert str(refused.value) == (
        "cell 3 (v0=Total, v1=Total, v2=C) cannot be protected: counts are whole numbers, and with all cells "
        "suppressed it is known exactly; combine categories, or let more cells be suppressed"
    )


@pytest.mark.parametrize("seed", [1, 2, 8, 9, 10, 40124])
def test_nobody_knows_a_cell_that_is_called_protected(seed):
    assert not attacked(seed, most_ways=3, time_limit=None)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_nobody_knows_a_cell_of_thousands_of_tables(block):
    for seed in range(1000 + 250 * block, 1250 + 250 * block):
        assert not attacked(seed), seed


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 4])
def test_the_least_cost_is_that_of_all_patterns(seed):
    generator = np.random.default_rng(seed)
    persons = pd.DataFrame({"a": generator.choice(list("AB"), 12), "b": generator.choice(list("ABC"), 12)})
    table = made(persons).stored()
    try:
        result = suppress_table(table, insiders="none")
    except UsageError:
        return
    cells, sensitive = result.cells, np.flatnonzero(table.status == "u")
    free = np.flatnonzero((table.status == "s") & (table.numbers["value"] > 0))
    seen = cell_table(table, "value")
    least = np.inf
    wanted = {one.cell: one for one in seen.demands if one.up}
    down = {one.cell: one.level for one in seen.demands if one.down}
    reach = result.table.numbers["lower_protection"]
    lowered = {one["cell"]: one["reached"] for one in result.to_dict()["counts"]["threshold_out_of_reach"]}

    def _far_enough(trial, at):
        low, high = interval(trial, result.table.relations, at)
        wished = lowered.get(at, seen.value[at] + wanted[at].level) if at in wanted else 0
        return high >= wished and seen.value[at] - low >= min(down.get(at, 0), reach[at])

    for many in range(free.size + 1):
        for more in itertools.combinations(free.tolist(), many):
            cost = float(seen.cost[list(more)].sum())
            if cost >= least:
                continue
            status = np.where(np.isin(np.arange(len(table)), more), "m", np.array(table.status))
            trial = cells.assign(status=status)
            if all(_far_enough(trial, at) for at in sensitive.tolist()):
                least = cost
    assert result.pattern.cost == least


@pytest.mark.parametrize("seed", [0, 1])
def test_who_is_alone_in_a_cell_knows_no_other(seed):
    generator = np.random.default_rng(100 + seed)
    persons = pd.DataFrame(generator.choice(list("ABC"), (25, 2)), columns=["a", "b"])
    try:
        result = suppress_table(made(persons), insiders="singletons", as_far_as_possible=True)
    except UsageError:
        return
    assert result.protected
    cells = result.cells
    out = {(one["cell"], one["attacker"]) for one in result.insiders.to_dict()["unreachable"]}
    alone = np.flatnonzero((cells["value"] == 1) & (cells["status"] == "u"))
    for mine in alone.tolist():
        for cell in np.flatnonzero(cells["status"] == "u").tolist():
            low, high = interval(cells, result.table.relations, cell, known=[mine])
            excused = any(at == cell for at, _ in out)
            assert cell == mine or excused or low < high, (mine, cell)


def test_who_is_alone_is_asked_with_all_others(monkeypatch):
    """One program shows a demand to many: as many as there are pairs of both would take too long."""
    persons = pd.DataFrame(np.random.default_rng(3).choice(list("ABCDEF"), (40, 2)), columns=["a", "b"])
    stored = made(persons).stored()
    table = cell_table(stored, "value")
    table = replace(table, insiders=singletons(table, stored.cells["respondents"].to_numpy()))
    asked, cheapest = [], IntegerProgram.cheapest
    noted = lambda self, *given, **how: asked.append(0) or cheapest(self, *given, **how)  # noqa: E731
    monkeypatch.setattr(IntegerProgram, "cheapest", noted)
    found = {(one.owner, one.demand.cell) for one in unreachable_in_whole_numbers(table)}
    assert len(table.insiders) > 8
    assert len(asked) < 4 * len(table.demands) < len(table.insiders) * len(table.demands)
    cells = stored.cells.assign(status=np.where(table.fixed, "z", np.where(table.primary, "u", "m")))
    for owner, one in list(enumerate(table.insiders, start=1))[::4]:
        for demand in table.demands:
            if demand.up and not demand.down and demand.cell not in one.cells:
                high = interval(cells, stored.relations, demand.cell, known=one.cells.tolist())[1]
                missed = high < table.value[demand.cell] + demand.level
                assert missed == ((owner, demand.cell) in found), (owner, demand)


def test_a_certificate_holds_whole_tables(tmp_path):
    result = suppress_table(made(TWO_WAYS), exact=True)
    result.write_certificate(tmp_path / "proof.json")
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert proof["counts"] is True
    value = result.cells["value"].to_numpy()
    for cells, moved in proof["witnesses"]:
        assert all(isinstance(one, int) for one in moved)
        assert (value[cells] + np.array(moved) >= 1).all()
    assert verify(tmp_path / "proof.json", cells=result.table)
    half = [[cells, [f"{one}/2" for one in moved]] for cells, moved in proof["witnesses"]]
    (tmp_path / "half.json").write_text(json.dumps({**proof, "witnesses": half}))
    assert "counts are whole" in str(verify(tmp_path / "half.json", cells=result.table).rejected)
    amounts = replace(result.table, counts=False)
    assert "is about counts" in str(verify(tmp_path / "proof.json", cells=amounts).rejected)


def test_levels_are_whole_and_reach_the_threshold_and_what_is_suppressed_may_be_empty():
    table = cell_table(made(TWO_WAYS, "frequency=4").stored(), "value")
    assert table.counts
    ones = table.primary & (table.value == 1)
    assert (table.lower[table.value > 0] == 1).all()
    assert (table.lower_level[ones] == 0).all()
    assert (table.value + table.upper_level)[table.primary].tolist() == [4.0] * int(table.primary.sum())
    assert table.fixed[table.value == 0].all()
    table = cell_table(made(TWO_WAYS, empty="suppressible").stored(), "value")
    assert (table.lower == 0).all()
    assert not table.fixed.any()


def with_levels(frame):
    level = np.where(frame["status"] == "u", 0.2, 0.0)
    return frame.assign(lower_protection=level, upper_protection=level)


CODES = pd.DataFrame(
    {"code": ["Total", "a", "b", "c", "d"], "value": [15, 10, 3, 1, 1], "status": list("sssuu")}
)
READY = with_levels(CODES)


def test_a_ready_table_is_guessed_to_count():
    guessed = open_table(READY)
    assert guessed.counting
    assert suppress_table(guessed).counting.guessed
    assert not open_table(READY, counts=False).counting
    others = with_levels(READY.assign(value=[150, 100, 30, 10, 10], status=list("ssuss")))
    assert not open_table(others).counting
    assert open_table(others, counts=True).counting
    with pytest.raises(DataError, match=r"row 1: its value 15\.5 is no count"):
        open_table(READY.assign(value=[15.5, 10.5, 3, 1, 1]), counts=True)


def test_thresholds_and_other_levels_out_of_reach_are_said():
    """The total is published: two ones of 2 persons cannot be above 1 where the others are shown."""
    frame = READY.assign(value=[5, 2, 1, 1, 1], status=list("zuuuu"), threshold=[None, 9, 9, 9, 9])
    result = suppress_table(open_table(with_levels(frame), counts=True))
    below = result.to_dict()["counts"]["threshold_out_of_reach"]
    found = [(one["cell"], one["threshold"], one["reached"]) for one in below]
    assert found == [(at, 9.0, 2.0) for at in range(1, 5)]
    assert audit_table(result.table).protected

    # The total of 5 is published, and the other cell at least 1: 4 cannot be 5.
    frame = pd.DataFrame({"code": ["Total", "a", "b"], "value": [5, 4, 1], "status": list("zuu")})
    frame = frame.assign(lower_protection=[0, 2, 0], upper_protection=[0, 1, 2])
    result = suppress_table(open_table(frame, counts=True))
    assert result.protected
    found = result.to_dict()["counts"]
    assert found["threshold_out_of_reach"] == []
    assert found["lowered"] == [{"cell": 1, "way": "up", "level": 1.0, "reached": 0.0}]
    assert "Levels that were lowered" in str(result)
    assert "whatever is suppressed; another count stays possible: cell 1 (code=a) up 0 of 1\n" in str(result)


def test_another_release_is_looked_at_in_whole_numbers():
    """A second release publishes the 3: the two ones are known, as neither is empty."""
    result = suppress_table(made(ONE_WAY))
    shown = np.where(result.table.status == "m", "s", result.table.status)
    other = replace(result.table, status=shown, cells=result.table.cells.drop(columns="respondents"))
    assert audit_table(result.table).protected
    assert not audit_table(result.table, also=[other]).protected


def test_what_is_not_known_in_time_is_not_protected():
    table = cell_table(made(TWO_WAYS).stored(), "value")
    clock = Clock(None)
    clock.stop()
    with pytest.raises(OutOfTimeError):
        IntegerAttacks(table, clock).holds(~table.fixed)
    result = suppress_table(made(TWO_WAYS))
    ended = audit(cell_table(result.table, "unit"), result.suppressed, clock)
    assert not ended.passed
    assert ended.undecided.any()


@pytest.mark.parametrize("seed", [0, 4, 11, 21])
def test_a_release_without_sensitive_cells_is_one_of_counts_too(seed, tmp_path):
    """Nothing in its file says that it counts; its relations hold for the same whole numbers."""
    generator = np.random.default_rng(seed)
    persons = pd.DataFrame(generator.choice(list("ABC"), (25, 2)), columns=["a", "b"])
    first = suppress_table(made(persons, "frequency=2"), insiders="none")
    other = make_table(persons, ["a"], rules=["frequency=2"]).cells[["a", "value", "status"]]
    other.assign(status="s").to_csv(tmp_path / "other.csv", index=False)
    found = audit_table(first.table, also=[open_table(tmp_path / "other.csv")], insiders="none")
    assert found.table.counting
    for cell in np.flatnonzero(found.cells["status"].isin(["u", "m"])).tolist():
        low, high = interval(found.cells, found.table.relations, cell)
        assert (found.cells["low"][cell], found.cells["high"][cell]) == (low, high)
