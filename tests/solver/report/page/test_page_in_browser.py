"""The page of a report in a real browser, from the disk, with the network off."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
import report_cases
from browsers import chromium, opened
from report_documents import SCRIPT, full_document, hostile_document, records

from linkrisk.solver.charts.chart import Column, Of, Table
from linkrisk.solver.documents.document import Document, Headline, Section
from linkrisk.solver.documents.page import render_page, rendering
from linkrisk.solver.documents.page.rendering import whole
from linkrisk.solver.documents.wording import cell_text

pytestmark = pytest.mark.browser

ROWS = 60


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def full_html():
    return render_page(full_document(ROWS))


@pytest.fixture(scope="module")
def reader(browser, full_html, tmp_path_factory):
    with opened(browser, full_html, tmp_path_factory.mktemp("full")) as one:
        yield one.page


@pytest.fixture
def table(reader):
    reader.reload()
    reader.wait_for_selector("html[data-ready]", state="attached")
    return reader.locator(".records")


def column(table, place):
    return table.locator(f".grid tbody tr > :nth-child({place})").all_inner_texts()


def test_every_chart_is_drawn(reader):
    assert reader.locator("[data-chart]").count() == 5
    assert reader.locator("[data-chart] svg").count() == 5
    assert reader.locator(".failed").count() == 0


NUMBERS = [
    *(0.7825, 0.78251, 0.15, 1e-7, 0.99999, 0.0, 1.0, -0.0625, 0.5, 2.5, 3.5, 1234.5, 1235.5, 0.125, 9.875),
    *(-1, 12, 999.96, -123456.78, 0.12346, 3e-5, 2e18, 700, 9.996, 599.0, 7199.0, 7201.0, 90_000.0),
]


@pytest.mark.parametrize("of", [Of.SHARE, Of.POINTS, Of.COUNT, Of.NUMBER, Of.SECONDS])
def test_numbers_are_the_same_wherever_they_are_written(reader, of):
    """Among them 78.25 %, just in the middle of two numbers of one digit."""
    source = (Path(rendering.__file__).parent / "scripts" / "format.js").read_text(encoding="utf-8")
    fitting = (number for number in NUMBERS if number >= 0 or of in (Of.SHARE, Of.POINTS))
    numbers = [number for number in fitting if of is not Of.SECONDS or number < 1e9]
    written = reader.evaluate(
        f"([numbers, of]) => {{{source}\nreturn numbers.map((one) => cellText(one, of));}}",
        [numbers, of.value],
    )
    assert written == [cell_text(number, of) for number in numbers]


def test_records_are_sorted_with_what_has_no_value_last(table):
    head = table.locator("th", has_text="Margin")
    head.locator("button").click()
    rows = sorted((row[3] for row in full_document(ROWS).sections[2].blocks[0].table.rows), reverse=True)
    assert column(table, 4) == [cell_text(value, Of.NUMBER) for value in rows[:15]]
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").press("Enter")
    assert column(table, 4)[0] == cell_text(rows[-1], Of.NUMBER)
    table.locator("th", has_text="Re-identified").locator("button").click()
    table.get_by_text("Next").click(click_count=3)
    assert column(table, 2)[-6:] == ["–"] * 6


def test_records_are_found_and_filtered(table):
    table.get_by_label("Find", exact=True).fill("south")
    assert set(column(table, 6)) == {"South, with islands"}
    assert "of 20 found, of 60" in table.locator(".pager").inner_text()
    table.get_by_text("Filter by column").click()
    table.get_by_label("Share of distances that link it from").fill("50")
    shares = [float(text.removesuffix(" %")) for text in column(table, 5)]
    assert 0 < len(shares) < 15
    assert min(shares) >= 50
    table.get_by_label("Re-identified", exact=True).select_option("no")
    assert table.locator(".grid tbody").inner_text() == "No row fits what you look for."
    assert table.get_by_text("as CSV").is_disabled()


def test_csv_equals_json(table):
    with table.page.expect_download() as download:
        table.get_by_text("Save as CSV").click()
    name, path = download.value.suggested_filename, download.value.path()
    assert name == "records-the-most-exposed-first.csv"
    heads, *lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    known = full_document(ROWS).to_dict()["sections"][2]["blocks"][0]["table"]
    assert heads == [one["name"] for one in known["columns"]]
    # Texts stand in quotes in JSON and need none in CSV.
    kinds = [Of(one["of"]) for one in known["columns"]]
    read = [
        [text if of is Of.TEXT else json.loads(text or "null") for text, of in zip(line, kinds, strict=True)]
        for line in lines
    ]
    assert read == known["rows"]


def test_a_picked_record_draws_its_waterfall(table):
    chart = table.locator("[data-chart]")
    assert "Record 0: its distance to its partner and to its nearest rival." in table.inner_text()
    before = chart.inner_html()
    table.locator(".pick").nth(3).click()
    table.page.wait_for_selector(".records[data-shown='3']")
    third = chart.inner_html()
    assert third != before
    assert "Record 3:" in table.locator(".which").inner_text()
    table.locator(".pick").nth(3).press("ArrowDown")
    table.page.wait_for_selector(".records[data-shown='4']")
    assert chart.inner_html() != third
    assert table.locator(".pick[aria-pressed=true]").all_inner_texts() == ["4"]
    table.get_by_text("The numbers of this chart").click()
    block = full_document(ROWS).sections[2].blocks[0]
    cells = table.locator(".numbers-of tbody tr").first.locator("th, td").all_inner_texts()
    assert cells == ["INCOME", *(cell_text(side[4][0], Of.NUMBER) for side in (block.partner, block.rival))]
    table.locator(".pick").nth(9).click()
    assert "its distances are not known" in table.locator(".which").inner_text()
    assert chart.is_hidden()


def test_options_are_switched_by_mouse_and_keys_and_all_stand_on_paper(reader):
    tabs, panels = reader.locator("[role=tab]"), reader.locator("[role=tabpanel]")
    assert tabs.all_inner_texts() == ["Weighted mean", "OWA", "Choquet integral"]
    tabs.nth(1).click()
    assert [panels.nth(at).get_by_role("heading").count() > 0 for at in range(3)] == [False, True, False]
    tabs.nth(1).press("ArrowRight")
    assert reader.locator("[role=tab][aria-selected=true]").inner_text() == "Choquet integral"
    assert reader.evaluate("document.activeElement.textContent") == "Choquet integral"
    reader.emulate_media(media="print")
    try:
        assert all(panels.nth(at).locator("svg").is_visible() for at in range(3))
    finally:
        reader.emulate_media(media="screen")


def test_paper_has_more_rows_than_the_screen(table):
    table.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(column(table, 1)) == ROWS
    table.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(column(table, 1)) == 15


def test_a_command_is_copied(reader):
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.get_by_text("Copy", exact=True).click()
    reader.get_by_text("Copied").wait_for()
    assert reader.evaluate("navigator.clipboard.readText()").startswith("python -m solver report")


@pytest.fixture(scope="module")
def real_html():
    """The page of all measures of a small file: every section, and every chart that risk has."""
    return render_page(report_cases.full().document)


def test_a_real_report_is_read_by_everybody(browser, real_html, tmp_path):
    """And no chart of it warns: the console is empty when it is closed."""
    with opened(browser, real_html, tmp_path, width=1280, scheme="light") as one:
        assert one.page.locator(".failed").count() == 0
        assert one.page.locator("[data-chart] svg").count() == one.page.locator("[data-chart]").count() > 10
        one.page.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))")
        assert one.violations() == []
        assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_notes_are_folded_opened_by_keys_and_printed(reader):
    summary, text = reader.locator(".notes summary"), reader.get_by_text("Weights sum to one.")
    assert summary.all_inner_texts() == ["1 note"]
    assert text.is_hidden()
    summary.focus()
    for shown in (True, False):
        reader.keyboard.press("Enter")
        assert text.is_visible() == shown
    reader.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert text.is_visible()
    reader.evaluate("dispatchEvent(new Event('afterprint'))")
    assert text.is_hidden()


def test_words_are_whole_in_browser_and_python(browser, tmp_path):
    texts = ["give --ties share, or --nominal", "A--B, a-re-identified", "Re-identified", "<!--b-->", "plain"]
    table = Table((Column("a", "Re-identified"),), [[text] for text in texts] * 4)
    document = full_document()
    section = Section("one", "One", "", (table,))
    page = render_page(Document("t", document.audience, document.headline, (section,), "0", "today"))
    written = [re.findall('<span class="whole">(.*?)</span>', whole(text)) for text in texts]
    with opened(browser, page, tmp_path) as one:
        for at, text in enumerate(texts):
            row = one.page.locator("tbody tr").nth(at)
            assert row.inner_text() == text
            assert row.locator(".whole").all_inner_texts() == written[at]


def test_without_scripts_tables_are_open(browser, full_html, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(full_html, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.get_by_text("in the table below").count() == 5
    assert page.locator(".behind table").count() == 4
    assert all(one.is_visible() for one in page.locator(".behind table").all())
    assert page.locator(".picked").is_hidden()
    context.close()


def test_nothing_keeps_anybody_from_reading(browser, full_html, tmp_path):
    with opened(browser, full_html, tmp_path, width=390, scheme="dark") as one:
        for summary in one.page.locator("summary:visible").all():
            summary.click()
        assert one.violations() == []
        assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_html_and_scripts_are_text(browser, tmp_path):
    with opened(browser, render_page(hostile_document()), tmp_path, width=390) as one:
        assert one.page.evaluate("window.ran") is None
        assert one.page.locator("img, b, i").count() == 0
        assert one.page.locator("h1").inner_text() == SCRIPT
        assert one.page.locator("td, th").filter(has_text="<b>bold</b>").count() >= 2
        for row in reversed(one.page.locator(".pick").all()):
            row.click()
        for chart in one.page.locator("[data-chart] svg").all():
            chart.hover(force=True)
        assert one.page.evaluate("window.ran") is None
        assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_many_rows_are_sorted_and_found(browser, tmp_path):
    many = records(4_000, ("A", "B"))
    headline = Headline("open", "Not decided.", "")
    sections = (Section("records", "Which records", "Many.", (many,)),)
    document = Document("many", full_document().audience, headline, sections, "0", "today")
    with opened(browser, render_page(document), tmp_path) as one:
        table = one.page.locator(".records")
        table.locator("thead button").nth(2).click()
        assert set(column(table, 3)) == {"10"}
        table.get_by_label("Find", exact=True).fill("3999")
        assert column(table, 1) == ["3,999"]
