"""Options of tables: added once they are on every face; functions take what says which table it is."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
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
from linkrisk.datasets.options.kinds import NUMBER
from linkrisk.datasets.options.option import option
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.command_line import table, words
from linkrisk.solver.options.operations import OPERATIONS
from linkrisk.solver.options.table_protection import SuppressCommand, SuppressOptions
from linkrisk.solver.options.taking import taking

CELLS = "region,sum,status,upper_protection\nall,7,s,\na,2,u,1\nb,4,s,\nc,1,s,\n"
READING = {"value": "sum", "totals": {"region": "all"}, "by": ["region"], "counts": False}


@dataclass(frozen=True, kw_only=True)
class Shoes:
    title = "shoes"

    shoe_size: float = option(43.0, "size of the shoes; default: {default}", NUMBER, metavar="S", record=True)


@dataclass(frozen=True, kw_only=True)
class Suppress(SuppressOptions, Shoes): ...


@dataclass(frozen=True, kw_only=True)
class SuppressTyped(SuppressCommand, Shoes): ...


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text(CELLS, encoding="utf-8")


def test_an_option_is_added_in_one_place(monkeypatch, capsys):
    made = taking(Suppress)(suppress_table.__wrapped__)
    monkeypatch.setitem(OPERATIONS, "tables suppress", f"{__name__}:SuppressTyped")
    monkeypatch.setattr("linkrisk.solver.tables.operations.suppress_and_audit.suppress_table", made)
    assert inspect.signature(made).parameters["shoe_size"].default == 43.0
    assert made("cells.csv", **READING, shoe_size=41.5).to_dict()["shoe_size"] == 41.5
    asked = {"cells": ["cells.csv"], **READING, "shoe_size": 41.5, "json": "out.json"}
    argv = ["tables", "suppress", *words(SuppressTyped, asked)]
    assert argv[2:4] == ["--cells", "cells.csv"]
    assert {"--total", "region=all", "--counts", "no", "--shoe-size", "41.5"} <= set(argv)
    assert main(argv) == 0
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["shoe_size"] == 41.5
    capsys.readouterr()
    refuse(capsys, "--shoe-size must be a finite number, not 'big'", *argv[:-2], "--shoe-size", "big")
    assert "| `--shoe-size S` | `shoe_size` | size of the shoes; default: 43 |" in table(SuppressTyped)


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
