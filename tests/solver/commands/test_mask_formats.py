"""The command `mask` on files of every format: what it keeps, what it says before it works."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_runs import files, mask, mask_folder
from format_cases import WRITTEN, there_and_back

from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.microdata.missing import MissingRange

__all__ = ["mask_folder"]

pytestmark = pytest.mark.usefixtures("mask_folder")

AGE = ColumnNotes("Alter", {"99": "keine Angabe"}, ("99", MissingRange(-9, -1)), "numeric")
SEX = ColumnNotes("Geschlecht", {"1": "Frau", "2": "Mann"}, ("9",), "nominal")
FRAME = pd.DataFrame(
    {
        "plz": ["007", "080", "012", "013", "014", "015"],
        "sex": [1, 2, 2, 1, 1, 2],
        "age": [20.5, 25.25, 31.0, 46.0, 52.0, 99.0],
        "ort": ["Köln", "Ulm", "Köln", "Bonn", "Ulm", "Köln"],
    }
)
NOISE = ("--method", "noise", "--percent", "10", "--attributes", "age", "--seed", "1")


def made(name):
    """A file with labels, missing codes and measures, as far as its format holds them."""
    return there_and_back(StoredFile(FRAME, columns={"age": AGE, "sex": SEX}), Path(name))


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_file_comes_back_in_the_format_it_came_in(suffix, capsys):
    before = made(f"in{suffix}")
    code, out, err = mask(capsys, "--input", f"in{suffix}", "--output", "out", *NOISE)
    assert (code, err) == (0, "")
    assert out.endswith(f"wrote out{suffix}\n")
    after = read_file(f"out{suffix}")
    assert list(after.frame.columns) == list(FRAME.columns)
    pd.testing.assert_frame_equal(after.frame.drop(columns="age"), before.frame.drop(columns="age"))
    # A code that the file itself declares missing is not a value to mask.
    kept = before.frame["age"].eq(99.0) & bool(before.notes("age").missing)
    assert after.frame["age"].eq(before.frame["age"]).equals(kept)
    assert after.dialect == before.dialect
    assert after.notes("sex") == before.notes("sex")
    assert after.notes("age").label == before.notes("age").label
    assert after.notes("age").missing == before.notes("age").missing
    if suffix in (".sav", ".parquet"):
        assert (after.notes("sex").label, after.notes("sex").measure) == ("Geschlecht", "nominal")
        assert after.notes("age").value_labels == {"99": "keine Angabe"}


def test_what_is_lost_is_said_first(capsys):
    made("in.sav")
    _, out, _ = mask(capsys, "--input", "in.sav", "--output", "out.csv", *NOISE)
    assert out.startswith(
        "note: variable labels are lost (columns sex, age)\n"
        "note: value labels are lost (columns sex, age)\n"
        "note: declared missing codes are lost (columns sex, age)\n"
        "note: levels of measurement are lost (columns sex, age)\n"
        "note: settings that only SPSS knows are lost (columns plz, sex, age and 1 more)\n"
        "in.sav: 6 records, 4 columns\n"
    )


def test_what_cannot_be_written_is_refused_before_reading(capsys):
    code, out, err = mask(capsys, "--input", "absent.csv", "--output", "out.sas7bdat", *NOISE)
    assert (code, out) == (2, "")
    assert err == (
        "error: cannot write out.sas7bdat: no free library writes .sas7bdat files; write .xpt, which SAS "
        "reads, or .csv\n"
    )


def test_names_that_do_not_fit_are_refused_before_work(capsys):
    before = files()
    Path("in.csv").write_text("in come,age\n1,2\n2,3\n3,4\n")
    # Nor is there a column for the method, which is found out later.
    arguments = ("--method", "noise", "--percent", "10", "--attributes", "none")
    code, out, err = mask(capsys, "--input", "in.csv", "--output", "out.sav", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: out.sav cannot be written: the column name 'in come' is not allowed; in ")
    assert files() == sorted([*before, "in.csv"])


def test_a_delimited_file_keeps_its_dialect_and_its_cells(capsys):
    Path("in.csv").write_bytes("plz;ort;lohn\n007;Köln;1,50\n080;NA;2,5\n012;;3\n".encode("cp1252"))
    code, out, _ = mask(
        capsys, "--input", "in.csv", "--output", "out.csv", "--method", "rank-swapping", "--percent", "100",
        "--attributes", "lohn", "--seed", "3",
    )  # fmt: skip
    assert code == 0
    assert out.startswith("note: read with ';' between columns, ',' as decimal sign, Windows-1252\nin.csv: ")
    lines = Path("out.csv").read_bytes().decode("cp1252").splitlines()
    assert lines[0] == "plz;ort;lohn"
    assert [line.rpartition(";")[0] for line in lines[1:]] == ["007;Köln", "080;NA", "012;"]
    assert sorted(line.rpartition(";")[2] for line in lines[1:]) == ["1,50", "2,5", "3"]
    assert read_file("out.csv").dialect == DelimitedDialect(";", "cp1252", ",", "\n", ".csv")


@pytest.mark.parametrize("output", ["in.asc"])
def test_no_part_of_the_input_is_overwritten(output, capsys):
    made("in.rda")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    source = "in.rda" if output == "in.asc" else "in.asc"
    code, _, err = mask(capsys, "--input", source, "--output", output, *NOISE)
    assert code == 2
    assert err.startswith(f"error: --output {output} would overwrite in.")
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_values_that_the_file_had_are_written_as_it_writes_them(capsys):
    rows = ["FALSE,1.50,3", "TRUE,2.5,", "TRUE,,4", ",2.5,3", "FALSE,10,5.0", "TRUE,2.50,5"]
    Path("in.csv").write_text("\n".join(["yes,price,code", *rows]) + "\n", encoding="utf-8")
    methods = ("--method", "pram change=0.9 attributes=yes,code", "--method", "rank-swapping percent=100")
    code, *_ = mask(capsys, "--input", "in.csv", "--output", "out.csv", *methods, "--seed", "7")
    assert code == 0
    before = [row.split(",") for row in rows]
    after = [row.split(",") for row in Path("out.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert before != after
    for column, texts in enumerate([{"TRUE", "FALSE", ""}, {"1.50", "2.5", "10", ""}, {"3", "4", "5.0", ""}]):
        assert {row[column] for row in after} <= texts  # 5 and 5.0 are one value, which is written in one way
