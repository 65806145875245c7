"""`--schema` in every command that takes it: roles, missing codes, hierarchies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import PAIR, refuse, run
from small_files import NAMES, csv_text, noisy, survey

ROLES = """
[[attributes]]
name = "person"
role = "record-id"

[[attributes]]
name = "income"
role = "confidential"

[[attributes]]
name = "region"
role = "ignored"
"""


@pytest.fixture(autouse=True)
def files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    rows = survey()
    names = ("person", *NAMES, "region")
    original = [[500 + at, *row, at % 3] for at, row in enumerate(rows)]
    masked = [[500 + at, *row, at % 3] for at, row in enumerate(noisy(rows))]
    Path("original.csv").write_text(csv_text(original, names), encoding="utf-8")
    Path("masked.csv").write_text(csv_text(masked[::-1], names), encoding="utf-8")
    Path("roles.toml").write_text(ROLES, encoding="utf-8")


def result(name: str = "out.json") -> dict:
    return json.loads(Path(name).read_text(encoding="utf-8"))


SAID = "records were aligned by column person, the record id of the schema"


def test_fit_evaluate_and_verify_by_the_same_schema(capsys):
    with_schema = [*PAIR, "--schema", "roles.toml"]
    printed = run(capsys, "fit", *with_schema, "--json", "fit.json", "--certificate", "proof.json")
    assert f"note: {SAID}" in printed
    fitted = result("fit.json")
    assert (fitted["attributes"], fitted["alignment"]) == (["age", "hours"], "id person")
    by_hand = [*PAIR, "--id", "person", "--attributes", "age,hours"]
    run(capsys, "fit", *by_hand, "--json", "hand.json")
    for key in ("linked", "linked_upper_bound", "parameters", "records_table"):
        assert result("hand.json")[key] == fitted[key]
    verified = run(capsys, "verify", "fit.json", "--certificate", "proof.json", *with_schema)
    assert "records aligned by the id column person" in verified
    assert "alignment" in verified.split("checked records")[1].split("not checked")[0]
    run(capsys, "evaluate", *with_schema, "--parameters", "fit.json", "--json", "out.json")
    assert result()["records_table"] == fitted["records_table"]


def test_link_by_the_same_schema(capsys):
    method = "dbrl"
    printed = run(capsys, "link", *PAIR, "--schema", "roles.toml", "--method", method, "--json", "out.json")
    assert f"note: {SAID}" in printed
    assert (result()["attributes"], result()["alignment"]) == (["age", "hours"], "id person")
    by_hand = ["--id", "person", "--attributes", "age,hours", "--json", "hand.json"]
    run(capsys, "link", *PAIR, *by_hand, "--method", method)
    assert result("hand.json")["records_table"] == result()["records_table"]


TOWNS = "id,town,kind\n1,Aachen,1\n2,Bonn,9\n3,Aachen,2\n4,Emden,1\n"
HIERARCHY = """
[[attributes]]
name = "id"
role = "record-id"

[[attributes]]
name = "town"
role = "key"
scale = "nominal"
hierarchy = "towns.csv"

[[attributes]]
name = "kind"
role = "key"
scale = "nominal"
missing = ["9"]
[attributes.hierarchy]
1 = ["one or two", "*"]
2 = ["one or two", "*"]
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([], "id,town,kind\n1,West,one or two\n2,West,9\n3,West,one or two\n4,North,one or two\n"),
        (["--level", "2"], "id,town,kind\n1,all,*\n2,all,9\n3,all,*\n4,all,*\n"),
        (["--attributes", "town"], "id,town,kind\n1,West,1\n2,West,9\n3,West,2\n4,North,1\n"),
    ],
)
def test_global_recoding_by_the_hierarchies_of_the_schema(more, expected, capsys):
    Path("towns").mkdir()
    Path("towns/towns.csv").write_text("a,b,c\nAachen,West,all\nBonn,West,all\nEmden,North,all\n")
    Path("towns/s.toml").write_text(HIERARCHY)
    Path("t.csv").write_text(TOWNS)
    argv = ["mask", "--input", "t.csv", "--method", "global-recoding", "--schema", "towns/s.toml"]
    run(capsys, *argv, "--output", "m.csv", "--record", "record.json", *more)
    assert Path("m.csv").read_text() == expected
    recorded = result("record.json")["methods"][0]["parameters"]["schema"]
    assert recorded["attributes"][2]["missing"] == ["9"]


def test_an_attribute_without_a_hierarchy(capsys):
    Path("towns.csv").write_text("town,b\nAachen,West\nBonn,West\nEmden,North\n")
    Path("s.toml").write_text(HIERARCHY)
    Path("t.csv").write_text(TOWNS)
    argv = ["mask", "--input", "t.csv", "--method", "global-recoding", "--schema", "s.toml"]
    message = "the schema has no hierarchy of an attribute to mask; give --hierarchy or --categories"
    refuse(capsys, message, *argv, "--output", "m.csv", "--attributes", "id")


def test_a_schema_that_cannot_be_read(capsys):
    Path("bad.toml").write_text('[[attributes]]\nname = "age"\nrol = "key"\n', encoding="utf-8")
    message = "bad.toml: attribute 'age' of the schema has an unknown key 'rol'; did you mean 'role'?"
    refuse(capsys, message, "link", *PAIR, "--method", "dbrl", "--schema", "bad.toml")
