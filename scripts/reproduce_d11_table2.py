"""Print our version of Table 2 of deliverable D11.2 beside the published one.

    python scripts/reproduce_d11_table2.py --seeds 10

The six protections on 400 random records of the Census file, several draws, and the linkage ratio of the
Euclidean distance, the classical Mahalanobis distance and the three learned ones.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from datasets.masking.protections import PROTECTIONS
from datasets.registry import load
from solver.fitting import fit

PUBLISHED = {
    "M4-33": (0.84, 0.94, 0.955, 0.9575, 0.9675),
    "M4-28": (0.685, 0.9, 0.93, 0.9375, 0.9425),
    "M4-82": (0.71, 0.9275, 0.9425, 0.9425, 0.9525),
    "M5-38": (0.3975, 0.8825, 0.905, 0.9125, 0.9225),
    "M6-385": (0.78, 0.985, 0.9925, 0.9975, 0.9975),
    "M6-853": (0.8475, 0.98, 0.9875, 0.9925, 0.995),
}
COLUMNS = ("Euclid", "Mahalanobis", "weighted mean", "Choquet", "Mahalanobis-type")
LEARNED = ("weighted-mean", "choquet", "mahalanobis")


def draw(name: str, seed: int, records: int, direction: str, seconds: float) -> list[tuple[float, float]]:
    """Linked and bound, as ratios, of the five distances on one draw."""
    census = load("census")
    rows = np.sort(np.random.default_rng(seed).choice(len(census), size=records, replace=False))
    method = PROTECTIONS[name]
    original = census.iloc[rows].reset_index(drop=True)
    masked = method.apply(original, seed)
    attributes = list(method.masked_attributes(original))
    ratios: list[tuple[float, float]] = []
    for aggregator in LEARNED:
        result = fit(
            original, masked, aggregator=aggregator, attributes=attributes, direction=direction,
            time_limit=seconds,
        )  # fmt: skip
        if not ratios:
            baselines = result.details["baselines"]
            ratios = [(baselines[key] / records,) * 2 for key in ("euclid", "mahalanobis")]
        ratios.append((result.linked / records, result.linked_upper_bound / records))
    return ratios


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Table 2 of D11.2, ours beside the published one.")
    parser.add_argument("--seeds", type=int, default=10, help="draws of the records")
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--direction", default="masked-to-original")
    parser.add_argument("--seconds", type=float, default=15.0, help="time limit of each fit")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    print(
        f"{arguments.seeds} draws of {arguments.records} Census records, {arguments.direction}, "
        f"at most {arguments.seconds:g} s a fit. Attributes: the first 4, 5 or 6 of the file."
    )
    print("Mean (standard deviation) of the linkage ratio over the draws; [published].")
    print("'at most' is the mean upper bound of the learned distance, over the draws; * all draws proven.\n")
    print("| protection | " + " | ".join(COLUMNS) + " |\n|---" + "|---" * len(COLUMNS) + "|")
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("spawn")) as pool:
        for name, published in PUBLISHED.items():
            draws = [
                pool.submit(draw, name, seed, arguments.records, arguments.direction, arguments.seconds)
                for seed in range(arguments.seeds)
            ]
            print_row(name, np.array([task.result() for task in draws]), published)


def print_row(name: str, ratios: np.ndarray, published: tuple[float, ...]) -> None:
    """One protection; `ratios` has shape (draws, distances, 2)."""
    cells = []
    for at, figure in enumerate(published):
        linked, bound = ratios[:, at, 0], ratios[:, at, 1]
        most = ""
        if at >= 2:
            most = " *" if (linked == bound).all() else f", at most {bound.mean():.3f}"
        cells.append(f"{linked.mean():.3f} ({linked.std(ddof=1):.3f}){most} [{figure:g}]")
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
