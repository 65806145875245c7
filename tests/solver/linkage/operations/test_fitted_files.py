"""`evaluate` without files: those of the fit, and no others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from refusals import refusal

from linkrisk import evaluate, fit
from linkrisk.solver.commands.program import main

FIT = [
    "fit",
    "--original",
    "original.csv",
    "--masked",
    "masked.csv",
    "--json",
    "fit.json",
    "--work-limit",
    "3",
]


@pytest.fixture
def fitted(survey_folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """A fit of the small file pair, written to fit.json."""
    del survey_folder
    assert main(FIT) == 0
    capsys.readouterr()
    found = json.loads(Path("fit.json").read_text())
    assert isinstance(found, dict)
    return found


def test_the_files_of_the_fit_are_taken_or_asked_for(fitted, monkeypatch):
    assert evaluate(parameters="fit.json").linked == fitted["linked"]
    Path("own.json").write_text('{"parameters": {"weights": {"a": 0.5, "b": 0.5}}}')
    message = "own.json does not say which files it is about: give original and masked"
    assert refusal(lambda: evaluate(parameters="own.json")) == message
    frames = [pd.read_csv(name) for name in ("original.csv", "masked.csv")]
    found = fit(*frames, work_limit=3)
    assert evaluate(*frames, parameters=found).linked == found.linked
    message = "does not say where these files are: give original and masked"
    assert message in refusal(lambda: evaluate(parameters=found))
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    found = evaluate(parameters="../fit.json")
    assert (found.linked, found.records) == (fitted["linked"], 30)
    shutil.copy("../fit.json", "fit.json")
    message = "fit.json is of original.csv, which is not there: give original"
    assert refusal(lambda: evaluate(parameters="fit.json")).startswith(message)


@pytest.mark.usefixtures("fitted")
def test_files_that_have_changed_are_refused():
    for name in ("masked.csv", "original.csv"):
        pd.read_csv(name).head(29).to_csv(name, index=False)
    message = "fit.json is of files with 30 records, and the files that it names have 29: they have changed"
    assert refusal(lambda: evaluate(parameters="fit.json")).startswith(message)


def test_files_of_the_same_size_that_have_changed_are_told(fitted):
    assert not any("not as they were" in note for note in evaluate(parameters="fit.json").details["notes"])
    masked = pd.read_csv("masked.csv")
    masked.iloc[:4] = masked.iloc[[1, 2, 3, 0]].to_numpy()
    masked.to_csv("masked.csv", index=False)
    found = evaluate(parameters="fit.json")
    told = (
        f"the files are not as they were when the parameters were learned: {fitted['linked']} of 30 records"
    )
    assert any(note.startswith(told) for note in found.details["notes"])
    # With other options than those of the fit other records are no sign of that.
    other = evaluate(parameters="fit.json", ties="share")
    assert not any("not as they were" in note for note in other.details["notes"])


def test_ids_align_as_in_the_fit(survey_folder):
    del survey_folder
    for at, name in enumerate(("original.csv", "masked.csv")):
        frame = pd.read_csv(name)
        frame.insert(0, "who", range(len(frame)))
        frame.sample(frac=1.0, random_state=at).to_csv(name, index=False)
    assert main([*FIT, "--id", "who"]) == 0
    assert evaluate(parameters="fit.json").linked == json.loads(Path("fit.json").read_text())["linked"]


def test_the_embedded_pair_is_that_of_its_fits_and_of_weights_alone():
    found = fit(work_limit=3)
    assert evaluate(parameters=found).linked == found.linked
    names = found.details["attributes"]
    weights = {"parameters": {"weights": dict.fromkeys(names, 1.0 / len(names))}}
    assert evaluate(parameters=weights).linked == found.details["baselines"]["euclid"]


def test_of_a_large_file_counts_are_compared(fitted):
    note = "the files are not as they were"
    few = fitted["linked"] - 1

    def notes(**changed):
        return " ".join(evaluate(parameters={**fitted, **changed}).details["notes"])

    listed = fitted["records_table"]
    unknown = [[row[0], None, *row[2:]] for row in listed["rows"]]
    assert note not in notes(records_table={**listed, "rows": unknown})
    for ranks, linked, said in (([30], few, True), ([30], few + 1, False), ([29], few, False)):
        table = {"columns": listed["columns"], "rows": [], "left_out": 30, "ranks": ranks}
        assert (note in notes(records_table=table, linked=linked)) is said
