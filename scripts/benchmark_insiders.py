"""Print what it costs to protect tables from those who are in them, and how long it takes.

    python scripts/benchmark_insiders.py --bench ../shared/bench
    python scripts/benchmark_insiders.py --bench ../shared/bench --limit 10 t2_10x10 h2_18x12

Tables are made of the microdata of the benchmark (p = 10 %, every record a respondent) and protected from the
outsider, from all singletons, and from all respondents, at the cost of the values. A line says what it costs,
what it costs at least where that is not proven to be the same, and the seconds of the processor, with all
audits. The limit is one of elapsed time; audits are done after it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import pandas as pd

from linkrisk import make_table, suppress_table
from linkrisk.solver.tables.operations.make import MadeTable

_TABLES = ("t2_10x10", "h2_18x12", "t2_20x20", "t2_50x50", "t3_5x5x4", "t3_8x6x5", "t3_10x8x6")
_TITLES = (
    "table",
    "cells, sensitive",
    "outsider",
    "s",
    "singletons",
    "cost",
    "s",
    "respondents",
    "cost",
    "s",
)
_ATTACKERS = (None, "singletons", "contributors")


def made(folder: Path, name: str) -> MadeTable:
    """A table of the benchmark, of its microdata."""
    frame = pd.read_csv(folder / f"{name}.csv")
    by = [column for column in frame.columns if column != "value"]
    frame["respondent"] = [f"r{at}" for at in range(len(frame))]
    files = {code: folder / f"{name}_hierarchy_{code}.csv" for code in by}
    hierarchies = {code: path for code, path in files.items() if path.exists()}
    return make_table(
        frame, by, response="value", rules=["p=10"], hierarchies=hierarchies, respondent="respondent"
    )


def answer(table: MadeTable, insiders: str | None, limit: float) -> tuple[str, str, str]:
    """How many insiders there are, what it costs, and the seconds of the processor."""
    began = time.process_time()
    found = suppress_table(
        table.cells,
        table.relations,
        insiders=insiders or "none",
        contributors=table.contributors if insiders else None,
        time_limit=limit,
    )
    seconds = time.process_time() - began
    pattern = found.pattern
    assert pattern is not None
    proof = "" if pattern.proven else f", at least {pattern.bound:,.0f}"
    many = "" if found.insiders is None else f"{len(found.insiders.audit.names) - 1:,}"
    return many, f"{pattern.cost:,.0f}{proof}", f"{seconds:.1f}"


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tables", nargs="*", default=_TABLES, help="names of tables of the benchmark")
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"), help="folder of benchmarks")
    parser.add_argument("--limit", type=float, default=40.0, help="seconds for each problem")
    arguments = parser.parse_args()
    print(f"| {' | '.join(_TITLES)} |")
    print("|" + "---|" * len(_TITLES))
    folder = arguments.bench / "tables" / "micro"
    suppress_table(*_parts(made(folder, _TABLES[0])))  # compiles
    for name in arguments.tables:
        table = made(folder, name)
        shown = [name, f"{len(table.cells):,}, {table.sensitive:,}"]
        for insiders in _ATTACKERS:
            many, cost, seconds = answer(table, insiders, arguments.limit)
            shown += [cost, seconds] if insiders is None else [many, cost, seconds]
        print(f"| {' | '.join(shown)} |", flush=True)


def _parts(table: MadeTable) -> tuple[pd.DataFrame, pd.DataFrame]:
    return table.cells, table.relations


if __name__ == "__main__":
    main()
