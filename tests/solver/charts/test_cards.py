"""What a notebook shows of results: headline, bar and table, whatever names and values contain."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames

from linkrisk import fit, risk, sweep, verify
from linkrisk.solver.charts.cards import fit_card, sweep_card, verification_card
from linkrisk.solver.charts.markup import ROWS, bar, card, table
from linkrisk.solver.charts.table import Column, Of, Table

NASTY = "<script>alert(\"1\")</script> & 'x'"


def tree(html: str) -> ET.Element:
    """The card, which is well-formed whatever it shows."""
    return ET.fromstring(html)


def said(html: str) -> str:
    return " ".join(tree(html).itertext())


def nasty(number=0):
    """A pair whose columns have names that a browser must not obey."""
    original, masked = frames(number)
    names = [NASTY, *original.columns[1:]]
    return original.set_axis(names, axis=1), masked.set_axis(names, axis=1)


@pytest.fixture(scope="module")
def one():
    return fit(*nasty(), aggregator="weighted-mean", certificate=True)


@pytest.fixture(scope="module")
def measured():
    return risk(*nasty(), aggregator="weighted-mean", measures=["worst-case", "uniqueness", "references"])


def test_a_fit_says_its_headline_first(one):
    html = one._repr_html_()
    low, total = int(one.linked), one.records
    assert tree(html)[0].text.startswith(f"At worst {low} of {total} records (")
    assert NASTY in said(html)
    assert "<script" not in html


def test_several_families_and_one_without_a_result():
    found = fit(*nasty(), aggregator="weighted-mean,owa")
    content = found.to_dict()
    content["families"].append({"aggregator": "choquet", "reason": f"too large {NASTY}"})
    words = said(fit_card(content))
    assert "Weighted mean" in words
    assert f"too large {NASTY}" in words
    assert f"At worst {found.linked} of" in words


def test_risk_and_its_measures(measured):
    html = measured._repr_html_()
    words = said(html)
    sentence = measured.verdict.sentence
    assert tree(html)[0].text == f"{sentence[:1].upper()}{sentence[1:]}."
    assert all(name in words for name in measured.measures)
    assert all(name in words and reason in words for name, reason in measured.not_measured.items())
    for name, result in measured.measures.items():
        own = said(result._repr_html_())
        assert own.startswith(name)
        assert result.paragraph in own
        assert all(finding.words in own for finding in result.findings)
        assert "<script" not in result._repr_html_()


def test_a_sweep_with_a_run_that_was_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 2)), columns=[NASTY, "b"])
    methods = ["noise percent=50", "microaggregation k=100"]
    found = sweep(frame, methods, aggregator="owa", measures="worst-case", workers=1, work_limit=1.0)
    html = found._repr_html_()
    assert said(html).startswith("1 of 2 maskings were measured")
    assert all(run.reason is None or run.reason in said(html) for run in found.runs)
    content = {**found.to_dict(), "unfinished": [NASTY]}
    assert NASTY in said(sweep_card(content))


def test_a_verification_that_holds_and_one_that_does_not(one):
    held = verify(one, *nasty())
    assert said(held._repr_html_()).startswith("Verified. Proved: At worst")
    refused = {**held.to_dict(), "verified": False, "rejected": NASTY, "proved": None}
    assert said(verification_card(refused)).startswith(f"Rejected: {NASTY}")


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.25, 0.5), (-0.1, 1.2)])
def test_the_bar_is_drawn_to_scale(low, high):
    svg = tree(bar(low, high))
    background, between, found = svg
    assert float(found.get("width")) == pytest.approx(100 * max(low, 0.0))
    assert float(between.get("x")) + float(between.get("width")) == pytest.approx(100 * min(high, 1.0))
    assert background.get("width") == "100"


def test_long_tables_are_cut_and_say_so():
    columns = tuple(Column(of.value, of.value, of) for of in Of)
    row = [NASTY, 1234.0, 0.00012, 1.0, 0.33, 2.5, True]
    words = said(card("x", table(Table(columns, [row] * (ROWS + 1500)))))
    assert words.count(NASTY) == ROWS
    assert words.endswith("1,500 more")
    assert all(cell in words for cell in ("1,234", "0.00012", "100.0 %", "33.0 points", "2.5 s", "yes"))
    assert table(Table(columns, [])) == ""
    assert "–" in table(Table(columns, [[None] * len(columns)]))


def test_two_records_are_enough():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    assert "At worst 2 of 2 records (100.0 %)" in said(fit(frame, frame)._repr_html_())
