"""Functions of tables take what says which table it is; what is said of an option needs that option."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_runs import refuse

from linkrisk import (
    UsageError,
    audit_table,
    make_table,
    open_table,
    perturb_sums,
    round_table,
    suppress_table,
)

CELLS = "region,sum,status,upper_protection\nall,7,s,\na,2,u,1\nb,4,s,\nc,1,s,\n"
READING = {"value": "sum", "totals": {"region": "all"}, "by": ["region"], "counts": False}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text(CELLS, encoding="utf-8")


def test_functions_read_a_table_as_open_table_does():
    whole = suppress_table(open_table("cells.csv", **READING)).suppressed
    assert suppress_table("cells.csv", **READING).suppressed.tolist() == whole.tolist()
    frame = pd.read_csv("cells.csv")
    assert audit_table(frame, **READING).suppressed.tolist() == [False, True, False, False]
    assert round_table(["cells.csv"], base=5, **READING).cells["region"].tolist() == ["all", "a", "b", "c"]


def test_what_a_table_that_was_read_says_already_is_not_said_again():
    stored = open_table("cells.csv", **READING)
    with pytest.raises(UsageError, match="the table is read already; leave by out"):
        suppress_table(stored, by=["region"])
    assert suppress_table(stored, counts=True).counting.counts
    with pytest.raises(UsageError, match=r"give a table: tables='FILE', or cells='FILE' \(and relations"):
        suppress_table()


def test_what_says_something_of_an_option_that_is_not_there_is_refused_on_every_face(capsys):
    said = "{0} lowers levels against insiders who are asked for; give {1} or {2}, or leave {0} out"
    with pytest.raises(UsageError) as error:
        suppress_table("cells.csv", as_far_as_possible=True)
    assert str(error.value) == said.format("as_far_as_possible", "insiders", "coalitions")
    flags = said.format("--as-far-as-possible", "--insiders", "--coalitions")
    refuse(capsys, flags, "tables", "suppress", "--cells", "cells.csv", "--as-far-as-possible")
    with pytest.raises(UsageError, match="manual_range is the level of cells that are sensitive by hand"):
        make_table("cells.csv", ["region"], manual_range=3.0)
    with pytest.raises(UsageError, match="power says how fast the share falls to the least; give least"):
        perturb_sums("cells.csv", ["region"], response="sum", noise="most=2,variance=1", share=0.1, power=2.0)
