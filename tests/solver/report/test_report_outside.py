"""What readers outside get: nothing that would help an intruder, whatever the results are called."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
import report_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import leaves, said

from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.documents.document import Audience
from linkrisk.solver.documents.page import render_page
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.errors import UsageError

KNOWN = {
    *AGGREGATORS, "equal-weights", "optimal", "feasible", "share", "records", "number", "persons", "higher",
    "lower", "neither", "certain", "95 % confidence", "range", "above", "below", "open", "together", "apart",
}  # fmt: skip
"""Texts of a JSON that are names of this program; all others may come from the files."""

NUMBERS = {
    *("parameters", "importance", "interaction", "withheld", "records_table", "trace", "seed", "phases"),
    *("attacks", "groups", "time_limit", "columns", "seconds", "measure_seconds"),
}
"""Fields whose numbers nobody outside needs."""

SECRET = {
    *("parameters", "weights", "importance", "interaction", "measure", "matrix", "withheld", "attributes"),
    *("record", "records_table", "groups", "seed", "command", "sha256", "certificate", "masking", "schema"),
    *("notes", "trace"),
}
"""Keys that nothing for readers outside has."""


def external(results):
    return document_of(results, audience=Audience.EXTERNAL)


def renamed(content, texts, *, hidden=False, key=None):
    """The same results with other texts, and with numbers around 7e7 where they are nobody's business."""
    if isinstance(content, dict):
        return {
            name: renamed(value, texts, hidden=hidden or name in NUMBERS, key=name)
            for name, value in content.items()
        }
    if isinstance(content, list):
        return [renamed(value, texts, hidden=hidden, key=key) for value in content]
    if isinstance(content, str):
        return content if content in KNOWN or key == "key" else texts(content)
    if hidden and isinstance(content, int | float) and not isinstance(content, bool):
        return 71234567
    return content


def keys(content):
    if isinstance(content, dict):
        for name, value in content.items():
            yield name
            yield from keys(value)
    elif isinstance(content, list):
        for value in content:
            yield from keys(value)


@pytest.fixture(scope="module")
def results():
    made = {"aggregator": "choquet", "verified": True, "sha256": "ab", "said": "proved"}
    return {**report_cases.results(), "certificates": [made]}


def test_a_certificate_of_no_bound_is_not_counted(results):
    """That no more than all records can be linked needs no certificate."""
    assert "A certificate of the bound was checked for 1 of " in said(results, audience=Audience.EXTERNAL)
    loose = copy.deepcopy(results)
    fit = next(one for one in loose["worst_case"]["families"] if one["aggregator"] == "choquet")
    fit.update(linked_upper_bound=fit["records"], status="feasible")
    assert "A certificate of the bound" not in said(loose, audience=Audience.EXTERNAL)


@settings(max_examples=8, deadline=None)
@given(salt=st.text(alphabet="QXJKqxjk_<>& é", min_size=4, max_size=12))
def test_no_text_of_the_results_gets_through(results, salt):
    """Names of attributes, categories and files, notes, reasons, commands: all are other words here."""
    mark = f"ZQ{salt}QZ"
    text = json.dumps(external(renamed(results, lambda old: mark + old)).to_dict(), ensure_ascii=False)
    assert "ZQ" not in text
    assert "71234567" not in text
    assert "71,234,567" not in text


def test_nor_into_the_page(results):
    page = render_page(external(renamed(results, lambda old: "ZQXJ" + old)))
    assert "ZQXJ" not in page
    assert "71234567" not in page
    internal = render_page(document_of(renamed(results, lambda old: "ZQXJ" + old)))
    assert "ZQXJ" in internal


def test_no_secret_key_has_a_place(results):
    assert not SECRET & set(keys(external(results).to_dict()))
    assert not [
        block for block in external(results).to_dict()["sections"] if block["name"] in ("who-leaks", "making")
    ]


def test_a_new_field_is_left_out(results):
    more = copy.deepcopy(results)
    more["measures"]["held-out"]["rates"][0]["note"] = "ZQXJ"
    more["measures"]["new-measure"] = {"findings": [{"key": "ZQXJ", "words": "ZQXJ", "value": 1.0}]}
    more["worst_case"]["families"][0]["secret"] = "ZQXJ"
    more["verdict"]["why"] = "ZQXJ"
    assert json.dumps(external(more).sections[0].title)
    assert "ZQXJ" not in external(more).to_json()


def test_numbers_of_the_whole_file_stay(results):
    told = list(leaves(external(results).to_dict()))
    for family in results["worst_case"]["families"]:
        assert family["linked_upper_bound"] in told
    best = max(rate["held_out"] for rate in results["measures"]["held-out"]["rates"])
    assert best in told
    ours, theirs = document_of(results).headline, external(results).headline
    (named, *reasons), (unnamed, *others) = ours.reasons, theirs.reasons
    assert (replace(ours, reasons=()), reasons) == (replace(theirs, reasons=()), others)
    assert "region" in named  # which was released as it was, and is not compared
    assert unnamed == "Columns that were released as they are are not compared."


def test_a_sweep_has_nothing_for_them():
    with pytest.raises(UsageError, match="external readers is about one worst case"):
        external(json.loads(report_cases.swept()))
