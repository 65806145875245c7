"""The text of a page, without a browser: its policy, its data, its size, and scripts that are kept."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from report_documents import empty_document, full_document, hostile_document

from linkrisk.solver.charts.chart import Of
from linkrisk.solver.documents import wording as formats
from linkrisk.solver.documents.document import Document, Paragraph, Section
from linkrisk.solver.documents.page import render_page, scripts
from linkrisk.solver.documents.page.rendering import day_text, prose, whole
from linkrisk.solver.documents.wording import sum_of_parts

SCRIPTS = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@pytest.fixture
def no_bundle(monkeypatch):
    """Pages without the scripts of charts, which take seconds to bundle and are not what is asked."""
    monkeypatch.setattr(scripts, "bundled", lambda: "window.vegaEmbed = null;")


@pytest.mark.usefixtures("no_bundle")
@pytest.mark.parametrize("document", [full_document(), empty_document(), hostile_document()])
def test_policy_names_every_script_and_nothing_else(document):
    page = render_page(document)
    found = SCRIPTS.findall(page)
    assert len(found) == 2
    hashes = {base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in found}
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    assert set(re.findall(r"'sha256-([^']*)'", policy)) == hashes
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "eval" not in policy
    tags = Tags(page)
    assert not tags.names & {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert not [name for name in tags.attributes if name.startswith("on") or name in ("src", "action")]


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.names, self.attributes, self.text = set(), set(), ""
        self.feed(str(page))

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.usefixtures("no_bundle")
def test_page_of_saved_json_is_the_same():
    document = full_document()
    assert render_page(Document.from_dict(json.loads(document.to_json()))) == render_page(document)


@pytest.mark.usefixtures("no_bundle")
def test_a_broken_file_name_can_be_written():
    page = render_page(full_document(title="caf\udce9.csv"))
    assert "caf\\udce9.csv" in page
    page.encode("utf-8")


def test_scripts_are_kept_and_a_damaged_copy_is_not_used(tmp_path, monkeypatch):
    import vl_convert

    made = []
    monkeypatch.setenv("LINKRISK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        vl_convert, "javascript_bundle", lambda entry: made.append(entry) or "f('</script>');"
    )
    bundled = scripts.bundled.__wrapped__
    assert [bundled(), bundled()] == ["f('<\\/script>');"] * 2
    assert len(made) == 1
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_text(kept.read_text() + "window.evil = 1;")
    assert bundled() == "f('<\\/script>');"
    assert len(made) == 2
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LINKRISK_CACHE", str(tmp_path / "file"))
    assert bundled() == "f('<\\/script>');"


@pytest.mark.parametrize(
    ("making", "by_child"), [("print('made();')", True), ("print('half'); raise SystemExit(1)", False)]
)
def test_another_process_bundles_meanwhile(tmp_path, monkeypatch, making, by_child):
    monkeypatch.setenv("LINKRISK_CACHE", str(tmp_path))
    monkeypatch.setattr(scripts, "_MAKING", making)
    monkeypatch.setattr(scripts, "_bundle", lambda: "here();")
    with scripts.bundling():
        made = scripts.bundled.__wrapped__()
    assert made == ("made();" if by_child else "here();")
    monkeypatch.setattr(scripts, "_MAKING", "raise SystemExit('there is a copy already')")
    with scripts.bundling():
        assert not scripts._children
        assert scripts.bundled.__wrapped__() == made


def test_a_process_that_nobody_waits_for_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKRISK_CACHE", str(tmp_path))
    monkeypatch.setattr(scripts, "_MAKING", "import time; time.sleep(600)")
    with scripts.bundling():
        (child,) = scripts._children
    assert child.returncode is not None


def test_prose_and_days():
    assert prose("5 % of <b>`fit --seed`</b>") == (
        '5\N{NO-BREAK SPACE}% of &lt;b&gt;<code>fit <span class="whole">--seed</span></code>&lt;/b&gt;'
    )
    assert prose("-0.1 % to --groups at 2026-11-24") == (
        '−0.1\N{NO-BREAK SPACE}% to <span class="whole">--groups</span> at 2026-11-24'
    )
    assert day_text("2026-11-23T22:05:00+00:00") == "23 November 2026, 22:05 UTC"
    assert day_text("yesterday") == "yesterday"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Re-identified", ["Re-identified"]),
        ("give --ties share, or --nominal", ["--ties", "--nominal"]),
        ("A--B and a-re-identified -- <!--b-->", ["--b--"]),
    ],
)
def test_words_that_no_line_breaks(text, kept):
    """Nothing is changed but for the marks: whoever copies or searches finds the same."""
    made = Tags(whole(text))
    assert made.text == text
    assert re.findall(r'<span class="whole">(.*?)</span>', whole(text)) == kept


@pytest.mark.usefixtures("no_bundle")
def test_without_scripts_the_numbers_of_charts_are_there():
    document = full_document(30)
    page = render_page(document)
    charts = re.findall(r'<div class="chart".*?>(.*?)</div>', page)
    assert charts == [charts[0]] * 5
    assert "in the table below" in charts[0]
    assert page.count('<details class="behind" open>') == 4  # not the waterfall
    assert "The first 15 of 30 rows" in page
    assert page.count("<noscript>") == 1


@pytest.mark.usefixtures("no_bundle")
def test_notes_are_one_list_of_their_section():
    notes = tuple(Paragraph(text, quiet=True) for text in ("It rests on <this>.", "And that.", "And that."))
    section = Section("one", "One", "Lead.", (notes[0], Paragraph("In sight."), *notes[1:]))
    page = render_page(replace(full_document(), sections=(section, Section("two", "Two", "", ()))))
    whole = re.sub(r"\s*\n\s*", "", page)
    assert (
        '<p>In sight.</p><details class="notes" open><summary>2 notes</summary>'
        "<ul><li>It rests on &lt;this&gt;.</li><li>And that.</li></ul></details></section>"
    ) in whole
    assert page.count('<details class="notes"') == 1


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formats.count(12345), "12,345"),
        (formats.count(371.996), "372"),
        (formats.count(None), "–"),
        (formats.percent(372, 400), "93.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(19999, 20000), "99.995\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(0.1 + 0.2, 0.3), "100.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 0), "–"),
        (formats.significant(0.000123456), "0.0001235"),
        (formats.duration(0.042), "0.04 s"),
        (formats.duration(12.34), "12.3 s"),
        (formats.duration(620), "10 min 20 s"),
        (formats.duration(7500), "2 h 05 min"),
        (formats.duration(None), "–"),
        (formats.cell_text(float("inf"), Of.NUMBER), "–"),
    ],
)
def test_numbers_are_written_for_readers(written, expected):
    assert written == expected


def test_a_bound_that_is_a_sum_over_parts_is_said():
    told = {"parts": 200, "largest": 50, "searched": 200, "proven": 180}
    said = sum_of_parts(told)
    assert said == "the bound is the sum over 200 parts of at most 50 records, 180 of them closed"
    one = {**told, "parts": 1, "proven": 0}
    assert sum_of_parts(one) == "the bound is that of one part, the 50 records that are not out of reach"
