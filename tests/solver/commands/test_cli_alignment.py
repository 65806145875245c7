"""Who is who, and what is said about two files: in every command that reads a pair, and from Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import refuse, run

from linkrisk import compare, evaluate, fit, link
from linkrisk.datasets.errors import DataError
from linkrisk.solver.run.errors import UsageError

FILES = ["--original", "original.csv", "--masked", "masked.csv"]
REFUSAL = (
    "original.csv and masked.csv have the same values in column 'person' in different orders; align the "
    "records with --id person (--row-by-row takes the rows as they are)"
)
LABELS_NOTE = (
    "records were aligned by the labels of the two indexes, which hold the same ones in different orders; "
    "row_by_row=True takes the rows as they are"
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
    """The masked file in another order, and a fit of it with its certificate."""
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
    argv = [*COMMANDS[command], *FILES]
    refuse(capsys, REFUSAL, *argv)
    run(capsys, *argv, "--id", "person")
    if command != "verify":  # it has nothing to write
        result = json.loads(Path("out.json").read_text("utf-8"))
        assert result["alignment"] == "id person"
    refuse(
        capsys,
        "--id and --row-by-row are two ways to align the records; give one of them",
        *argv, "--id", "person", "--row-by-row",
    )  # fmt: skip


@pytest.mark.parametrize("command", ["fit", "compare", "evaluate", "link"])
@pytest.mark.usefixtures("fitted")
def test_rows_as_they_stand(command, capsys):
    run(capsys, *COMMANDS[command], *FILES, "--row-by-row")
    result = json.loads(Path("out.json").read_text("utf-8"))
    assert result["alignment"] == "row by row"


@pytest.mark.usefixtures("files")
def test_a_proof_about_rows_as_they_stand(capsys):
    out = ["--json", "fit.json", "--certificate", "proof.json"]
    run(capsys, "fit", *CHOSEN, *FILES, "--row-by-row", *out)
    argv = [*COMMANDS["verify"], *FILES]
    refuse(capsys, REFUSAL, *argv)
    assert "proved: no weighted mean links more than" in run(capsys, *argv, "--row-by-row")


NOT_MASKED = "note: column town was not masked: it is the same for every record of both files\n"


@pytest.mark.parametrize("command", ["fit", "compare", "evaluate", "link"])
@pytest.mark.usefixtures("fitted")
def test_what_should_be_known_is_printed_and_in_the_json(command, capsys):
    printed = run(capsys, *COMMANDS[command], *FILES, "--id", "person")
    assert NOT_MASKED in printed
    notes = json.loads(Path("out.json").read_text("utf-8"))["notes"]
    assert f"note: {notes[0]}\n" == NOT_MASKED


@pytest.mark.usefixtures("files")
def test_a_comma_in_a_name(capsys):
    start = ["fit", *FILES, "--id", "person"]
    refuse(
        capsys,
        "original.csv has no column 'income' (attribute); did you mean '\"income, gross\"'?",
        *start, "--attributes", "income, gross,age",
    )  # fmt: skip
    refuse(
        capsys,
        "original.csv has no column 'zzz' (attribute); there are: person, age, \"income, gross\", town",
        *start, "--attributes", "zzz",
    )  # fmt: skip
    refuse(
        capsys,
        "--attributes: '\"income, gross' is not a list of names; write names separated by commas, one with a "
        "comma in double quotes",
        *start, "--attributes", '"income, gross',
    )  # fmt: skip
    run(
        capsys,
        *start,
        "--attributes",
        'age,"income, gross"',
        "--ordinal",
        '"income, gross"',
        "--json",
        "a.json",
    )
    result = json.loads(Path("a.json").read_text("utf-8"))
    assert result["attributes"] == ["age", "income, gross"]
    assert [row["name"] for row in result["schema"]["attributes"]] == ["income, gross"]


@pytest.mark.usefixtures("fitted")
def test_text_that_is_called_na_is_a_category():
    schema = json.loads(Path("fit.json").read_text("utf-8"))["schema"]
    assert schema["attributes"][0]["categories"] == ["007", "B", "NA"]


def test_codes_that_a_spreadsheet_has_shortened(files):
    """007 in one file and 7 in the other: the same count as with one spelling, in every command."""
    original, masked = files
    chosen = {"attributes": ["age", "town"], "nominal": ["town"]}
    same = fit(original, masked, **chosen)
    masked.replace({"town": {"007": "7.0"}}).to_csv("masked.csv", index=False)
    read = fit("original.csv", "masked.csv", **chosen)
    assert (read.linked, read.details["notes"]) == (same.linked, same.details["notes"])
    again = evaluate("original.csv", "masked.csv", parameters=read.to_dict())
    assert again.linked == same.linked
    assert (
        link("original.csv", "masked.csv", method="dbrl", **chosen).linked
        == link(original, masked, method="dbrl", **chosen).linked
    )


def test_frames_are_aligned_by_their_labels():
    original, masked = survey()
    masked = masked.drop(columns="person")
    options = {"attributes": ["age", "income, gross"]}
    in_order = fit(original, masked, **options)
    moved = masked.sample(frac=1, random_state=3)
    by_label = fit(original, moved, **options)
    assert (by_label.linked, by_label.linked_upper_bound) == (in_order.linked, in_order.linked_upper_bound)
    assert by_label.details["alignment"] == "index labels"
    left = (
        "columns that were released as they are, and are not compared: town; 0 of 40 records are alone with"
    )
    assert by_label.details["notes"] == [LABELS_NOTE, f"{left} their values of them"]
    assert f"note: {LABELS_NOTE}" in _summary(by_label)
    again = evaluate(original, moved, parameters=by_label.to_dict())
    assert (again.linked, again.details["notes"][0]) == (in_order.linked, LABELS_NOTE)
    linked = link(original, moved, method="dbrl", **options)
    assert linked.details["notes"][0] == LABELS_NOTE
    assert linked.linked == link(original, masked, method="dbrl", **options).linked
    assert fit(original, moved, row_by_row=True, **options).details["alignment"] == "row by row"


def _summary(result):

    return str(result)


@pytest.mark.parametrize(
    "function", [fit, compare, lambda *files, **options: link(*files, method="dbrl", **options)]
)
def test_frames_with_an_id_in_another_order(function):
    original, masked = survey()
    moved = masked.sample(frac=1, random_state=3).reset_index(drop=True)
    with pytest.raises(DataError) as caught:
        function(original, moved, nominal=["town"])
    said = REFUSAL.replace("original.csv", "original").replace("masked.csv", "masked")
    said = said.replace("--id person", "id='person'").replace("--row-by-row", "row_by_row=True")
    assert str(caught.value) == said
    with pytest.raises(UsageError) as wrong:
        function(original, moved, nominal=["town"], id="person", row_by_row=True)
    assert str(wrong.value) == "id and row_by_row are two ways to align the records; give one of them"
