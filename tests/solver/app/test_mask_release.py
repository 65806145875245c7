"""What is released of a masked file, as the page of masking asks for it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from application import opened, small_pair
from cli_runs import run

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.app.runs import Queue
from linkrisk.solver.app.steps import Asked, Step, add_mask, shuffled_by


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({}, []),
        ({"drop": []}, ["--drop", "none"]),
        (
            {"drop": ["name", "a,b"], "shuffle": True, "renumber": ["id", "home"]},
            ["--drop", 'name,"a,b"', "--shuffle", "--renumber", "id,home"],
        ),
    ],
)
def test_options(asked: dict[str, object], options: list[str]) -> None:
    assert Step("mask", asked).argv == ["mask", *options]


def test_a_pair_that_was_shuffled_is_checked_by_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original, _ = small_pair(tmp_path)
    project = opened(tmp_path)
    monkeypatch.chdir(tmp_path)
    queue, method = Queue(project), ["rounding base=0.1 attributes=age"]
    made = add_mask(queue, original, method, drop=["income"], shuffle=True)
    run(capsys, *made.command["steps"][0])
    masked = "runs/0001-mask/original-masked.csv"
    assert list(pd.read_csv(masked).columns) == ["age"]
    record = shuffled_by(project, masked)
    assert record == "runs/0001-mask/masking-record.json"
    pair = {"original": original, "masked": masked, "id": record, "attributes": ["age"]}
    (step,) = Asked("risk", pair).steps("x")
    assert step.argv[step.argv.index("--id") + 1] == record
    pair = make_file_pair(original, masked, id=record, attributes=["age"])
    assert abs(pair.original["age"] - pair.masked["age"].iloc[pair.partner].to_numpy()).max() < 0.06
    in_place = add_mask(queue, original, method)
    run(capsys, *in_place.command["steps"][0])
    assert shuffled_by(project, "runs/0002-mask/original-masked.csv") == ""
    assert shuffled_by(project, original) == ""
