"""Files that cannot be used, for every command that takes a file pair: the exact line, and nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import PAIR, refuse, run
from small_files import NAMES, csv_text, noisy, survey

from linkrisk.solver.commands.program import main

pytestmark = pytest.mark.usefixtures("survey_folder")

COMMANDS = {
    "fit": ["fit", "--json", "out.json", "--report", "out.html"],
    "compare": ["compare", "--backends", "scipy", "--json", "out.json", "--table", "out.csv"],
    "evaluate": ["evaluate", "--parameters", "fit.json", "--json", "out.json", "--table", "out.csv"],
}


@pytest.fixture(params=COMMANDS)
def command(request) -> list[str]:
    """The beginning of a command line that asks for every output file."""
    weights = {"parameters": {"weights": dict.fromkeys(NAMES, 1 / len(NAMES))}}
    Path("fit.json").write_text(json.dumps(weights), encoding="utf-8")
    return COMMANDS[request.param]


def write(text: str | bytes, name: str = "masked.csv") -> None:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def write_cell(row: int, column: int, cell: object, name: str = "masked.csv") -> None:
    """Write the masked file with one cell changed; rows count from 1."""
    rows: list[list[object]] = [list(answers) for answers in noisy(survey())]
    rows[row - 1][column] = cell
    write(csv_text(rows), name)  # type: ignore[arg-type]


def write_constant(name: str) -> None:
    write(csv_text([[age, 7, hours] for age, _, hours in survey()]), name)


def write_with_ids(name: str, ids: list[object]) -> None:
    rows = [[ids[at], *row] for at, row in enumerate(survey()[: len(ids)])]
    write(csv_text(rows, ("id", *NAMES)), name)  # type: ignore[arg-type]


def write_shuffled() -> None:
    """Write the masked file with ids and in another order: every third record first."""
    rows = [[at, *row] for at, row in enumerate(noisy(survey()))]
    write(csv_text(sorted(rows, key=lambda row: row[0] % 3), ("id", *NAMES)))  # type: ignore[arg-type]


BY_ID = ["--id", "id"]

Spoil = Callable[[], object]

CASES: dict[str, tuple[Spoil, list[str], str]] = {
    "missing file": (
        lambda: Path("masked.csv").unlink(),
        [],
        "masked.csv cannot be read: there is no such file",
    ),
    "only one file": (
        lambda: None,
        ["--masked"],
        "the masked file is missing: give both --original and --masked, or neither",
    ),
    "folder": (
        lambda: Path("folder.csv").mkdir(),
        ["--masked", "folder.csv"],
        "folder.csv is a folder; give a CSV file",
    ),
    "empty": (lambda: write(""), [], "masked.csv is empty; it needs a header and records"),
    "header only": (
        lambda: write("age,income,hours\n"),
        [],
        "masked.csv has no records, only column names",
    ),
    "one record": (
        lambda: write("age,income,hours\n1,2,3\n"),
        [],
        "masked.csv has fewer than two records; linkage needs at least two",
    ),
    "undecodable": (
        lambda: write(b"age,income,hours\n1,2,3\n1,\x81,3\n"),
        [],
        "masked.csv, line 3: byte 0x81 is neither UTF-8 nor Windows-1252; save the file as UTF-8",
    ),
    "NUL bytes": (
        lambda: write(b"age,income,hours\n1,2,3\n4,\0,5\n"),
        [],
        "masked.csv, line 3: a NUL byte; this is not a text file, save it as UTF-8 CSV",
    ),
    "ragged": (
        lambda: write("age,income,hours\n1,2,3\n1,2\n"),
        [],
        "masked.csv, line 3: 2 cells where the header has 3; fix or delete the line",
    ),
    "semicolons": (
        lambda: write("age;income;hours\n1;2;3\n1,2,3\n"),
        [],
        "masked.csv, line 3: 1 cell where the header has 3; fix or delete the line",
    ),
    "open quotes": (
        lambda: write('age,income,hours\n1,2,"3\n'),
        [],
        "masked.csv, line 2: not valid CSV: unexpected end of data; fix its quotes",
    ),
    "unknown suffix": (
        lambda: write("", "masked.por"),
        ["--masked", "masked.por"],
        "masked.por: .por files are not supported; save it as .sav in SPSS",
    ),
    "an Excel file": (
        lambda: write(b"PK\x03\x04" + bytes(60)),
        [],
        "masked.csv is an Excel file, despite its name; name it .xlsx",
    ),
    "rows in another order": (
        lambda: (write_with_ids("original.csv", [*range(30)]), write_shuffled()),
        ["--attributes", "age,income,hours"],
        "original.csv and masked.csv have the same values in column 'id' in different orders; align the "
        "records with --id id (--row-by-row takes the rows as they are)",
    ),
    "two ways to say who is who": (
        lambda: None,
        ["--id", "id", "--row-by-row"],
        "--id and --row-by-row are two ways to align the records; give one of them",
    ),
    "missing column": (
        lambda: write("age,income\n1,2\n2,1\n"),
        [],
        "masked.csv does not have columns that original.csv has: hours; choose common columns with "
        "--attributes",
    ),
    "other columns": (
        lambda: write(csv_text(survey(), ("age", "salary", "hours")), "original.csv"),
        [],
        "original.csv does not have columns that masked.csv has: income; choose common columns with "
        "--attributes",
    ),
    "duplicate column": (
        lambda: write(csv_text(survey(), ("age", "age", "hours"))),
        [],
        "masked.csv: the column name 'age' is twice in the header; rename one",
    ),
    "column without name": (
        lambda: write(csv_text(survey(), ("", "income", "hours"))),
        [],
        "masked.csv: column 1 has no name in the header; name it (an index written along with the table can "
        "be named and given as --id) or delete it",
    ),
    "text": (
        lambda: write_cell(4, 1, "many"),
        [],
        "masked.csv, column 'income', row 4: 'many' is not a number; fix it or choose other --attributes",
    ),
    "nothing but empty cells": (
        lambda: write(csv_text([[age, income, ""] for age, income, _ in noisy(survey())])),
        [],
        "masked.csv, column 'hours' has no value at all and cannot be compared; choose other --attributes",
    ),
    "infinity": (
        lambda: write_cell(30, 0, -math.inf),
        [],
        "masked.csv, column 'age', row 30: infinite value; give finite numbers",
    ),
    "too large": (
        lambda: write_cell(30, 0, 1e200),
        [],
        "masked.csv, column 'age', row 30: 1e+200 is too large to be squared; give the attribute in another "
        "unit",
    ),
    "constant": (
        lambda: write_constant("masked.csv"),
        [],
        "masked.csv: constant attributes cannot be compared: income; leave them out with --drop-constant or "
        "--attributes",
    ),
    "all constant": (
        lambda: write("age,income,hours\n1,2,3\n1,2,3\n"),
        ["--drop-constant"],
        "every attribute is constant in one of the files; nothing is left to compare",
    ),
    "unequal lengths": (
        lambda: write(csv_text(survey()[:20])),
        [],
        "original.csv has 30 records and masked.csv has 20; name the column that identifies the records "
        "with --id",
    ),
    "duplicate ids": (
        lambda: (write_with_ids("original.csv", [1, 2, 3]), write_with_ids("masked.csv", [1, 3, "3.0"])),
        BY_ID,
        "masked.csv, column 'id': the id '3' is in rows 2 and 3; ids must be unique",
    ),
    "missing id": (
        lambda: (write_with_ids("original.csv", [1, 2, ""]), write_with_ids("masked.csv", [1, 2, 3])),
        BY_ID,
        "original.csv, column 'id', row 3: missing id; fill it in or drop the record",
    ),
    "no common id": (
        lambda: (write_with_ids("original.csv", [1, 2]), write_with_ids("masked.csv", ["a1", "a2"])),
        BY_ID,
        "original.csv and masked.csv have no id in common in column 'id' (for example '1' and 'a1'); write "
        "the ids alike in both files",
    ),
    "unknown id": (
        lambda: (write_with_ids("original.csv", [1, 2]), write_with_ids("masked.csv", [1, 2])),
        ["--id", "ID"],
        "original.csv has no column 'ID' (--id); did you mean 'id'?",
    ),
    "id among attributes": (
        lambda: None,
        ["--id", "age", "--attributes", "age,hours"],
        "'age' is both the id column and an attribute; take it out of --attributes",
    ),
    "attribute twice": (
        lambda: None,
        ["--attributes", "age,hours,age"],
        "the attribute 'age' is given twice in --attributes; give it once",
    ),
    "attribute misspelt": (
        lambda: None,
        ["--attributes", "age, Incom"],
        "original.csv has no column 'Incom' (attribute); did you mean 'income'?",
    ),
    "attribute unknown": (
        lambda: None,
        ["--attributes", "weight"],
        "original.csv has no column 'weight' (attribute); there are: age, income, hours",
    ),
    "empty attribute": (
        lambda: None,
        ["--attributes", "age,,hours"],
        "--attributes: 'age,,hours' has an empty attribute name; write names separated by single commas",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case, command, capsys):
    spoil, more, message = CASES[case]
    spoil()
    argv = [*command, *PAIR, *more]
    if more == ["--masked"]:
        argv = [*command, *PAIR[:2]]
    refuse(capsys, message, *argv)


def test_original_file_missing(command, capsys):
    message = "the original file is missing: give both --original and --masked, or neither"
    refuse(capsys, message, *command, *PAIR[2:])


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_a_cut_off_parquet_file(kept, command, capsys):
    pd.DataFrame(noisy(survey()), columns=list(NAMES)).to_parquet("whole.parquet", index=False)
    content = Path("whole.parquet").read_bytes()
    write(content[: int(kept * len(content))], "masked.parquet")
    assert main([*command, *PAIR, "--masked", "masked.parquet"]) == 2
    printed = capsys.readouterr()
    # The reason is pyarrow's, and changes with its version.
    if kept:
        start = "error: masked.parquet is not a readable Parquet file (cut off or damaged?): "
    else:
        start = "error: masked.parquet is empty; it needs a header and records"
    assert printed.err.startswith(start)
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert not list(Path().glob("out.*"))


def test_a_constant_attribute_can_be_dropped(command, capsys):
    write_constant("masked.csv")
    if command[0] == "evaluate":
        write(json.dumps({"parameters": {"weights": {"age": 0.5, "hours": 0.5}}}), "fit.json")
    printed = run(capsys, *command, *PAIR, "--drop-constant")
    assert "30 records, 2 attributes" in printed
    assert json.loads(Path("out.json").read_text("utf-8"))["attributes"] == ["age", "hours"]


def test_records_without_partner_have_no_block(command, capsys):
    write_with_ids("original.csv", [*range(1, 31)])
    write_with_ids("masked.csv", [1, 2, 3, "x", 5, 6, "y", 8])
    run(capsys, *command, *PAIR, *BY_ID)
    result = json.loads(Path("out.json").read_text("utf-8"))
    assert (result["records"], result["candidates"]) == (6, 8)


@pytest.mark.parametrize("name", ["original.parquet", "original.PQ"])
def test_parquet_is_as_good(name, command, capsys):
    pd.DataFrame(survey(), columns=list(NAMES)).to_parquet(name, index=False)
    files = ["--original", name, "--masked", "masked.csv"]
    assert f"{name} and masked.csv: 30 records" in run(capsys, *command, *files)
