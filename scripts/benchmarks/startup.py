"""Print how long commands on small files take as whole processes, beside importing what all of them need.

    python scripts/benchmarks/startup.py                      # all, the median of 9 runs
    python scripts/benchmarks/startup.py --runs 21 --only fit,help

Runs of all commands alternate with `import numpy, scipy.optimize, pandas`, whose median is 1, so that what
else the machine does falls on all alike. `seconds` are those of the clock, `processor` those of all
processors, both medians. The first round is not counted: it compiles where that was not done, and writes the
files from which Python loads modules.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from harness import ROOT, listed, parser

LIBRARIES = "libraries"
RECORDS, ATTRIBUTES = 400, ("radius_mean", "texture_mean", "smoothness_mean", "symmetry_mean")


def main() -> None:
    """Print one line for each command."""
    made = parser(__doc__)
    made.add_argument("--runs", type=int, default=9, help="runs of each (9)")
    made.add_argument("--only", type=listed(), help="names of some")
    asked = made.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        all_of_them = dict(processes())
        chosen = [LIBRARIES, *(asked.only or [one for one in all_of_them if one != LIBRARIES])]
        spent: dict[str, list[tuple[float, float]]] = {one: [] for one in chosen}
        for turn in range(asked.runs + 1):
            for one in chosen:
                found = run(all_of_them[one], folder)
                if turn:
                    spent[one].append(found)
    whole = median(seconds for seconds, _ in spent[LIBRARIES])
    print(f"{'':22}{'seconds':>9}{'ratio':>7}{'processor':>11}{'ratio':>7}")
    busy = median(processor for _, processor in spent[LIBRARIES])
    for one, times in spent.items():
        seconds, processor = (median(column) for column in zip(*times, strict=True))
        print(f"{one:22}{seconds:9.2f}{seconds / whole:7.2f}{processor:11.2f}{processor / busy:7.2f}")


def prepare(folder: Path) -> None:
    """Write the files that commands read."""
    from linkrisk.datasets.masking.microaggregation import Microaggregation
    from linkrisk.datasets.public.embedded import load_wdbc

    original = load_wdbc().loc[: RECORDS - 1, list(ATTRIBUTES)]
    original.to_csv(folder / "original.csv", index=False)
    Microaggregation(k=5).apply(original).to_csv(folder / "masked.csv", index=False)
    outputs = ("--json", "fit.json", "--certificate", "certificate.json")
    run(command("fit", "--aggregator", "weighted-mean", *files(), *outputs), folder)


def files() -> tuple[str, ...]:
    """The options that name the files."""
    return ("--original", "original.csv", "--masked", "masked.csv")


def command(*words: str) -> list[str]:
    """A command of ours as a process."""
    return ["-m", "solver", *words]


def processes() -> Iterator[tuple[str, list[str]]]:
    """What is measured, by its name: arguments of Python."""
    yield LIBRARIES, ["-c", "import numpy, scipy.optimize, pandas"]
    yield "help", command("--help")
    yield "import linkrisk", ["-c", "import linkrisk"]
    yield "import fit", ["-c", "from linkrisk import fit"]
    yield "fit", command("fit", "--aggregator", "choquet")
    yield "fit CSV", command("fit", "--aggregator", "choquet", *files())
    yield "fit, certificate", command("fit", *files(), "--json", "f.json", "--certificate", "c.json")
    yield "verify", command("verify", "fit.json", *files(), "--certificate", "certificate.json")
    yield "evaluate", command("evaluate", "--parameters", "fit.json", *files())
    yield (
        "mask",
        command("mask", "--input", "original.csv", "--method", "noise percent=10", "--output", "m.csv"),
    )
    yield "risk", command("risk", *files(), "--measures", "simple-attacks")


def run(arguments: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of the clock, and of processors, of a process."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "LINKRISK_PROGRESS": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (arguments, done.stderr)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - clock
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
