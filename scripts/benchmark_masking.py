"""Print how long masking takes on large files: records of the Census file, drawn again and given some noise.

    python scripts/benchmark_masking.py                    # 10,000 and 100,000 records, 4 and 13 attributes
    python scripts/benchmark_masking.py --plain 100000     # the plain search at 100,000 records too: minutes

Microaggregation by MDAV is timed with the index that is used from 5,000 records on, and with the plain search
of all records that it replaces there; both must make the same groups. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.base import MaskingMethod, standardised
from linkrisk.datasets.masking.mdav import plain_partition
from linkrisk.datasets.masking.mdav_index import indexed_partition
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.optimal_microaggregation import OptimalMicroaggregation
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.formats.registry import read_table

K = 3
NOISE = 0.2
"""Standard deviation of the noise, relative to that of the attribute."""

OTHERS: tuple[MaskingMethod, ...] = (
    *(OptimalMicroaggregation(k=K), RankSwapping(percent=5), AdditiveNoise(percent=10)),
    AdditiveNoise(percent=10, correlated=True),
)


def main() -> int:
    """Print one line for each measurement; 1 when two ways of grouping differ."""
    arguments = parse()
    census = read_table(arguments.data / "casc_census.csv")
    indexed_partition(standardised(resampled(census, 500)), K)  # compiles
    same = True
    for records in arguments.records:
        table = pd.DataFrame(resampled(census, records), columns=census.columns)
        for attributes in (4, census.shape[1]):
            points = standardised(table.to_numpy()[:, :attributes])
            same &= mdav(points, plain=records <= arguments.plain)
        for name, seconds in others(table):
            print(f"{records:7} records {census.shape[1]:3} attributes  {seconds:8.2f} s  {name}", flush=True)
    return 0 if same else 1


def resampled(census: pd.DataFrame, records: int) -> FloatArray:
    """Draw records with replacement and add noise, so that no two are the same."""
    generator = np.random.default_rng(1)
    values = census.to_numpy(dtype=float)
    drawn = values[generator.integers(len(values), size=records)]
    return np.asarray(drawn + NOISE * values.std(axis=0) * generator.standard_normal(drawn.shape))


def mdav(points: FloatArray, *, plain: bool) -> bool:
    """Time MDAV both ways; whether the groups are the same, as far as both were made."""
    ways: dict[str, Callable[[FloatArray, int], list[IndexArray]]] = {"indexed": indexed_partition}
    if plain:
        ways["plain"] = plain_partition
    found = {}
    for name, way in ways.items():
        start = time.process_time()
        found[name] = [group.tolist() for group in way(points, K)]
        seconds = time.process_time() - start
        size = f"{len(points):7} records {points.shape[1]:3} attributes"
        print(f"{size}  {seconds:8.2f} s  MDAV with k = {K}, {name}", flush=True)
    same = all(groups == found["indexed"] for groups in found.values())
    if not same:
        print("the groups differ", flush=True)
    return same


def others(table: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Time the other methods on all attributes, PRAM on twenty categories."""
    bands = table.iloc[:, [0]].rank(pct=True).mul(20).astype(int).astype(str)
    for method in (*OTHERS, Pram(change=0.2)):
        frame = bands if isinstance(method, Pram) else table
        method.apply(frame[:500], seed=1)  # compiles
        start = time.process_time()
        method.apply(frame, seed=1)
        yield method.describe(frame[:500]).split(" of ")[0], time.process_time() - start


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Seconds that masking takes on large files.")
    parser.add_argument("--records", type=int, nargs="+", default=[10_000, 100_000], help="sizes of files")
    parser.add_argument("--plain", type=int, default=10_000, help="largest plain search (10,000)")
    data = Path(os.environ.get("LINKRISK_DATA", "../shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="folder with casc_census.csv")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
