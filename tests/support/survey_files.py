"""A small file pair that is the same everywhere: thirty answers to a survey, and the same with noise."""

from __future__ import annotations

import random
from pathlib import Path

NAMES = ("age", "income", "hours")


def survey(records: int = 30, seed: int = 1) -> list[list[float]]:
    """Make-believe answers; the standard library's generator gives the same ones everywhere."""
    chance = random.Random(seed)
    rows = []
    for _ in range(records):
        age = 18 + int(60 * chance.random())
        hours = 4 * int(5 + 6 * chance.random())
        rows.append([age, round(300 + 20 * age + 60 * hours * chance.random()), hours])
    return rows


def noisy(rows: list[list[float]], seed: int = 2) -> list[list[float]]:
    """Add noise: little to the age, more to the income and the hours."""
    chance = random.Random(seed)
    spread = (6.0, 1400.0, 14.0)
    return [
        [round(value + width * (chance.random() - 0.5), 2) for value, width in zip(row, spread, strict=True)]
        for row in rows
    ]


def csv_text(rows: list[list[float]], names: tuple[str, ...] = NAMES) -> str:
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n"


def grouped(rows: list[list[float]], size: int = 3) -> list[list[float]]:
    """Replace the answers of each `size` neighbours by their means: records become identical."""
    order = sorted(range(len(rows)), key=lambda row: rows[row])
    result: list[list[float]] = [[] for _ in rows]
    for start in range(0, len(order), size):
        members = [rows[row] for row in order[start : start + size]]
        means = [round(sum(column) / len(members), 2) for column in zip(*members, strict=True)]
        for row in order[start : start + size]:
            result[row] = means
    return result


def write_pair(folder: Path) -> None:
    """Write original.csv, masked.csv (noise) and grouped.csv (microaggregation)."""
    rows = survey()
    for name, content in (("original", rows), ("masked", noisy(rows)), ("grouped", grouped(rows))):
        (folder / f"{name}.csv").write_text(csv_text(content), encoding="utf-8")
