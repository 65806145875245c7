"""Print how long answers take beyond limits of time and memory and after Ctrl-C, for files of any size.

    python scripts/benchmarks/limits.py --records 5000,20000,100000 --seconds 5,30

The Census file resampled, with noise of a fifth of a standard deviation, in memory: so reading does not
count, but checking, standardising and the table of all records do. Every fit runs in a process of its own.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pandas as pd
from harness import CENSUS, alone, listed, parser, timed
from scale_cases import census

from linkrisk.datasets.public.registry import load
from linkrisk.solver.compiling.parts import compile_once
from linkrisk.solver.worst_case.families import several
from linkrisk.solver.worst_case.operations.fit import fit

FAMILIES = ["weighted-mean", "owa", "choquet", "mahalanobis", "all"]


def resampled(records: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records of the Census file, a little apart from each other, and the same with noise."""
    random = np.random.default_rng(1)
    original = census(records, random)
    deviation = load("census")[CENSUS].astype(float).std().to_numpy()
    return original, original + 0.2 * deviation * random.normal(size=original.shape)


def run(records: int, family: str, pressed: float | None, limits: dict[str, Any]) -> tuple[str, float, float]:
    """One fit, with Ctrl-C after so many seconds: what it found, how long it took, what it held at most."""
    files = resampled(records)
    for name in several(family) or (family,):
        compile_once(name)
    timer = threading.Timer(pressed or 0.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    if pressed is not None:
        timer.start()
    result, spent = timed(lambda: fit(*files, aggregator=family, row_by_row=True, **limits))
    timer.cancel()
    found = f"{result.linked:,}..{result.linked_upper_bound:,}  limit {getattr(result, 'limit', None)}"
    return found, spent.seconds, spent.megabytes


def main() -> None:
    """Print a line for each run: seconds of those that are allowed, and megabytes."""
    made = parser(__doc__)
    made.add_argument("--records", type=listed(int), default=[5000, 20_000, 100_000])
    made.add_argument("--seconds", type=listed(float), default=[5.0, 30.0])
    made.add_argument("--families", type=listed(), default=FAMILIES)
    made.add_argument("--memory", type=float, default=1000.0, help="megabytes, for the runs of that limit")
    asked = made.parse_args()
    runs: list[tuple[str, float, float | None, dict[str, Any]]] = [
        (f"{seconds:g} s", 1.1 * seconds + 1.0, None, {"time_limit": seconds}) for seconds in asked.seconds
    ]
    runs.append(("Ctrl-C at 8 s", 10.0, 8.0, {"time_limit": None}))
    runs.append((f"{asked.memory:g} MB", 67.0, None, {"time_limit": 60.0, "memory_limit": asked.memory}))
    for records in asked.records:
        for family in asked.families:
            for what, allowed, pressed, limits in runs:
                found, seconds, megabytes = alone(run, records, family, pressed, limits)
                most = 1.1 * limits.get("memory_limit", float("inf"))
                kept = "kept" if seconds <= allowed and megabytes <= most else "BROKEN"
                print(
                    f"{what:<14} {records:>8,} {family:<14} {seconds:7.2f} s of {allowed:6.2f} {kept:<7}"
                    f" {megabytes:7.0f} MB  {found}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
