"""Print what fits and counts of files of any size take, in seconds and in memory, and draw how both grow.

    LINKRISK_DATA=../shared/data python scripts/benchmarks/scale.py --part fits --records 100000,1000000
    LINKRISK_DATA=../shared/data python scripts/benchmarks/scale.py --part samples --records 10000
    LINKRISK_DATA=../shared/data python scripts/benchmarks/scale.py --part count --records 1000000
    LINKRISK_DATA=../shared/data python scripts/benchmarks/scale.py --part growth --picture growth.svg
    LINKRISK_DATA=../shared/data python scripts/benchmarks/scale.py --part dask --records 1000000
    LINKRISK_DATA=../shared/data python scripts/benchmarks/scale.py --part nearest --cases M6-385,noise,mixed

Every run is a command of its own, with its files in a temporary folder or that of `--folder`. Memory is the
most that the command and the processes that it starts hold together, looked at ten times a second.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import altair
import numpy as np
import pandas as pd
import psutil
import vl_convert
from harness import listed, parser, timed
from scale_cases import CASES, NOMINAL, make_files

from linkrisk.solver.linkage.baselines import euclidean_form
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.families import read_once

PARTS = ("fits", "samples", "count", "growth", "dask", "nearest")
FAMILIES = ("weighted-mean", "choquet")
SAMPLE_SIZES = (250, 500, 1000, 2000, 4000)
_LOOK = 0.1
_TURNS = 2
"""Runs of each kind, one after the other: whatever else the machine does, both kinds meet it."""
_LEARNED = 400


class Measured(NamedTuple):
    """One command: what it took, and what it wrote."""

    seconds: float
    megabytes: float
    result: dict[str, Any]


def measured(command: Sequence[str], output: Path, workers: Sequence[psutil.Process] = ()) -> Measured:
    """Run a command of the program that writes JSON to `output`; memory is that of its workers, too."""
    began = time.perf_counter()
    process = psutil.Popen(
        [sys.executable, "-m", "solver", *command, "--json", str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    most = 0.0
    while process.poll() is None:
        most = max(most, sum(_held(each) for each in (process, *workers)))
        time.sleep(_LOOK)
    if process.returncode != 0:
        raise SystemExit(process.stderr.read())
    return Measured(time.perf_counter() - began, most, json.loads(output.read_text(encoding="utf-8")))


@contextlib.contextmanager
def _two_workers() -> Iterator[tuple[str, list[psutil.Process]]]:
    """The address of a scheduler with two workers of one thread each, and their processes."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster.scheduler_address, psutil.Process().children()


def _held(process: psutil.Process) -> float:
    """Megabytes of a process and of all that it has started."""
    held = 0.0
    try:
        for each in (process, *process.children(recursive=True)):
            held += each.memory_info().rss / 1e6
    except psutil.NoSuchProcess:  # has ended in between
        pass
    return held


class Bench:
    """The runs, all with files in one folder."""

    def __init__(self, asked: argparse.Namespace, folder: Path) -> None:
        self.asked, self.folder = asked, folder

    def run(self, command: str, case: str, records: int, *further: str, **measuring: Any) -> Measured:
        """A command of the program on one pair."""
        original, masked = make_files(self.folder, case, records)
        files = ["--original", str(original), "--masked", str(masked), "--row-by-row"]
        return measured([command, *files, *further], self.folder / "result.json", **measuring)

    def fit(self, case: str, records: int, family: str, *further: str) -> Measured:
        """One fit."""
        nominal = ("--nominal", ",".join(NOMINAL)) if case == "mixed" else ()
        limit = ("--time-limit", str(self.asked.seconds))
        return self.run("fit", case, records, *nominal, "--aggregator", family, *limit, *further)

    def counted(self, case: str, records: int, *further: str, **measuring: Any) -> Measured:
        """A weighted mean, learned on a few records, counted on all, with ranks and distances."""
        learned = self.folder / "learned.json"
        learned.write_text(json.dumps(self.fit(case, _LEARNED, FAMILIES[0]).result), encoding="utf-8")
        return self.run("evaluate", case, records, "--parameters", str(learned), *further, **measuring)

    def fits(self, sizes: Sequence[int]) -> None:
        """The interval of every case, with the samples that the program plans."""
        for case, records, family in product(self.asked.cases, sizes, FAMILIES):
            run = self.fit(case, records, family)
            print(f"{case:7} {records:9,} {family:14} {_interval(run)}", flush=True)

    def samples(self, sizes: Sequence[int]) -> None:
        """One sample of each size, the program's plan, and a search of all records."""
        ways = {
            f"one sample of {size:5,}": ("--sample", str(size), "--samples", "1") for size in SAMPLE_SIZES
        }
        ways |= {"samples of 50, planned": ("--sample", "50"), "all records": ("--sample", "none")}
        for title, further in ways.items():
            print(f"{title:26}{_interval(self.fit('noise', sizes[0], FAMILIES[0], *further))}", flush=True)

    def count(self, sizes: Sequence[int]) -> None:
        """Counting one attack."""
        for records in sizes:
            _say("count", records, self.counted(self.asked.cases[0], records))

    def dask(self, sizes: Sequence[int]) -> None:
        """The same count by the threads of one process, and by two Dask workers of one thread each."""
        case, best = self.asked.cases[0], dict[str, float]()
        self.counted(case, _LEARNED)  # what is compiled is compiled now
        for records in sizes:
            with _two_workers() as (address, workers):
                ways = {"threads": ((), ()), "dask": (("--scheduler", address), workers)}
                for _, (name, (options, others)) in product(range(_TURNS), ways.items()):
                    run = self.counted(case, records, *options, workers=others)
                    best[name] = min(best.get(name, run.seconds), run.seconds)
                    _say(name, records, run)
            print(f"dask/threads, the best of each: {best['dask'] / best['threads']:.2f}")

    def growth(self, sizes: Sequence[int]) -> None:
        """Counting one attack, from a thousand records to a million, or as far as time goes."""
        points: dict[str, list[tuple[int, float, float]]] = {}
        for case in self.asked.cases:
            for records in sizes:
                run = self.counted(case, records)
                print(f"{case:7} {records:9,} {run.seconds:8.1f} s {run.megabytes:8.0f} MB", flush=True)
                points.setdefault(case, []).append((records, run.seconds, run.megabytes))
                if run.seconds > self.asked.seconds:
                    break
        if self.asked.picture is not None:
            self.asked.picture.write_text(growth_picture(points), encoding="utf-8")

    def nearest(self, sizes: Sequence[int]) -> None:
        """Nearest candidates alone, for equal weights and in this process: no reading, ranks, baselines."""
        for case in self.asked.cases:
            before: tuple[int, float] | None = None
            for records in sizes:
                original, masked = make_files(self.folder, case, records)
                options = ProblemOptions(row_by_row=True, nominal=NOMINAL if case == "mixed" else ())
                pair = read_once(str(original), str(masked), options).pair
                Evaluator(pair.part(np.arange(9))).nearest(euclidean_form(pair))  # loads what is compiled
                found, spent = timed(partial(Evaluator(pair).nearest, euclidean_form(pair)))
                line = f"{case:7} {records:9,} {found.count:9,} linked {spent.seconds:8.1f} s"
                if before is not None:
                    power = math.log(spent.seconds / before[1]) / math.log(records / before[0])
                    line += f"   power of n {power:.2f}"
                print(line, flush=True)
                before = records, spent.seconds


def _say(name: str, records: int, run: Measured) -> None:
    linked = f"{run.result['linked']:9,} linked"
    print(f"{name:8} {records:9,} {linked} {run.seconds:8.1f} s {run.megabytes:8.0f} MB", flush=True)


def growth_picture(cases: dict[str, list[tuple[int, float, float]]]) -> str:
    """Draw the points of some cases, ascending, by their names.

    A thin line shows quadratic growth of the first, from a tenth of its largest size on, where starting costs
    little.
    """
    rows = [
        (name, kind, records, value)
        for name, points in cases.items()
        for records, *both in points
        for kind, value in zip(("seconds", "megabytes"), both, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["case", "of", "records", "value"])
    x = altair.X("records:Q", scale=altair.Scale(type="log"), axis=altair.Axis(format=","))
    y = altair.Y("value:Q", scale=altair.Scale(type="log"), title="seconds, megabytes")
    drawn = (
        altair.Chart(frame)
        .mark_line(point=True)
        .encode(x, y, altair.Color("case:N"), altair.StrokeDash("of:N"))
    )
    first = next(iter(cases.values()))
    begin, seconds, _ = max((point for point in first if 10 * point[0] <= first[-1][0]), default=first[0])
    squared = [(records, seconds * (records / begin) ** 2) for records in (begin, first[-1][0])]
    thin = altair.Chart(pd.DataFrame(squared, columns=["records", "value"]))
    chart = drawn + thin.mark_line(color="grey", strokeWidth=1, clip=True).encode(x, y)
    return str(vl_convert.vegalite_to_svg(chart.properties(width=480, height=260).to_dict()))


def _interval(run: Measured) -> str:
    found, records = run.result, run.result["records"]
    limit = found.get("linked_confidence_limit")
    most = found["linked_upper_bound"] if limit is None else limit
    kind = "for certain" if limit is None else "at 95 %"
    return (
        f"{found['linked']:9,}..{most:9,} {kind:11} ({100 * found['linked'] / records:5.1f} to "
        f"{100 * most / records:5.1f} %) {run.seconds:6.0f} s {run.megabytes:6.0f} MB"
    )


SIZES = {"growth": (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)}
SIZES["nearest"] = (10_000, 100_000, 1_000_000)


def main() -> None:
    """Print one of the figures."""
    made = parser(__doc__)
    made.add_argument("--part", choices=PARTS, default="fits")
    made.add_argument("--cases", type=listed(), default=list(CASES))
    made.add_argument("--records", type=listed(lambda size: int(float(size))), help="usually 10000")
    made.add_argument("--seconds", type=float, default=120.0, help="for a fit; no larger files after a count")
    made.add_argument("--folder", type=Path, help="where the files are kept")
    made.add_argument("--picture", type=Path, help="where to write the picture of the growth")
    asked = made.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(asked, asked.folder or Path(temporary))
        getattr(bench, asked.part)(asked.records or SIZES.get(asked.part, (10_000,)))


if __name__ == "__main__":
    main()
