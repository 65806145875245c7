"""Sums with numbers of respondents beside them: neither gives the other one away, nor itself.

The attackers are plain programs: sums by `scipy.optimize.linprog`, counts by `milp` (`whole_attacker`), and a
respondent who is alone in a cell, and knows both of it.
"""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from whole_attacker import interval

from linkrisk import (
    adjust_table,
    audit_table,
    link_tables,
    make_table,
    make_tables,
    open_table,
    round_table,
    suppress_table,
    verify,
)
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.linking import split_beside
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.source import cell_table

RULES = ["p=10", "frequency=3"]


def firms(seed, rows=3, columns=3, most=6):
    """Few firms in most cells, at least one in each."""
    generator = np.random.default_rng(seed)
    lines = [
        (f"r{row}", f"c{column}", float(generator.integers(1, 60)))
        for row in range(rows)
        for column in range(columns)
        for _ in range(int(generator.integers(1, most)))
    ]
    return pd.DataFrame(lines, columns=["region", "size", "turnover"])


def made(data, **how):
    how = {"response": "turnover", "rules": RULES, "publish_respondents": True, **how}
    return make_table(data, ["region", "size"], **how)


def sum_interval(table, hidden, cell, known=()):
    hidden = hidden.copy()
    hidden[list(known)] = False
    if not hidden[cell]:
        return table.value[cell], table.value[cell]
    at, relations = np.flatnonzero(hidden), table.relations.toarray()
    right = -relations[:, ~hidden] @ table.value[~hidden]
    ends = []
    for sign in (1.0, -1.0):
        goal = np.where(at == cell, sign, 0.0)
        bounds = np.column_stack([table.lower[at], table.upper[at]])
        found = linprog(goal, A_eq=relations[:, at], b_eq=right, bounds=bounds)
        assert found.status == 0
        ends.append(sign * found.fun)
    return ends[0], ends[1]


def counts_frame(result):
    return result.cells.assign(value=result.cells["respondents_published"])


def excused(result):
    return {one["cell"] for one in result.insiders.to_dict()["unreachable"]}


def far_enough(seen, ends, cell):
    (low, high), value, slack = ends, seen.value[cell], 1e-5 * seen.value[cell]
    return low <= value - seen.lower_level[cell] + slack and high >= value + seen.upper_level[cell] - slack


@pytest.mark.parametrize("seed", range(3))
def test_neither_sums_nor_counts_are_known_too_closely(seed):
    table = made(firms(seed)).stored()
    try:
        result = suppress_table(table)
    except UsageError:
        return
    assert result.protected
    cells, relations = result.cells, result.table.relations
    seen, hidden = cell_table(split_beside(table)[0], "value"), cells["status"].isin(["u", "m"]).to_numpy()
    counts = counts_frame(result)
    alone = np.flatnonzero((counts["value"] == 1) & (cells["status"] == "u"))
    below = {one["cell"] for one in result.beside.to_dict()["counts"]["threshold_out_of_reach"]}
    for cell in np.flatnonzero(cells["status"] == "u").tolist():
        assert far_enough(seen, sum_interval(seen, hidden, cell), cell)
        low, high = interval(counts, relations, cell)
        assert low < high
        assert counts["threshold"].isna()[cell] or high >= counts["threshold"][cell] or cell in below
        assert (low, high) == (cells["respondents_low"][cell], cells["respondents_high"][cell])
        for mine in set(alone.tolist()) - {cell}:
            low, high = interval(counts, relations, cell, known=[mine])
            assert low < high or cell in excused(result.beside)
            enough = far_enough(seen, sum_interval(seen, hidden, cell, known=[mine]), cell)
            assert enough or cell in excused(result)


def test_the_cost_is_between_the_bound_and_that_of_all_common_patterns():
    table = made(firms(3, 2, 3, 5)).stored()
    result = suppress_table(table, insiders="none")
    values, counts = split_beside(table)
    seen, beside = cell_table(values, "value"), cell_table(counts, "unit")
    frame, relations = counts_frame(result), result.table.relations
    out = result.beside.to_dict()["counts"]["threshold_out_of_reach"]
    below = {one["cell"]: one["reached"] for one in out}
    free, least = np.flatnonzero(seen.free & (seen.value > 0)), np.inf
    for many in range(free.size + 1):
        for more in itertools.combinations(free.tolist(), many):
            hidden = seen.primary | np.isin(np.arange(len(seen)), more)
            if seen.cost_of(hidden) >= least or not _protects(seen, beside, hidden, frame, relations, below):
                continue
            least = seen.cost_of(hidden)
    assert result.pattern.bound <= least <= result.pattern.cost
    assert result.pattern.cost <= 1.5 * least
    assert not result.pattern.proven or result.pattern.cost == least


def _protects(seen, beside, hidden, frame, relations, below):
    status = np.where(seen.primary, "u", np.where(hidden, "m", "s"))
    for cell in np.flatnonzero(seen.primary).tolist():
        low, high = interval(frame.assign(status=status), relations, cell)
        wanted = below.get(cell, beside.value[cell] + beside.upper_level[cell])
        if low == high or high < wanted or not far_enough(seen, sum_interval(seen, hidden, cell), cell):
            return False
    return True


ROW = pd.DataFrame(
    [("a", 90.0), *[("b", 5.0)] * 2, *[("c", 40.0)] * 3, *[("d", 100.0)] * 30], columns=["region", "turnover"]
)


def test_what_protects_sums_need_not_protect_their_counts():
    """b is enough for the sum of a, in which one firm is alone: but 3 of a and b together are known."""
    both = make_table(ROW, ["region"], response="turnover", rules=["frequency=3,5"], publish_respondents=True)
    alone = open_table(both.cells.drop(columns="respondents_published"), both.relations)
    sums = suppress_table(alone, insiders="none")
    assert sums.cells["status"].tolist().count("m") == 0
    beside = sums.cells.assign(respondents_published=both.cells["respondents"])
    shown = audit_table(beside, both.relations, insiders="none")
    assert shown.audit.passed
    assert not shown.protected
    assert not shown.beside.protected
    result = suppress_table(both, insiders="none")
    assert result.protected
    assert result.cells.query("status == 'm'")["region"].tolist() == ["c"]
    assert result.pattern.cost == 120
    assert result.pattern.proven


def test_contributors_and_coalitions_add_one_each_to_a_count():
    table = made(firms(2))
    who = table.contributors
    names = who["contributor"].drop_duplicates().iloc[:2]
    cartel = pd.DataFrame({"coalition": "cartel", "contributor": names})
    how = {"insiders": "contributors", "contributors": who, "coalitions": cartel}
    result = suppress_table(table, as_far_as_possible=True, **how)
    assert result.protected
    counts = counts_frame(result)
    narrow = {one["cell"]: one for one in result.beside.insiders.to_dict()["narrowest"]}
    assert result.beside.insiders.to_dict()["attackers"] > 1
    assert all(one["low"] <= counts["value"][at] <= one["high"] for at, one in narrow.items())


def test_the_published_file_has_both_or_neither(tmp_path):
    result = suppress_table(made(firms(0)))
    result.write(tmp_path / "safe.csv")
    shown = pd.read_csv(tmp_path / "safe.csv")
    assert list(shown.columns) == ["region", "size", "value", "respondents", "status"]
    gone = shown["status"] == "suppressed"
    assert gone.tolist() == result.suppressed.tolist()
    assert shown["value"].isna().equals(gone)
    assert shown["respondents"].isna().equals(gone)
    result.write(tmp_path / "safe.xlsx")
    sheets = pd.read_excel(tmp_path / "safe.xlsx", sheet_name=None, header=None)
    assert list(sheets) == ["Table", "Respondents", "Legend"]
    assert (sheets["Table"] == "x").equals(sheets["Respondents"] == "x")
    for name in ("inside.jj", "inside.tab", "inside.sbs"):
        with pytest.raises(DataError, match="hold no numbers of respondents"):
            result.write_internal(tmp_path / name)


def test_an_internal_file_is_audited_as_it_was_protected(tmp_path):
    table = made(firms(4))
    result = suppress_table(table, exact=True)
    result.write_internal(tmp_path / "inside.csv")
    table.relations.to_csv(tmp_path / "relations.csv", index=False)
    result.write_certificate(tmp_path / "proof.json")
    files = {"cells": tmp_path / "inside.csv", "relations": tmp_path / "relations.csv"}
    again = audit_table(**files)
    assert again.protected
    assert again.beside.audit.low.tolist() == result.beside.audit.low.tolist()
    verified = verify(tmp_path / "proof.json", **files)
    assert verified
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert verified.table.demands > len(cell_table(split_beside(table.stored())[0], "unit").demands)
    half = {name: one for name, one in proof.items() if name != "respondents"}
    (tmp_path / "half.json").write_text(json.dumps(half))
    said = verify(tmp_path / "half.json", cells=result.table).rejected
    assert said == "numbers of respondents are published beside the values, and it says nothing of them"
    alone = open_table(result.cells.drop(columns="respondents_published"), table.relations)
    assert "none are published" in verify(tmp_path / "proof.json", cells=alone).rejected
    forged = json.loads((tmp_path / "proof.json").read_text())
    cells, moved = forged["respondents"]["witnesses"][0]
    forged["respondents"]["witnesses"][0] = [cells, [2 * one + 1 for one in moved]]
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    said = verify(tmp_path / "forged.json", cells=result.table).rejected
    assert said.startswith("numbers of respondents: ")


def test_another_release_has_to_say_its_counts():
    result = suppress_table(made(firms(0, 2, 3)), insiders="none")
    assert audit_table(result.table, also=[result.table]).protected
    plain = open_table(result.cells.drop(columns="respondents_published"), result.table.relations)
    other = plain.cells.assign(region=plain.cells["region"].replace("r0", "q0"))
    with pytest.raises(DataError, match="is empty; give the numbers of all cells"):
        audit_table(result.table, also=[open_table(other, by=["region", "size"])])


def test_several_tables_with_counts_are_one_system():
    data = firms(0, 2, 2)
    data = data.assign(branch=np.where(np.arange(len(data)) % 2 == 0, "x", "y"))
    how = {"response": "turnover", "rules": RULES, "publish_respondents": True}
    tables = make_tables(data, [["region", "size"], ["region", "branch"]], **how)
    result = suppress_table(tables)
    assert result.protected
    assert result.beside.protected
    linked = link_tables([one.stored() for one in tables.tables])
    assert audit_table(linked).beside is not None


def with_count(number):
    table = made(firms(0))
    count = table.cells["respondents_published"].astype(float)
    count.iloc[5] = number
    return suppress_table(table.cells.assign(respondents_published=count), table.relations)


PLACE = r"column 'respondents_published', row 6 .*: it"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: made(firms(0).assign(group="g"), holding="group"), "holdings do not add up"),
        (lambda: made(firms(0), empty="suppressible"), "show which cells are empty"),
        (lambda: made(firms(0), response=None, rules=["frequency=3"]), "beside sums; name a response"),
        (lambda: with_count(np.nan), f"{PLACE} is empty"),
        (lambda: with_count(1.5), f"{PLACE} is no number of respondents"),
        (lambda: with_count(0), f"{PLACE} is 0, and the value is not"),
        (lambda: with_count(99), r"respondents_published: relation .* does not add up"),
        (lambda: round_table(made(firms(0)), base=5), "rounding does nothing to them"),
        (lambda: adjust_table(made(firms(0))), "adjustment does nothing to them"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises((DataError, UsageError), match=said):
        make()
