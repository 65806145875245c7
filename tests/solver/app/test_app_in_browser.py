"""The application in a real browser: from a file to a verified certificate, stopped, reloaded, two tabs."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from application import (
    IN_BROWSER,
    SCRIPT,
    base,
    choose,
    choose_several,
    no_serious_violation,
    started,
)

from linkrisk import fit, sweep
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue

pytestmark = IN_BROWSER


def test_from_a_file_to_a_verified_certificate(page: Any, address: str, folder: Path, tmp_path: Path) -> None:
    given = tmp_path / "people.csv"
    shutil.copy(folder / "data" / "original.csv", given)
    page.goto(base(address))
    page.locator("input[type=file]").set_input_files(given)
    page.get_by_role("link", name="data/people.csv").click()
    page.get_by_role("button", name="Save as schema").wait_for()
    no_serious_violation(page)
    page.get_by_role("button", name="Save as schema").click()
    page.get_by_text("data/people.schema.toml is saved").wait_for()
    page.get_by_role("button", name="Mask this file").click()
    page.get_by_label("k (K)").fill("3")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("First records, before and after").wait_for()
    page.get_by_text("Distributions, before and after").wait_for()
    page.get_by_text("Linking each of these records to its nearest masked one").wait_for()
    no_serious_violation(page)
    page.get_by_role("button", name="Mask", exact=True).click()
    page.get_by_role("button", name="Check this pair").click()
    page.get_by_text("With a certificate").click()
    choose_several(page, "Attributes that an intruder may know", "age", "income")
    choose(page, "Family of distances", "owa")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Verification of the certificate").wait_for()
    page.locator(".course svg").wait_for()
    assert "can be re-identified" in page.locator(".headline").inner_text()
    page.frame_locator("iframe").locator("h1").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="All as one zip").click()
    names = {name.rpartition("/")[2] for name in zipfile.ZipFile(download.value.path()).namelist()}
    leaves = {"result.json", "report.html", "certificate.json", "verification.txt", "people.schema.toml"}
    assert names >= leaves | {"commands.sh", "people-masked.csv"}
    assert "masking-record.json" not in names
    assert "people.csv" not in names
    with page.expect_download() as download:
        page.get_by_role("link", name="report.html").click()
    assert "<html" in Path(download.value.path()).read_text(encoding="utf-8")


def test_masking_is_offered_for_records_only(page: Any, address: str, folder: Path) -> None:
    data = folder / "data"
    (data / "cells of argus.tab").write_text('"Total";1\n')
    (data / "cells of argus.rda").write_text('<SEPARATOR> ";"\n')
    (data / "bare.tab").write_text("Total\tTotal\n1\t2\n")
    page.goto(base(address))
    page.get_by_text("Ready tables: data/cells of argus.tab").wait_for()
    page.get_by_text("What the columns of ready tables are: data/cells of argus.rda").wait_for()
    rows = page.locator("table.listed tr", has_text="argus")
    assert rows.count() == 0
    page.locator("table.listed tr", has_text="bare.tab").get_by_role("link", name="Mask").click()
    page.get_by_text("the column name 'Total' is twice in the header; rename one").wait_for()
    assert not page.get_by_role("button", name="Mask", exact=True).is_visible()


def test_a_run_is_stopped_after_a_reload_and_seen_in_two_tabs(page: Any, browser: Any, address: str) -> None:
    page.goto(f"{base(address)}/new")
    page.get_by_label("Time limit in seconds").fill("600")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Stop").wait_for()
    other = browser.new_page()
    other.goto(page.url)
    page.reload()
    page.get_by_role("button", name=re.compile("Stop")).click()
    for tab in (page, other):
        tab.get_by_text(re.compile("^(done|failed|cancelled)$")).wait_for()
    other.close()


def test_names_and_values_are_text(page: Any, address: str) -> None:
    page.goto(f"{base(address)}/file?name=data/odd.csv")
    page.get_by_text(SCRIPT).first.wait_for()
    page.get_by_text("<b>x</b>").first.wait_for()
    page.goto(f"{base(address)}/mask?name=data/odd.csv")
    page.get_by_label("k (K)").fill("3")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("First records, before and after").wait_for()
    assert page.locator("td script, th script, td b").count() == 0


def test_values_are_suppressed_by_a_hierarchy(page: Any, address: str, folder: Path) -> None:
    data = folder / "data"
    (data / "residents.csv").write_text("town,sex\n" + "A,f\n" * 4 + "A,m\nB,f\n" + "B,m\n" * 4)
    (data / "towns.csv").write_text("town,all\nA,*\nB,*\n")
    page.goto(f"{base(address)}/suppress?name=data/residents.csv&task=suppress")
    choose_several(page, "Key variables", "town", "sex")
    page.get_by_text("the same, by levels of recoding together with suppression").click()
    page.get_by_text("Levels of recoding need a hierarchy of at least one key variable").wait_for()
    choose(page, "Hierarchy of town", "data/towns.csv")
    page.get_by_text("--hierarchy town=data/towns.csv").wait_for()
    assert "proven" in started(page)


@pytest.mark.parametrize(
    ("scheme", "path"),  # other tests see the others in the light
    [
        *(("light", path) for path in ("/", "/new", "/runs")),
        *(("dark", path) for path in ("/", "/new", "/tables", "/runs", "/compare")),
    ],
)
def test_no_serious_violation(page: Any, address: str, path: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(base(address) + path)
    page.locator("h1").wait_for()
    page.wait_for_load_state("networkidle")
    no_serious_violation(page)


@pytest.fixture(scope="module")
def measured(folder: Path) -> tuple[str, str]:
    """A sweep and a fit that the project has runs of, by name."""
    original, masked = (folder / "data" / f"{which}.csv" for which in ("original", "masked"))
    swept = sweep(
        original, ["noise percent=10,40"], aggregator="weighted-mean", folder=folder.parent / "maskings"
    )
    fitted = fit(original, masked, aggregator="weighted-mean")
    queue, names = Queue(Project(folder)), []
    for kind, result in (("sweep", swept), ("fit", fitted)):
        run = queue.folder(kind)
        queue.add(kind, f"A {kind}", [], run=run, inputs={"original": "data/original.csv"})
        (run.folder / "result.json").write_text(result.to_json(), encoding="utf-8")
        run.end([0])
        names.append(run.name)
    return names[0], names[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_of_a_sweep_and_a_comparison(
    page: Any, address: str, measured: tuple[str, str], scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{base(address)}/run/{measured[0]}")
    drawn = page.locator(".chart-drawing")
    drawn.locator(".mark-symbol path").first.click(force=True)
    page.get_by_role("button", name="Mask the file like this").wait_for()
    assert page.locator(".panel h3").inner_text().startswith("noise percent=")
    no_serious_violation(page)
    page.goto(f"{base(address)}/compare?runs={measured[1]}")
    drawn.locator("svg").wait_for()
    page.get_by_text("At worst").first.wait_for()
    no_serious_violation(page)
    page.goto(f"{base(address)}/run/{measured[1]}")
    page.get_by_text("What it printed").wait_for()
    no_serious_violation(page)


def test_files_outside_and_large_uploads_are_refused(browser: Any, address: str) -> None:
    for path in (
        "/download/..%2F..%2Fetc%2Fpasswd",
        "/download/.linkrisk/server.json",
        "/report/..%2Fx",
        "/zip/x",
    ):
        assert browser.request.get(base(address) + path).status == 404
    large = {"file": {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x" * 2_000_001}}
    own = {"origin": base(address)}
    assert browser.request.post(f"{base(address)}/x/upload/1", multipart=large, headers=own).status == 413
    assert browser.request.get(base(address), headers={"origin": "http://evil.example"}).status == 403
