"""`unsafe` on the command line and as a function: what it counts, tries and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, run
from key_tasks import PEOPLE

from linkrisk import suppress, unsafe
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.recoding import GlobalRecoding
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.solver.run.errors import UsageError

TOWN = "town,province,country\nUrk,Flevoland,NL\nDelft,Holland,NL\n"


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("town.csv").write_text(TOWN, encoding="utf-8")


def test_what_is_printed_and_written(capsys):
    recode = "global-recoding hierarchy=town=town.csv level=2"
    options = ["--k", "2", "--recode", recode, "--hierarchy", "town=town.csv", "--json", "found.json"]
    said = run(capsys, "unsafe", "--input", "people.csv", *options)
    check_golden("unsafe", said)
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["before"]["minimal"] == 4
    assert found["after"]["minimal"] == 1
    assert [(one["level"], one["lost"], one["minimal"]) for one in found["levels"]] == [
        (0, 0.0, 4), (1, 0.0, 4), (2, 1.0, 1),
    ]  # fmt: skip


def test_a_trial_counts_what_the_recoded_file_has():
    frame = pd.read_csv("people.csv")
    hierarchy = Hierarchy.read("town", "town.csv")
    asked = {"keys": ["town", "sex", "trade"], "k": 2}
    method = GlobalRecoding(hierarchy=(hierarchy,), level=2)
    tried = unsafe(frame, recode=[method], hierarchies=[hierarchy], **asked)
    real = unsafe(method.apply(frame), **asked)
    assert tried.after == real.before
    assert tried.levels[2].minimal == real.before.minimal
    assert tried.levels[2].records == real.before.records
    assert tried.before == unsafe(frame, **asked).before
    assert list(tried.to_frame().columns) == ["variable", "category", "before", "after"]
    assert tried.recoded == ("global recoding to level 2 of town",)


def test_it_agrees_with_suppress():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.integers(0, 4, (200, 4)), columns=list("abcd"))
    for asked in ({"k": 3}, {"dimension": 2, "threshold": 9}, {"levels": {"a": 1, "b": 2, "c": 2}}):
        counted, taken = unsafe(frame, **asked), suppress(frame, **asked)
        assert counted.before.minimal == taken.minimal
        assert counted.before.records == taken.unsafe
        assert counted.before.combinations == taken.unsafe_combinations
        assert counted.checked == taken.checked


def test_missing_values_and_weights():
    frame = pd.DataFrame({"a": ["x", "x", None, "y"], "w": [1.0, 1.0, 5.0, 9.0]})
    own = unsafe(frame, keys=["a"], dimension=1, threshold=2, missing="own-category", weight="w")
    assert own.before.by_category == {"a": {"x": 2}}
    lone = unsafe(frame, keys=["a"], k=2)
    assert lone.before.by_category == {"a": {"y": 1}}  # a missing value alone tells nothing


def test_a_category_may_be_called_missing():
    frame = pd.DataFrame({"a": ["missing", None, "x", "x"], "b": [1.0, 1.0, 2.5, None]})
    found = unsafe(frame, k=2).before
    assert found.by_category["a"] == {"missing": 1, "(missing)": 1, "x": 1}
    assert found.by_category["b"] == {"1": 1, "2.5": 1, "missing": 1}
    assert all(sum(by.values()) == found.by_variable[name] for name, by in found.by_category.items())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"recode": ["noise percent=5"]}, "recode: 'noise' leaves something to chance"),
        ({"hierarchies": [Hierarchy("job", (("a",), ("b",)))]}, "'job' is no key variable"),
    ],
)
def test_what_cannot_be_asked(asked, message):
    with pytest.raises((UsageError, DataError), match=message):
        unsafe("people.csv", **asked)


def test_a_code_such_as_na_is_a_category(tmp_path):
    """As of all that is compared as categories: the only one from Namibia is not taken for unknown."""
    rows = ["NA,m,1", "DE,m,NA", "DE,m,1", ",m,1", ",m,1"]
    (tmp_path / "people.csv").write_text("\n".join(["country,sex,code", *rows]) + "\n", encoding="utf-8")
    found = unsafe(tmp_path / "people.csv", keys=["country", "sex"], k=2).before
    assert (found.by_category["country"], found.records) == ({"NA": 1}, 1)
    result = suppress(tmp_path / "people.csv", keys=["country", "sex"], k=2)
    assert result.suppressed["country"] == 1
