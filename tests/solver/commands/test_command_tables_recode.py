"""`tables recode`: coarser codes, and what they do."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, run

from linkrisk import make_table, recode_table
from linkrisk.solver.tables.operations import recode as recoding

TREE = "code,parent\nN,Total\nN1,N\nN2,N\nN3,N\nS,Total\nS1,S\nS2,S\n"
ASKED = ["tables", "recode", "--input", "persons.csv", "--by", "region,age", "--rule", "frequency=3"]
HIERARCHY = ["--hierarchy", "region=tree.csv"]


@pytest.fixture(autouse=True)
def persons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = {"N1": (9, 1, 4), "N2": (5, 6, 2), "N3": (1, 7, 8), "S1": (6, 5, 9), "S2": (7, 2, 6)}
    lines = [
        f"{region},{age}"
        for region, row in counts.items()
        for age, count in zip((10, 40, 70), row, strict=True)
        for _ in range(count)
    ]
    Path("persons.csv").write_text("region,age\n" + "\n".join(lines) + "\n", encoding="utf-8")
    Path("tree.csv").write_text(TREE, encoding="utf-8")
    Path("age.grc").write_text("old: 40-\n10: 10\n", encoding="utf-8")
    Path("age.csv").write_text("code,becomes\n40,old\n70,old\n", encoding="utf-8")


def test_what_is_printed_and_written(capsys):
    asked = [*HIERARCHY, "--cut", "region=1", "--recode", "age=age.csv", "--suppress"]
    files = ["--cells", "cells.csv", "--relations", "relations.csv", "--json", "found.json"]
    check_golden("tables-recode", run(capsys, *ASKED, *asked, *files, "--time-limit", "none"))
    cells = pd.read_csv("cells.csv")
    assert set(cells["region"]) == {"Total", "N", "S"}
    assert set(cells["age"]) == {"Total", "10", "old"}
    frame = pd.read_csv("persons.csv")
    both = cells[(cells["region"] == "N") & (cells["age"] == "old")]
    assert both["value"].iloc[0] == (frame["region"].str.startswith("N") & (frame["age"] > 10)).sum()
    effects = json.loads(Path("found.json").read_text(encoding="utf-8"))["effects"]
    assert [one["recoding"] for one in effects] == [
        *("as it is", "age by age.csv", "region cut at 1", "all together"),
    ]
    plain = make_table(
        "persons.csv", ["region", "age"], rules=["frequency=3"], hierarchies={"region": "tree.csv"}
    )
    assert effects[0]["sensitive"] == plain.sensitive
    assert effects[-1]["sensitive"] == 0
    assert effects[-1]["cost"] == 0


def test_every_cut_is_shown_where_nothing_is_asked_for(capsys):
    lines = run(capsys, *ASKED, *HIERARCHY).splitlines()
    effects = [line.strip().split("  ")[0] for line in lines if line.startswith("  ")]
    assert effects == ["Recoding", "as it is", "region cut at 1"]


def test_files_of_argus_and_of_codes_say_the_same():
    first, second = (
        recode_table("persons.csv", ["region", "age"], recode={"age": f"age.{end}"}, rules=["frequency=3"])
        for end in ("grc", "csv")
    )
    assert first.made.cells.equals(second.made.cells)
    assert len(first.to_frame()) == 2


def test_what_cannot_be_asked_for(capsys):
    options = [
        *(["--cut", "region=0"], [*HIERARCHY, "--cut", "region=1", "--recode", "region=age.csv"]),
        *(["--recode", "region=age.csv"], ["--cells", "cells.csv"]),
    ]
    check_refusals(capsys, "tables-recode", ([*ASKED, *one] for one in options))


def test_ctrl_c_ends_the_table_in_hand_and_begins_no_other(capsys, monkeypatch):
    whole = recoding.suppress_table

    def pressed(*table: object, **settings: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return whole(*table, **settings)

    monkeypatch.setattr(recoding, "suppress_table", pressed)
    asked = [*HIERARCHY, "--cut", "region=1", "--recode", "age=age.csv", "--suppress"]
    lines = run(capsys, *ASKED, *asked, "--json", "found.json").splitlines()
    assert "note: stopped by the user; not suppressed: age by age.csv, and 2 more" in lines
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["not_begun"] == ["age by age.csv", "region cut at 1", "all together"]
    first, *others = (one["cost"] for one in found["effects"])
    assert first > 0
    assert others == [None, None, None]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
