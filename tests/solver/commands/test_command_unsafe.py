"""`unsafe` on the command line and as a function: what it counts, tries and refuses."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, refuse, run
from hypothesis import given, settings
from hypothesis import strategies as st
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


def minimal_ones(frame, names, threshold):
    """Of all records, by the definition: name, value of every variable of a minimal unsafe combination."""
    found = []
    for _, row in frame.iterrows():
        some = []
        for size in range(1, len(names) + 1):
            for part in combinations(names, size):
                alike = (frame[list(part)] == row[list(part)]).all(axis=1).sum()
                if alike <= threshold and not any(set(one) <= set(part) for one in some):
                    some.append(part)
        found.append([[(name, str(row[name])) for name in part] for part in some])
    return found


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


@settings(max_examples=20)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from("xyz")] * 3), min_size=1, max_size=10),
    threshold=st.integers(1, 3),
)
def test_it_counts_what_the_definition_says(rows, threshold):
    frame, names = pd.DataFrame(rows, columns=list("abc")), list("abc")
    result = unsafe(frame, keys=names, tables=[names], threshold=threshold)
    each = minimal_ones(frame, names, threshold)
    assert result.before.minimal == sum(map(len, each))
    assert result.before.records == sum(bool(some) for some in each)
    pairs = [pair for some in each for one in some for pair in one]
    assert sum(result.before.by_variable.values()) == len(pairs)
    shown = {(row.variable, row.category): row.before for row in result.to_frame().itertuples()}
    assert shown == {pair: pairs.count(pair) for pair in set(pairs)}


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


def test_nothing_is_unsafe():
    result = unsafe(pd.DataFrame({"a": [1, 1, 1]}), keys=["a"], k=2)
    assert result.before.records == 0
    assert result.to_frame().empty


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"recode": ["noise percent=5"]}, "recode: 'noise' leaves something to chance"),
        ({"recode": ["top-coding"]}, "top-coding"),
        ({"keys": ["towns"]}, "towns"),
        ({"weight": "w"}, "has no column 'w'"),
        ({"hierarchies": [Hierarchy("job", (("a",), ("b",)))]}, "'job' is no key variable"),
    ],
)
def test_what_cannot_be_asked(asked, message):
    with pytest.raises((UsageError, DataError), match=message):
        unsafe("people.csv", **asked)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hierarchy", "town"], "'town' is not a hierarchy; write ATTRIBUTE=FILE"),
        (["--levels", "town"], "--levels: 'town' is no pair; write NAME=NUMBER, separated by commas"),
    ],
)
def test_bad_options_are_one_line(options, message, capsys):
    refuse(capsys, message, "unsafe", "--input", "people.csv", *options)


def test_a_code_such_as_na_is_a_category(tmp_path):
    """As of all that is compared as categories: the only one from Namibia is not taken for unknown."""
    rows = ["NA,m,1", "DE,m,NA", "DE,m,1", ",m,1", ",m,1"]
    (tmp_path / "people.csv").write_text("\n".join(["country,sex,code", *rows]) + "\n", encoding="utf-8")
    found = unsafe(tmp_path / "people.csv", keys=["country", "sex"], k=2).before
    assert (found.by_category["country"], found.records) == ({"NA": 1}, 1)
    result = suppress(tmp_path / "people.csv", keys=["country", "sex"], k=2)
    assert result.suppressed["country"] == 1
