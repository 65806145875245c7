"""Print what heuristics take out beside what is proven to be enough, on public files.

    python scripts/compare_suppression.py --data ../shared/data

Two columns say how many records are then alike with fewer than k when the output is counted: a missing value
being a category of its own, and matching anything.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk import suppress
from linkrisk.datasets.masking.greedy_suppression import greedy_suppression
from linkrisk.formulations.suppression.checked_tables import k_anonymity
from linkrisk.formulations.suppression.counting import MissingMeaning, frequencies
from linkrisk.formulations.suppression.key_table import KeyTable, row_types
from linkrisk.formulations.suppression.minimal_unsafe import minimal_unsafe
from linkrisk.solver.suppression.heuristics.per_record import each_by_itself, greedily
from linkrisk.solver.suppression.heuristics.sdcmicro import sdcmicro_suppression
from linkrisk.solver.suppression.problem import key_codes

MEANINGS = ("own-category", "matches-anything")


def below(codes: np.ndarray, taken: np.ndarray, k: int) -> list[int]:
    """Records alike with fewer than k in the output, by what a missing value means."""
    types = row_types(np.where(taken, np.int32(-1), codes).astype(np.int32))
    weight = types.count.astype(np.float64)
    return [
        int(types.count[frequencies(types.codes, weight, MissingMeaning.parse(meaning)) < k].sum())
        for meaning in MEANINGS
    ]


def line(name: str, taken: np.ndarray, codes: np.ndarray, k: int, seconds: float, proof: str = "") -> None:
    """Print one way of suppression."""
    own, anything = below(codes, taken, k)
    print(f"{name:44} {int(taken.sum()):>8,} {own:>8,} {anything:>8,} {seconds:>8.1f}  {proof}", flush=True)


def heuristics(codes: np.ndarray, k: int) -> dict[str, Callable[[], np.ndarray]]:
    """The ways that prove nothing."""
    keys = codes.shape[1]
    cost, none = np.ones(keys, dtype=np.int64), np.zeros(keys, dtype=np.int64)
    table = KeyTable(tuple(map(str, range(keys))), codes)
    minimal = minimal_unsafe(table.types, k_anonymity(keys, k), MissingMeaning())
    assert minimal is not None
    return {
        "cover: each combination by itself": lambda: each_by_itself(table.types, minimal, cost),
        "cover: greedily by record": lambda: greedily(table.types, minimal, cost),
        "cover: local-suppression, counted in the input": lambda: greedy_suppression(
            codes, k, none, mutual=False
        ),
        "anything: sdcMicro's localSuppression": lambda: sdcmicro_suppression(codes, k),
        "anything: local-suppression, in the output": lambda: greedy_suppression(codes, k, none, mutual=True),
    }


def compare(title: str, frame: pd.DataFrame, k: int, seconds: float) -> None:
    """Print the lines of one file."""
    codes = key_codes(frame, list(frame))
    print(f"\n{title}: {len(frame):,} records, {len(frame.columns)} keys, k = {k}")
    print(f"{'':44} {'values':>8} {'own':>8} {'anything':>8} {'seconds':>8}")
    for name, choose in heuristics(codes, k).items():
        began = time.perf_counter()
        line(name, choose(), codes, k, time.perf_counter() - began)
    asked: dict[str, dict[str, Any]] = {
        "cover: optimum": {},
        "anything: optimum": {"problem": "recount", "missing": "matches-anything"},
        "own category: optimum": {"problem": "recount"},
    }
    for name, problem in asked.items():
        began = time.perf_counter()
        found = suppress(frame, k=k, time_limit=seconds, **problem)
        taken = np.column_stack([found.table[key].isna() & frame[key].notna() for key in frame])
        proof = "proven" if found.proven else f"at least {found.bound:,.0f}"
        line(name, taken, codes, k, time.perf_counter() - began, proof)


def main() -> None:
    """Print the lines of every file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of public data")
    parser.add_argument("--seconds", type=float, default=300.0, help="for one optimum")
    arguments = parser.parse_args()
    folder, seconds = arguments.data, arguments.seconds
    keys = ["REGION", "SEX", "AGE", "MARSTAT"]
    demonstration = pd.read_csv(folder / "muargus_demodata.csv", dtype=str)
    free = pd.read_csv(folder / "sdcmicro_free1.csv", dtype=str)
    adult = pd.read_csv(folder / "arx_adult.csv", dtype=str)
    small = pd.DataFrame({"a": list("xxyyz"), "b": list("uvuvu")})
    for choose in heuristics(key_codes(small, ["a", "b"]), 2).values():  # compiles
        choose()
    compare("Demodata", demonstration[[*keys, "EDUC1"]], 3, seconds)
    compare("free1", free[[*keys, "KINDPERS"]], 3, seconds)
    compare("Adult", adult, 5, seconds)


if __name__ == "__main__":
    main()
