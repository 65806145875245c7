"""Print how long the commonest jobs take, and how much memory, at a thousand to a million records.

    python scripts/benchmarks/jobs.py                 # all jobs at 1,000 and 10,000 records
    python scripts/benchmarks/jobs.py --records 1000,10000,100000,1000000
    python scripts/benchmarks/jobs.py --records 100000 --jobs evaluate,suppress --keep FOLDER

Every cell is a whole command in a process of its own, starting and reading included: seconds by the clock and
the most megabytes that the process has held (Linux and macOS). The files are CSV, made from a seed: a row
number, region (20), sector (12), status (4), age, income and spending, a hundredth of the ages missing; the
masked file has noise of 10 % in the numbers. Searches have a limit of --seconds; then they say what they
know: `proven` where the bound is reached, else the interval, in per cent of the records. A command that needs
more than --most is ended, and the cell says so. Every job is done on 100 records before: that compiles what
is compiled once on a machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from harness import ROOT, head, listed, parser, row

NUMBERS = "age,income,spending"
CATEGORIES = "region,sector,status"
FILE = "--input original.csv"
PAIR = "--original original.csv --masked masked.csv --id person"
LIMIT = "--time-limit {seconds}"


@dataclass(frozen=True)
class Job:
    """A job that is timed, and the command that does it."""

    name: str
    words: str  # what it is, in the table
    command: str
    after: tuple[str, ...] = ()  # jobs whose files it needs
    answer: str = ""  # the JSON that has an interval


JOBS = (
    Job("describe", "read a file, say what is in it", "describe original.csv"),
    Job(
        "mdav",
        "mask: microaggregation, groups of 3 (MDAV)",
        f"mask {FILE} --method microaggregation --k 3 --attributes {NUMBERS} --output groups.csv",
    ),
    Job(
        "noise",
        "mask: noise of 10 %",
        f"mask {FILE} --method noise --percent 10 --attributes {NUMBERS} --seed 1 --output masked.csv",
    ),
    Job(
        "mean",
        "worst case, weighted mean",
        f"fit {PAIR} --nominal {CATEGORIES} {LIMIT} --json mean.json --certificate proof.json",
        ("noise",),
        "mean.json",
    ),
    Job(
        "choquet",
        "worst case, Choquet integral",
        f"fit {PAIR} --nominal {CATEGORIES} --aggregator choquet {LIMIT} --json choquet.json",
        ("noise",),
        "choquet.json",
    ),
    Job(
        "verify",
        "check the certificate of the weighted mean",
        f"verify mean.json --certificate proof.json {PAIR}",
        ("mean",),
    ),
    Job(
        "evaluate",
        "count and rank all records by a given distance",
        f"evaluate {PAIR} --parameters mean.json",
        ("mean",),
    ),
    Job(
        "keys",
        "risk of key variables",
        f"risk {PAIR} --schema keys.toml --measures uniqueness,individual-risk,suda",
        ("noise",),
    ),
    Job(
        "prl",
        "link by probabilistic record linkage",
        f"link {PAIR} --method prl --nominal {CATEGORIES}",
        ("noise",),
    ),
    Job(
        "suppress",
        "suppress: 3-anonymity of three keys",
        f"suppress --input original.csv --keys {CATEGORIES} --k 3 {LIMIT} --output safe.csv",
    ),
    Job(
        "make",
        "make a table of region by sector",
        "tables make --input original.csv --by region,sector --response income --rule nk=1,70"
        " --cells cells.csv --relations relations.csv",
    ),
    Job(
        "tables",
        "suppress cells of this table",
        f"tables suppress --cells cells.csv --relations relations.csv {LIMIT} --output table.csv",
        ("make",),
    ),
)


def main() -> None:
    """Print one line for each job."""
    made = parser(__doc__)
    names = [job.name for job in JOBS]
    made.add_argument("--records", type=listed(int), default=[1_000, 10_000], help="sizes (1000,10000)")
    made.add_argument("--jobs", type=listed(), default=names, help=f"which ones ({','.join(names)})")
    made.add_argument("--seconds", type=int, default=30, help="limit of searches (30)")
    made.add_argument("--most", type=int, default=600, help="seconds after which a command is ended (600)")
    made.add_argument("--keep", type=Path, help="folder of the files, which are kept")
    asked = made.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(asked, asked.keep or Path(folder))
        for job in JOBS:
            bench.cell(job, 100)
        head(["", *(f"{size:,} records" for size in asked.records)])
        for job in JOBS:
            if job.name in asked.jobs:
                row([job.words, *(bench.cell(job, size) for size in asked.records)])


class Bench:
    """Runs of jobs on files of several sizes."""

    def __init__(self, asked: argparse.Namespace, folder: Path) -> None:
        self._asked, self._folder = asked, folder
        self._cells: dict[tuple[str, int], str] = {}

    def folder(self, size: int) -> Path:
        """The folder of the files of one size, with the original one."""
        made = self._folder / str(size)
        if not (made / "original.csv").exists():
            made.mkdir(parents=True, exist_ok=True)
            people(size).to_csv(made / "original.csv", index=False)
            each = [
                f'  {{ name = "{name}", role = "key", scale = "nominal" }},' for name in CATEGORIES.split(",")
            ]
            keys = "\n".join(["attributes = [", *each, "]", ""])
            (made / "keys.toml").write_text(keys, encoding="utf-8")
        return made

    def cell(self, job: Job, size: int) -> str:
        """What a job took at a size; run once, after those that it needs."""
        if (job.name, size) not in self._cells:
            for before in (one for one in JOBS if one.name in job.after):
                self.cell(before, size)
            folder = self.folder(size)
            command = job.command.format(seconds=self._asked.seconds).split()
            said = run(command, folder, self._asked.most)
            if job.answer and (folder / job.answer).exists():
                said += f", {interval(json.loads((folder / job.answer).read_text(encoding='utf-8')))}"
            self._cells[job.name, size] = said
        return self._cells[job.name, size]


def people(records: int) -> pd.DataFrame:
    """Persons with categories and numbers, some ages missing."""
    random = np.random.default_rng(1)
    income = random.lognormal(8, 0.7, records).round(2)
    table = pd.DataFrame({"person": np.arange(1, records + 1)})
    for name, kinds in (("region", 20), ("sector", 12), ("status", 4)):
        often = random.dirichlet(np.full(kinds, 2.0))
        table[name] = np.array([f"{name}{at}" for at in range(kinds)])[random.choice(kinds, records, p=often)]
    table["age"] = pd.Series(random.integers(18, 90, records)).where(random.random(records) >= 0.01)
    table["income"] = income
    table["spending"] = (income * random.uniform(0.3, 1.1, records)).round(2)
    return table


def run(command: Sequence[str], folder: Path, most: int) -> str:
    """Run a command of the program; its seconds and megabytes, or why there are none."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "linkrisk", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    ended = threading.Event()

    def end() -> None:
        ended.set()
        process.send_signal(signal.SIGKILL)

    timer = threading.Timer(most, end)
    timer.start()
    assert process.stderr is not None
    words = process.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if ended.is_set():
        return f"not ended after {most} s"
    if process.returncode not in (0, 1):  # 1: a search that its limit has ended, or a risk that is too high
        print(f"{' '.join(command)}: {words.strip().splitlines()[-1:]}", file=sys.stderr)
        return f"failed ({process.returncode})"
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return f"{time.perf_counter() - began:.1f} s, {used.ru_maxrss / unit:,.0f} MB"


def interval(result: Mapping[str, Any]) -> str:
    """What a fit knows, in per cent of the records."""
    least, most = result["linked"], result.get("linked_confidence_limit", result["linked_upper_bound"])
    share = 100.0 / result["records"]
    if least == most:
        return f"{least * share:.1f} %, proven"
    sampled = " (from a sample)" if "linked_confidence_limit" in result else ""
    return f"{least * share:.1f} to {most * share:.1f} %{sampled}"


if __name__ == "__main__":
    main()
