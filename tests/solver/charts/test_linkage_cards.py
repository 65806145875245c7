"""What a notebook shows of what `link`, `evaluate`, `compare` and `find_links` return."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import fields

import pytest
from fit_runs import frames

from linkrisk import compare, evaluate, fit, link
from linkrisk.solver.charts.linkage_cards import found_card, link_card
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.worst_case.contest import BackendRow

NASTY = "<script>alert(\"1\")</script> & 'x'"


def said(html: str) -> str:
    """The words of a card, which is well-formed and has no script whatever it shows."""
    assert "<script" not in html
    return " ".join(ET.fromstring(html).itertext())


@pytest.fixture(scope="module")
def pair():
    original, masked = frames(0)
    names = [NASTY, *original.columns[1:]]
    return original.set_axis(names, axis=1), masked.set_axis(names, axis=1)


def test_an_evaluation_says_how_many_are_linked_and_what_others_link(pair):
    result = evaluate(*pair, parameters=fit(*pair, aggregator="weighted-mean"))
    words = said(result._repr_html_())
    assert words.startswith(f"{result.linked} of {result.records} records (")
    baselines = result.to_dict()["baselines"]
    assert f"Others link: equal weights {baselines['euclid']}, the classical Mahalanobis" in words
    assert f"distance {baselines['mahalanobis']}." in words


def test_a_link_names_the_linker_and_its_matching(pair):
    result = link(*pair, method="dbrl", one_to_one="hungarian")
    words = said(result._repr_html_())
    assert words.startswith(f"dbrl: {result.linked} of {result.records} records (")
    assert result.one_to_one is not None
    assert f"hungarian {result.one_to_one.claimed} {result.one_to_one.correct}" in words


def test_a_matching_without_links_has_no_precision():
    content = {
        "method": "dbrl",
        "linked": 0,
        "records": 3,
        "one_to_one": {"matching": "greedy", "claimed": 0, "correct": 0, "precision": None, "recall": 0.0},
        "name": NASTY,
        "direction": "original-to-masked",
        "notes": [NASTY],
    }
    words = said(link_card(content))
    assert words.startswith("dbrl: 0 of 3 records (0.0 %)")
    assert words.count(NASTY) == 2


def test_a_comparison_lists_every_optimiser(pair):
    result = compare(*pair, backends=["exact", "scipy"])
    words = said(result._repr_html_())
    assert words.startswith("2 of 2 claim a proof; no two contradict each other")
    for row in result.rows:
        assert f"{row.name.split()[-1]}" in words


def test_a_contradiction_stands_in_the_headline():
    numbers = dict.fromkeys(field.name for field in fields(BackendRow))
    row = {
        **numbers,
        "engine": "milp",
        "backend": NASTY,
        "status": "feasible",
        "limit": "time",
        "version": "1",
    }
    said_of = {
        "records": 3,
        "candidates": 3,
        "attributes": ["a"],
        "name": "x",
        "direction": "original-to-masked",
    }
    content = {**said_of, "aggregator": "owa", "aggregator_options": {}, "notes": [], "margin": 0.001}
    more = {"backends": [row], "disagreements": [f"{NASTY} lies"], "format": "linkrisk-comparison"}
    words = said(notebook(short_of({**content, **more})))
    assert words.startswith(f"DISAGREEMENT: {NASTY} lies")
    assert "feasible" in words


def test_found_links_claim_nothing_about_the_truth():
    words = said(found_card({"method": "prl", "queries": 1000, "candidates": 20, "name": NASTY}, 12))
    assert words.startswith("prl: 12 links of 1,000 and 20 records. Which of them are right is not known.")
