"""Pages of counts, of numbers of respondents, of codes in the words of labels."""

from __future__ import annotations

import copy
import json
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from linkrisk import make_table, make_tables, open_table, round_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import writable_format
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.reading import made_record, with_record
from linkrisk.solver.commands.program import main
from linkrisk.solver.documents.document import Audience
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.pages.build import table_document

LABELS = {"region": {1: "Nord", 2: "Küste", 3: "West"}, "state": {1: "EU", 2: "Drittstaat", 9: "unbekannt"}}
COUNTS = {(1, 1): 9, (1, 2): 3, (2, 1): 8, (2, 2): 1, (3, 1): 12, (3, 2): 6}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.sav"
    lines = [(*codes, float(100 + 7 * at)) for codes, many in COUNTS.items() for at in range(many)]
    frame = pd.DataFrame(lines, columns=["region", "state", "income"])
    pyreadstat.write_sav(frame, path, variable_value_labels=LABELS)
    return path


@pytest.fixture(scope="module")
def counts(people):
    return suppress_table(make_table(people, ["region", "state"], rules=["frequency=3"])).to_dict()


@pytest.fixture(scope="module")
def sums(people):
    made = make_table(
        people, ["region", "state"], response="income", rules=["frequency=3"], publish_respondents=True
    )
    return suppress_table(made).to_dict()


def section(document, name):
    return next((one for one in document.sections if one.name == name), None)


def test_counts_have_a_section(counts):
    found = section(table_document(counts), "counts")
    lead = "This is a table of counts: readers know that they are whole numbers, and attack as such."
    assert found.lead == lead
    numbers = {one.words: one.value for one in found.blocks[0].numbers}
    assert numbers == {"A suppressed count is at least": "1", "Sensitive cells that reach the threshold": "1"}
    below = {"cell": 3, "threshold": 9.0, "reached": 2.0}
    more = {"cell": 3, "way": "up", "level": 1.0, "reached": 0.0}
    said = {**counts["counts"], "threshold_out_of_reach": [below], "lowered": 2 * [more]}
    changed = section(table_document({**counts, "counts": said}), "counts")
    assert [one.value for one in changed.blocks[0].numbers] == ["1", "0", "2"]
    assert changed.blocks[0].numbers[2].meaning.endswith("another count stays possible: cell 3 up 0 of 1.")
    assert changed.blocks[1].rows == [["cell 3", 9.0, 2.0]]


def test_numbers_of_respondents_have_a_section(sums):
    document = table_document(sums)
    assert section(document, "counts") is None
    found = section(document, "respondents")
    assert found.lead.endswith("of every sensitive cell another number is possible.")
    reason = "Numbers of respondents are published beside the values, in the same cells."
    assert reason in document.headline.reasons
    wrong = copy.deepcopy({**sums["respondents"], "protected": False})
    cells = wrong["table"]["intervals"]
    cells["undecided"] = [at == 0 for at in range(len(cells["cell"]))]
    wrong["undecided"] = cells["cell"][:1]
    said = table_document({**sums, "protected": False, "respondents": wrong}).headline
    assert said.answer == "above"
    assert said.verdict == "Numbers of respondents beside the values are NOT protected: they can be computed."
    with pytest.raises(UsageError, match="the verdict is not that of the cells"):
        table_document({**sums, "respondents": wrong})


def test_from_whom_is_a_table(counts):
    blocks = section(table_document(counts), "audit").blocks
    whom = next(one for one in blocks if getattr(one, "caption", "") == "From whom")
    assert whom.rows == [
        ["Outsiders, who know what is published", "yes"],
        ["Respondents who are alone in a cell", "yes"],
        ["Every respondent, who knows its own contributions", "not looked at"],
        ["Those who are listed as knowing more", "not looked at"],
        ["Coalitions, whose members tell one another everything", "not looked at"],
    ]


def test_codes_are_read_in_the_words_of_the_file(people, counts, sums):
    for given in (counts, sums):
        for audience in Audience:
            said = table_document(given, audience).to_json()
            assert "Küste (2)" in said
            assert "Drittstaat (2)" in said
            assert "unbekannt" not in said  # nobody is in it
    both = make_tables(people, [["region", "state"], ["region"]], rules=["frequency=3"])
    rounded = round_table(make_table(people, ["region"]).stored(), base=5)
    for result in (suppress_table(both), rounded):
        assert "Küste (2)" in table_document(result.to_dict()).to_json()


def test_a_record_says_what_codes_mean_and_that_values_count(people, counts, tmp_path):
    made = make_table(people, ["region", "state"], rules=["frequency=3"])
    made.write(tmp_path / "cells.csv", tmp_path / "relations.csv")
    (tmp_path / "record.json").write_text(
        made_record(["frequency=3"], len(made.cells), {"labels": made.labels, "counts": True})
    )
    files = (tmp_path / "cells.csv", tmp_path / "relations.csv")
    table = with_record(open_table(*files), tmp_path / "record.json")
    assert table.counts is True
    assert suppress_table(table).to_dict()["table"]["labels"] == counts["table"]["labels"]
    assert with_record(open_table(*files, counts=False), tmp_path / "record.json").counts is False


def test_readers_outside_learn_what_they_were_taken_to_know(people, counts, sums):
    said = "Readers were taken to know that these are whole numbers, and that a suppressed one is not 0"
    assert said in table_document(counts, Audience.EXTERNAL).to_json()
    outside = table_document(sums, Audience.EXTERNAL)
    assert "respondents are suppressed where the value is" in outside.to_json()
    for name in ("table", "respondents"):
        cells = [cell for line in section(outside, name).blocks[-1].cells for cell in line]
        assert sum(cell.state.value == "gone" for cell in cells) == sums["suppressed"]
        assert all((cell.text == "") == (cell.state.value == "gone") for cell in cells)
    alone = suppress_table(make_table(people, ["region", "state"], response="income", rules=["frequency=3"]))
    said = table_document(alone.to_dict(), Audience.EXTERNAL).to_json()
    assert "as long as numbers of respondents are not published beside the values" in said
    assert "publish none beside the values" in table_document(alone.to_dict()).to_json()


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


def test_a_record_with_other_labels_is_refused(persons: str) -> None:
    made = make_table(persons, ["nat"])
    record = {"rules": [], "cells": len(made.cells), "labels": {"nat": "EU"}}
    Path("made.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(DataError, match=r"its labels are not what `tables make --record` writes"):
        with_record(made.stored(), "made.json")
