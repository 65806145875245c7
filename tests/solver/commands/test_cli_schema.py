"""`--schema` in every command that takes it: roles, missing codes, hierarchies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import PAIR, refuse, run, squeezed
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
    """A pair of files with ids, in two orders, and a schema that says so."""
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


@pytest.mark.parametrize("method", ["dbrl", "prl"])
def test_link_by_the_same_schema(method, capsys):
    printed = run(capsys, "link", *PAIR, "--schema", "roles.toml", "--method", method, "--json", "out.json")
    assert f"note: {SAID}" in printed
    assert (result()["attributes"], result()["alignment"]) == (["age", "hours"], "id person")
    by_hand = ["--id", "person", "--attributes", "age,hours", "--json", "hand.json"]
    run(capsys, "link", *PAIR, *by_hand, "--method", method)
    assert result("hand.json")["records_table"] == result()["records_table"]
    line = (
        "'region' is ignored in the schema, and never compared; take it out of --attributes, or give it "
        "another role"
    )
    refuse(
        capsys,
        line,
        "link",
        *PAIR,
        "--schema",
        "roles.toml",
        "--method",
        method,
        "--attributes",
        "age,region",
    )


def test_files_without_common_attributes_leave_out_the_same_columns(capsys):
    argv = ["link", *PAIR, "--schema", "roles.toml", "--method", "owa", "--json", "out.json"]
    run(capsys, *argv, "--masked-attributes", "age")
    assert result()["original_attributes"] == ["age", "hours"]


def test_compare_takes_roles(capsys):
    printed = run(
        capsys, "compare", *PAIR, "--schema", "roles.toml", "--backends", "exact", "--json", "out.json"
    )
    assert f"note: {SAID}" in printed
    assert result()["attributes"] == ["age", "hours"]


def test_missing_codes_are_said_to_be_missing_values(capsys):
    age = Path("original.csv").read_text(encoding="utf-8").splitlines()[4].split(",")[1]
    Path("codes.json").write_text(
        json.dumps(
            {"attributes": [{"name": "age", "missing": [age]}, {"name": "person", "role": "record-id"}]}
        ),
        encoding="utf-8",
    )
    lines = Path("original.csv").read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.split(",")[1] for line in lines]
    many = cells.count(age)
    printed = run(capsys, "fit", *PAIR, "--schema", "codes.json", "--missing", "farthest")
    masked = Path("masked.csv").read_text(encoding="utf-8").splitlines()[1:]
    kept = sum(line.split(",")[1] == age for line in masked)
    assert (
        "note: values are missing in the original and the masked file and compared by --missing farthest: "
        f"age ({many} and {kept})\n"
    ) in printed
    argv = ["mask", "--input", "original.csv", "--method", "noise", "--percent", "9", "--attributes", "age"]
    run(capsys, *argv, "--schema", "codes.json", "--output", "m.csv")
    lines = Path("m.csv").read_text(encoding="utf-8").splitlines()[1:]
    masked = [line.split(",")[1] for line in lines]
    assert [float(cell) == float(age) for cell in masked] == [cell == age for cell in cells]


def test_mask_takes_the_key_variables(capsys):
    printed = run(
        capsys,
        *("mask", "--input", "original.csv", "--method", "noise", "--percent", "20", "--seed", "1"),
        *("--schema", "roles.toml", "--output", "m.csv"),
    )
    printed = squeezed(printed)
    assert " masked age, hours\n" in printed
    assert " as is person, income, region\n" in printed
    assert " left person (as id); to mask them anyway, name them with --attributes" in printed


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


def test_codes_that_the_schema_lists_stay_as_they_are_written(capsys):
    Path("t.csv").write_text("code,age\n007,20\n010,30\n007,40\nNA,50\n")
    row = {"name": "code", "role": "key", "scale": "ordinal", "categories": ["007", "010", "NA"]}
    Path("s.json").write_text(json.dumps({"attributes": [row]}))
    argv = [
        "mask",
        "--input",
        "t.csv",
        "--method",
        "bottom-coding",
        "--categories",
        "2",
        "--schema",
        "s.json",
    ]
    run(capsys, *argv, "--output", "m.csv")
    assert Path("m.csv").read_text() == "code,age\n010,20\n010,30\n010,40\nNA,50\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--attributes", "id"],
            "the schema has no hierarchy of an attribute to mask; give --hierarchy or --categories",
        ),
        (["--level", "-1"], "level is -1; it must be at least 0, which is the categories themselves"),
        (
            ["--attributes", "town,id"],
            "'id' has no hierarchy; give one with --hierarchy or leave it out",
        ),
    ],
)
def test_hierarchies_that_cannot_be_used(more, message, capsys):
    Path("towns.csv").write_text("town,b\nAachen,West\nBonn,West\nEmden,North\n")
    Path("s.toml").write_text(HIERARCHY)
    Path("t.csv").write_text(TOWNS)
    argv = ["mask", "--input", "t.csv", "--method", "global-recoding", "--schema", "s.toml"]
    refuse(capsys, message, *argv, "--output", "m.csv", *more)


@pytest.mark.parametrize("command", ["fit", "compare", "link", "verify", "evaluate"])
def test_a_schema_that_cannot_be_read(command, capsys):
    Path("bad.toml").write_text('[[attributes]]\nname = "age"\nrol = "key"\n', encoding="utf-8")
    more = {"link": ["--method", "dbrl"]}.get(command, [])
    if command in ("verify", "evaluate"):
        run(capsys, "fit", *PAIR, "--id", "person", "--json", "fit.json", "--certificate", "proof.json")
        more = {
            "verify": ["fit.json", "--certificate", "proof.json"],
            "evaluate": ["--parameters", "fit.json"],
        }[command]
    message = "bad.toml: attribute 'age' of the schema has an unknown key 'rol'; did you mean 'role'?"
    refuse(capsys, message, command, *PAIR, *more, "--schema", "bad.toml")
