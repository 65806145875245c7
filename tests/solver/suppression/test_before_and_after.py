"""Key variables and risk before and after suppression, beside plain counts of pandas."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import suppress
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.formulations.suppression.posterior_risk import posterior_risk
from linkrisk.solver.suppression.audit import MOST_CATEGORIES

NAMES = ["a", "b", "c"]
MEANINGS = ["own-category", "matches-anything"]


def alike(frame, loose, weight=None):
    """How many records, or what of the weight, each record is like, by comparing all pairs."""
    values = frame.astype(object).where(frame.notna(), None).to_numpy()
    weight = np.ones(len(frame)) if weight is None else np.asarray(weight)
    found = []
    for mine in values:
        same = [
            all(x == y or (loose and (x is None or y is None)) for x, y in zip(mine, other, strict=True))
            for other in values
        ]
        found.append(weight[np.array(same)].sum())
    return np.array(found)


rows = st.lists(st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 3), min_size=3, max_size=14).filter(
    lambda some: all(any(row[at] is not None for row in some) for at in range(3))
)


@settings(max_examples=25)
@given(rows=rows, problem=st.sampled_from(["cover", "recount"]))
def test_risk_is_what_pandas_counts(rows, problem):
    frame = pd.DataFrame(rows, columns=NAMES, dtype=object)
    result = suppress(frame, keys=NAMES, k=2, problem=problem)
    for name in MEANINGS:
        for when, table in (("before", frame), ("after", result.table)):
            found = result.before_and_after["risk"][name][when]
            frequency = alike(table[NAMES], name == "matches-anything")
            assert found["below"] == {str(size): int((frequency < size).sum()) for size in (2, 3, 5)}
            assert found["smallest"] == frequency.min()
            assert found["expected"] == pytest.approx((1 / frequency).sum())
            assert found["population"] is None
            assert found["household"] is None


@settings(max_examples=30)
@given(rows=rows)
def test_variables_are_what_pandas_counts(rows):
    frame = pd.DataFrame(rows, columns=NAMES, dtype=object)
    result = suppress(frame, keys=NAMES, k=3)
    for one in result.before_and_after["variables"]:
        before, after = frame[one["name"]], result.table[one["name"]]
        assert one["categories"] == before.nunique()
        assert one["categories_after"] == after.nunique()
        assert one["missing_before"] == one["missing"]["before"] == before.isna().sum()
        assert one["missing"]["after"] == after.isna().sum()
        assert one["suppressed"] == after.isna().sum() - before.isna().sum()
        assert one["share"] == pytest.approx(one["suppressed"] / before.notna().sum())
        for line in one["frequencies"]:
            assert line["before"] == (before == line["category"]).sum()
            assert line["after"] == (after == line["category"]).sum()
        assert sum(line["before"] for line in one["frequencies"]) == before.notna().sum()


@settings(max_examples=30)
@given(rows=rows)
def test_the_riskiest_are_the_riskiest(rows):
    frame = pd.DataFrame(rows, columns=NAMES, dtype=object)
    result = suppress(frame, keys=NAMES, k=3)
    found = result.before_and_after["riskiest"]
    frequency = alike(frame, loose=False)
    text = frame.fillna("?").agg("|".join, axis=1)
    expected = 1 / pd.Series(frequency).groupby(text).first()
    risks = [one["risk"] for one in found["combinations"]]
    assert risks == sorted(expected, reverse=True)[:10]
    assert found["as_risky"] == (expected >= risks[-1]).sum()
    for one in found["combinations"]:
        members = text == "|".join("?" if value is None else value for value in one["values"].values())
        assert members.sum() == one["records"] == one["frequency"]
        lost = (result.table[members].isna() & frame[members].notna()).sum()
        assert one["suppressed"] == {name: many for name, many in lost.items() if many}
        for name in MEANINGS:
            after = alike(result.table, name == "matches-anything")[members]
            assert one["after"][name]["frequency"] == after.min()
            assert one["after"][name]["risk"] == 1 / after.min()


def test_the_population_and_households():
    chance = np.random.default_rng(4)
    frame = pd.DataFrame(chance.integers(0, 4, (60, 2)), columns=["a", "b"]).astype(str)
    frame = frame.assign(w=chance.uniform(1.0, 9.0, 60), home=np.repeat(range(20), 3))
    frame["street"] = frame["home"] % 3
    asked = {"keys": ["a", "b", "street"], "dimension": 2, "threshold": 20, "weight": "w"}
    result = suppress(frame, **asked, household="home", household_keys=["street"])
    assert result.cells > 0
    for name in MEANINGS:
        for when, table in (("before", frame), ("after", result.table)):
            found = result.before_and_after["risk"][name][when]
            keys, loose = table[["a", "b", "street"]], name == "matches-anything"
            risk = posterior_risk(alike(keys, loose), alike(keys, loose, frame["w"]))
            assert found["population"] == pytest.approx(risk.sum())
            whole = 1 - pd.Series(1 - risk).groupby(frame["home"]).transform("prod")
            assert found["household"] == pytest.approx(whole.sum())


def test_recoded_variables_have_the_categories_of_both():
    frame = pd.DataFrame({"age": [31, 32, 33, 34, 41, 42, 43, 44, 57], "sex": list("ffmmffmmm")})
    ages = tuple(frame["age"].astype(str))
    hierarchy = Hierarchy("age", (ages, tuple(f"{one[0]}0s" for one in ages), ("*",) * len(ages)))
    result = suppress(frame, k=2, problem="joint", hierarchies=[hierarchy])
    age, sex = result.before_and_after["variables"]
    assert (age["level"], sex["level"]) == (1, 0)
    before = {line["category"]: line["before"] for line in age["frequencies"] if line["after"] is None}
    after = {line["category"]: line["after"] for line in age["frequencies"] if line["before"] is None}
    assert before == {str(one): 1 for one in frame["age"]}
    assert after == result.table["age"].value_counts().to_dict()


def test_of_many_categories_the_most_frequent_are_listed():
    frame = pd.DataFrame({"a": np.repeat(np.arange(40.0), np.arange(1, 41))})
    frame.loc[0, "a"] = np.nan
    (one,) = suppress(frame, k=5).before_and_after["variables"]
    *listed, others = one["frequencies"]
    assert len(listed) == MOST_CATEGORIES - 1
    assert [line["category"] for line in listed[:2]] == ["39", "38"]
    counts = {"others": 39 - len(listed), "before": sum(range(2, 22)), "after": sum(range(5, 22))}
    assert others == {"category": None, **counts}


def test_only_variables_of_checked_tables_count_and_the_json_has_it_all(tmp_path):
    frame = pd.DataFrame({"a": list("xxy"), "b": list("uvw")})
    result = suppress(frame, keys=["a", "b"], tables=[["a"]])
    assert [one["name"] for one in result.before_and_after["variables"]] == ["a"]
    assert result.before_and_after["risk"]["own-category"]["before"]["expected"] == 2.0
    assert result.details["sha256"] is None
    frame.to_csv(tmp_path / "in.csv", index=False)
    result = suppress(tmp_path / "in.csv", k=2, seed=3)
    found = json.loads(result.to_json())
    assert found["before_and_after"] == result.before_and_after
    assert (found["seed"], found["backend"], found["time_limit"]) == (3, "highs", 60.0)
    assert len(found["sha256"]) == 64
