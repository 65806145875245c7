"""What `fit`, `evaluate` and `compare` print, to the letter. The parameters are those of every seed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import PAIR, check_golden, run, without_seconds
from report_cases import blocks, rows
from small_files import NAMES, csv_text, survey

from linkrisk.solver.commands.program import COMMANDS, main
from linkrisk.solver.linkage import records_table as records
from linkrisk.solver.report.page import document_of
from linkrisk.solver.worst_case.contest import BackendRow, disagreements
from linkrisk.solver.worst_case.operations.compare import ComparisonResult

pytestmark = pytest.mark.usefixtures("survey_folder", "still_time")

GROUPED = ["--original", "original.csv", "--masked", "grouped.csv"]

FITS = {
    "fit-weighted-mean": PAIR,
    "fit-owa": [*PAIR, "--aggregator", "owa"],
    "fit-choquet": [*PAIR, "--aggregator", "choquet"],
    "fit-mahalanobis": [*PAIR, "--aggregator", "mahalanobis"],
    "fit-ties-share": [*GROUPED, "--ties", "share"],
    "fit-samples-families": [*PAIR, "--sample", "6", "--samples", "3", "--aggregator", "owa,choquet"],
    # No time at all: the first parameters tried, and a bound by what the data alone rule out.
    # With so small a C the model cannot promise a bound, and says so.
    "fit-small-big-c": [*PAIR, "--big-c", "0.5", "--time-limit", "none"],
}


@pytest.mark.parametrize("name", FITS)
def test_fit(name, capsys):
    check_golden(name, without_seconds(run(capsys, "fit", *FITS[name])))


def test_fit_on_files_with_constants_and_records_without_partner(capsys):
    rows = survey()
    names = ("id", "country", *NAMES)
    numbered = [[100 + at, 34, *row] for at, row in enumerate(rows)]
    Path("original.csv").write_text(csv_text(numbered[:28], names), encoding="utf-8")
    Path("masked.csv").write_text(csv_text(numbered[:1:-1], names), encoding="utf-8")
    argv = ["fit", *PAIR, "--id", "id", "--drop-constant", "--json", "fit.json"]
    check_golden("fit-drop-constant", without_seconds(run(capsys, *argv)))
    result = json.loads(Path("fit.json").read_text(encoding="utf-8"))
    assert (result["records"], result["candidates"]) == (26, 28)
    assert result["attributes"] == list(NAMES)
    assert result["command"] == "python -m solver " + " ".join(argv)


def test_the_worst_case_does_not_depend_on_the_seed(capsys):
    printed = {
        without_seconds(run(capsys, "fit", *PAIR, "--seed", seed)).replace(f"seed {seed}", "seed")
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1


def test_write_model(capsys):
    printed = run(capsys, "fit", *PAIR, "--write-model", "m.lp")
    check_golden("fit-write-model", printed)
    model = Path("m.lp").read_text(encoding="utf-8")
    assert "sum_to_one" in model
    rows = int(re.search(r"(\d+) rows", printed)[1])
    assert len(re.findall(r"^ *block_\d+_rival_\d+:", model, flags=re.MULTILINE)) == rows - 1
    run(capsys, "fit", *PAIR, "--write-model", "m.mps")
    assert Path("m.mps").read_text(encoding="utf-8").startswith("NAME")


def test_evaluate(capsys):
    run(capsys, "fit", *PAIR, "--aggregator", "choquet", "--json", "fit.json")
    argv = ["evaluate", *PAIR, "--parameters", "fit.json"]
    check_golden("evaluate", run(capsys, *argv))
    printed = run(capsys, *argv, "--one-to-one", "--table", "table.csv", "--json", "evaluation.json")
    check_golden("evaluate-one-to-one", printed)
    table = Path("table.csv").read_text(encoding="utf-8")
    check_golden("evaluate-table", re.sub(r"\d+\.\d{6,}", lambda number: f"{float(number[0]):.6f}", table))
    fitted, evaluated = (
        json.loads(Path(name).read_text("utf-8")) for name in ("fit.json", "evaluation.json")
    )
    for key in ("linked", "records", "attributes", "baselines", "parameters", "records_table"):
        assert evaluated[key] == fitted[key], key


def test_evaluate_takes_weights_written_by_hand(capsys):
    weights = {"parameters": {"weights": {"age": 0.5, "hours": 0.25, "income": 0.25}}}
    Path("mine.json").write_text(json.dumps(weights), encoding="utf-8")
    check_golden("evaluate-own-weights", run(capsys, "evaluate", *PAIR, "--parameters", "mine.json"))


# compare

ROW = BackendRow(
    engine="milp", backend="highs", status="optimal", limit=None, claimed=23.0, linked=23.0,
    linked_with_margin=23.0, linked_upper_bound=23.0, gap=0.0, rows=120, columns=30, nonzeros=480,
    build_seconds=0.001, solve_seconds=0.25, peak_memory_mb=101.5, version="1.15.1",
)  # fmt: skip
LATE = replace(
    ROW, backend="scip", status="feasible", limit="time", claimed=22.0, linked=22.0, linked_with_margin=22.0,
    linked_upper_bound=26.0, gap=4.0, solve_seconds=60.004,
)  # fmt: skip
FAILED = replace(
    ROW, backend="cvxpy", status="failed", linked=None, linked_with_margin=None, linked_upper_bound=None,
    gap=None, build_seconds=None, solve_seconds=None, peak_memory_mb=None, version="out of luck",
)  # fmt: skip
WRONG = replace(ROW, backend="pulp-cbc", linked=24.0, linked_with_margin=24.0, linked_upper_bound=24.0)
NARROW = replace(ROW, linked=25.0)
DETAILS = {
    "name": "original.csv and masked.csv", "records": 30, "candidates": 30, "attributes": list(NAMES),
    "aggregator": "weighted-mean", "aggregator_options": {}, "direction": "original-to-masked",
    "margin": 1e-5, "notes": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("compare-agreement", (ROW, LATE, FAILED)),
        ("compare-disagreement", (ROW, LATE, WRONG)),
        ("compare-narrow", (NARROW,)),
        ("compare-nothing", ()),
    ],
)
def test_compare_table(name, rows):
    check_golden(name, str(ComparisonResult(rows, tuple(disagreements(rows)), DETAILS)))


def test_compare(capsys):
    printed = run(capsys, "compare", *PAIR, "--backends", "highs,scipy")
    # Hide seconds, memory and versions, and the widths that depend on them.
    printed = re.sub(r"  +[\d.]+  +[\d.]+  +[\d.]+  1\..*$", "  *", printed, flags=re.MULTILINE)
    check_golden("compare", re.sub(r"build s .*$", "*", printed, flags=re.MULTILINE))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = [command] if command else []
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    check_golden("-".join(["help", *words]), capsys.readouterr().out)


NOTE = "note: JSON and report do not list 30 records; --table FILE.parquet writes them\n"


@pytest.fixture
def few_are_many(monkeypatch) -> None:
    monkeypatch.setattr(records, "MOST_ROWS", 29)


@pytest.mark.usefixtures("few_are_many")
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


@pytest.mark.usefixtures("few_are_many")
def test_verify_says_what_it_did_not_check(capsys):
    assert main(["fit", *PAIR, "--json", "fit.json", "--certificate", "proof.json"]) == 0
    assert main(["verify", "fit.json", "--certificate", "proof.json", *PAIR]) == 0
    out = capsys.readouterr().out
    assert "records_table" not in out.partition("not checked")[0]
    assert "tied" in out.partition("not checked")[2]
