"""Draw the pictures of README and of pages: report.png, app.png, file.png, map.png, table-report.png.

    python scripts/draw_pages.py

They are taken in Debian's chromium from a report and an application that this script runs on the embedded
data: 400 records, microaggregated in two groups; that of a table from firms that are drawn here. It
needs the extras `app` and `dev`; some minutes. `--part table` draws that of a table alone;
`--part gallery` the charts of docs/gallery from results that are kept beside them, and `--part measure` takes
these measures again first (ten minutes).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "benchmarks")]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from harness import application, chromium, parser  # noqa: E402

from linkrisk import make_table, mask, risk, suppress_table, sweep  # noqa: E402
from linkrisk.datasets.masking.microaggregation import Microaggregation  # noqa: E402
from linkrisk.datasets.masking.parameters import AttributeGroup  # noqa: E402
from linkrisk.datasets.public.embedded import load_wdbc  # noqa: E402
from linkrisk.solver.app.project import Project  # noqa: E402
from linkrisk.solver.app.runs import Queue  # noqa: E402
from linkrisk.solver.app.steps import SEARCHED, Asked  # noqa: E402
from linkrisk.solver.app.table_steps import add  # noqa: E402
from linkrisk.solver.charts.chart import Chart  # noqa: E402
from linkrisk.solver.charts.gallery import GALLERY, draw  # noqa: E402
from linkrisk.solver.run.result import dump_json  # noqa: E402

ORIGINAL = "data/original.csv"
METHODS = ["microaggregation k=3,6", "noise percent=10,40", "rank-swapping percent=5,20"]
PICTURES = ROOT / "docs" / "pictures"
GALLERY_PICTURES = ROOT / "docs" / "gallery"
RECORDS = 400
ATTRIBUTES = ["radius_mean", "texture_mean", "smoothness_mean", "symmetry_mean"]
WIDTH, HEIGHT = 1280, 900
PATIENCE = 600_000
"""Milliseconds that a page may take."""


def pair(folder: Path) -> tuple[Path, Path]:
    """The file pair of `make demo`, written as two files."""
    data = folder / "data"
    data.mkdir(parents=True)
    original = load_wdbc()[ATTRIBUTES].head(RECORDS)
    groups = (AttributeGroup(tuple(ATTRIBUTES[:2]), 3), AttributeGroup(tuple(ATTRIBUTES[2:]), 8))
    files = data / "original.csv", data / "masked.csv"
    original.to_csv(files[0], index=False)
    Microaggregation(groups=groups).apply(original).to_csv(files[1], index=False)
    return files


def report_page(files: tuple[Path, Path], folder: Path) -> Path:
    """The report of the pair, as the command writes it."""
    page = folder / "report.html"
    command = [sys.executable, "-m", "linkrisk", "report", "--original", *map(str, files[:1])]
    subprocess.run(
        [*command, "--masked", str(files[1]), "--output", str(page)], check=True, cwd=ROOT, stdout=sys.stderr
    )
    return page


def shot(page: Page, name: str) -> None:
    """Write what the window shows."""
    page.screenshot(path=PICTURES / name)
    print(f"docs/pictures/{name}")


def draw_report(browser: Browser, address: str) -> None:
    """The first window of the report."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE)
    shot(page, "report.png")
    page.close()


def table_page(folder: Path) -> Path:
    """The report of a table of drawn firms, by region and size, whose hierarchy of regions has two levels."""
    chance = np.random.default_rng(11)
    regions = ["North 1", "North 2", "North 3", "South 1", "South 2", "South 3", "South 4"]
    firms = pd.DataFrame(
        {
            "region": chance.choice(regions, 260, p=[0.2, 0.15, 0.05, 0.25, 0.15, 0.15, 0.05]),
            "size": chance.choice(["1-9", "10-49", "50-249", "250+"], 260, p=[0.4, 0.3, 0.2, 0.1]),
            "turnover": np.ceil(np.exp(chance.normal(4.0, 1.1, 260))),
        }
    )
    tree = folder / "regions.csv"
    parents = [("North", "Total"), ("South", "Total"), *((code, code.split()[0]) for code in regions)]
    pd.DataFrame(parents, columns=["code", "parent"]).to_csv(tree, index=False)
    made = make_table(
        firms, ["region", "size"], response="turnover", rules=["p=15"], hierarchies={"region": tree}
    )
    made.write(folder / "cells.csv", folder / "relations.csv")
    page = folder / "table.html"
    suppress_table(folder / "cells.csv", folder / "relations.csv").report(page)
    return page


def draw_table(browser: Browser, address: str) -> None:
    """The table as a grid, with what is known of the sensitive cell under the cursor."""
    page = browser.new_page(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE)
    page.locator(".cells td.sensitive").first.click()
    page.locator("#table").screenshot(path=PICTURES / "table-report.png")
    print("docs/pictures/table-report.png")
    page.close()


def draw_app(browser: Browser, folder: Path) -> None:
    """A run of the application on which the bound has closed, the page of a file, and the map of a sweep."""
    swept = waiting_sweep(folder)
    with application(folder) as address:
        base = address.split("/?")[0]
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.goto(f"{base}/new")
        page.get_by_role("button", name="Start").click()
        page.get_by_text(re.compile("^done$")).first.wait_for()
        page.locator(".course svg").first.wait_for()
        shot(page, "app.png")
        page.goto(f"{base}/file?name={ORIGINAL}")
        page.get_by_role("button", name="Save as schema").wait_for()
        shot(page, "file.png")
        page.goto(f"{base}/run/{swept}")
        page.get_by_text(re.compile("^done$")).first.wait_for()
        page.locator(".chart-drawing svg").first.wait_for()
        shot(page, "map.png")
        page.close()


def waiting_sweep(folder: Path) -> str:
    """The name of a run that the application finds when it starts."""
    project = Project.opened(folder)
    project.release()
    values = {**SEARCHED, "original": ORIGINAL, "methods": METHODS, "time_limit": 8.0}
    (run,) = add(Queue(project), Asked("sweep", values))
    return run.name


# ---------------------------------------------------------------- the gallery


MEASURES = [
    *("worst-case", "releases", "references", "attributes", "records", "held-out", "link-reliability"),
    *("interval-disclosure", "information-loss"),
]
LEFT_OUT = ("out_of_reach", "trials", "chance", "records_table", "versions", "certificate")
"""Long lists that no chart shows."""


def measured() -> dict[str, Any]:
    """The results that charts are drawn from: two releases of embedded data, and a sweep."""
    frame = load_wdbc().head(150)
    original = frame[ATTRIBUTES].assign(
        diagnosis=frame["diagnosis"],
        size=pd.qcut(frame["radius_mean"], 4, labels=["a", "b", "c", "d"]).astype(str),
    )
    masked = [
        mask(original[ATTRIBUTES], "noise percent=35", seed=seed).table.assign(
            **original[["diagnosis", "size"]]
        )
        for seed in (1, 2)
    ]
    taken = risk(
        original, masked, measures=MEASURES, attributes=ATTRIBUTES, groups=["diagnosis", "size"],
        time_limit=300, row_by_row=True,
    )  # fmt: skip
    maskings = ["noise percent=20..60:20", "rank-swapping percent=10,25", "microaggregation k=3"]
    swept = sweep(original[ATTRIBUTES], maskings, time_limit=24, aggregator="weighted-mean,choquet")
    return {"risk": shortened(taken.to_dict()), "sweep": shortened(swept.to_dict())}


def shortened(value: Any) -> Any:
    """A result without long lists and with five digits."""
    if isinstance(value, dict):
        left_out = {key for key in LEFT_OUT if isinstance(value.get(key), dict | list | tuple)}
        return {key: shortened(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list | tuple):
        return [shortened(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def drawn(results: dict[str, Any]) -> dict[str, Chart | None]:
    """Every chart of the gallery, by name."""
    return {name: draw(name, results["risk"]) or draw(name, results["sweep"]) for name in GALLERY}


def gallery(*, anew: bool) -> None:
    """Draw the charts from the kept results, so that drawing them again changes nothing."""
    kept = GALLERY_PICTURES / "results.json"
    if anew:
        kept.write_text(dump_json(measured()), encoding="utf-8")
    for name, chart in drawn(json.loads(kept.read_text(encoding="utf-8"))).items():
        if chart is None:
            print(f"nothing to draw: {name}")
        else:
            chart.save(GALLERY_PICTURES / f"{name}.svg")


def main() -> None:
    """Draw them."""
    made = parser(__doc__)
    made.add_argument("--part", choices=["all", "table", "gallery", "measure"], default="all")
    part = made.parse_args().part
    if part in ("gallery", "measure"):
        gallery(anew=part == "measure")
        return
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        folder = Path(scratch) / "project"
        draw_table(browser, table_page(Path(scratch)).as_uri())
        if part == "all":
            files = pair(folder)
            draw_app(browser, folder)
            draw_report(browser, report_page(files, Path(scratch)).as_uri())


if __name__ == "__main__":
    main()
