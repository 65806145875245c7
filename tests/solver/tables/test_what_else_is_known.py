"""What readers know besides the published values: codes with one child, and in which steps values come."""

from __future__ import annotations

import pandas as pd
import pytest

from linkrisk import audit_table, make_table, open_table, protect_table


def lonely(tmp_path, status):
    """North has the one code N1 below it; N1 by big is sensitive, and North by big is not."""
    data = pd.DataFrame(
        [
            (r, s, v)
            for r, k in (("N1", 3), ("S1", 5), ("S2", 7))
            for s, v in (("big", 10 * k), ("small", 4 * k))
        ],
        columns=["region", "size", "turnover"],
    )
    tree = pd.DataFrame({"code": ["N", "S", "N1", "S1", "S2"], "parent": ["Total", "Total", "N", "S", "S"]})
    by_hand = tmp_path / "manual.csv"
    by_hand.write_text(f"region,size,status\nN1,big,u\nN,big,{status}\n", encoding="utf-8")
    return make_table(
        data, ["region", "size"], response="turnover", hierarchies={"region": tree}, manual=by_hand
    )


def suppressed_of(result):
    codes = result.cells[["region", "size"]].itertuples(index=False, name=None)
    return {code for code, gone in zip(codes, result.suppressed, strict=True) if gone}


def test_a_parent_with_one_child_is_not_published_beside_it(tmp_path):
    made = lonely(tmp_path, "s")
    found = protect_table(made, insiders="none")
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(found)
    cells = made.cells.drop(columns="respondents")
    tree = pd.DataFrame({"code": ["N", "S", "N1", "S1", "S2"], "parent": ["Total", "Total", "N", "S", "S"]})
    ready = open_table(cells, by=["region", "size"], hierarchies={"region": tree})
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(protect_table(ready))
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
    result = protect_table(open_table(cells, by=["r", "c"], counts=False))
    assert result.details["on_grid"] == {"step": step, "known": [4]}
    wide = cells.drop(columns=["lower_bound", "upper_bound"])
    assert protect_table(open_table(wide, by=["r", "c"], counts=False)).details["on_grid"]["known"] == []
