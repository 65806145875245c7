"""The application in a real browser: from files to verified certificates, tables, stops, two tabs."""

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

import pandas as pd
import pytest
from application import (
    IN_BROWSER,
    PATIENCE,
    SCRIPT,
    base,
    choose,
    choose_several,
    no_serious_violation,
    small_pair,
    started,
)
from small_tables import write_linked_tables, write_table_files

from linkrisk import fit, open_table, sweep
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.writing import internal_files
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue

pytestmark = IN_BROWSER


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app") / "project"
    small_pair(folder)
    write_table_files(folder / "data")
    write_linked_tables(folder / "data")
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
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        process = engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
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
    own = re.compile(r"http://127\.0\.0\.1|data:|blob:")
    page.on("request", lambda asked: None if own.match(asked.url) else wrong.append(asked.url))
    yield page
    page.close()
    assert wrong == []


# Microdata


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


def test_names_and_values_are_text(page: Any, address: str, folder: Path) -> None:
    (folder / "data" / "odd.csv").write_text(f'"{SCRIPT}",b\n1,<b>x</b>\n2,y\n3,<b>x</b>\n')
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
    page.get_by_role("button", name="Start").wait_for()


def test_no_serious_violation_of_dark_pages(page: Any, address: str) -> None:
    page.emulate_media(color_scheme="dark")  # other tests see them in the light
    for path in ("/", "/new", "/tables", "/runs", "/compare"):
        page.goto(base(address) + path)
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        no_serious_violation(page)


@pytest.fixture(scope="module")
def measured(folder: Path) -> tuple[str, str]:
    original, masked = (folder / "data" / f"{which}.csv" for which in ("original", "masked"))
    how = {"aggregator": "weighted-mean"}
    swept = sweep(original, ["noise percent=10,40"], folder=folder.parent / "maskings", **how)
    fitted = fit(original, masked, **how)
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
    downloads = ("/download/..%2F..%2Fetc%2Fpasswd", "/download/.linkrisk/server.json")
    for path in (*downloads, "/report/..%2Fx", "/zip/x"):
        assert browser.request.get(base(address) + path).status == 404
    large = {"file": {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x" * 2_000_001}}
    own = {"origin": base(address)}
    assert browser.request.post(f"{base(address)}/x/upload/1", multipart=large, headers=own).status == 413
    assert browser.request.get(base(address), headers={"origin": "http://evil.example"}).status == 403


# Tables


def test_a_table_is_protected_and_its_grid_is_seen(page: Any, address: str) -> None:
    page.goto(f"{base(address)}/tables")
    for label, name in (("File of cells", "data/cells.csv"), ("File of relations", "data/relations.csv")):
        choose(page, label, name)
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^done$")).wait_for()
    assert "Both sensitive cells are protected" in page.locator(".headline").inner_text()
    report = page.frame_locator("iframe")
    report.locator('html[data-ready="yes"]').wait_for(state="attached")
    report.locator(".cells td").nth(9).hover()
    report.locator(".cells .said", has_text="an outsider finds 7 to 13").wait_for()
    for name in ("table-published.csv", "table-internal.csv", "report-outside.html"):
        page.get_by_role("link", name=name).wait_for()


def test_microdata_hierarchies_weights_and_insiders_are_asked_for(
    page: Any, address: str, folder: Path
) -> None:
    lines = [f"f{at},g{at // 2},R{at % 4},{'ab'[at % 3 % 2]},{10 + at},{1 + at % 3}" for at in range(24)]
    head = "firm,group,region,size,turnover,weight"
    (folder / "data" / "firms.csv").write_text("\n".join([head, *lines]) + "\n")
    for name, below in (("county", "NNSS"), ("zone", "EWEW")):
        tree = "".join(f"R{at},{parent}\n" for at, parent in enumerate(below))
        above = "".join(f"{parent},Total\n" for parent in sorted(set(below)))
        (folder / "data" / f"{name}.csv").write_text(f"code,parent\n{above}{tree}")
    page.goto(f"{base(address)}/file?name=data/firms.csv")
    page.get_by_role("button", name="Make a table of it").click()
    page.get_by_label("File of microdata", exact=True).wait_for()
    assert page.get_by_label("File of microdata", exact=True).input_value() == "data/firms.csv"
    page.get_by_text("needs explanatory variables: choose one or more").wait_for()
    page.get_by_label("By", exact=True).click()
    offered = page.get_by_role("option")
    offered.first.wait_for()
    # Both before the program can answer to the first: region and size.
    offered.evaluate_all("all => { all[2].click(); setTimeout(() => all[3].click(), 0) }")
    page.get_by_text("--by region,size").wait_for()
    page.keyboard.press("Escape")
    offered.first.wait_for(state="hidden")
    choose_several(page, "By, of table 2", "group")
    page.get_by_label("Hierarchy of group").wait_for()
    assert page.get_by_label("By, of table 3", exact=True).is_visible()
    page.get_by_text("--by region,size --by group").wait_for()
    choose_several(page, "By, of table 2", "group")  # which takes it away again
    page.get_by_label("Hierarchy of group").wait_for(state="hidden")
    choose(page, "What is summed", "turnover")
    assert not page.get_by_label("Weights in rules").is_visible()
    choose(page, "Sampling weights", "weight")
    choose(page, "Weights in rules", "respondents know weights")
    choose(page, "Holdings", "group")
    page.get_by_text("--weights-in-rules known").wait_for()
    choose_several(page, "Hierarchy of region", "data/county.csv", "data/zone.csv")
    page.get_by_label("Rules, one a line").fill("p=ten")
    page.get_by_text("'p=ten' is no rule").wait_for()
    page.get_by_label("Rules, one a line").fill("request=70")
    page.get_by_text("choose who asked for protection").wait_for()
    assert page.get_by_label("Who asked for protection").is_visible()
    page.get_by_label("Rules, one a line").fill("frequency=3")
    page.get_by_text("--rule frequency=3").wait_for()
    assert not page.get_by_label("Names of respondents").is_visible()
    choose(page, "Besides outsiders", "every respondent")
    choose(page, "Names of respondents", "firm")
    page.get_by_text("Where a level cannot be kept").click()
    choose(page, "Method", "optimal")
    page.get_by_text("--method optimal").wait_for()
    shown = " ".join(page.locator("pre.code").inner_text().split())
    for words in (
        "--hierarchy region=data/county.csv --hierarchy region=data/zone.csv",
        "--holding group --weight weight --respondent firm --weights-in-rules known",
        "--as-far-as-possible",
    ):
        assert words in shown
    started(page)
    assert "insiders" in page.locator(".headline").inner_text()
    page.get_by_role("link", name="table-contributors.csv").wait_for()
    page.locator(".course svg").first.wait_for()
    page.get_by_role("link", name="Ask again with other settings").click()
    page.get_by_text("--as-far-as-possible").wait_for()
    page.get_by_text("--hierarchy region=data/zone.csv").wait_for()


def test_a_ready_file_and_what_is_wrong_with_one(
    page: Any, address: str, folder: Path, tmp_path: Path
) -> None:
    (folder / "data" / "people of a town.csv").write_text("age,region\n30,N\n40,S\n")
    cells = pd.DataFrame({"region": ["Total", "a", "b", "c"], "value": [9, 2, 3, 4], "status": list("zuss")})
    table = open_table(cells.assign(upper_protection=[0, 1, 0, 0]))
    given = tmp_path / "ready.jj"
    write_all(internal_files(table, given))
    page.goto(base(address))
    page.locator("input[type=file]").set_input_files(given)
    page.get_by_role("link", name="data/ready.jj").click()
    page.get_by_text("--table data/ready.jj").wait_for()
    assert not page.get_by_label("File of relations").is_visible()
    choose(page, "File of cells", "data/people of a town.csv")
    wrong = page.get_by_text("has no column 'value': choose the column of values, or another file")
    wrong.wait_for()
    assert page.get_by_label("File of relations").is_visible()
    choose(page, "Column of values", "age")
    wrong.wait_for(state="hidden")
    choose(page, "File of cells", "data/ready.jj")
    page.get_by_text("--table data/ready.jj").wait_for()


def test_from_linked_tables_to_a_certificate_that_is_checked(page: Any, address: str) -> None:
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
    assert not page.get_by_text("What it said besides").is_visible()


def test_an_audit_finds_what_is_given_away(page: Any, address: str) -> None:
    page.goto(f"{base(address)}/tables?task=audit")
    page.get_by_text("Choose a file of cells.").wait_for()
    assert not page.get_by_label("Method").is_visible()
    page.goto(f"{base(address)}/file?name=data/by_size.csv")
    page.get_by_role("button", name="Audit it").click()
    page.get_by_text("--cells data/by_size.csv").wait_for()
    choose(page, "Cells of release 1", "data/by_age.csv")
    page.get_by_label("Cells of release 2", exact=True).wait_for()
    page.get_by_text("--also data/by_age.csv").wait_for()
    page.get_by_text("How long, and with how many processes").click()
    page.get_by_label("Processes", exact=True).fill("2")
    page.get_by_text("--workers 2").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^done$")).wait_for()
    assert "NOT protected" in page.locator(".headline").inner_text()
    assert "bad" in page.locator(".headline").get_attribute("class")
