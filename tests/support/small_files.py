"""Small files that are the same everywhere: answers to a survey, and firms as tau-ARGUS reads them."""

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


# Firms as tau-ARGUS reads them, and batches of them


ASC = """N1big   900.01a1.0
N1big    60.50b1.0
N1small  20.00c2.0
N2small  35.00c1.0
N2small  40.00d1.0
S1big   500.00e1.0
S1small  25.00f1.0
S1small  30.02g1.5
"""
KEYED = "".join(
    f"{line}{key:.4f}\n"
    for line, key in zip(
        ASC.splitlines(), (0.1234, 0.5678, 0.9012, 0.3456, 0.7890, 0.2345, 0.6789, 0.0123), strict=True
    )
)
"""The same with record keys."""

RDA = """region 1 2 "99"
  <RECODEABLE>
  <TOTCODE> "Total"
  <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "@"
size 3 5
  <RECODEABLE>
turnover 8 6
  <NUMERIC>
  <DECIMALS> 1
asks 14 1
  <REQUEST> "1" "2"
group 15 1
  <HOLDING>
w 16 3
  <WEIGHT>
  <DECIMALS> 1
"""
HEAD = '// made by hand\n<OPENMICRODATA> "firms.asc"\n<OPENMETADATA> "firms.rda"\n'
TABLE = '<SPECIFYTABLE> "region""size"|"turnover"|""|""\n<SAFETYRULE> P(10,1)\n<READMICRODATA>\n'


def write_batch_files() -> None:
    """Data, metadata and the tree of regions, into the working folder."""
    Path("firms.asc").write_text(ASC, encoding="utf-8")
    Path("firms.rda").write_text(RDA, encoding="utf-8")
    Path("region.hrc").write_text("N \n@N1\n@N2\nS \n@S1\n", encoding="utf-8")


def batch(text: str, head: str = HEAD) -> str:
    """Write a batch; its name."""
    Path("firms.arb").write_text(head + text, encoding="utf-8")
    return "firms.arb"


def rows(name: str) -> list[list[str]]:
    """What was written, between semicolons."""
    return [line.split(";") for line in Path(name).read_text(encoding="utf-8").splitlines()]
