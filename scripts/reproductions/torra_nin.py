"""Print our version of Tables V to VIII of Torra and Nin (2008) beside the published ones.

    python scripts/reproductions/torra_nin.py --draws 100

Two files of the same 100 random records without common attributes, and how many are linked by distance-based
(DBRL) and probabilistic (PRL) linkage of OWA and Sugeno representatives.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.public.registry import load
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Linker, Truth
from linkrisk.solver.linkage.matching import RandomMatching, probability_of_at_least
from linkrisk.solver.linkage.quantifiers import FAMILIES
from linkrisk.solver.linkage.representatives import (
    OrderedWeightedAverages,
    PrincipalComponent,
    SugenoIntegrals,
    SumOfStandardised,
)

COLUMNS = [(kind, family) for kind in (OrderedWeightedAverages, SugenoIntegrals) for family in FAMILIES]
NORMALISATIONS = {"N1": "ranging", "N2": "standardising", "normal": "normal"}
LINKAGES = {"DBRL": "distance", "PRL": "probabilistic"}
BASELINES: list[Linker] = [PrincipalComponent(), SumOfStandardised(), RandomMatching()]

# As printed, rows N1 DBRL, N1 PRL, N2 DBRL, N2 PRL; columns OWA, then Sugeno, each with Q^e, Q^s and Q^t.
TABLE_5 = """6.5 5.9 6.7 4.8 4.2 6.7
3.9 5.2 1.8 5.5 5.2 1.8
9.9 7.9 8.8 5.6 6.5 7.0
6.3 8.4 2.2 5.6 6.2 2.4"""
TABLE_6 = """14.4 21.8 21.9 11.6 20.3 21.9
12.9 22.2 3.9 10.8 20.7 3.9
5.7 7.9 8.6 6.4 6.9 8.0
4.2 7.5 1.3 4.9 6.2 1.6"""
TABLE_7 = """7.1 9.5 7.5 6.1 8.6 7.5
4.7 9.6 10.4 6.0 7.9 10.4
8.4 8.8 9.9 4.3 3.6 5.0
7.4 8.8 5.0 3.7 3.5 2.2"""
TABLE_8 = """5.0 7.0 4.4 5.5 5.8 4.4
4.4 7.1 8.0 6.3 5.8 8.0
10.8 15.8 18.2 3.3 4.6 5.1
10.5 14.8 16.2 3.3 4.7 4.6"""


@dataclass(frozen=True)
class Example:
    """A table of the paper: the attributes of both files, and the published means by row."""

    title: str
    data: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    published: dict[tuple[str, str], tuple[float, ...]] = field(default_factory=dict)


def rows(text: str) -> dict[tuple[str, str], tuple[float, ...]]:
    """The rows of a published table."""
    keys = [(normalisation, linkage) for normalisation in ("N1", "N2") for linkage in LINKAGES]
    lines = [tuple(float(number) for number in line.split()) for line in text.splitlines()]
    return dict(zip(keys, lines, strict=True))


def numbered(columns: list[str], *numbers: int | range) -> tuple[str, ...]:
    """Columns by their number from 1, ranges with both ends."""
    flat = [at for part in numbers for at in (part if isinstance(part, range) else [part])]
    return tuple(columns[at - 1] for at in flat)


def examples() -> Iterator[Example]:
    """The four tables, and the second reading of the attributes of the last one."""
    yield Example(
        "Table V, abalone",
        "abalone",
        ("Height", "Whole_weight", "Viscera_weight"),
        ("Length", "Diameter", "Shucked_weight", "Shell_weight"),
        rows(TABLE_5),
    )
    v = [f"a{at:02d}" for at in range(1, 35)]
    yield Example(
        "Table VI, ionosphere",
        "ionosphere",
        numbered(v, 5, 7, 9, 11, 13, 20),
        numbered(v, 15, 17, 19, 21, 23, 30),
        rows(TABLE_6),
    )
    yield Example(
        "Table VII, census",
        "census",
        ("AFNLWGT", "EMCONTRB", "PTOTVAL", "TAXINC", "POTHVAL", "PEARNVAL", "WSALVAL"),
        ("AGI", "FEDTAX", "STATETAX", "INTVAL", "FICA", "ERNVAL"),
        rows(TABLE_7),
    )
    # V1 is the record number, which the data set does not carry; V2 is the diagnosis.
    v = ["id", *load("wdbc").columns]
    yield Example(
        "Table VIII, wdbc",
        "wdbc",
        numbered(v, range(2, 5), range(6, 9), 10, 12, 13, 18, 20, 26, 29, 32),
        numbered(v, 5, 9, range(15, 17), 19, range(22, 26), range(27, 29), 30),
        rows(TABLE_8),
    )
    yield Example(
        "Table VIII, wdbc, V2 V4, V6 V8, V22 V25 read as two attributes each",
        "wdbc",
        numbered(v, 2, 4, 6, 8, 10, 12, 13, 18, 20, 26, 29, 32),
        numbered(v, 5, 9, 15, 16, 19, 22, 25, 27, 28, 30),
        rows(TABLE_8),
    )


def draws(example: Example, count: int, records: int) -> list[LinkageTask]:
    """Random records, the attributes of either file; the diagnosis is 1 (malignant) or 0."""
    frame = load(example.data)
    if "diagnosis" in frame:
        frame["diagnosis"] = (frame["diagnosis"] == "M").astype(float)
    schema = Schema.from_frame(frame)
    tasks = []
    for seed in range(count):
        chosen = np.random.default_rng(seed).choice(len(frame), size=records, replace=False)
        drawn: pd.DataFrame = frame.iloc[chosen].reset_index(drop=True)
        tasks.append(
            LinkageTask(drawn, drawn, example.first, example.second, schema, bijection=True, seed=seed)
        )
    return tasks


def linked(linker: Linker, tasks: list[LinkageTask]) -> str:
    """Mean and standard deviation of the right links over the draws."""
    counts = [
        judge(linker.learn(task), Truth.of(np.arange(len(task.queries)), len(task.candidates))).count
        for task in tasks
    ]
    return f"{np.mean(counts):.1f} ({np.std(counts, ddof=1):.1f})"


def print_table(example: Example, tasks: list[LinkageTask]) -> None:
    """Ours, and the published figures in brackets."""
    heads = [f"{kind.name} {family}" for kind, family in COLUMNS]
    print(f"\n**{example.title}**\n\n| | " + " | ".join(heads) + " |\n|---" + "|---" * len(heads) + "|")
    for short, normalisation in NORMALISATIONS.items():
        for label, linkage in LINKAGES.items():
            published = example.published.get((short, label))
            cells = []
            for at, (kind, family) in enumerate(COLUMNS):
                linker = kind(quantifiers=(FAMILIES[family],), normalisation=normalisation, linkage=linkage)
                cells.append(linked(linker, tasks) + (f" [{published[at]:.1f}]" if published else ""))
            print(f"| {short} {label} | " + " | ".join(cells) + " |", flush=True)
    print("\n" + ", ".join(f"{linker.name} {linked(linker, tasks)}" for linker in BASELINES))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description="Tables V to VIII of Torra and Nin (2008), ours beside theirs."
    )
    parser.add_argument("--draws", type=int, default=100, help="draws of the records")
    parser.add_argument("--records", type=int, default=100)
    arguments = parser.parse_args()
    print(
        f"Right links of {arguments.records} records, mean (standard deviation) over {arguments.draws} "
        "draws; [published mean of 10]."
    )
    few = [(links, probability_of_at_least(links, arguments.records)) for links in (3, 5, 10)]
    print("By chance: " + ", ".join(f"{links} or more with probability {p:.2g}" for links, p in few) + ".")
    for example in examples():
        print_table(example, draws(example, arguments.draws, arguments.records))


if __name__ == "__main__":
    main()
