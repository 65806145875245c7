"""Microdata whose columns are called like every parameter and every column of ours, or like nothing usual."""

from __future__ import annotations

import argparse
import csv
import inspect
import json
import keyword
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import commands_of

import linkrisk
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.microdata.names import parse_names, parse_pair, shown_name, shown_names
from linkrisk.datasets.tables.stored_table import OWN
from linkrisk.solver.commands.program import build_parser, main

ODD = (
    *("a,b", 'c "q" d', "line\nbreak", "<b>x</b>", " blank", "A=B", "A:2", "'", "#x", "%s{0}", "0"),
    *("Sex", "sex", "SEX", "年齢"),
)
ROWS = 16
SETS = (
    ("self", "index", "a,b", "<b>x</b>", "record", "weight"),
    ("A=B", 'c "q" d', "line\nbreak", " blank", "Sex", "sex"),
)
"""Two categories, two numbers, an id and a weight."""

PLAIN = ("region", "branch", "age", "income", "person", "times")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def options(parser: argparse.ArgumentParser) -> set[str]:
    found: set[str] = set()
    for action in parser._actions:  # argparse shows them nowhere else
        found.add(action.dest)
        if isinstance(action, argparse._SubParsersAction):
            found = found.union(*(options(one) for one in action.choices.values()))
    return found


def collected() -> list[str]:
    """Parameters on the command line, in Python and of methods, columns of ours, keywords, and odd names."""
    found = {*OWN, *options(build_parser()), *keyword.kwlist, "columns", "cls", "frame", "level_0"}
    public = [getattr(linkrisk, name) for name in linkrisk.__all__ if not name.endswith("Error")]
    for given in (pd.DataFrame.assign, *(one for one in public if callable(one))):
        found |= set(inspect.signature(given).parameters)
    for entry in METHODS.values():
        found |= {field.name for field in fields(entry.kind)}
    return [*sorted(found), *(name for name in ODD if name not in found)]


NUMERIC = {
    "microaggregation": ["--k", "3"],
    "noise": ["--percent", "5"],
    "global-recoding": ["--categories", "2"],
    "pram": ["--change", "0.2"],
}
"""Methods that mask all columns at once, one of each way to do so."""


def masked(names: list[str], method: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.integers(10, 90, (ROWS, len(names))), columns=names)
    wide.to_csv("wide.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    given = ["--method", method, *NUMERIC[method], "--attributes", shown_names(names), "--seed", "1"]
    assert main(["mask", "--input", "wide.csv", *given, "--output", "masked.csv"]) == 0
    return pd.read_csv("masked.csv")


@pytest.mark.parametrize("method", NUMERIC)
def test_all_names_are_masked_alike(method, capsys):
    """With hundreds of names at once nothing is lost, taken for another, or turned into an option."""
    own = [field.name for field in fields(METHODS[method].kind)]
    names = collected() if method == "noise" else list(dict.fromkeys([*own, *ODD, "self", "status"]))
    found, plain = masked(names, method), masked([f"c{at}" for at in range(len(names))], method)
    assert list(found.columns) == names
    np.testing.assert_array_equal(found.to_numpy(), plain.to_numpy())
    capsys.readouterr()


def write_pair(names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(3)
    columns = (
        *(["a", "b"] * 8, ["x", "x", "y", "y", "x", "z", "y", "y"] * 2, rng.integers(20, 60, ROWS)),
        *(rng.integers(1, 900, ROWS) / 10, range(1, ROWS + 1), rng.integers(1, 5, ROWS)),
    )
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    frame.to_csv("original.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)  # blanks around names count
    frame[names[2]] += rng.integers(-6, 7, ROWS)
    frame[names[3]] += rng.integers(-99, 99, ROWS) / 10
    frame.to_csv("masked.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    pd.DataFrame({names[0]: ["a", "b"], "all": ["*", "*"]}).to_csv("tree.csv", index=False)
    rows = [{"name": name, "scale": "nominal"} for name in names[:2]]
    Path("schema.json").write_text(json.dumps({"attributes": rows}), encoding="utf-8")


def commands(names: tuple[str, ...], *, long: bool) -> dict[str, list[str]]:
    one, two, three, four, who, weight = names
    pair = ["--original", "original.csv", "--masked", "masked.csv", "--id", who]
    numbers = ["--attributes", shown_names([three, four])]
    keys = shown_names([one, two])
    quoted = ",".join('"{}"'.format(name.replace('"', '""')) for name in (one, two))
    search = [*pair, *numbers, "--time-limit", "5"]
    written = ["--output", "out.csv"]
    mask = ["mask", "--input", "original.csv", "--id", who, "--seed", "1", *written]
    suppress = ["suppress", "--input", "original.csv", "--keys", keys, "--k", "3", *written]
    tree = f"{shown_name(one)}=tree.csv" if "=" not in one else f'"{one}"=tree.csv'
    found = {
        "fit": ["fit", *search, "--aggregator", "weighted-mean", "--json", "fit.json", "--table", "t.csv"],
        "choquet": ["fit", *search, "--aggregator", "choquet", "--json", "c.json", "--certificate", "p.json"],
        "by schema": ["fit", *pair, "--schema", "schema.json", "--time-limit", "5"],
        "evaluate": ["evaluate", *pair, *numbers, "--parameters", "c.json"],
        "verify": ["verify", "c.json", *pair[:4], "--certificate", "p.json"],
        "report": ["report", "--saved", "fit.json", "--output", "page.html"],
        "dbrl": ["link", *pair, "--method", "dbrl", *numbers, "--table", "l.csv"],
        "prl": ["link", *pair, "--method", "prl", "--attributes", keys, "--nominal", keys],
        "passes": ["find-links", *pair[:4], "--pass", quoted, "--attributes", keys, "--links", "found.csv"],
        "unsafe": ["unsafe", "--input", "original.csv", "--keys", keys, "--k", "3", "--weight", weight],
        "cover": [*suppress, "--priority", f"{shown_name(one)}=1,{shown_name(two)}=2", "--report", "s.html"],
        "recount": [*suppress, "--problem", "recount"],
        "joint": [*suppress, "--problem", "joint", "--hierarchy", tree],
        "households": [*suppress, "--household", who, "--household-keys", shown_name(one)],
        "local suppression": [*mask, "--method", "local-suppression", "--k", "2", "--attributes", keys],
        "tree": [*mask, "--method", "global-recoding", "--hierarchy", tree],
        "swapping": [
            *(*mask[:3], "--method", "record-swapping", "--household", who, "--percent", "30", *written),
            *("--risk", shown_name(one), "--hierarchy", shown_name(two), "--seed", "1"),
        ],
        "calibration": [
            *(*mask, "--method", "weight-calibration", "--like", "original.csv"),
            *("--margins", keys, "--attributes", shown_name(weight)),
        ],
        "strata": [
            *(*mask, "--method", "noise", "--percent", "5", *numbers, "--strata", shown_name(one)),
            *("--protocol", "steps.toml"),
        ],
        "run-protocol": ["run-protocol", "steps.toml", *written],
        "describe": ["describe", "original.csv", "--output", "described.toml"],
    }
    if long:
        short = ["--time-limit", "1", "--aggregator", "weighted-mean"]
        some = ["--attributes", shown_names([one, three]), "--nominal", shown_name(one)]
        maskings = ["--method", "noise percent=5", "--workers", "1"]
        found |= {
            "compare": ["compare", *pair, *numbers, *short, "--backends", "exact"],
            "risk": ["risk", *pair, *some, *short, "--groups", shown_name(two), "--report", "r.html"],
            "sweep": [
                *("sweep", "--original", "original.csv", *maskings, "--id", who, *numbers, *short),
                *("--report", "sweep.html"),
            ],
        }
    return found


def outcomes(names: tuple[str, ...], *, long: bool = False) -> dict[str, pd.DataFrame]:
    write_pair(names)
    found, back = {}, dict(zip(names, PLAIN, strict=True))
    for what, command in commands(names, long=long).items():
        assert main(command) == 0, what
        for path in Path().glob("*.csv"):
            if path.name in ("out.csv", "t.csv", "l.csv"):
                called = back if path.name == "out.csv" else {}
                found[f"{what}: {path.name}"] = pd.read_csv(path).rename(columns=called)
                path.unlink()
    return found


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> dict[str, pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("usual"))
        return outcomes(PLAIN)


@pytest.mark.parametrize("names", SETS, ids=lambda one: one[0])
def test_every_command_finds_the_same_whatever_columns_are_called(names, usual, capsys):
    found = outcomes(names, long="self" in names)
    assert found.keys() == usual.keys()
    assert len(found) > 10
    for what, frame in found.items():
        pd.testing.assert_frame_equal(frame, usual[what], obj=what)
    for page in Path().glob("*.html"):
        assert "<b>x</b>" not in page.read_text(encoding="utf-8")
    capsys.readouterr()


def test_every_command_that_reads_columns_is_run():
    """What is done with tables has a test of its own, and the others read no file of microdata."""
    run = {command[0] for command in commands(SETS[0], long=True).values()}
    assert {*commands_of(build_parser())} - run == {"tables", "app", "datasets", "compile", "completion"}


def test_no_name_is_given_to_pandas_as_a_keyword():
    top = Path(linkrisk.__file__).parents[1]
    files = [path for room in ("datasets", "solver") for path in (top / room).rglob("*.py")]
    assert len(files) > 400
    assert [path.name for path in files if ".assign(**" in path.read_text(encoding="utf-8")] == []


def test_names_are_written_and_read_back():
    names = [*collected(), 'a"', '"b"', "a, b=1", "=", '="']
    assert {"self", "status", "respondents", "household", "original", "by", "k", "lambda"} <= {*names}
    assert parse_names(shown_names(names, ",")) == tuple(names)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        *(("region=tree.csv", ("region", "tree.csv")), ('"A=B"=my=tree.csv', ("A=B", "my=tree.csv"))),
        *(('" x ""y"""= tree.csv ', (' x "y"', "tree.csv")), (" home town =a", ("home town", "a"))),
        *(("region", ("", "")), ("=a", ("", "")), ('"a"b=c', ("", ""))),
    ],
)
def test_what_belongs_to_a_name_stands_behind_an_equals_sign(text, pair):
    assert parse_pair(text) == pair


def test_names_with_commas_have_numbers_behind_their_quotes():
    assert parse_names('"a,b"=1, c=2,"d"') == ("a,b=1", "c=2", "d")
    with pytest.raises(DataError, match="is not a list of names"):
        parse_names('"a"b')
