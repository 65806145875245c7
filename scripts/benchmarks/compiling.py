"""Print what the first run of each command compiles on a machine that has compiled nothing yet.

    python scripts/benchmarks/compiling.py                     # all commands, a quarter of an hour
    python scripts/benchmarks/compiling.py --only fit,verify   # those whose name begins so

For each: seconds of the processor, functions compiled (numba's own too), and the five dearest. Seconds are
those of the thread that compiles, which other programs disturb least; the numbers of functions are the same
on every machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from harness import ROOT, listed, parser, row
from numba.core import event

from linkrisk.solver.commands.program import main as command

PAIR = ["--original", "original.csv", "--masked", "masked.csv"]
CELLS = ["--cells", "cells.csv", "--relations", "relations.csv"]
FAMILIES = ("weighted-mean", "owa", "choquet", "mahalanobis")
METHODS = {
    "noise": "noise percent=10",
    "microaggregation": "microaggregation k=3",
    "optimal": "optimal-microaggregation k=3",
    "swapping": "rank-swapping percent=5",
    "pram": "pram change=0.1 attributes=K,L",
    "suppression": "local-suppression k=3 attributes=K,L",
}
LINKERS = {
    "prl": ["prl"],
    "passes": ["prl", "--pass", "K", "--pass", "L", "--compare", "A=equal"],
    "owa": ["owa", "--quantifiers", "sigmoid"],
}


def commands() -> dict[str, list[str]]:
    """Every command by name; later ones read what earlier ones have written."""
    proof = ["--certificate", "proof.json"]
    table = ["--input", "people.csv", "--by", "K,L", "--response", "A", "--rule", "frequency=2"]
    return {
        **{f"fit {name}": ["fit", *PAIR, "--aggregator", name] for name in FAMILIES},
        "fit with a certificate": ["fit", *PAIR, "--json", "fit.json", *proof],
        "evaluate": ["evaluate", *PAIR, "--parameters", "weights.json"],
        "verify": ["verify", "fit.json", *PAIR, *proof],
        **{
            f"mask {name}": ["mask", "--input", "people.csv", "--method", method, "--output", "out.csv"]
            for name, method in METHODS.items()
        },
        "unsafe": ["unsafe", "--input", "people.csv", "--keys", "K,L"],
        "suppress": ["suppress", "--input", "people.csv", "--keys", "K,L", "--output", "safe.csv"],
        **{f"link {name}": ["link", *PAIR, "--method", *more] for name, more in LINKERS.items()},
        "tables make": ["tables", "make", *table, *CELLS],
        "tables suppress": ["tables", "suppress", *CELLS, "--internal", "internal.csv"],
        "tables audit": ["tables", "audit", "--cells", "internal.csv", *CELLS[2:]],
        "tables round": ["tables", "round", *CELLS, "--base", "5"],
        "risk": ["risk", *PAIR, "--time-limit", "20"],
        "sweep": ["sweep", "--original", "original.csv", "--method", "noise percent=9", "--time-limit", "20"],
        "report": ["report", *PAIR, "--time-limit", "20", "--output", "report.html"],
    }  # fmt: skip


class Compiled(NamedTuple):
    """A function that was compiled: seconds without those it calls, and its name."""

    seconds: float
    name: str


class Watch(event.Listener):  # type: ignore[misc]
    """Counts what numba compiles."""

    def __init__(self) -> None:
        self.all: list[Compiled] = []
        self._open: list[tuple[float, float]] = []

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """Another one begins, maybe within one."""
        self._open.append((time.thread_time(), 0.0))

    def on_end(self, event: Any) -> None:
        """It has been compiled."""
        began, inside = self._open.pop()
        seconds = time.thread_time() - began
        if self._open:
            outer, before = self._open[-1]
            self._open[-1] = outer, before + seconds
        function = event.data["dispatcher"].py_func
        self.all.append(Compiled(seconds - inside, f"{function.__module__}.{function.__name__}"))


def watched(arguments: Sequence[str], answer: Path) -> int:
    """Run a command in this process, and write down what was compiled."""
    watch = Watch()
    event.register("numba:compile", watch)
    code = command(list(arguments))
    answer.write_text(json.dumps(watch.all), encoding="utf-8")
    return code


def first_run(arguments: Sequence[str], folder: Path) -> list[Compiled]:
    """What a command compiles that runs in a folder, on a machine that has compiled nothing."""
    answer = folder / "compiled.json"
    with tempfile.TemporaryDirectory() as nothing:
        done = subprocess.run(
            [sys.executable, __file__, "--watched", str(answer), *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": nothing},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode > 1:  # 1: an answer that somebody must look at
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return [Compiled(*one) for one in json.loads(answer.read_text(encoding="utf-8"))]


def make_files(folder: Path) -> None:
    """A file pair, and people with two categorical columns."""
    random = np.random.default_rng(1)
    original = pd.DataFrame(random.normal(size=(60, 3)), columns=list("ABC"))
    original["K"], original["L"] = random.integers(4, size=(2, 60))
    masked = original + 0.5 * random.normal(size=original.shape) * [1, 1, 1, 0, 0]
    original.to_csv(folder / "original.csv", index=False)
    masked.to_csv(folder / "masked.csv", index=False)
    weights = {"parameters": {"weights": dict.fromkeys(original, 0.2)}}
    (folder / "weights.json").write_text(json.dumps(weights), encoding="utf-8")
    original.assign(A=random.integers(1, 99, size=60)).to_csv(folder / "people.csv", index=False)


def measured(only: Sequence[str] | None) -> Iterator[tuple[str, list[Compiled]]]:
    """Each command, and what its first run compiles."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for title, arguments in commands().items():
            if only is None or title.startswith(tuple(only)):
                yield title, first_run(arguments, folder)


def main() -> None:
    """Print a table, a command a row."""
    options = parser(__doc__)
    options.add_argument("--only", type=listed(), help="beginnings of names")
    row(("first run of", "s", "compiled", "dearest"))
    row(("---", "--:", "--:", "---"))
    for title, compiled in measured(options.parse_args().only):
        dearest = [
            f"{one.name.split('.')[-1]} {one.seconds:.1f}" for one in sorted(compiled, reverse=True)[:5]
        ]
        seconds = sum(one.seconds for one in compiled)
        row((title, f"{seconds:.1f}", len(compiled), ", ".join(dearest)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watched"]:
        sys.exit(watched(sys.argv[3:], Path(sys.argv[2])))
    main()
