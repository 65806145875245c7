"""Print how long answers take beyond limits of time and memory and after Ctrl-C, for files of any size.

    python scripts/benchmarks/limits.py --records 5000,20000,100000 --seconds 5,30

The Census file resampled, with noise of a fifth of a standard deviation, in memory: so reading does not
count, but checking, standardising and the table of all records do. Every fit runs in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.public.registry import load
from linkrisk.solver.compiling.ahead import compile_once
from linkrisk.solver.worst_case.families import several
from linkrisk.solver.worst_case.operations.fit import fit

FAMILIES = ("weighted-mean", "owa", "choquet", "mahalanobis", "all")
ATTRIBUTES = ["AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX"]


def resampled(records: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records drawn from the Census file, a little apart from each other, and the same with noise."""
    random = np.random.default_rng(1)
    census = load("census")[ATTRIBUTES].astype(float)
    deviation = census.std().to_numpy()
    drawn = census.iloc[random.integers(0, len(census), records)].reset_index(drop=True)
    original = drawn + 0.05 * deviation * random.normal(size=drawn.shape)
    return original, original + 0.2 * deviation * random.normal(size=drawn.shape)


def run(records: int, family: str, **limits: Any) -> dict[str, Any]:
    """One fit: how long it took, what it found, what the process held at most."""
    files = resampled(records)
    for name in several(family) or (family,):
        compile_once(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    began = time.perf_counter()
    result = fit(*files, aggregator=family, row_by_row=True, **limits)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {
        "seconds": seconds,
        "linked": result.linked,
        "bound": result.linked_upper_bound,
        "limit": getattr(result, "limit", None),
        "before": before,
        "peak": after,
    }


def interrupted(records: int, family: str, pressed: float) -> dict[str, Any]:
    """One fit without a time limit and Ctrl-C after so many seconds."""
    timer = threading.Timer(pressed, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    answer = run(records, family, time_limit=None)
    timer.cancel()
    return answer


def apart(task: Any, *arguments: Any, **limits: Any) -> dict[str, Any]:
    """Run it in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return dict(pool.submit(task, *arguments, **limits).result())


def show(
    what: str, records: int, family: str, answer: dict[str, Any], allowed: float, most: float = float("inf")
) -> None:
    """One line: seconds of those that are allowed, and megabytes."""
    kept = "kept" if answer["seconds"] <= allowed and answer["peak"] <= most else "BROKEN"
    print(
        f"{what:<14} {records:>8,} {family:<14} {answer['seconds']:7.2f} s of {allowed:6.2f} {kept:<7}"
        f" {answer['peak']:7.0f} MB  {answer['linked']:,}..{answer['bound']:,}  limit {answer['limit']}",
        flush=True,
    )


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description="How long answers take beyond their limits.")
    parser.add_argument("--records", default="5000,20000,100000")
    parser.add_argument("--seconds", default="5,30")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--memory", type=float, default=1000.0, help="megabytes, for the runs of that limit")
    arguments = parser.parse_args()
    for records in (int(text) for text in arguments.records.split(",")):
        for family in arguments.families.split(","):
            for seconds in (float(text) for text in arguments.seconds.split(",")):
                answer = apart(run, records, family, time_limit=seconds)
                show(f"{seconds:g} s", records, family, answer, 1.1 * seconds + 1.0)
            answer = apart(interrupted, records, family, 8.0)
            show("Ctrl-C at 8 s", records, family, answer, 10.0)
            answer = apart(run, records, family, time_limit=60.0, memory_limit=arguments.memory)
            show(f"{arguments.memory:g} MB", records, family, answer, 67.0, 1.1 * arguments.memory)


if __name__ == "__main__":
    main()
