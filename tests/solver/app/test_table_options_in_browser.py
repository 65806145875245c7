"""The page of tables in a real browser: linked ready tables, certificates for others, audits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from application import IN_BROWSER, base, choose, choose_several, started
from small_tables import write_linked_tables

pytestmark = IN_BROWSER


def test_from_linked_tables_to_a_certificate_that_is_checked(page: Any, address: str, folder: Path) -> None:
    write_linked_tables(folder / "data")
    page.goto(f"{base(address)}/tables?cells=data/by_size.csv")
    page.get_by_text("--cells data/by_size.csv").wait_for()
    choose(page, "Cells of table 2", "data/by_age.csv")
    page.get_by_label("Cells of table 3", exact=True).wait_for()
    for column in ("region", "size", "age"):  # of both
        page.get_by_label(f"Hierarchy of {column}").wait_for()
    page.get_by_text("With a certificate for others").click()
    assert not page.get_by_label("Backend").is_visible()
    page.get_by_text("What solves it").click()
    choose(page, "Backend", "highs")
    page.get_by_text("Formats of the files").click()
    choose(page, "Published table", "workbook (.xlsx): as one prints it")
    choose_several(page, "More for the house", "Eurostat (.sbs)")
    page.get_by_text("--backend highs").wait_for()
    assert "verify" in page.locator("pre.code").inner_text()
    assert "sensitive cells are protected" in started(page)
    page.get_by_text("cost 410, proven least").wait_for()
    page.get_by_text("python -m solver verify certificate.json --table table-internal.jj").wait_for()
    for name in ("table-published.xlsx", "table-internal.sbs", "certificate.json"):
        page.get_by_role("link", name=name).first.wait_for()
    run = page.url.rpartition("/")[2]
    page.get_by_role("link", name="Ask again with other settings").click()
    page.get_by_text("--cells data/by_age.csv").wait_for()
    page.get_by_text("Check a certificate").click()
    page.get_by_text("Choose the certificate that is to be checked.").wait_for()
    assert not page.get_by_text("Who attacks").is_visible()
    choose(page, "Certificate", f"runs/{run}/certificate.json")
    choose(page, "File of cells", f"runs/{run}/table-internal.jj")
    page.get_by_text(f"--table runs/{run}/table-internal.jj").wait_for()
    assert started(page).startswith("PROVEN: the table is protected from outsiders, 4 of 4 levels")
    page.get_by_role("link", name="Ask again with other settings").click()
    choose(page, "File of cells", "data/by_size.csv")
    page.get_by_text("--cells data/by_size.csv").wait_for()
    assert started(page).startswith("REJECTED: the certificate is about")
    assert not page.get_by_text("What it said besides").is_visible()


def test_an_audit_finds_what_is_given_away(page: Any, address: str, folder: Path) -> None:
    write_linked_tables(folder / "data")
    page.goto(f"{base(address)}/tables?task=audit")
    page.get_by_text("Choose a file of cells.").wait_for()
    assert not page.get_by_label("Method").is_visible()
    choose(page, "File of cells", "data/by_size.csv")
    page.get_by_text("--cells data/by_size.csv").wait_for()  # what is chosen draws parts of the page anew
    choose(page, "Cells of release 1", "data/by_age.csv")
    page.get_by_label("Cells of release 2", exact=True).wait_for()
    page.get_by_text("--also data/by_age.csv").wait_for()
    page.get_by_text("How long, and with how many processes").click()
    page.get_by_label("Processes", exact=True).fill("2")
    page.get_by_text("--workers 2").wait_for()
    assert "NOT protected" in started(page)
    assert "bad" in page.locator(".headline").get_attribute("class")
    page.get_by_text(re.compile("^done$")).wait_for()
