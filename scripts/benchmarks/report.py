"""Measure the page of a report: how long it takes to make and to use, and how large it is.

    python scripts/benchmarks/report.py
    python scripts/benchmarks/report.py --pairs ../shared/bench/pairs

With the folder of pairs, it prints what the whole report of a pair of 400 and one of 1,080 Census records
takes at default limits. Without, results of drawn records are measured first and saved as JSON. Then it
prints the seconds of `python -m solver report --saved`, started anew five times, with and without scripts of
charts that are kept in the cache; the size of the page; what pictures of all charts would add, which readers
without scripts could see; and the milliseconds from a click or a key to the next frame in Debian's chromium,
on a table of many rows (the slowest of five).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from harness import ROOT, chromium, parser, timed

from linkrisk.solver.charts.chart import Chart, svg
from linkrisk.solver.documents.document import Choice, Document, Records
from linkrisk.solver.documents.page import render_page

REPEATED = 5
PAIRS = ("M5-38_400_s0", "M5-38_1080_s0")
"""Census records, five attributes."""

MEASURES = "worst-case,simple-attacks,references,attributes,records,uniqueness,information-loss,held-out"
ACTIONS = {
    "sort by a number": "document.querySelectorAll('.records thead button')[2].click()",
    "sort by a text": "document.querySelectorAll('.records thead button')[0].click()",
    "find, first letter": "look('9')",
    "find, next letters": "look('999')",
    "find nothing": "look('no such record')",
    "open the filters": "document.querySelector('.records .filters').open = true",
    "filter by a number": "fill('.records .filters input[type=number]', '2')",
    "next page": "document.querySelectorAll('.records .pager button')[1].click()",
}
"""In the table of records; each is timed with whatever the ones before have left."""

TIMED = """async (action) => {
  const fill = (which, text) => {
    const field = document.querySelector(which);
    field.value = text;
    field.dispatchEvent(new Event("input"));
  };
  const look = (text) => fill(".records .tools input[type=search]", text);
  const start = performance.now();
  eval(action);
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  return performance.now() - start;
}"""


def main() -> None:
    """Print the figures."""
    made = parser(__doc__)
    made.add_argument("--records", type=int, default=1000)
    made.add_argument("--attributes", type=int, default=6)
    made.add_argument("--rows", type=int, default=20_000, help="of the table in the browser")
    made.add_argument("--pairs", type=Path, help="measure whole reports of pairs of this folder instead")
    arguments = made.parse_args()
    if arguments.pairs is not None:
        for pair in PAIRS:
            whole_report(arguments.pairs.resolve(), pair)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured(folder, arguments.records, arguments.attributes)
        for saved in ("risk.json", "report.json"):
            print(f"page of {saved}, {arguments.records:,} records, {arguments.attributes} attributes:")
            print(f"  scripts in the cache  {seconds(folder, saved, cold=False)}")
            print(f"  no cache              {seconds(folder, saved, cold=True)}")
        print(f"size                    {(folder / 'page.html').stat().st_size / 1e6:.2f} MB")
        document = Document.from_dict(json.loads((folder / "report.json").read_text(encoding="utf-8")))
        pictures(document)
        print(f"{arguments.rows:,} records in chromium:")
        for action, took in used(folder, document, arguments.rows):
            print(f"  {action:<22}{took:.0f} ms")


def whole_report(pairs: Path, name: str) -> None:
    """Print what `report` takes, with certificates, and how large its page is."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = [str(pairs / f"{name}_{which}.csv") for which in ("original", "masked")]
        asked = ("report", "--original", files[0], "--masked", files[1], "--output", "page.html")
        _, spent = timed(lambda: run(folder, *asked))
        size = (folder / "page.html").stat().st_size / 1e6
    print(f"report of {name:<16} {spent.seconds:.0f} s, {size:.2f} MB", flush=True)


def measured(folder: Path, records: int, attributes: int) -> None:
    """Save the results of drawn records, correlated and masked with noise, and the report of them."""
    draw = np.random.default_rng(1)
    values = draw.normal(size=(records, 3)) @ draw.normal(size=(3, attributes))
    values += draw.normal(size=values.shape)
    noise = draw.normal(size=values.shape) * values.std(axis=0) * 0.3
    for file, content in (("original.csv", values), ("masked.csv", values + noise)):
        frame = pd.DataFrame(content, columns=[f"ATTRIBUTE_{at + 1}" for at in range(attributes)])
        frame.round(3).to_csv(folder / file, index=False)
    run(
        folder, "risk", "--original", "original.csv", "--masked", "masked.csv", "--aggregator", "all",
        "--measures", MEASURES, "--time-limit", "20", "--json", "risk.json",
    )  # fmt: skip
    run(folder, "report", "--saved", "risk.json", "--json", "report.json")


def run(folder: Path, *arguments: str, cache: Path | None = None) -> None:
    """Run a command in the folder."""
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LINKRISK_PROGRESS": "none",
        "LINKRISK_CACHE": str(cache or folder / "cache"),
    }
    command = [sys.executable, "-m", "linkrisk", *arguments]
    subprocess.run(command, cwd=folder, env=settings, check=True, stdout=subprocess.DEVNULL)


def seconds(folder: Path, saved: str, *, cold: bool) -> str:
    """The fastest and the median of some runs that make the page from JSON, and what processors worked."""
    took, worked = [], []
    cache = folder / "cold" if cold else folder / "warm"
    for at in range(REPEATED + 1):
        if cold:
            shutil.rmtree(cache, ignore_errors=True)
        start, before = time.perf_counter(), processors()
        run(folder, "report", "--saved", saved, "--output", "page.html", cache=cache)
        if at:  # the first fills caches of the system, and ours
            took.append(time.perf_counter() - start)
            worked.append(processors() - before)
    middle, work = statistics.median(took), statistics.median(worked)
    return f"{min(took):.2f} s, median {middle:.2f} s, {work:.2f} s of processors"


def processors() -> float:
    """Seconds of all processes that were started and have ended."""
    used_up = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used_up.ru_utime + used_up.ru_stime


def pictures(document: Document) -> None:
    """Print what pictures of all charts would cost."""
    drawn, spent = timed(lambda: [svg(chart.spec) for chart in charts(document)])
    size = sum(len(one.encode()) for one in drawn)
    print(f"{len(drawn)} charts as pictures    {spent.seconds:.2f} s, {size / 1e6:.2f} MB")


def charts(document: Document) -> Iterator[Chart]:
    """All charts that are drawn before a record is picked."""
    pending: list[Any] = [block for section in document.sections for block in section.blocks]
    for block in pending:
        if isinstance(block, Chart):
            yield block
        elif isinstance(block, Choice):
            pending += [inner for _, blocks in block.options for inner in blocks]


def used(folder: Path, document: Document, rows: int) -> Iterator[tuple[str, float]]:
    """Milliseconds of each action on a table of that many records."""
    # The policy of the page forbids `eval` to its scripts; the debugger is asked to look away.
    page_file = folder / "many.html"
    page_file.write_text(render_page(grown(document, rows)), encoding="utf-8")
    with chromium() as browser:
        slowest = dict.fromkeys(ACTIONS, 0.0)
        for _ in range(REPEATED):
            page = browser.new_context(bypass_csp=True).new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            for action, script in ACTIONS.items():
                slowest[action] = max(slowest[action], page.evaluate(TIMED, script))
            page.context.close()
    yield from slowest.items()


def grown(document: Document, rows: int) -> Document:
    """The section of records alone, with its rows again and again under other names, in no order."""
    section = next(one for one in document.sections if any(isinstance(b, Records) for b in one.blocks))
    block = next(one for one in section.blocks if isinstance(one, Records))
    given = block.table.rows
    again = [[f"person {at * 7919 % rows}", *given[at % len(given)][1:]] for at in range(rows)]
    many = Records(replace(block.table, rows=again), block.attributes)
    return replace(document, sections=(replace(section, blocks=(many,)),))


if __name__ == "__main__":
    main()
