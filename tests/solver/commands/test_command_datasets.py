"""`python -m solver datasets`: list, show and fetch, as text and as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals

from linkrisk.solver.commands import program as cli

FOLDER = os.environ.get("LINKRISK_DATA")


@pytest.fixture(autouse=True)
def _only_this_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKRISK_DATA", raising=False)
    monkeypatch.setenv("LINKRISK_CACHE", str(tmp_path / "cache"))


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["datasets", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("name", "asked"),
    [("list", ["list"]), ("show", ["show", "tarragona"]), ("show-json", ["show", "iris", "--json"])],
)
def test_what_is_printed(name: str, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, *asked)
    assert (code, err) == (0, "")
    check_golden(f"datasets-{name}", out)


def test_json_lists_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(_run(capsys, "show", "iris", "--json")[1])
    listed = json.loads(_run(capsys, "list", "--json")[1])["datasets"]
    assert len(listed) == 11
    assert listed[1] == {key: value for key, value in shown.items() if key not in ("format", "version")}


def test_fetch_writes_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(capsys, "fetch", "iris", "--output", "i.csv") == (0, "i.csv: 150 records, 5 columns\n", "")
    assert Path("i.csv").read_text().splitlines()[:2] == [
        "sepal_length,sepal_width,petal_length,petal_width,class",
        "5.1,3.5,1.4,0.2,Iris-setosa",
    ]
    assert _run(capsys, "fetch", "wdbc", "--output", "w.parquet")[0] == 0
    assert pd.read_parquet("w.parquet").shape == (569, 31)


@pytest.mark.skipif(not FOLDER, reason="needs public data: set LINKRISK_DATA to its folder")
def test_local_folder(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKRISK_DATA", str(FOLDER))
    assert _run(capsys, "fetch", "census") == (0, f"{FOLDER}/casc_census.csv\n", "")
    assert (
        f"  census            1,080       13  local file {FOLDER}/casc_census.csv\n"
        in _run(capsys, "list")[1]
    )


def test_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (["show", "sensus"], ["fetch", "iris", "--output", "i.doc"], [])
    check_refusals(capsys, "datasets", (["datasets", *one] for one in asked))
