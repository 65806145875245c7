"""Values of the report: which it refuses in a result, and how it writes numbers."""

from __future__ import annotations

import pytest
from report_results import COLUMNS, ROWS, choquet_result

from linkrisk.solver.report import charts, formats
from linkrisk.solver.report.fields import Fields
from linkrisk.solver.report.headline import headline
from linkrisk.solver.report.page import render_report
from linkrisk.solver.run.errors import UsageError

# Bad input


@pytest.mark.parametrize("key", [key for key in choquet_result() if key not in ("expected_links",)])
def test_a_missing_key_is_named(key):
    result = choquet_result()
    del result[key]
    with pytest.raises(UsageError) as caught:
        render_report(result)
    assert str(caught.value) == f"the result has no '{key}': give the JSON that `fit --json` wrote"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ties": "share"}, "the result has no 'expected_links'"),
        ({"records_table": {"rows": []}}, "the result has no 'records_table.columns'"),
        ({"linked": "372"}, "the result's 'linked' is not a number"),
        ({"records": True}, "the result's 'records' is not a number"),
        ({"linked": float("nan")}, "the result's 'linked' is not a number"),
        ({"name": None}, "the result's 'name' is not a text"),
        ({"attributes": "AGI"}, "the result's 'attributes' is not a list"),
        ({"attributes": [1]}, "the result's 'attributes' is not a list of texts"),
        ({"baselines": [1]}, "the result's 'baselines' is not an object"),
        ({"baselines": {"euclid": "many"}}, "the result's 'baselines.euclid' is not a number"),
        ({"parameters": {"weights": {"AGI": "1"}}}, "the result's 'parameters.weights.AGI' is not a number"),
        (
            {"parameters": {"theta": []}},
            "the result's 'parameters' has none of weights, measure, moebius, matrix",
        ),
        (
            {"parameters": {"matrix": [[1.0]]}},
            "the result's 'parameters.matrix[0]' is not a list of 3 values",
        ),
        ({"interaction": []}, "the result's 'interaction' is not a list of 3 rows"),
        ({"interaction": [[0, 0, "x"]] * 3}, "the result's 'interaction' is not a matrix of numbers"),
        ({"trace": [[1, 2]]}, "the result's 'trace[0]' is not a list of 3 values"),
        (
            {"records_table": {"columns": COLUMNS, "rows": [ROWS[0], ["2", True]]}},
            "the result's 'records_table.rows[1]' is not a list of 7 values",
        ),
    ],
)
def test_what_is_of_another_kind_is_named(changes, message):
    with pytest.raises(UsageError) as caught:
        render_report(choquet_result(**changes))
    assert str(caught.value) == f"{message}: give the JSON that `fit --json` wrote"


# Numbers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formats.count(12345), "12,345"),
        (formats.count(-3), "\N{MINUS SIGN}3"),
        (formats.count(371.5), "371.5"),
        (formats.count(371.996), "372"),
        (formats.count(None), "–"),
        (formats.percent(372, 400), "93.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(19999, 20000), "99.995\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 10000), "0.01\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(0, 400), "0.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(0.1 + 0.2, 0.3), "100.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(400, 400), "100.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 0), "–"),
        (formats.percent(None, 5), "–"),
        (formats.significant(0.000123456), "0.0001235"),
        (formats.significant(None), "–"),
        (formats.decimals(-0.00001, 3), "0.000"),
        (formats.decimals(0.25, 3, sign=True), "+0.250"),
        (formats.decimals(-0.00001, 3, sign=True), "0.000"),
        (formats.decimals(None), "–"),
        (formats.duration(0), "0 s"),
        (formats.duration(0.042), "0.04 s"),
        (formats.duration(12.34), "12.3 s"),
        (formats.duration(120), "120 s"),
        (formats.duration(620), "10 min 20 s"),
        (formats.duration(7500), "2 h 05 min"),
        (formats.duration(None), "–"),
        (formats.cell(True), "yes"),
        (formats.cell(float("inf")), "–"),
        (formats.cell("a"), "a"),
        (charts.bar_width(1, 0), 0.0),
        (charts.bar_width(9, 4), charts.WIDTH),
    ],
)
def test_numbers_are_written_for_readers(written, expected):
    assert written == expected


def test_a_bound_that_is_a_sum_over_parts_is_said():
    told = {"parts": 200, "largest": 50, "searched": 200, "proven": 180}
    said = headline(Fields(choquet_result(parts=told))).explanation
    assert said.endswith("The bound is the sum over 200 parts of at most 50 records, 180 of them closed."), (
        said
    )
    one = {**told, "parts": 1, "proven": 0}
    said = headline(Fields(choquet_result(parts=one))).explanation
    assert said.endswith("The bound is that of one part, the 50 records that are not out of reach.")
