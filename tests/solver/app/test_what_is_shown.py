"""What pages say of results: answers in a sentence, differences of runs, what a masking would change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from application import done, opened, small_pair

from linkrisk import mask
from linkrisk.solver.app import preview
from linkrisk.solver.app.answers import Difference, answer, difference, least_risk
from linkrisk.solver.app.runs import Queue
from linkrisk.solver.app.steps import Asked
from linkrisk.solver.app.table_steps import add
from linkrisk.solver.schemas.reading import Interval


def number(value: float | None, unit: str = "share", worse: str = "higher") -> dict[str, object]:
    return {"value": value, "unit": unit, "worse": worse}


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        (number(0.25), number(0.275), Difference("+2.5 points: worse", "bad")),
        (number(0.25), number(0.2), Difference("\u22125.0 points: better", "good")),
        (number(3.0, "number", "lower"), number(4.5, "number", "lower"), Difference("+1.5: better", "good")),
        (number(3.0, "number", "neither"), number(4.0, "number", "neither"), Difference("+1", "")),
        (number(3.0), number(3.0), Difference("the same", "")),
        (number(None), number(3.0), None),
        (number(3.0), None, None),
    ],
)
def test_differences_say_whether_they_are_better(first, other, said) -> None:
    assert difference(first, other) == said


def test_commands_of_key_variables_and_linkers_run_and_are_answered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "people.csv").write_text("town,sex\n" + "A,f\n" * 4 + "A,m\nB,f\n" + "B,m\n" * 4)
    (data / "towns.csv").write_text("town,all\nA,*\nB,*\n")
    original, masked = small_pair(tmp_path)
    queue = Queue(opened(tmp_path))
    keys = {"data": "data/people.csv", "keys": ["town", "sex"], "k": 3}
    trees = {"hierarchies": ["town=data/towns.csv"]}
    linked = {"method": "dbrl", "attributes": ["age"], "one_to_one": "greedy"}
    asked = [Asked("unsafe", {**keys, **trees}), Asked("suppress", keys)]
    asked.append(Asked("suppress", {**keys, **trees, "problem": "joint"}))
    asked.append(Asked("link", {"original": original, "masked": masked, **linked}))
    runs = [made for one in asked for made in add(queue, one)]
    said = [answer(done(one)) for one in runs]
    assert said[0] == "2 of 10 (20.0 %) records have an unsafe combination."
    assert said[1].startswith("2 of 20 (10.0 %) values of key variables suppressed")
    assert "proven" in said[1]
    assert "proven" in said[2]
    result = runs[3].result
    assert said[3].startswith(f"{result['linked']} of 24 records (")
    assert said[3].endswith(" are linked to their partner.")


def test_the_least_worst_case_is_named_where_intervals_do_not_overlap() -> None:
    def said(**other: Interval) -> str:
        return least_risk({"a": Interval(60.0, 70.0, 100.0), **other}).replace("\u202f", " ")

    certain = said(b=Interval(80.0, 96.0, 200.0))
    assert certain.startswith(
        "b has the least worst case: at most 48.0 % can be re-identified, and at least 60.0 % in every other"
    )
    sampled = said(b=Interval(80.0, 96.0, 200.0, confidence=0.95))
    assert sampled.startswith("b has the least worst case with the confidence that they state: at most 48")
    for high in (60.0, 100.0):
        assert said(b=Interval(10.0, high, 100.0)).startswith("Which of them has the least worst case")


def previewed(file: Path, method: str) -> Any:
    found = file.parent / "found.json"
    preview.main(str(file), str(found), "{}", method)
    return json.loads(found.read_text(encoding="utf-8"))


def test_a_preview_has_distributions_and_the_risk_of_a_plain_attack(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    frame = pd.DataFrame({"x": chance.normal(size=60).round(3), "y": chance.normal(size=60).round(3)})
    frame.to_csv(tmp_path / "file.csv", index=False)
    found = previewed(tmp_path / "file.csv", "microaggregation k=4")
    for column in found["columns"]:
        shares = np.array([bar[1:] for bar in column["distribution"]])
        assert len(shares) == preview.BARS
        np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    masked = mask(str(tmp_path / "file.csv"), "microaggregation k=4").table
    a, b = (((one - one.mean()) / one.std()).to_numpy() for one in (frame, masked))
    right = 0.0  # guessing among the nearest masked records, each file standardised by its own
    for at, record in enumerate(a):
        far = ((b - record) ** 2).sum(axis=1)
        nearest = np.flatnonzero(np.isclose(far, far.min(), rtol=1e-9, atol=1e-12))
        right += (at in nearest) / len(nearest)
    assert found["linked"] == pytest.approx(right / len(a))  # without chance: the same file


def test_a_preview_says_what_may_be_codes_and_writes_dates_and_amounts_as_people_do(tmp_path: Path) -> None:
    lines = [f"{1 + i % 2},{'ab'[i % 2]},{i}.5\n" for i in range(40)]
    (tmp_path / "f.csv").write_text("sex,town,income\n" + "".join(lines))
    found = previewed(tmp_path / "f.csv", "microaggregation k=3")
    assert (found["perhaps_codes"], found["as_is"]) == (["sex"], ["town"])
    days = pd.Series(pd.date_range("2001-01-01", periods=60, freq="37D").strftime("%d.%m.%Y"))
    pd.DataFrame({"born": days, "income": np.arange(60) * 1000 + 500}).to_csv(tmp_path / "f.csv", index=False)
    found = previewed(tmp_path / "f.csv", "microaggregation k=3")
    first = {column["name"]: column["distribution"][0][0] for column in found["columns"]}
    assert first["born"].startswith("2001-0")
    assert " to 2001-0" in first["born"]
    assert first["income"] == "500 to 5,417"


def test_a_preview_counts_categories_and_names_codes_by_their_labels(tmp_path: Path) -> None:
    pd.DataFrame({"town": list("AAAB") * 5}).to_csv(tmp_path / "file.csv", index=False)
    found = previewed(tmp_path / "file.csv", "pram change=0.5 attributes=town")
    bars = {label: before for label, before, _ in found["columns"][0]["distribution"]}
    assert bars == {"A": 0.75, "B": 0.25}
    assert ("linked" in found) != ("not_linked" in found)
    frame = pd.DataFrame({"area": [1, 2] * 20, "pay": np.arange(40.0)})
    labels = {"area": {1: "Wien", 2: "Tirol"}}
    pyreadstat.write_sav(frame, str(tmp_path / "f.sav"), variable_value_labels=labels)
    found = previewed(tmp_path / "f.sav", "pram change=0.5 attributes=area")
    assert {one[0] for one in found["columns"][0]["distribution"]} == {"Wien (1)", "Tirol (2)"}
