"""Tables as people have them: codes in columns called like ours, odd codes, other totals, missing cells."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_refusals, commands_of, refuse, run

from linkrisk.datasets.tables.stored_table import OWN, is_own, names_of_codes
from linkrisk.solver.commands.program import build_parser, main

PEOPLE = "status,age,x\nemployed,1,5\nemployed,2,6\nidle,1,7\nidle,2,8\nidle,2,9\nemployed,1,3\n"
MADE = ["--cells", "cells.csv", "--relations", "relations.csv"]
PATTERN = ["--cells", "internal.csv", "--relations", "relations.csv"]
VARIABLES = [f"v{at}" for at in range(6)]
_OWN = [*sorted(OWN), *sorted(OWN)]
GROUPS = [_OWN[at : at + 6] for at in range(0, len(OWN), 6)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def records(names: list[str]) -> pd.DataFrame:
    codes = {
        name: [f"c{(row >> at) % 2 if at < 2 else 0}" for row in range(20)] for at, name in enumerate(names)
    }
    numbers = {
        "amount": [float(row * row % 17) for row in range(20)],
        "times": [1.0 + row % 3 for row in range(20)],
    }
    return pd.DataFrame({**codes, **numbers, "key": [(row * 7 % 20) / 20 for row in range(20)]})


def commands(by: str) -> dict[str, list[str]]:
    of = ["--input", "micro.csv", "--by", by]
    sums = ["--response", "amount", "--weight", "times"]
    return {
        "make": [*of, *sums, "--rule", "frequency=2", "--cost-column", "times", *MADE],
        "suppress": [*MADE, "--output", "safe.csv", "--internal", "internal.csv", "--cost", "given"],
        "audit": [*PATTERN, "--internal", "again.csv", "--certificate", "proof.json"],
        "round": [*MADE, "--base", "5", "--output", "rounded.csv", "--internal", "of_rounding.csv"],
        "adjust": [*MADE, "--output", "adjusted.csv", "--internal", "of_adjustment.csv"],
        "perturb-counts": [
            *(*of, "--weight", "times", "--record-key", "key", "--most", "2", "--variance", "1"),
            *("--output", "noisy.csv", "--internal", "of_noise.csv"),
        ],
        "perturb-sums": [
            *(*of, *sums, "--record-key", "key", "--noise", "most=2,variance=1", "--share", "0.05"),
            *("--output", "noisy_sums.csv", "--internal", "of_noisy_sums.csv"),
        ],
        "recode": [*of, *sums, "--rule", "frequency=2", "--cells", "coarse.csv", "--relations", "terms.csv"],
    }


def written(names: list[str], columns: list[str]) -> dict[str, pd.DataFrame]:
    """Run all commands on the same records; every file, with columns of codes called as `columns`."""
    records(names).to_csv("micro.csv", index=False)
    for action, given in commands(",".join(names)).items():
        assert main_of(action, given) == 0
    assert main(["verify", "proof.json", *PATTERN]) == 0
    called = names_of_codes(names)
    back = {called[name]: column for name, column in zip(names, columns, strict=True)}
    files = sorted(path for path in Path().glob("*.csv") if path.name != "micro.csv")
    return {path.name: pd.read_csv(path).rename(columns=back) for path in files}


def test_every_action_is_run():
    """Batches have a test of their own, `test_variables_of_argus_are_named_alike`; compare writes no file."""
    actions = commands_of(commands_of(build_parser())["tables"])
    assert {*actions} - {*commands("x")} == {"run-batch", "compare"}


def test_variables_of_argus_are_named_alike(capsys):
    """In metadata a variable may be called like a column of ours, too."""
    variables = [f"{name} 6\n  <RECODEABLE>\n  <TOTCODE> Total" for name in ("status", "cost")]
    words = ["amount 9\n  <NUMERIC>", "letter 1\n  <STATUS>"]
    Path("own.rda").write_text("\n".join(["<SEPARATOR> ;", *variables, *words]), encoding="utf-8")
    lines = [
        *("Total;Total;20;S", "a;Total;9;S", "b;Total;11;S", "Total;x;8;S", "Total;y;12;S"),
        *("a;x;3;U", "a;y;6;S", "b;x;5;S", "b;y;6;S"),
    ]
    Path("own.tab").write_text("\n".join(lines), encoding="utf-8")
    run(capsys, "tables", "suppress", "--table", "own.tab", "--output", "safe.csv")
    safe = pd.read_csv("safe.csv")
    assert list(safe.columns) == ["status_code", "cost_code", "value", "status"]
    assert (safe["status"] == "suppressed").sum() == 4


def main_of(action: str, given: list[str]) -> int:
    return main(["tables", action, *given])


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> dict[str, pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("usual"))
        return written(VARIABLES, VARIABLES)


def test_all_columns_that_are_written_beside_codes_are_known(usual):
    """A new column of some file is a name that no code may have."""
    found = {name for frame in usual.values() for name in frame.columns} - {*VARIABLES}
    assert {name for name in found if not is_own(name)} <= {"coefficient"}
    assert {"low", "rounded", "adjusted", "perturbed_weighted", "sensitive", "cost"} <= found


@pytest.mark.parametrize("names", GROUPS, ids=lambda one: one[0])
def test_codes_keep_apart_from_columns_of_the_same_name(names, usual, capsys):
    found = written(names, VARIABLES)
    assert found.keys() == usual.keys()
    for file, frame in found.items():
        pd.testing.assert_frame_equal(frame, usual[file])
    capsys.readouterr()


def test_codes_called_status_are_published(capsys):
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    given = ["--input", "people.csv", "--by", "status,age", "--response", "x", "--rule", "frequency=2"]
    said = run(capsys, "tables", "make", *given, *MADE).splitlines()
    assert (
        said[2] == "note: codes of status are in the column status_code: status is a column of its own there"
    )
    run(capsys, "tables", "suppress", *MADE, "--output", "safe.csv")
    safe = pd.read_csv("safe.csv")
    assert list(safe.columns) == ["status_code", "age", "value", "status"]
    assert set(safe["status_code"]) == {"employed", "idle", "Total"}


def test_ready_codes_of_such_a_name_are_named(capsys):
    """Before `value` a column of such a name is taken for what it is called, unless it is said otherwise."""
    table = "cost,age,value\nTotal,Total,9\na,Total,4\nb,Total,5\nTotal,1,9\na,1,4\nb,1,5\n"
    Path("own.csv").write_text(table, encoding="utf-8")
    run(capsys, "tables", "suppress", "--cells", "own.csv", "--by", "cost,age", "--output", "safe.csv")
    assert list(pd.read_csv("safe.csv").columns) == ["cost_code", "age", "value", "status"]
    message = "own.csv, column 'cost': 'Total' is no cost of a cell; if the column holds codes, name all "
    refuse(capsys, message + "columns of codes (--by A,B)", "tables", "suppress", "--cells", "own.csv")
    Path("own.csv").write_text(table.replace("cost", "status"), encoding="utf-8")
    message = message.replace("cost", "status") + "columns of codes (--by A,B)"
    refuse(capsys, message, "tables", "suppress", "--cells", "own.csv")
    given = ["--by", "status,age", "--total", "status=Total"]
    run(capsys, "tables", "suppress", "--cells", "own.csv", *given, "--output", "again.csv")
    assert list(pd.read_csv("again.csv").columns) == ["status_code", "age", "value", "status"]


def test_a_name_that_is_taken_gets_another_one():
    assert names_of_codes(["cost", "cost_code"]) == {"cost": "cost_code_code", "cost_code": "cost_code"}
    assert names_of_codes(["largest_1", "cost", "age"], ["cost_code"]) == {
        "largest_1": "largest_1_code",
        "cost": "cost_code_code",
        "age": "age",
    }


CODES = {"NA": (3, 4), "N/A": (2, 6), "null": (5, 1), "01": (7, 9), "1": (4, 8)}
"""Of a region, what two sizes have: codes that could be taken for no value, or for the same number."""


CELLS = "region,size,value\nTotal,Total,10\nTotal,a,4\nTotal,b,6\nN,a,4\nN,b,6\nN,Total,10\n"


def test_codes_are_text_as_they_stand_in_the_file(capsys):
    lines = [f"{region},{size},{of[at]}" for region, of in CODES.items() for at, size in enumerate("ab")]
    Path("micro.csv").write_text("\n".join(["region,size,turnover", *lines]), encoding="utf-8")
    asked = ["--input", "micro.csv", "--by", "region,size", "--response", "turnover", "--rule", "p=10"]
    run(capsys, "tables", "make", *asked, "--cells", "made.csv", "--relations", "terms.csv")
    for more in ([], ["--relations", "terms.csv"]):
        run(capsys, "tables", "suppress", "--cells", "made.csv", *more, "--output", "safe.csv")
        shown = pd.read_csv("safe.csv", dtype=str, keep_default_na=False)
        assert set(shown["region"]) == {"Total", *CODES}


def test_what_is_wrong_is_said_with_how_to_mend_it(capsys):
    def refused():
        for old, new in (("N,a", ",a"), ("N,b,6\n", "")):
            Path("own.csv").write_text(CELLS.replace(old, new), encoding="utf-8")
            yield f"{old.strip()} is {new}", ["tables", "suppress", "--cells", "own.csv"]

    check_refusals(capsys, "tables-codes", refused())
