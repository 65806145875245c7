"""The cases of `engines.py`: which file pairs, in which directions, with which aggregators."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scale_cases import census

from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.formulations.linkage.pair import Direction

_Item = TypeVar("_Item")

GROWTH = "M6-385"
"""The protection of the growing files: six attributes."""

KINDS = {
    "census": tuple(PROTECTIONS),
    "hard": (
        *("noise-10-6", "noise-20-6", "noise-30-4", "rankswap-5-6", "rankswap-15-6"),
        *("mdav-5-6", "mdav-20-6"),
    ),
    "growth": (GROWTH,),
}
PARTS = tuple(KINDS)
AGGREGATORS = ("weighted-mean", "choquet", "mahalanobis")
RECORDS = {"census": (400, 1080), "hard": (400,), "growth": (1000, 2000, 5000, 10_000)}
LIMITS = {"census": 60.0, "hard": 120.0, "growth": 600.0}
"""Seconds for the exact engine."""


@dataclass(frozen=True)
class Case:
    """A file pair, named as in ``best_known.csv``, a direction and an aggregator."""

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
    """Which cases are wanted; None for all of them."""

    parts: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    records: tuple[int, ...] | None = None
    aggregators: tuple[str, ...] | None = None
    directions: tuple[str, ...] | None = None


QUICK = Choice(PARTS, ("M4-33", "M6-853", "noise-30-4", GROWTH), (400, 1000), ("weighted-mean",))
"""A subset that is done in a minute or two."""


def cases(choice: Choice, pairs: Path, made: Path) -> Iterator[Case]:
    """Every case of the choice, part by part, small files first; growing pairs are made in a folder."""
    for part in _wanted(PARTS, choice.parts):
        # The growing files are there for time and memory; the form keeps all rows and ends at 2,000 records.
        aggregators = AGGREGATORS[:2] if part == "growth" and choice.aggregators is None else AGGREGATORS
        for records in _wanted(RECORDS[part], choice.records):
            for kind in _wanted(KINDS[part], choice.kinds):
                name = f"{'growth-' * (part == 'growth')}{kind}_{records}_s0"
                files = _files(made if part == "growth" else pairs, name)
                if part == "growth":
                    _make_pair(files, records)
                for direction in _wanted(tuple(way.value for way in Direction), choice.directions):
                    for aggregator in _wanted(aggregators, choice.aggregators):
                        yield Case(part, name, records, direction, aggregator, *files)


def _wanted(items: tuple[_Item, ...], choice: tuple[_Item, ...] | None) -> tuple[_Item, ...]:
    return tuple(item for item in items if choice is None or item in choice)


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}_original.csv", folder / f"{name}_masked.csv"


def _make_pair(files: tuple[Path, Path], records: int) -> None:
    """Write Census records resampled, no two of which are the same, and their microaggregation."""
    if all(file.exists() for file in files):
        return
    files[0].parent.mkdir(parents=True, exist_ok=True)
    original = census(records, np.random.default_rng(0))
    PROTECTIONS[GROWTH].apply(original, 0).to_csv(files[1], index=False)
    original.to_csv(files[0], index=False)


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
