"""Results of many records through the command line: what is not listed, and the option that writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import PAIR, contents, refuse, run
from report_cases import blocks, rows

from linkrisk.solver.commands.program import main
from linkrisk.solver.linkage import records_table as records
from linkrisk.solver.report.page import document_of

NOTE = "note: JSON and report do not list 30 records; --table FILE.parquet writes them\n"


pytestmark = pytest.mark.usefixtures("survey_folder")


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch) -> None:
    monkeypatch.setattr(records, "MOST_ROWS", 29)


def test_json_and_report_have_the_ranks_and_the_table_has_all(capsys):
    assert main(["fit", *PAIR, "--json", "fit.json", "--report", "fit.html"]) == 0
    assert capsys.readouterr().err == NOTE
    run(capsys, "fit", *PAIR, "--json", "again.json", "--table", "fit.parquet")
    fit = json.loads(Path("fit.json").read_bytes())
    frame = pd.read_parquet("fit.parquet")
    assert (fit["records_table"]["rows"], fit["records_table"]["left_out"]) == ([], 30)
    assert fit["records_table"]["ranks"][0] == (frame["rank"] == 1).sum()
    assert (len(frame), frame["linked"].sum()) == (30, fit["linked"])
    document = document_of(fit).to_dict()
    assert "30 records are too many to be listed here" in str(document)
    assert not list(blocks(document, "records"))
    ranks = rows(document, "How near partners are: at rank 2 one other candidate is nearer")
    assert sum(row[1] for row in ranks) == 30
    assert ranks[0][1] == (frame["rank"] == 1).sum()
    assert "too many to be listed here" in Path("fit.html").read_text(encoding="utf-8")


def test_evaluate_says_so_too(capsys):
    run(capsys, "fit", *PAIR)
    run(capsys, "fit", *PAIR, "--json", "fit.json", "--table", "fit.csv")
    argv = ["evaluate", *PAIR, "--parameters", "fit.json", "--json", "out.json"]
    assert main(argv) == 0
    assert capsys.readouterr().err == NOTE
    run(capsys, *argv, "--table", "out.csv")
    assert contents()["out.csv"] == contents()["fit.csv"]


def test_verify_says_what_it_did_not_check(capsys):
    assert main(["fit", *PAIR, "--json", "fit.json", "--certificate", "proof.json"]) == 0
    assert main(["verify", "fit.json", "--certificate", "proof.json", *PAIR]) == 0
    out = capsys.readouterr().out
    assert "records_table" not in out.partition("not checked")[0]
    assert "tied" in out.partition("not checked")[2]


def test_the_table_of_several_families_is_that_of_the_worst(capsys):
    run(capsys, "fit", *PAIR, "--aggregator", "weighted-mean,owa", "--json", "a.json", "--table", "a.csv")
    found = json.loads(Path("a.json").read_bytes())
    assert pd.read_csv("a.csv")["linked"].sum() == found["linked"]


def test_refused_with_a_model(capsys):
    message = "--write-model stops before there is a result: leave --table out, or run twice"
    refuse(capsys, message, "fit", *PAIR, "--write-model", "m.lp", "--table", "a.csv")
