"""The page of a protected table in a real browser: cursor and keys, narrow and dark, on paper."""

from __future__ import annotations

import numpy as np
import pytest
from browsers import chromium, opened
from small_tables import write_table_files

from linkrisk import report, suppress_table
from linkrisk.solver.documents.document import (
    Audience,
    CellGrid,
    CellState,
    Choice,
    Document,
    GridCell,
    Headline,
    Section,
)
from linkrisk.solver.documents.page import render_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def test_the_interval_stands_below_the_cell_under_the_cursor(browser, protected, tmp_path):
    with opened(browser, report(protected).to_html(), tmp_path) as one:
        said, cells = one.page.locator(".cells .said"), one.page.locator(".cells tbody td")
        assert said.inner_text().startswith("Point at a cell")
        cells.nth(8).hover()
        expected = "1 × 3: 10; sensitive; an outsider finds 7 to 13; 7 to 13 must remain possible"
        assert said.inner_text() == expected
        one.page.locator("h1").hover()
        assert said.inner_text().startswith("Point at a cell")
        cells.nth(8).click()
        one.page.keyboard.press("ArrowLeft")
        assert said.inner_text().startswith("1 × 2: 3; suppressed with them; an outsider finds 0 to 6")
        for key, at in ("ArrowUp", "2"), ("ArrowUp", "2"), ("End", "4"), ("Control+Home", "T"):
            one.page.keyboard.press(key)
            assert said.inner_text().startswith(f"T × {at}"), key
        assert one.page.locator(".cells [tabindex='0']").count() == 2  # one cell, and what scrolls
        assert one.page.locator(".failed").count() == 0


@pytest.mark.parametrize(("external", "width", "scheme"), [(False, 420, "dark"), (True, 420, "light")])
def test_nothing_sticks_out_and_everybody_can_read_it(browser, tmp_path, external, width, scheme):
    chance = np.random.default_rng(3)
    inner, names = chance.integers(1, 10**6, (14, 14)), ["a_long_code_without_any_space_" * 4, "<img src=x>"]
    codes = [f"{names[at % 2]}{at}" for at in range(14)]
    files = write_table_files(
        tmp_path, inner, {(2, 3): 10.0, (5, 5): 20.0}, status={(9, 9): "z"},
        rows=codes, columns=codes, names=("v" * 80, "a & b"),
    )  # fmt: skip
    with opened(
        browser, suppress_table(**files).to_html(external), tmp_path, width=width, scheme=scheme
    ) as one:
        root = "document.documentElement"
        assert one.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
        assert one.page.locator("img").count() == 0
        assert one.violations() == []


def test_an_audit_that_failed_and_a_rounding_can_be_read(browser, failed, rounded, tmp_path):
    for result, scheme in ((failed, "light"), (failed, "dark"), (rounded, "dark")):
        with opened(browser, report(result).to_html(), tmp_path, scheme=scheme) as one:
            assert one.violations() == []
            assert one.page.locator(".cells .legend .key").count() >= 2
            one.page.emulate_media(media="print")
            assert one.page.locator(".cells .said").is_hidden()


def test_many_slices_are_chosen_from_a_list(browser, tmp_path):
    one = CellGrid("c", "row", "column", ("a",), ("b",), [[GridCell(CellState.PUBLISHED, "7")]])
    choice = Choice("Slice", tuple((f"slice {at}", (one,)) for at in range(13)))
    head = Headline("below", "v", "w")
    page = render_page(
        Document("t", Audience.INTERNAL, head, (Section("s", "S", "", (choice,)),), "0", "now", about="table")
    )
    with opened(browser, page, tmp_path, width=420) as opened_page:
        assert opened_page.page.locator("[role=tab]").count() == 0
        opened_page.page.get_by_label("Slice").select_option("slice 12")
        shown = opened_page.page.locator(".option:not([data-closed])")
        assert shown.count() == 1
        assert "slice 12" in shown.inner_text()
        assert opened_page.violations() == []
