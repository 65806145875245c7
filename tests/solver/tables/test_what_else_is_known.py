"""What readers know besides the published values: codes with one child, and in which steps values come."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from linkrisk import audit_table, make_table, open_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.solver.tables.operations.source import cell_table


def lonely(tmp_path, status, times=1, **how):
    """North has the one code N1 below it; N1 by big is sensitive, and North by big is not."""
    data = pd.DataFrame(
        [
            (r, s, v)
            for r, k in (("N1", 3), ("S1", 5), ("S2", 7))
            for s, v in (("big", 10 * k), ("small", 4 * k))
            for _ in range(times)
        ],
        columns=["region", "size", "turnover"],
    )
    tree = pd.DataFrame({"code": ["N", "S", "N1", "S1", "S2"], "parent": ["Total", "Total", "N", "S", "S"]})
    by_hand = tmp_path / "manual.csv"
    by_hand.write_text(f"region,size,status\nN1,big,u\nN,big,{status}\n", encoding="utf-8")
    return make_table(
        data, ["region", "size"], response="turnover", hierarchies={"region": tree}, manual=by_hand, **how
    )


def suppressed_of(result):
    codes = result.cells[["region", "size"]].itertuples(index=False, name=None)
    return {code for code, gone in zip(codes, result.suppressed, strict=True) if gone}


def test_a_parent_with_one_child_is_not_published_beside_it(tmp_path):
    made = lonely(tmp_path, "s")
    found = suppress_table(made, insiders="none")
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(found)
    cells = made.cells.drop(columns="respondents")
    tree = pd.DataFrame({"code": ["N", "S", "N1", "S1", "S2"], "parent": ["Total", "Total", "N", "S", "S"]})
    ready = open_table(cells, by=["region", "size"], hierarchies={"region": tree})
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(suppress_table(ready))
    shown = found.cells.assign(
        status=[
            "s" if code == ("N", "big") else was
            for code, was in zip(
                found.cells[["region", "size"]].itertuples(index=False, name=None),
                found.cells["status"],
                strict=True,
            )
        ]
    )
    audited = audit_table(shown, made.relations, insiders="none")
    assert not audited.protected
    assert audited.audit.exact.any()


@pytest.mark.parametrize(("scale", "step"), [(1.0, 1.0), (0.01, 0.01)])
def test_levels_below_the_step_of_the_values_are_said(scale, step):
    """2 may be 1.6 to 2.4: it is 2 to whoever knows that all amounts are whole."""
    cells = pd.DataFrame(
        {
            "r": ["Total", "Total", "Total", "A", "A", "A", "B", "B", "B"],
            "c": ["Total", "x", "y"] * 3,
            "value": [30, 14, 16, 12, 2, 10, 18, 12, 6],
            "lower_protection": [0, 0, 0, 0, 0.4, 0, 0, 0, 0],
        }
    )
    cells["upper_protection"] = cells["lower_protection"]
    cells["status"] = ["u" if level else "s" for level in cells["lower_protection"]]
    cells["lower_bound"] = cells["value"] - 0.4
    cells["upper_bound"] = cells["value"] + 0.4
    numbers = ["value", "lower_protection", "upper_protection", "lower_bound", "upper_bound"]
    cells[numbers] = (cells[numbers] * scale).round(6)
    result = suppress_table(open_table(cells, by=["r", "c"], counts=False))
    assert result.details["on_grid"] == {"step": step, "known": [4]}
    wide = cells.drop(columns=["lower_bound", "upper_bound"])
    assert suppress_table(open_table(wide, by=["r", "c"], counts=False)).details["on_grid"]["known"] == []


@pytest.mark.parametrize("seed", [3, 7, 11])
def test_whole_amounts_give_no_more_away_than_is_said(seed):
    """A program in whole numbers finds of whole amounts no other cells than those that are said."""
    generator = np.random.default_rng(seed)
    data = pd.DataFrame(generator.choice(list("AB"), (14, 3)), columns=list("abc"))
    data["x"] = generator.integers(1, 4, len(data))
    made = make_table(data, list("abc"), response="x", rules=["frequency=2,20"])
    result = suppress_table(made, insiders="none")
    table, hidden = cell_table(result.table, "unit"), result.suppressed
    at, relations = np.flatnonzero(hidden), table.relations.tocsc()
    right = -(relations[:, ~hidden] @ table.value[~hidden])
    known = []
    for cell in np.flatnonzero(table.primary).tolist():
        ends = []
        for sign in (1.0, -1.0):
            found = milp(
                np.where(at == cell, sign, 0.0),
                integrality=np.ones(at.size),
                bounds=Bounds(table.lower[at], table.upper[at]),
                constraints=LinearConstraint(relations[:, at], right, right),
            )
            assert found.status == 0
            ends.append(round(sign * found.fun))
        known += [cell] if ends[0] == ends[1] else []
    assert table.primary.any()
    assert result.details["on_grid"]["known"] == known


def test_a_parent_with_one_child_has_its_number_of_respondents(tmp_path):
    """What is suppressed of the child is of the parent, in sums and in numbers of respondents."""
    made = lonely(tmp_path, "s", times=3, publish_respondents=True)
    result = suppress_table(made, insiders="none")
    assert result.protected
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(result)
    ends = result.cells.set_index(["region", "size"])[["respondents_low", "respondents_high"]]
    assert ends.loc[("N1", "big")].tolist() == ends.loc[("N", "big")].tolist()
    assert ends.loc[("N1", "big")].is_unique


@pytest.mark.parametrize(
    ("weights", "step"), [([10.0] * 4, "10"), ([2.5] * 4, "2.5"), ([4.0, 6.0, 8.0, 4.0], "2")]
)
def test_readers_divide_counts_by_the_step_of_weights(weights, step):
    """Ten for each of 1 and 2 persons, and 10 to 30 are said to be possible: there are 10, 20 and 30 only."""
    persons = pd.DataFrame({"a": list("xxyz"), "w": weights})
    with pytest.raises(DataError, match=f"column 'w': all weights are multiples of {step}, by which readers"):
        make_table(persons, ["a"], weight="w", rules=["frequency=3"])
    assert make_table(persons, ["a"], weight="w").sensitive == 0
    other = persons.assign(w=[2.0, 3.0, 1.0, 1.0])
    assert make_table(other, ["a"], weight="w", rules=["frequency=3"]).sensitive
