"""Pages of tables of labelled microdata tell codes in words; nothing but shown codes leaves the house."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk import make_table, make_tables, round_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import writable_format
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.reading import with_record
from linkrisk.solver.commands.program import main

NATION = {"1": "native", "2": "EU", "3": "elsewhere", "9": "nobody's code"}


@pytest.fixture
def persons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"nat": random.choice([1, 2, 3], 60, p=[0.7, 0.25, 0.05]), "sex": [1, 2] * 30})
    path = tmp_path / "persons.sav"
    notes = {"nat": ColumnNotes("Staatsbürgerschaft", NATION)}
    write_all(writable_format(path).write(StoredFile(frame, columns=notes), path))
    return "persons.sav"


def words(page: Path) -> str:
    return unescape(page.read_text(encoding="utf-8"))


def test_the_pages_of_a_suppression_have_the_labels_of_the_microdata(persons: str) -> None:
    made = "tables make --by nat,sex --rule frequency=3 --cells c.csv --relations r.csv --record made.json"
    assert main([*made.split(), "--input", persons]) == 0
    done = "tables suppress --cells c.csv --relations r.csv --output o.csv --made made.json --json s.json"
    assert main([*done.split(), "--report", "in.html", "--external-report", "out.html"]) == 0
    assert json.loads(Path("s.json").read_text())["table"]["labels"]["nat"]["codes"]["2"] == "EU"
    for page in map(words, (Path("in.html"), Path("out.html"))):
        assert "Staatsbürgerschaft" in page
        assert "EU (2)" in page
        assert "nobody's code" not in page
    assert "EU" not in Path("o.csv").read_text(encoding="utf-8")


def test_labels_reach_other_actions_and_linked_tables(persons: str) -> None:
    one = make_table(persons, ["nat"])
    assert "EU (2)" in unescape(round_table(one.stored(), base=5).to_html())
    linked = make_tables(persons, [["nat"], ["sex"]], rules=["frequency=3"])
    assert "EU (2)" in unescape(suppress_table(linked).to_html())


def test_a_record_with_other_labels_is_refused(persons: str) -> None:
    made = make_table(persons, ["nat"])
    record = {"rules": [], "cells": len(made.cells), "labels": {"nat": "EU"}}
    Path("made.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(DataError, match=r"its labels are not what `tables make --record` writes"):
        with_record(made.stored(), "made.json")
