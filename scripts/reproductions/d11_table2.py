"""Print our version of Table 2 of deliverable D11.2 beside the published one.

    python scripts/reproductions/d11_table2.py --seeds 10 --seconds 20

The six protections on 400 random records of the Census file, several draws, and the linkage ratio of the
Euclidean distance, the classical Mahalanobis distance and the three learned ones.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))

from figures import stamp_of_today

from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.datasets.public.registry import load
from linkrisk.solver.run.result import dump_json
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.result import FamilyFit

PUBLISHED = {
    "M4-33": (0.84, 0.94, 0.955, 0.9575, 0.9675),
    "M4-28": (0.685, 0.9, 0.93, 0.9375, 0.9425),
    "M4-82": (0.71, 0.9275, 0.9425, 0.9425, 0.9525),
    "M5-38": (0.3975, 0.8825, 0.905, 0.9125, 0.9225),
    "M6-385": (0.78, 0.985, 0.9925, 0.9975, 0.9975),
    "M6-853": (0.8475, 0.98, 0.9875, 0.9925, 0.995),
}
BASELINES = ("euclid", "mahalanobis")
LEARNED = ("weighted-mean", "choquet", "mahalanobis")
COLUMNS = ("Euclid", "Mahalanobis", "weighted mean", "Choquet", "Mahalanobis-type")

SUBJECTS = ("exact engine", "evaluator", "masking")

Counts = Sequence[int]
"""Of one draw: linked and at most, for one of `COLUMNS` after the other."""


def worst_case(
    name: str, aggregator: str, seed: int, records: int, direction: str, seconds: float | None
) -> FamilyFit:
    """What one aggregator does on one draw."""
    census = load("census")
    rows = np.sort(np.random.default_rng(seed).choice(len(census), size=records, replace=False))
    method = PROTECTIONS[name]
    original = census.iloc[rows].reset_index(drop=True)
    masked = method.apply(original, seed)
    attributes = list(method.masked_attributes(original))
    return fit(
        original,
        masked,
        aggregator=aggregator,
        attributes=attributes,
        direction=direction,
        time_limit=seconds,
    )


def draw(name: str, seed: int, records: int, direction: str, seconds: float) -> list[int]:
    """Linked and bound of the five distances on one draw."""
    results = [worst_case(name, each, seed, records, direction, seconds) for each in LEARNED]
    baselines = results[0].details["baselines"]
    counts = [baselines[key] for key in BASELINES for _ in range(2)]
    return counts + [count for each in results for count in (each.linked, each.linked_upper_bound)]


def row(name: str, draws: Sequence[Counts], records: int) -> str:
    """One protection's row of the table."""
    ratios = np.reshape(draws, (len(draws), len(COLUMNS), 2)) / records
    cells = []
    for at, figure in enumerate(PUBLISHED[name]):
        linked, bound = ratios[:, at, 0], ratios[:, at, 1]
        most = ""
        if at >= len(BASELINES):
            most = " *" if (linked == bound).all() else f", at most {bound.mean():.3f}"
        spread = f" ({linked.std(ddof=1):.3f})" if linked.size > 1 else ""
        cells.append(f"{linked.mean():.3f}{spread}{most} [{figure:g}]")
    return f"| {name} | " + " | ".join(cells) + " |"


def table(draws: Mapping[str, Sequence[Counts]], records: int) -> list[str]:
    """The lines of the table."""
    head = ["| protection | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    return head + [row(name, each, records) for name, each in draws.items()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Table 2 of D11.2, ours beside the published one.")
    parser.add_argument("--seeds", type=int, default=10, help="draws of the records")
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--direction", default="masked-to-original")
    parser.add_argument("--seconds", type=float, default=20.0, help="time limit of each fit")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--record", type=Path, help="file for the counts of every draw, beside the page")
    arguments = parser.parse_args()
    records = arguments.records
    print(
        f"{arguments.seeds} draws of {records} Census records, {arguments.direction}, "
        f"at most {arguments.seconds:g} s a fit. Attributes: the first 4, 5 or 6 of the file."
    )
    print("Mean (standard deviation) of the linkage ratio over the draws; [published].")
    print("'at most' is the mean upper bound of the learned distance, over the draws; * all draws proven.\n")
    draws: dict[str, list[list[int]]] = {}
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("spawn")) as pool:
        for name in PUBLISHED:
            tasks = [
                pool.submit(draw, name, seed, records, arguments.direction, arguments.seconds)
                for seed in range(arguments.seeds)
            ]
            draws[name] = [task.result() for task in tasks]
            print(row(name, draws[name], records), flush=True)
    command = shlex.join(["python", *sys.argv]).partition(" --record")[0]
    stamp = str(stamp_of_today(command, SUBJECTS))
    print(f"\n{stamp}")
    if arguments.record is not None:
        made = {"stamp": stamp, "records": records, "direction": arguments.direction, "draws": draws}
        arguments.record.write_text(dump_json(made), encoding="utf-8")


if __name__ == "__main__":
    main()
