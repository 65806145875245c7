"""What the application keeps of every kind of run, to the letter: commands, inputs, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from application import opened, small_pair
from cli_runs import check_golden

from linkrisk.solver.app.runs import Queue, runs_of, spelled
from linkrisk.solver.app.steps import SEARCHED, Asked, add_mask, add_masked_risk
from linkrisk.solver.app.table_steps import AUDIT, TableAsked, add
from linkrisk.solver.run.errors import UsageError

METHODS = ["noise percent=10", "microaggregation k=3,5"]


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, object]:
    original, masked = small_pair(tmp_path)
    project = opened(tmp_path)
    queue, pair = Queue(project), {"original": original, "masked": masked}
    own = {**SEARCHED, **pair, "schema": "data/it's.toml", "aggregator": "owa"}
    add(queue, Asked("fit", SEARCHED))
    add(queue, Asked("fit", own, certified=True))
    add(queue, Asked("risk", {**SEARCHED, **pair, "id": "a b", "time_limit": 30.0, "ties": "share"}))
    add(queue, Asked("sweep", {**SEARCHED, "original": original, "seed": 3, "methods": METHODS}))
    add_mask(queue, original, METHODS[:1], id="age", seed="7")
    add(
        queue,
        Asked("link", {**pair, "method": "prl", "attributes": ["age", "b,c"], "one_to_one": "hungarian"}),
    )
    keys = {"data": original, "k": 3, "dimension": 2}
    joint = {"schema": "data/it's.toml", "problem": "joint", "k": 5, "household": "group", "weight": "w"}
    for asked in (
        Asked("unsafe", {**keys, "keys": ["age", "b,c"], "hierarchies": ["age=data/age.csv"]}),
        Asked("suppress", {**keys, "threshold": 2.0, "untouched": ["age"]}, small=True),
        Asked("suppress", {**keys, **joint, "hierarchies": ["a b=data/ages.csv"], "time_limit": None}),
    ):
        add(queue, asked)
    add_masked_risk(queue, {"original": original}, METHODS[:1])
    made = {"data": original, "rules": ["p=10"]}
    ready = [("data/cells.csv", "data/relations.csv")]
    add(queue, TableAsked(tables=ready, values={"cost": "unit", "time_limit": 9.0}))
    add(queue, TableAsked(values={"seed": 4}, made={**made, "by": [["age", "a b"]], "response": "income"}))
    trees = {"age": ["data/age tree.hrc"], "other": ["data/other.csv"]}
    insiders = {
        "insiders": "contributors",
        "coalitions": "data/cartel.csv",
        "as_far_as_possible": True,
        "method": "modular",
    }
    add(
        queue,
        TableAsked(values=insiders, made={**made, "by": [["age"]], "hierarchies": trees, "respondent": "id"}),
    )
    both = {"age": ["data/county.hrc", "data/zone.csv"]}
    columns = {"response": "income", "weight": "w", "weights_in_rules": "known", "holding": "group"}
    add(queue, TableAsked(made={**made, "by": [["age"]], "hierarchies": both, **columns}))
    known = {"metadata": "data/other.rda", "apriori": "data/known.hst"}
    add(queue, TableAsked(tables=[("data/ready.tab", "")], values=known))
    linked = [("a.csv", ""), ("b.csv", "b-relations.csv"), ("c.csv", "")]
    add(queue, TableAsked(tables=linked, values={"hierarchies": {"region": ["tree.csv"]}}))
    who = {"insiders": "singletons", "counts": False, "contributors": "data/who.csv", "coalitions": "c.csv"}
    add(queue, TableAsked(tables=ready, values=who))
    again = {"also": [("d.csv", "r.csv")], "workers": 2, "time_limit": 9.0, "made": "rules.json"}
    add(queue, TableAsked(AUDIT, tables=[("a.csv", "")], values={**again, "insiders": "data/who.csv"}))
    add(queue, TableAsked(made={**made, "by": [["a"], ["b"], ["a", "b"]]}, values={"exact": True}))
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
        (Asked("unsafe"), "choose a file"),
        (
            Asked("suppress", {"data": "data/a.csv", "problem": "joint"}),
            "levels of recoding need a hierarchy of at least one key variable: choose its file",
        ),
        (Asked("sweep"), "a sweep needs an original file: choose one"),
        (Asked("sweep", {"original": "data/a.csv"}), "a sweep needs maskings: write at least one"),
        (Asked("risk", {"original": "data/a.csv"}), "choose the masked file, too"),
        (Asked("link"), "a linker needs a file pair: choose an original and a masked file"),
        (Asked("link", {"original": "a.csv", "masked": "b.csv"}), "choose method"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, asked: Asked, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        add(Queue(opened(tmp_path)), asked)
    assert runs_of(opened(tmp_path)) == []
