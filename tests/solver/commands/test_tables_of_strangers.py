"""Ready tables as people have them: odd codes, other totals, cells that are missing."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_runs import refuse, run

from linkrisk.solver.commands.program import main

CODES = {"NA": (3, 4), "N/A": (2, 6), "null": (5, 1), "01": (7, 9), "1": (4, 8)}
"""Of a region, what two sizes have: codes that could be taken for no value, or for the same number."""

CELLS = "region,size,value\nTotal,Total,10\nTotal,a,4\nTotal,b,6\nN,a,4\nN,b,6\nN,Total,10\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_codes_are_text_as_they_stand_in_the_file(capsys):
    """Namibia is no missing value, in the cells that `make` writes as little as in microdata."""
    lines = [f"{region},{size},{of[at]}" for region, of in CODES.items() for at, size in enumerate("ab")]
    Path("micro.csv").write_text("\n".join(["region,size,turnover", *lines]), encoding="utf-8")
    asked = ["--input", "micro.csv", "--by", "region,size", "--response", "turnover", "--rule", "p=10"]
    run(capsys, "tables", "make", *asked, "--cells", "made.csv", "--relations", "terms.csv")
    for more in ([], ["--relations", "terms.csv"]):
        run(capsys, "tables", "suppress", "--cells", "made.csv", *more, "--output", "safe.csv")
        shown = pd.read_csv("safe.csv", dtype=str, keep_default_na=False)
        assert set(shown["region"]) == {"Total", *CODES}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "Total",
            "TOTAL",
            "own.csv, column 'region': no cell has the code 'Total' of the total; say which code is the "
            "total of 'region' (--total region=TOTAL)",
        ),
        ("N,a", ",a", "own.csv, column 'region', row 4: the code is missing; fill it in"),
        (
            "N,b,6\n",
            "",
            "own.csv: relation 3 (region/size: N/Total = N/a) does not add up: its terms sum to -6; cells "
            "that are not in it count as 0: add them; or give all hierarchies, or recompute totals if these "
            "are wrong",
        ),
    ],
)
def test_what_is_wrong_is_said_with_how_to_mend_it(old, new, message, capsys):
    Path("own.csv").write_text(CELLS.replace(old, new), encoding="utf-8")
    refuse(capsys, message, "tables", "suppress", "--cells", "own.csv")


def test_a_table_without_sensitive_cells_is_not_called_protected(capsys):
    """Most often its statuses have been forgotten."""
    Path("own.csv").write_text(CELLS, encoding="utf-8")
    for action in ("suppress", "audit"):
        lines = run(capsys, "tables", action, "--cells", "own.csv").splitlines()
        assert "No cell is sensitive: nothing had to be suppressed." in lines
        assert lines[-1] == "note: sensitive cells are those of status u: there was nothing to protect"


def test_records_without_a_code_are_counted(capsys):
    Path("own.csv").write_text(CELLS.replace("N,", ","), encoding="utf-8")
    asked = ["--input", "own.csv", "--by", "region", "--cells", "made.csv", "--relations", "terms.csv"]
    message = (
        "own.csv, column 'region', row 4: the code is missing (and in 2 other rows); fill it in, or leave "
        "such records out, or give them a code of their own (--missing leave-out or code)"
    )
    refuse(capsys, message, "tables", "make", *asked)


def test_a_forged_certificate_is_rejected_by_codes(capsys):
    text = CELLS.replace("N,a,4\nN,b,6\nN,Total,10\n", "N,a,3\nN,b,4\nN,Total,7\nS,a,1\nS,b,2\nS,Total,3\n")
    lines = text.splitlines()
    made = [f"{lines[0]},status,lower_protection,upper_protection", *(f"{one},s,," for one in lines[1:])]
    made[4] = "N,a,3,u,1,1"
    Path("own.csv").write_text("\n".join(made), encoding="utf-8")
    files = ["--internal", "inside.csv", "--certificate", "proof.json"]
    run(capsys, "tables", "suppress", "--cells", "own.csv", *files)
    assert main(["verify", "proof.json", "--cells", "own.csv"]) == 1
    said = "rejected: the certificate is about other suppressed cells: "
    assert capsys.readouterr().err == f"{said}cell 4 (region=N, size=b) is published here\n"
