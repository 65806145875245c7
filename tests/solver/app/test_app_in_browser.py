"""The application in a real browser: from a file to a verified certificate, stopped, reloaded, two tabs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_projects import PATIENCE, small_pair
from table_files import write_table_files

from linkrisk import fit, sweep
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.run_queue import Queue

pytest.importorskip("nicegui", reason="needs NiceGUI: pip install 'linkrisk[app]'")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium"),
]
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app") / "project"
    small_pair(folder)
    (folder / "data" / "odd.csv").write_text(f'"{SCRIPT}",b\n1,<b>x</b>\n2,y\n3,<b>x</b>\n')
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "linkrisk", "app", str(folder), "--runs", "2", "--max-upload", "1"],
        stdout=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"},
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    yield re.findall(r"http://\S+", lines[1])[0]
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    process.stdout.close()


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Any]:
    """A browser that has shown the token; whatever asks another host, or complains, fails the test."""
    with playwright.sync_playwright() as engine:
        process = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = process.new_context(accept_downloads=True)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.goto(address)
        page.close()
        yield context
        process.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page, wrong = browser.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda asked: (
            None if re.match(r"http://127\.0\.0\.1|data:|blob:", asked.url) else wrong.append(asked.url)
        ),
    )
    yield page
    page.close()
    assert wrong == []


def base(address: str) -> str:
    return address.split("/?")[0]


def no_serious_violation(page: Any) -> None:
    found = axe.Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


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
    no_serious_violation(page)
    page.get_by_role("button", name="Mask", exact=True).click()
    page.get_by_role("button", name="Check this pair").click()
    page.get_by_text("With a certificate").click()
    page.get_by_label("Family of distances").click()
    page.get_by_role("option", name="owa").click()
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


def test_a_table_is_protected_and_its_grid_is_seen(page: Any, address: str, folder: Path) -> None:
    write_table_files(folder / "data")
    page.goto(f"{base(address)}/tables")
    for label, name in (("File of cells", "data/cells.csv"), ("File of relations", "data/relations.csv")):
        page.get_by_label(label, exact=True).click()
        page.get_by_role("option", name=name).click()
        page.get_by_role("option").first.wait_for(state="hidden")  # both lists name the same files
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^done$")).wait_for()
    assert "Both sensitive cells are protected" in page.locator(".headline").inner_text()
    report = page.frame_locator("iframe")
    report.locator(".cells td").nth(9).hover()
    assert "an outsider finds 7 to 13" in report.locator(".cells .said").inner_text()
    for name in ("table-published.csv", "table-internal.csv", "report-outside.html"):
        page.get_by_role("link", name=name).wait_for()
    no_serious_violation(page)


def choose(page: Any, label: str, option: str) -> None:
    """Choose of a list; the next one is opened when this one has closed."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    page.get_by_role("option").first.wait_for(state="hidden")


def test_hierarchies_and_insiders_are_asked_for(page: Any, address: str, folder: Path) -> None:
    lines = [f"f{at},{'NS'[at % 2]}{at % 4},{'ab'[at % 3 % 2]},{10 + at}" for at in range(24)]
    (folder / "data" / "firms.csv").write_text("\n".join(["firm,region,size,turnover", *lines]) + "\n")
    (folder / "data" / "regions.hrc").write_text("N\n@N0\n@N2\nS\n@S1\n@S3\n")
    page.goto(f"{base(address)}/tables")
    page.get_by_text("A table of microdata").click()
    choose(page, "File of microdata", "data/firms.csv")
    page.get_by_label("By", exact=True).click()
    for name in ("region", "size"):
        page.get_by_role("option", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_role("option").first.wait_for(state="hidden")
    choose(page, "What is summed", "turnover")
    choose(page, "Hierarchy of region", "data/regions.hrc")
    assert not page.get_by_label("Names of respondents").is_visible()
    choose(page, "Besides outsiders", "every respondent")
    choose(page, "Names of respondents", "firm")
    page.get_by_text("Where a level cannot be kept").click()
    choose(page, "Method", "optimal")
    shown = page.locator("pre.code").inner_text()
    for word in ("--hierarchy region=data/regions.hrc", "--respondent firm", "--as-far-as-possible"):
        assert word in shown
    no_serious_violation(page)
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^(done|failed)$")).wait_for()
    assert "insiders" in page.locator(".headline").inner_text()
    page.get_by_role("link", name="table-contributors.csv").wait_for()
    page.locator(".course svg").first.wait_for()
    page.get_by_role("link", name="Ask again with other settings").click()
    page.get_by_text("--as-far-as-possible").wait_for()
    no_serious_violation(page)


def test_names_and_values_are_text(page: Any, address: str) -> None:
    page.goto(f"{base(address)}/file?name=data/odd.csv")
    page.get_by_text(SCRIPT).first.wait_for()
    page.get_by_text("<b>x</b>").first.wait_for()
    page.goto(f"{base(address)}/mask?name=data/odd.csv")
    page.get_by_label("k (K)").fill("3")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("First records, before and after").wait_for()
    assert page.locator("td script, th script, td b").count() == 0


@pytest.mark.parametrize("path", ["/", "/new", "/tables", "/runs", "/compare"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
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
