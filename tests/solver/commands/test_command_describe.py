"""`describe`: what it prints, the schema that it writes, and what it keeps to itself."""

from __future__ import annotations

import json
import os
import random
import re
import tomllib
from pathlib import Path

import pytest
from cli_runs import check_golden, refuse, run

from linkrisk.datasets.microdata.schema import Role, Scale
from linkrisk.datasets.microdata.schema_files import read_schema

DATA = os.environ.get("LINKRISK_DATA")


@pytest.fixture(autouse=True)
def survey(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    chance = random.Random(4)
    lines = [
        "person,name,household,age,income,town,size of the dwelling in square metres,grade,weight,stratum,day"
    ]
    for at in range(60):
        income = "" if at % 15 == 4 else str(round(900 + 3000 * chance.random(), 2))
        town = chance.choice(["north", "south", "south", "wes\u0007t", "Åland"])
        age, size = 18 + chance.randrange(60), 40 + chance.randrange(90)
        lines.append(
            f"{1000 + at},Name{at},{at // 3},{age},{income},{town},{size},"
            f"{chance.randrange(1, 5)},{round(50 + 300 * chance.random(), 1)},{'AB'[at % 2]},2024-05-01"
        )
    Path("survey.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("columns", ["60", "140"])
def test_what_is_printed(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    printed = run(capsys, "describe", "survey.csv")
    check_golden(f"describe-{columns}", printed)
    table = printed.split("\n\n")[1]
    assert max(map(len, table.splitlines())) <= int(columns)


def test_the_schema_that_is_written(capsys):
    printed = run(capsys, "describe", "survey.csv", "--output", "survey.toml", "--json", "all.json")
    assert printed.endswith("wrote survey.toml: correct it, and use it as --schema of the other commands\n")
    check_golden("describe-schema", Path("survey.toml").read_text(encoding="utf-8"))
    schema = read_schema("survey.toml")
    assert schema["person"].role is Role.RECORD_ID
    assert (schema["town"].role, schema["town"].scale) == (Role.KEY, Scale.NOMINAL)
    content = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert (content["file"], content["records"]) == ("survey.csv", 60)
    assert content["schema"] == tomllib.loads(Path("survey.toml").read_text(encoding="utf-8"))
    ages = next(column for column in content["columns"] if column["name"] == "age")
    assert 18 <= ages["lowest"] < ages["highest"] < 78
    assert ages["why_scale"] == "holds whole numbers"


def test_values_of_identifiers_are_nowhere(capsys):
    printed = run(capsys, "describe", "survey.csv", "--output", "s.toml", "--json", "all.json")
    everything = printed + Path("s.toml").read_text(encoding="utf-8")
    everything += Path("all.json").read_text(encoding="utf-8")
    assert not any(f"Name{at}" in everything for at in range(60))
    assert not any(str(1000 + at) in everything for at in range(60))


def test_the_guess_is_taken_by_the_other_commands(capsys):
    run(capsys, "describe", "survey.csv", "--output", "s.toml")
    pair = ["--original", "survey.csv", "--masked", "survey.csv", "--schema", "s.toml"]
    printed = run(capsys, "link", *pair, "--method", "dbrl", "--attributes", "age,town,grade")
    assert "note: records were aligned by column person, the record id of the schema" in printed
    assert "weighted links" in printed
    assert "re-identified in each stratum (stratum)" in printed
    refused = (
        "'name' is a direct identifier in the schema, and never compared; take it out of --attributes, or"
    )
    refuse(capsys, f"{refused} give it another role", "fit", *pair, "--attributes", "age,name")


def answers() -> str:
    chance = random.Random(7)
    rows = ["person,name,age,income,town,status,weight,stratum"]
    for at in range(60):
        age, income = 18 + chance.randrange(60), 900 + 10 * chance.randrange(300)
        town, weight = chance.choice(["Aachen", "Bonn", "Emden"]), 40 + chance.randrange(300)
        status = chance.choice([1, 2, 3, 9])
        rows.append(f"{1000 + at},Name {at},{age},{income},{town},{status},{weight},{'AB'[at % 2]}")
        chance.randrange(-5, 6), chance.randrange(-30, 31)  # as a masked file would take them
    return "\n".join(rows) + "\n"


def test_the_page_shows_what_is_printed(capsys):
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "schema.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    (_, described), (kind, corrected) = blocks[:2]
    Path("original.csv").write_text(answers(), encoding="utf-8")
    command, _, shown = described.partition("\n")
    assert run(capsys, *command.split()[4:]) == shown
    schema = Path("survey.toml").read_text(encoding="utf-8")
    before, _, after = schema.partition('[[attributes]]\nname = "status"')
    assert (kind, after.partition("[[attributes]]")[1]) == ("toml", "[[attributes]]")
    rest = "[[attributes]]" + after.partition("[[attributes]]")[2]
    Path("survey.toml").write_text(f"{before}{corrected}{rest}", encoding="utf-8")
    assert read_schema("survey.toml")["status"].labels["9"] == "no answer"


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
@pytest.mark.parametrize("name", ["muargus_samhh", "febrl4a"])
def test_real_files_make_schemas_that_can_be_read(name, capsys):
    printed = run(capsys, "describe", str(Path(DATA or "") / f"{name}.csv"), "--output", "s.toml")
    schema = read_schema("s.toml")
    assert printed.count("\n") > len(schema.names)
    assert all(attribute.role is not None for attribute in schema.attributes)
