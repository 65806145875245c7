"""What the application keeps of every kind of run, to the letter: commands, inputs, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app_projects import opened, small_pair
from cli_runs import check_golden

from linkrisk.solver.app.run_folder import runs_of, spelled
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.steps import (
    Question,
    add_fit,
    add_link,
    add_mask,
    add_masked_risk,
    add_risk,
    add_sweep,
)
from linkrisk.solver.app.suppression_steps import SuppressionQuestion, add_suppression
from linkrisk.solver.app.table_question import TableQuestion
from linkrisk.solver.app.table_steps import add_table
from linkrisk.solver.run.errors import UsageError

METHODS = ["noise percent=10", "microaggregation k=3,5"]


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, object]:
    """Every kind of run, waiting."""
    original, masked = small_pair(tmp_path)
    project = opened(tmp_path)
    queue, one = Queue(project), Question(original, masked, identifier="a b", seconds=30.0, ties="share")
    add_fit(queue, Question())
    add_fit(queue, Question(original, masked, schema="data/it's.toml", aggregator="owa", certificate=True))
    add_risk(queue, one)
    add_sweep(queue, Question(original, seed=3), METHODS)
    add_mask(queue, original, METHODS[:1], identifier="age", seed="7")
    add_link(queue, Question(original, masked, attributes=("age", "b,c"), one_to_one="hungarian"))
    for asked in (
        SuppressionQuestion(original, keys=("age", "b,c"), hierarchies=(("age", "data/age.csv"),)),
        SuppressionQuestion(original, task="suppress", rare="dimension", threshold=2, untouched=("age",)),
        SuppressionQuestion(
            original,
            "data/it's.toml",
            "suppress",
            problem="joint",
            k=5,
            household="group",
            weight="w",
            hierarchies=(("a b", "data/ages.csv"),),
            seconds=0.0,
        ),
    ):
        add_suppression(queue, asked)
    add_masked_risk(queue, Question(original), METHODS[:1])
    add_table(queue, TableQuestion("data/cells.csv", "data/relations.csv", cost="unit", seconds=9.0))
    add_table(queue, TableQuestion(microdata=original, by=("age", "a b"), response="income", seed=4))
    trees = (("age", "data/age tree.hrc"), ("other", "data/other.csv"))
    insiders = {
        "insiders": "contributors",
        "coalitions": "data/cartel.csv",
        "respondent": "id",
        "partly": True,
    }
    add_table(
        queue,
        TableQuestion(microdata=original, by=("age",), hierarchies=trees, method="modular", **insiders),
    )
    both = (("age", "data/county.hrc"), ("age", "data/zone.csv"))
    columns = {"response": "income", "weight": "w", "weights_in_rules": "known", "holding": "group"}
    add_table(queue, TableQuestion(microdata=original, by=("age",), hierarchies=both, **columns))
    add_table(queue, TableQuestion("data/ready.tab", metadata="data/other.rda", apriori="data/known.hst"))
    found = {}
    for run in reversed(runs_of(project)):
        command = {key: value for key, value in run.command.items() if key != "created"}
        found[run.name] = {**command, "spelled": [spelled(step) for step in command["steps"]]}
    return found


def test_what_is_kept_of_runs(kept: dict[str, object]) -> None:
    check_golden("app-runs", json.dumps(kept, indent=2) + "\n")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (SuppressionQuestion(), "choose a file"),
        (
            SuppressionQuestion("data/a.csv", task="suppress", problem="joint"),
            "levels of recoding need a hierarchy of at least one key variable: choose its file",
        ),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, asked: SuppressionQuestion, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        add_suppression(Queue(opened(tmp_path)), asked)
    assert runs_of(opened(tmp_path)) == []
