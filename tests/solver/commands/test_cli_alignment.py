"""Who is who, and what is said about two files, in every command that reads a pair."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_refusals, refuse, run

FILES = ["--original", "original.csv", "--masked", "masked.csv"]
REFUSAL = (
    "original.csv and masked.csv have the same values in column 'person' in different orders; align the "
    "records with --id person (--row-by-row takes the rows as they are)"
)


def survey(records: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(7)
    original = pd.DataFrame(
        {
            "person": random.permutation(records) + 100,
            "age": random.integers(18, 80, records),
            "income, gross": random.normal(3000, 900, records).round(),
            "town": random.choice(["NA", "007", "B"], records),
        }
    )
    income = original["income, gross"] + random.normal(0, 300, records).round()
    masked = original.assign(age=original["age"] + random.integers(-3, 4, records))
    return original, masked.assign(**{"income, gross": income})


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original, masked = survey()
    original.to_csv("original.csv", index=False)
    masked.sample(frac=1, random_state=1).to_csv("masked.csv", index=False)
    return original, masked


CHOSEN = ["--attributes", 'age,"income, gross",town', "--nominal", "town"]
COMMANDS = {
    "fit": ["fit", *CHOSEN, "--json", "out.json"],
    "compare": ["compare", *CHOSEN, "--backends", "exact", "--json", "out.json"],
    "evaluate": ["evaluate", "--parameters", "fit.json", "--json", "out.json"],
    "link": ["link", "--method", "dbrl", *CHOSEN, "--json", "out.json"],
    "verify": ["verify", "fit.json", "--certificate", "proof.json"],
}


@pytest.fixture
def fitted(files, capsys):
    run(capsys, "fit", *CHOSEN, *FILES, "--id", "person", "--json", "fit.json", "--certificate", "proof.json")
    return files


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("fitted")
def test_rows_in_another_order(command, capsys):
    """And what else should be known of the two files is printed, and in the JSON."""
    argv = [*COMMANDS[command], *FILES]
    refuse(capsys, REFUSAL, *argv)
    printed = run(capsys, *argv, "--id", "person")
    if command != "verify":  # it has nothing to write
        result = json.loads(Path("out.json").read_text("utf-8"))
        assert result["alignment"] == "id person"
        assert (
            result["notes"][0] == "column town was not masked: it is the same for every record of both files"
        )
        assert f"note: {result['notes'][0]}\n" in printed
        run(capsys, *argv, "--row-by-row")
        assert json.loads(Path("out.json").read_text("utf-8"))["alignment"] == "row by row"


@pytest.mark.usefixtures("files")
def test_a_proof_about_rows_as_they_stand(capsys):
    out = ["--json", "fit.json", "--certificate", "proof.json"]
    run(capsys, "fit", *CHOSEN, *FILES, "--row-by-row", *out)
    argv = [*COMMANDS["verify"], *FILES]
    refuse(capsys, REFUSAL, *argv)
    assert "proved: no weighted mean links more than" in run(capsys, *argv, "--row-by-row")


@pytest.mark.usefixtures("files")
def test_a_comma_in_a_name(capsys):
    start = ["fit", *FILES, "--id", "person", "--attributes"]
    check_refusals(capsys, "commas", [[*start, "income, gross,age"], [*start, '"income, gross']])
    run(capsys, *start, 'age,"income, gross"', "--ordinal", '"income, gross"', "--json", "a.json")
    result = json.loads(Path("a.json").read_text("utf-8"))
    assert result["attributes"] == ["age", "income, gross"]
    assert [row["name"] for row in result["schema"]["attributes"]] == ["income, gross"]
