"""The cases of `engines.py`: which file pairs, in which directions, with which aggregators."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.datasets.public.registry import load
from linkrisk.formulations.linkage.pair import Direction

_Item = TypeVar("_Item")

PARTS = ("census", "hard", "growth")
HARD = (
    "noise-10-6", "noise-20-6", "noise-30-4", "rankswap-5-6", "rankswap-15-6", "mdav-5-6", "mdav-20-6",
)  # fmt: skip
GROWTH = "M6-385"
"""The protection of the growing files: six attributes."""

AGGREGATORS = ("weighted-mean", "choquet", "mahalanobis")
RECORDS = {"census": (400, 1080), "hard": (400,), "growth": (1000, 2000, 5000, 10_000)}
LIMITS = {"census": 60.0, "hard": 120.0, "growth": 600.0}
"""Seconds for the exact engine."""

_JITTER = 0.05
"""Noise on a resampled value, in standard deviations of its attribute."""


@dataclass(frozen=True)
class Case:
    """A file pair, a direction and an aggregator.

    Attributes
    ----------
    part : str
        Which of `PARTS`.
    pair : str
        Name of the file pair, as in ``best_known.csv``.
    records : int
        Records of each file.
    direction, aggregator : str
        As `fit` takes them.
    original, masked : Path or DataFrame
        The two files.
    """

    part: str
    pair: str
    records: int
    direction: str
    aggregator: str
    original: Path | pd.DataFrame
    masked: Path | pd.DataFrame


@dataclass(frozen=True)
class Known:
    """What was known of a case before: links reached, and the bound proved."""

    linked: int
    bound: int


@dataclass(frozen=True)
class Choice:
    """Which cases are wanted; None for all of them.

    Attributes
    ----------
    parts, kinds, aggregators, directions : sequence of str, or None
    records : sequence of int, or None
    """

    parts: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    records: tuple[int, ...] | None = None
    aggregators: tuple[str, ...] | None = None
    directions: tuple[str, ...] | None = None


QUICK = Choice(
    ("census", "hard", "growth"), ("M4-33", "M6-853", "noise-30-4", GROWTH), (400, 1000), ("weighted-mean",)
)
"""A subset that is done in a minute or two."""


def cases(choice: Choice, pairs: Path, made: Path) -> Iterator[Case]:
    """Every case of the choice, part by part, small files first.

    Parameters
    ----------
    choice : Choice
    pairs : Path
        Folder with the pairs of the parts ``census`` and ``hard``.
    made : Path
        Folder in which the pairs of the part ``growth`` are made when they are not there.
    """
    for part in PARTS:
        kinds = {"census": tuple(PROTECTIONS), "hard": HARD, "growth": (GROWTH,)}[part]
        # The growing files are there for time and memory; the form keeps all rows and ends at 2,000 records.
        aggregators = AGGREGATORS[:2] if part == "growth" and choice.aggregators is None else AGGREGATORS
        for records in _wanted(RECORDS[part], choice.records):
            for kind in _wanted(kinds, choice.kinds if _wanted((part,), choice.parts) else ()):
                name = f"{'growth-' * (part == 'growth')}{kind}_{records}_s0"
                folder = made if part == "growth" else pairs
                if part == "growth":
                    make_pair(made, name, records)
                for direction in _wanted(tuple(way.value for way in Direction), choice.directions):
                    for aggregator in _wanted(aggregators, choice.aggregators):
                        yield Case(part, name, records, direction, aggregator, *_files(folder, name))


def _wanted(items: tuple[_Item, ...], choice: tuple[_Item, ...] | None) -> tuple[_Item, ...]:
    return tuple(item for item in items if choice is None or item in choice)


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}_original.csv", folder / f"{name}_masked.csv"


def make_pair(folder: Path, name: str, records: int, seed: int = 0) -> None:
    """Write a growing file and its masked version, unless they are there.

    Records of the Census file are drawn with replacement, and each value gets normal noise of 5 % of its
    attribute's standard deviation, so that no two records are the same. The protection is microaggregation.
    """
    original_file, masked_file = _files(folder, name)
    if original_file.exists() and masked_file.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    original = resampled(records, seed)
    PROTECTIONS[GROWTH].apply(original, seed).to_csv(masked_file, index=False)
    original.to_csv(original_file, index=False)


def resampled(records: int, seed: int) -> pd.DataFrame:
    """Draw records of the Census file with replacement, with a little noise.

    Returns
    -------
    DataFrame, `records` rows
        The attributes that the protection masks, in original units.
    """
    generator = np.random.default_rng(seed)
    census = load("census").iloc[:, : PROTECTIONS[GROWTH].width].astype(float)
    drawn = census.iloc[generator.integers(len(census), size=records)].reset_index(drop=True)
    noise = generator.standard_normal(drawn.shape) * census.std().to_numpy() * _JITTER
    return drawn + noise


def best_known(file: Path) -> dict[tuple[str, str, str], Known]:
    """What ``best_known.csv`` says, by pair, direction and aggregator; nothing when there is no such file."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        return {
            (row["pair"], row["direction"], row["aggregator"]): Known(
                int(row["linked"]), int(row["linked_upper_bound"])
            )
            for row in csv.DictReader(stream)
        }
