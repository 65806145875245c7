"""`python -m solver datasets`: list, show and fetch, as text and as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest

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


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "list")
    assert code == 0
    assert out == (
        "  name            records  columns  comes from\n"
        "  wdbc                569       31  scikit-learn\n"
        "  iris                150        5  scikit-learn\n"
        "  census            1,080       13  download\n"
        "  tarragona           834       13  download\n"
        "  eia               4,092       15  download\n"
        "  abalone           4,177        9  download\n"
        "  ionosphere          351       35  download\n"
        "  boston-housing      506       14  download\n"
        "  dermatology         366       35  download\n"
        "  adult            32,561       15  download\n"
        "  german-credit     1,000       21  download\n"
    )


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "show", "tarragona")
    assert code == 0
    assert out == (
        "  name        tarragona\n"
        "  title       CASC Tarragona: accounts of companies near Tarragona in 1995\n"
        "  records     834\n"
        "  columns     13: FIXED.ASSETS, CURRENT.ASSETS, TREASURY, UNCOMMITTED.FUNDS, PAID.UP.CAPITAL, "
        "SHORT.TERM.DEBT, SALES, LABOR.COSTS, DEPRECIATION, OPERATING.PROFIT, FINANCIAL.OUTCOME, "
        "GROSS.PROFIT, NET.PROFIT\n"
        "  origin      CASC project reference microdata (Brand, Domingo-Ferrer, Mateo-Sanz 2002)\n"
        "  licence     public use file; the package that carries it is GPL-2\n"
        "  address     https://raw.githubusercontent.com/sdcTools/sdcMicro/"
        "cf3251017482bb215f0a9abf4a930f502399fb72/data/Tarragona.rda\n"
        "  local file  casc_tarragona.csv in the folder LINKRISK_DATA\n"
        "  comes from  download\n"
    )


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(_run(capsys, "show", "iris", "--json")[1])
    assert shown == {
        "format": "linkrisk-dataset",
        "version": 1,
        "name": "iris",
        "title": "Iris: lengths and widths of sepals and petals, values as in Fisher (1936)",
        "rows": 150,
        "columns": ["sepal_length", "sepal_width", "petal_length", "petal_width", "class"],
        "origin": "Fisher 1936, as carried by scikit-learn",
        "licence": "CC BY 4.0 as stated by UCI",
        "address": None,
        "local_file": None,
        "comes_from": "scikit-learn",
    }
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "sensus"), "there is no data set named 'sensus'; did you mean 'census'?"),
        (
            ("fetch", "iris", "--output", "i.doc"),
            "i.doc: the suffix '.doc' is not known; use one of .csv, .tsv, .tab, .txt, .parquet, .pq, "
            ".feather, .arrow, .xlsx, .sav, .zsav, .dta, .sas7bdat, .xpt, .rds, .rdata, .rda, .asc, .dat",
        ),
        ((), "the following arguments are required: ACTION (see `python -m solver datasets --help`)"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    assert _run(capsys, *arguments) == (2, "", f"error: {message}\n")
