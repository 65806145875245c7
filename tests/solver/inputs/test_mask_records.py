"""The record of `mask` in the place of methods: what it is read as, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_refused_calls
from small_files import NAMES, survey

from linkrisk import compare, evaluate, fit, link, mask, risk
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.inputs.recorded_masking import with_records
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError

SCHEMA = {
    "attributes": [
        {"name": "size", "scale": "ordinal", "categories": ["small", "middle", "large"]},
        {"name": "town", "scale": "nominal"},
    ]
}


@pytest.fixture(scope="module")
def table():
    found = pd.DataFrame(survey(24), columns=list(NAMES))
    random = np.random.default_rng(0)
    found["size"] = random.choice(["small", "middle", "large"], 24)
    found["town"] = random.choice(["a", "b", "c, d"], 24)
    return found.rename(columns={"income": "income, gross"})


def recorded(table, folder, *texts):
    found = mask(table, [masking_method(text) for text in texts], seed=1)
    path = folder / "record.json"
    found.write(folder / "masked.csv", path)
    return found.table, path


@pytest.mark.parametrize(
    "text",
    [
        "noise percent=12.5 'attributes=age,\"income, gross\"'",
        "microaggregation 'groups=age,\"income, gross\":5' groups=hours k=3",
        "pram change=0.25 invariant attributes=town,size",
        "global-recoding categories=2 'label=all others' attributes=town",
    ],
)
def test_methods_are_those_that_masked(table, tmp_path, text):
    _, path = recorded(table, tmp_path, text)
    (read,) = with_records([path], ProblemOptions(nominal=["town", "size"]))
    assert masking_method(read) == masking_method(text)
    assert with_records([str(path), "noise percent=3"], ProblemOptions(nominal=["town", "size"])) == [
        read,
        "noise percent=3",
    ]


def test_attributes_that_nobody_named_are_those_that_were_masked(table, tmp_path):
    _, path = recorded(table, tmp_path, "noise percent=10", "pram change=0.2 attributes=town")
    read = with_records([path], ProblemOptions(nominal=["town"]))
    assert read == [
        "noise percent=10 'attributes=age,\"income, gross\",hours'",
        "pram change=0.2 attributes=town",
    ]


def test_categories_that_are_not_compared_are_left_out(table, tmp_path):
    _, path = recorded(table, tmp_path, "pram change=0.2 attributes=town,size")
    assert with_records([path], ProblemOptions(nominal=["size"])) == ["pram change=0.2 attributes=size"]
    assert with_records([path], ProblemOptions(nominal=["size", "town"], attributes=["town"])) == [
        "pram change=0.2 attributes=town"
    ]
    keys = {"attributes": [{**SCHEMA["attributes"][0], "role": "key"}, SCHEMA["attributes"][1]]}
    assert with_records([path], ProblemOptions(schema=keys)) == ["pram change=0.2 attributes=size"]
    assert with_records([path], ProblemOptions()) == []


def test_risk_is_that_of_the_methods_spelled(table, tmp_path):
    text = "noise percent=30"
    table = table[["age", "hours"]]
    masked, path = recorded(table, tmp_path, text)
    options = {"measures": "reidentification", "aggregator": "weighted-mean", "time_limit": None}
    spelled = risk(table, masked, masking=[text], **options)["reidentification"]
    by_record = risk(table, masked, masking=[path], **options)
    assert by_record["reidentification"].one_record == spelled.one_record
    assert by_record["reidentification"].attributes == spelled.attributes == ("age", "hours")
    assert json.loads(by_record.to_json())["masking"] == ["noise percent=30 attributes=age,hours"]


def test_order_of_categories_is_that_of_the_schema(table, tmp_path):
    method = replace(
        masking_method("top-coding categories=2 attributes=size"), schema=Schema.from_dict(SCHEMA)
    )
    path = tmp_path / "record.json"
    mask(table, [method]).write(tmp_path / "masked.csv", path)
    assert with_records([path], ProblemOptions(schema=SCHEMA)) == ["top-coding categories=2 attributes=size"]
    said = "top-coding took the categories of 'size' from a schema: give the same one with schema"
    with pytest.raises(UsageError, match=said):
        with_records([path], ProblemOptions(ordinal=["size"]))


def test_what_files_said_has_to_be_given_again(table, tmp_path):
    matrix = tmp_path / "matrix.csv"
    matrix.write_text('x,a,b,"c, d"\na,1,0,0\nb,0,1,0\n"c, d",0,0,1\n', encoding="utf-8")
    _, path = recorded(table, tmp_path, f"pram matrix=town={matrix}")
    with pytest.raises(UsageError, match=r"pram was given a file \(matrix\), which the record does not name"):
        with_records([path], ProblemOptions(nominal=["town"]))


def test_files_that_are_no_record(tmp_path, monkeypatch):
    def refused(content):
        Path("some.json").write_text(content, encoding="utf-8")
        with_records(["some.json"], ProblemOptions())

    monkeypatch.chdir(tmp_path)
    check_refused_calls(
        "masking-records",
        refused,
        [
            "{",
            '{"methods": [{"method": "noise"}]}',
            '{"methods": [{"method": "noise", "parameters": {"x": 1}, "attributes": ["a"]}]}',
            '{"methods": [{"method": "nois", "parameters": {}, "attributes": []}]}',
            '{"methods": [{"method": "noise", "parameters": {"percent": "x"}, "attributes": ["a"]}]}',
        ],
    )


def test_fit_compare_evaluate_and_link_take_the_record(tmp_path):
    random = np.random.default_rng(2)
    born = pd.to_datetime("1950-01-01") + pd.to_timedelta(random.integers(0, 9000, 60), unit="D")
    original = pd.DataFrame({"born": born, "town": random.choice(list("abc"), 60)})
    original["income"] = random.integers(1000, 3000, 60)
    texts = ["recode level=year attributes=born", "noise percent=10 attributes=income"]
    masked, path = recorded(original, tmp_path, *texts)
    asked = {"row_by_row": True, "nominal": ["town"], "time_limit": 5}
    found = fit(original, masked, masking=[str(path)], **asked)
    assert found.linked == fit(original, masked, **asked).linked
    assert json.loads(found.to_json())["masking"] == ["inferred"]
    again = evaluate(original, masked, parameters=found, masking=[path], row_by_row=True)
    assert again.linked == found.linked
    compared = compare(original, masked, masking=[path], backends=["exact"], **asked)
    assert compared.rows[0].linked == found.linked
    linked = link(
        original, masked, method="dbrl", parameters={"masking": [str(path)]}, nominal=["town"],
        row_by_row=True,
    )  # fmt: skip
    assert linked.linked == link(original, masked, nominal=["town"], row_by_row=True, method="dbrl").linked


def test_no_record_is_opened_because_a_result_names_it(tmp_path):
    table = pd.DataFrame({"age": np.arange(6.0), "town": list("abcabc")})
    for found in (
        fit(table, table, nominal=["town"], time_limit=5),
        link(table, table, method="dbrl", nominal=["town"]),
    ):
        given = found.to_dict()
        holder = given["parameters"] if "method" in given else given
        holder["masking"] = [str(tmp_path / "none.json")]
        with pytest.raises(UsageError, match="which are not opened because a JSON file says so"):
            evaluate(table, table, parameters=given)
