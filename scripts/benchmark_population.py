"""Print how long measures of risk take on public files, and what they find.

    python scripts/benchmark_population.py       # population uniqueness on Adult, link reliability on Census

Seconds are those of the clock and of the processors.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.link_reliability import LinkReliability, link_reliability
from linkrisk.solver.measures.linker_attacks import best_candidates
from linkrisk.solver.measures.population_uniqueness import UniquesRisk, uniques_risk
from linkrisk.solver.run.clock import Clock

KEYS = {
    "few categories": ("workclass", "education", "marital-status", "occupation", "race", "sex"),
    "age too": ("age", "workclass", "education", "marital-status", "race", "sex"),
}
"""Six key variables of Adult each."""

FRACTION = 0.1

Result = TypeVar("Result")


def main() -> int:
    """Print a line for each measurement."""
    arguments = parse()
    adult = read_table(arguments.data / "uci_adult_train.csv")
    for words, keys in KEYS.items():
        uniqueness(words, adult, keys)
    reliability(read_table(arguments.data / "casc_census.csv"))
    return 0


def uniqueness(words: str, frame: pd.DataFrame, keys: tuple[str, ...]) -> UniquesRisk:
    """Population uniqueness: independence, all two-way interactions, and models between them."""
    risk = timed(
        f"population uniqueness, {len(keys)} keys, {words}", lambda: uniques_risk(frame, keys, FRACTION)
    )
    for model in risk.models:
        shown = "not tested" if model.z_2 is None else f"misfit {model.misfit:.1f}"
        print(f"    {model.words}: tau_1 {model.tau_1:.1f}, tau_2 {model.tau_2:.1f}, {shown}", flush=True)
    return risk


def reliability(census: pd.DataFrame, noise: float = 0.1) -> LinkReliability:
    """Link reliability of prl on a file with noise."""
    random = np.random.default_rng(1)
    masked = census + random.normal(size=census.shape) * noise * census.std().to_numpy()
    names = tuple(str(name) for name in census.columns)
    schema = Schema(tuple(Attribute(name, scale=Scale.NUMERIC) for name in names))
    task = LinkageTask(census, masked, names, names, schema, bijection=True)
    truth = Truth.of(np.arange(len(census), dtype=np.intp), len(masked))

    def measured() -> LinkReliability:
        claims = best_candidates(Probabilistic().learn(task), truth, 0, Clock(None))
        return link_reliability(claims.score, claims.right, scored_by="prl")

    found = timed(f"link reliability, {len(census)} records", measured)
    print(f"    {found.paragraph}", flush=True)
    return found


def timed(words: str, measure: Callable[[], Result]) -> Result:
    """Take a measure and print its seconds."""
    clock, processors = time.perf_counter(), time.process_time()
    result = measure()
    spent = time.perf_counter() - clock, time.process_time() - processors
    print(f"{words}: {spent[0]:.2f} s, of processors {spent[1]:.2f} s", flush=True)
    return result


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Seconds that measures of risk take.")
    data = Path(os.environ.get("LINKRISK_DATA", "../shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="folder with the public files")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
