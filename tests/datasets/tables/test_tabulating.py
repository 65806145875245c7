"""Records without a code or response, and largest contributions of equals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import refuse, run

from linkrisk import make_table, make_tables, perturb_counts, perturb_sums
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.code_trees import CodeTree, JoinedTrees
from linkrisk.datasets.tables.explanatory_variables import with_code

RECORDS = """region,size,turnover,key
N,big,5,0.1
N,small,7,0.25
,big,11,0.35
S,,13,0.45
S,small,,0.55
S,big,17,0.65
,,19,0.75
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("firms.csv").write_text(RECORDS, encoding="utf-8")
    Path("tree.csv").write_text("code,parent\nland,Total\nN,land\nS,land\n", encoding="utf-8")


def values(made) -> dict[tuple[str, ...], float]:
    columns = [made.cells[name] for name in (*made.by, "value")]
    return {tuple(codes): value for *codes, value in zip(*columns, strict=True) if value}


def plainly(frame: pd.DataFrame, by: list[str]) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], float] = {}
    for row in frame.to_dict("records"):
        for mask in np.ndindex(*(2,) * len(by)):
            cell = tuple("Total" if total else row[name] for name, total in zip(by, mask, strict=True))
            found[cell] = found.get(cell, 0) + row["turnover"]
    return found


def test_records_are_left_out_of_the_whole_table():
    made = make_table("firms.csv", ["region", "size"], response="turnover", missing="leave-out")
    whole = pd.read_csv("firms.csv").dropna()
    assert values(made) == plainly(whole, ["region", "size"])
    assert (made.coded, made.left_out) == ({}, {"region": 2, "size": 2, "turnover": 1})
    assert sorted(made.contributors["contributor"].unique()) == [1, 2, 6]  # as numbered in the file


def test_records_without_a_code_have_one_of_their_own():
    frame = pd.read_csv("firms.csv").dropna(subset=["turnover"])
    for code in ("missing", "not known"):
        how = "code" if code == "missing" else f"code={code}"
        made = make_table("firms.csv", ["region", "size"], response="turnover", missing=how)
        assert values(made) == plainly(frame.fillna(code), ["region", "size"])
        assert (made.coded, made.left_out) == ({"region": 2, "size": 2}, {"turnover": 1})


def test_the_code_stands_right_below_the_total_of_a_hierarchy():
    made = make_table("firms.csv", ["region"], hierarchies={"region": "tree.csv"}, missing="code")
    assert values(made) == {("Total",): 7, ("land",): 5, ("N",): 2, ("S",): 3, ("missing",): 2}
    tree = CodeTree.read("region", "tree.csv")
    both = with_code(JoinedTrees("region", (tree, CodeTree.flat("region", ["N", "S"]))), "missing")
    assert both.codes == ("Total", "land", "N", "S", "missing")
    assert with_code(tree, "N") is tree


def test_linked_tables_leave_out_the_same_records():
    """A record without a size is in the table of regions neither: their totals are common cells."""
    made = make_tables("firms.csv", [["region"], ["size"]], missing="leave-out")
    inner = {(region, "Total"): 2 for region in "NS"} | {("Total", size): 2 for size in ("big", "small")}
    values = made.cells.set_index(["region", "size"])["value"]
    assert values.to_dict() == {("Total", "Total"): 4, **inner}
    assert made.left_out == {"region": 2, "size": 2}
    assert make_tables("firms.csv", [["region"], ["size"]], missing="code").coded == {"region": 2, "size": 2}


def test_noise_is_of_the_records_that_are_in_the_table():
    """Keys belong to records: whoever is left out takes none from another."""
    design = {"record_key": "key", "missing": "leave-out"}
    counts = perturb_counts("firms.csv", ["region"], most=2, variance=1.0, **design)
    alone = pd.read_csv("firms.csv").dropna(subset=["region"])
    pd.testing.assert_frame_equal(
        counts.cells, perturb_counts(alone, ["region"], most=2, variance=1.0, record_key="key").cells
    )
    given = {"response": "turnover", "noise": "most=2,variance=1", "share": 0.1}
    sums = perturb_sums("firms.csv", ["region"], **given, **design)
    alone = alone.dropna(subset=["turnover"])
    again = perturb_sums(alone, ["region"], **given, record_key="key")
    pd.testing.assert_frame_equal(sums.cells, again.cells, check_dtype=False)
    assert sums.details["left_out"] == {"region": 2, "turnover": 1}


def test_what_is_done_is_said(capsys):
    asked = ["tables", "make", "--input", "firms.csv", "--by", "region,size", "--response", "turnover"]
    files = ["--cells", "cells.csv", "--relations", "terms.csv"]
    message = "firms.csv, column 'turnover', row 5: missing value; fill it in, or leave such records out"
    refuse(capsys, f"{message} (--missing leave-out)", *asked, *files)
    message = (
        "firms.csv, column 'region', row 3: the code is missing (and in 1 other row); fill it in, or leave "
        "such records out, or give them a code of their own (--missing leave-out or code)"
    )
    refuse(capsys, message, *asked[:6], *files)
    said = run(capsys, *asked, *files, "--missing", "code").splitlines()
    assert said[2:4] == [
        "note: coded records, 2 without region, 2 without size: their code is 'missing'",
        "note: left out records, 1 without turnover",
    ]
    noise = ["--most", "2", "--variance", "1", "--missing", "leave-out"]
    noisy = ["tables", "perturb-counts", *asked[2:6], *noise]
    assert "note: left out records, 2 without region, 2 without size" in run(capsys, *noisy).splitlines()
    coarser = ["tables", "recode", *asked[2:6], "--missing", "leave-out", "--rule", "frequency=2"]
    assert "note: left out records, 2 without region, 2 without size" in run(capsys, *coarser).splitlines()


def test_a_table_without_records_is_refused():
    frame = pd.DataFrame({"region": [None, None], "size": ["a", "b"]})
    with pytest.raises(DataError, match="every record lacks a code or a response"):
        make_table(frame, ["region", "size"], missing="leave-out")
    with pytest.raises(DataError, match="column 'region': 'N' is a code already"):
        make_table("firms.csv", ["region"], missing="code=N")


FIRMS = pd.DataFrame({"turnover": [100.0, 40.0, 40.0, 2.0, 2.0], "weight": [1.0, 1.0, 4.0, 1.0, 1.0]})
FIRMS = FIRMS.assign(region="N", asked=0)


def total(firms, **how):
    made = make_table(firms, ["region"], response="turnover", **how)
    return made.cells.set_index("region").loc["Total"]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
def test_of_equals_the_intruder_is_the_one_that_makes_up_most(order):
    """304 less 100 and less 4 times 40 leave 44, which is less than half of 100 by 6."""
    how = {"weight": "weight", "weights_in_rules": "known", "rules": ["p=45,q=90"], "protection": "upper"}
    found = total(FIRMS.iloc[order], **how)
    assert found["value"] == 304
    assert found["status"] == "u"
    assert found["upper_protection"] == pytest.approx(50.0 - 44.0)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_of_equals_it_is_enough_that_one_asked(order):
    firms = FIRMS.iloc[[0, 0, 3]].assign(asked=[0, 1, 0]).iloc[order]
    found = total(firms, request="asked", rules=["request=40"])
    assert found["status"] == "u"
    assert found["upper_protection"] == pytest.approx(100.0 / 0.4 - 202.0)
