"""Small files for every linker: with the same attributes, without a common one, and training records."""

from __future__ import annotations

import random
from pathlib import Path

from survey_files import csv_text, survey

from linkrisk.solver.linkage.registry import LINKERS

KNOWN, PUBLISHED = ("age", "income"), ("hours", "rent")
APART = ["--original", "known.csv", "--masked", "published.csv"]
TOGETHER = ["--original", "original.csv", "--masked", "masked.csv"]


def with_rent(records: int, seed: int) -> list[list[float]]:
    """Answers of the survey, and a rent that grows with the income."""
    chance = random.Random(seed + 100)
    return [
        [age, income, hours, round(income * (0.2 + 0.05 * chance.random()))]
        for age, income, hours in survey(records, seed)
    ]


def write_files() -> None:
    """Write known.csv, published.csv (the same people, other attributes) and training.csv (other people)."""
    people = with_rent(30, 1)
    Path("known.csv").write_text(csv_text([row[:2] for row in people], KNOWN), encoding="utf-8")
    Path("published.csv").write_text(csv_text([row[2:] for row in people], PUBLISHED), encoding="utf-8")
    names = (*KNOWN, *PUBLISHED)
    Path("training.csv").write_text(csv_text(with_rent(300, 7), names), encoding="utf-8")


def link_arguments(method: str) -> list[str]:
    """A `link` by this method on the small files."""
    linker = LINKERS[method]
    files = TOGETHER if linker.common_attributes else APART
    training = ["--training", "training.csv"] if linker.learns_from_training else []
    return ["link", "--method", method, *files, *training]
