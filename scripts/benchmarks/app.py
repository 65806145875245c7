"""Measure the application: how soon its first page is there, a large file is shown, and progress is seen.

    python scripts/benchmarks/app.py

It starts the application on a folder of its own and looks at it in Debian's chromium: seconds from the
command to the first page; from the click to the description of a file of 100,000 records; and, while two
searches keep both processors busy, from a line of progress in the folder of the run to the same words on its
page. It needs the extras `app` and `dev`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from harness import application, chromium, parser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

from linkrisk.datasets.public.embedded import load_wdbc
from linkrisk.solver.app.answers import ProgressReader
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import runs_of

ATTRIBUTES = 6
LOOK = 0.01
"""Seconds between two looks at the file of progress."""

WATCH = """() => {
  const seen = window.seen = [];
  const line = document.querySelector(".headline");
  new MutationObserver(() => seen.push([Date.now() / 1000, line.innerText]))
    .observe(line, {childList: true, characterData: true, subtree: true});
}"""


def main() -> None:
    """Print the figures."""
    made = parser(__doc__)
    made.add_argument("--records", type=int, default=100_000, help="of the large file")
    made.add_argument("--seconds", type=float, default=30.0, help="of watching two searches")
    arguments = made.parse_args()
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        folder = Path(scratch) / "project"
        large_file(folder, arguments.records)
        search_pair(folder)
        began = time.perf_counter()
        with application(folder, "--runs", "2") as address:
            context, base = first_page(address, browser, began)
            described(context, base, arguments.records)
            lags(context, base, folder, arguments.seconds)


def large_file(folder: Path, records: int) -> None:
    """A file of numbers, categories, dates and missing values."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(draw.normal(size=(records, 4)).round(3), columns=[f"amount_{at}" for at in range(4)])
    for at, many in enumerate((2, 5, 12, 300)):
        frame[f"group_{at}"] = draw.integers(0, many, records).astype(str)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, records), unit="D")
    frame["age"] = pd.Series(draw.integers(0, 99, records)).where(draw.random(records) > 0.1)
    frame["number"] = np.arange(records)
    (folder / "data").mkdir(parents=True)
    frame.to_csv(folder / "data" / "large.csv", index=False)


def search_pair(folder: Path) -> None:
    """A pair that takes minutes to prove."""
    original = load_wdbc().select_dtypes("number").iloc[:, :ATTRIBUTES]
    noise = np.random.default_rng(1).normal(scale=0.5, size=original.shape)
    original.to_csv(folder / "data" / "original.csv", index=False)
    (original + noise * original.std().to_numpy()).to_csv(folder / "data" / "masked.csv", index=False)


def first_page(address: str, browser: Browser, began: float) -> tuple[BrowserContext, str]:
    """The first page, and how long it took."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.locator("h1").wait_for()
    print(f"first page after the command       {time.perf_counter() - began:.2f} s", flush=True)
    page.close()
    return context, address.split("/?")[0]


def described(context: BrowserContext, base: str, records: int) -> None:
    """The page of the large file."""
    page = context.new_page()
    page.goto(base)
    began = time.perf_counter()
    page.get_by_role("link", name="data/large.csv").click()
    page.get_by_role("button", name="Save as schema").wait_for()
    print(f"{records:,} records described          {time.perf_counter() - began:.2f} s", flush=True)
    page.close()


def lags(context: BrowserContext, base: str, folder: Path, seconds: float) -> None:
    """From each line of progress to its words on the page, of one of two searches."""
    for _ in range(2):
        page = context.new_page()
        page.goto(f"{base}/new?original=data/original.csv&masked=data/masked.csv")
        page.get_by_label("Time limit in seconds").fill(f"{2 * seconds:g}")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("button", name="Stop").wait_for()
    written, seen = watched(page, folder, seconds)
    late = [moment - written[words] for moment, words in seen if words in written]
    print(
        f"progress on the page, two searches  median {statistics.median(late):.2f} s, at most "
        f"{max(late):.2f} s, of {len(late)} changes"
    )


def watched(page: Page, folder: Path, seconds: float) -> tuple[dict[str, float], list[tuple[float, str]]]:
    """When each sentence about the latest run was first written, and when the page showed it."""
    reader = ProgressReader(runs_of(Project(folder))[0])
    page.evaluate(WATCH)
    written: dict[str, float] = {}
    end = time.time() + seconds
    while time.time() < end:
        if reader.read():
            written.setdefault(reader.sentence, time.time())
        time.sleep(LOOK)
    return written, [(moment, words) for moment, words in page.evaluate("window.seen")]


if __name__ == "__main__":
    main()
