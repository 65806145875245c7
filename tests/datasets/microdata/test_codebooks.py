"""Codebooks of released files: what is released, and nothing of the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from cli_runs import refuse, run

from linkrisk import describe, mask, run_protocol, suppress
from linkrisk.datasets.microdata.codebooks import codebook
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.microdata.schema_files import read_schema

NAMES = {"d": "ddi:codebook:2_5"}
STUDY = """<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var name="id"/><var name="age" intrvl="contin"><labl>Age</labl></var>
<var name="town" intrvl="discrete"><labl>Town</labl>
<catgry><catValu>1</catValu><labl>Ainsley</labl></catgry><catgry><catValu>2</catValu><labl>Brum</labl></catgry>
<catgry><catValu>3</catValu><labl>Smallplace</labl></catgry>
<catgry missing="Y"><catValu>9</catValu><labl>Refused</labl></catgry></var>
<var name="w" wgt="wgt" intrvl="contin"/>
</dataDscr></codeBook>
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{7000 + at},{20 + at % 3 * 10},{1 + at % 2},{1.5 + at % 2}" for at in range(12)]
    lines += ["7012,77,3,2.5", "7013,30,9,2.5"]
    Path("survey.csv").write_text("id,age,town,w\n" + "\n".join(lines) + "\n", encoding="utf-8")
    Path("study.xml").write_text(STUDY, encoding="utf-8")


def variables(path):
    """By name: attributes, labels, summary, and by code label, frequency and whether it is missing."""
    tree = ElementTree.parse(path)
    return {
        var.get("name"): {
            **var.attrib,
            "label": var.findtext("d:labl", namespaces=NAMES),
            **{one.get("type"): float(one.text) for one in var.findall("d:sumStat", NAMES)},
            "codes": {
                one.findtext("d:catValu", namespaces=NAMES): (
                    one.findtext("d:labl", namespaces=NAMES),
                    int(one.findtext("d:catStat", "0", namespaces=NAMES)),
                    one.get("missing"),
                )
                for one in var.findall("d:catgry", NAMES)
            },
        }
        for var in tree.iterfind(".//d:var", NAMES)
    }


def test_a_schema_is_made_of_a_codebook_and_the_file():
    found = describe("survey.csv", schema="study.xml")
    assert [each.role for each in found.schema.attributes] == ["record-id", "key", "key", "weight"]
    assert found.schema["town"].categories == ("1", "2", "3")
    assert found.schema["town"].missing == ("9",)
    assert found.columns[2].coded_missing == 1
    assert found.schema["age"].label == "Age"


def test_statistics_are_those_of_released_values():
    how = "noise percent=30 attributes=age"
    result = mask("survey.csv", [how], schema=read_schema("study.xml"), seed=1)
    result.write("safe.csv", codebook="safe.xml")
    found, table = variables("safe.xml"), pd.read_csv("safe.csv")
    assert found["age"]["max"] == table["age"].max() != 77
    assert found["age"]["mean"] == pytest.approx(table["age"].mean())
    assert (found["age"]["vald"], found["age"]["invd"], found["age"]["label"]) == (14, 0, "Age")
    assert found["town"]["codes"] == {
        "1": ("Ainsley", 6, None),
        "2": ("Brum", 6, None),
        "3": ("Smallplace", 1, None),
        "9": ("Refused", 1, "Y"),
    }
    assert found["w"]["wgt"] == "wgt"
    assert "min" not in found["id"]


def test_what_masking_took_out_is_not_there():
    """A category without a record would tell whom it has taken out, and so would its label."""
    schema = read_schema("study.xml")
    result = suppress("survey.csv", keys=["age", "town"], k=2, schema=schema)
    result.write("safe.csv", codebook="safe.xml", shuffle=True, seed=3, renumber=["id"])
    text = Path("safe.xml").read_text(encoding="utf-8")
    for word in (">77<", "7012", "7000", "<method>", "uppress"):
        assert word not in text
    found, table = variables("safe.xml"), pd.read_csv("safe.csv")
    assert found["age"]["invd"] == table["age"].isna().sum() > 0
    left = {str(int(code)) for code in table["town"].dropna()}
    assert set(found["town"]["codes"]) | {"9"} == left | {"9"}
    assert "3" not in left
    assert "Smallplace" not in text


def test_labels_of_the_file_are_there_and_those_of_codes_that_are_gone_are_not():
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 3, 3], "b": [1.5, 2, 3, 4, 5, 6]})
    frame.to_csv("plain.csv", index=False)
    stored = read_file("plain.csv")
    notes = {"a": ColumnNotes("Letter", {"1": "one", "8": "eight"}, measure="nominal")}
    Path("plain.xml").write_bytes(codebook(replace(stored, columns=notes), Path("plain.csv")))
    found = variables("plain.xml")
    assert found["a"]["codes"] == {"1": ("one", 2, None), "2": (None, 2, None), "3": (None, 2, None)}
    assert found["b"]["dcml"] == "1"


def test_how_it_was_masked_is_said_only_where_somebody_asks(capsys):
    asked = ["mask", "--input", "survey.csv", "--method", "noise", "--percent", "10", "--attributes", "age"]
    asked += ["--seed", "3", "--output", "m.csv", "--codebook"]
    assert "wrote m.xml\n" in run(capsys, *asked, "m.xml", "--protocol", "steps.toml")
    assert "oise" not in Path("m.xml").read_text(encoding="utf-8")
    Path("m.csv").unlink()
    run(capsys, *asked, "said.xml", "--say-methods")
    said = '<notes subject="statistical disclosure control">Independent normal noise with 10 % of the'
    assert said in Path("said.xml").read_text(encoding="utf-8")
    run(capsys, "run-protocol", "steps.toml", "--output", "m.csv", "--codebook", "again.xml")
    assert Path("again.xml").read_bytes() == Path("m.xml").read_bytes()
    run_protocol("steps.toml", "m.csv", codebook="again.xml", say_methods=True)
    assert Path("again.xml").read_bytes() == Path("said.xml").read_bytes()


def test_codebooks_that_cannot_be_written(capsys):
    asked = ["mask", "--input", "survey.csv", "--method", "noise", "--percent", "10", "--attributes", "age"]
    asked += ["--output", "m.csv"]
    refuse(capsys, "cannot write --codebook m.txt: end the name in .xml", *asked, "--codebook", "m.txt")
    refuse(
        capsys, "--codebook study.xml would overwrite the --schema file: give another name",
        *asked, "--schema", "study.xml", "--codebook", "study.xml",
    )  # fmt: skip
    refuse(
        capsys,
        "--say-methods is said in the codebook; give --codebook, or leave --say-methods out",
        *asked,
        "--say-methods",
    )
    refuse(
        capsys, "--codebook is of --output: say what to write, or leave it out",
        "suppress", "--input", "survey.csv", "--keys", "age", "--k", "2", "--codebook", "c.xml",
    )  # fmt: skip
    refuse(
        capsys,
        "study.xml: .xml files are not supported; a codebook of DDI is a schema of a file of records; "
        "give that",
        "describe", "study.xml",
    )  # fmt: skip


def test_a_schema_is_written_as_a_codebook_and_what_it_does_not_hold_is_said(capsys):
    printed = run(capsys, "describe", "survey.csv", "--schema", "study.xml", "--output", "again.xml")
    assert (
        "note: roles other than that of a weight are not written to a codebook (id, age, town)\n" in printed
    )
    assert read_schema("again.xml")["town"] == read_schema("study.xml")["town"]
