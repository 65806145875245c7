"""Cell suppression beside the optima of the reference program, table by table.

    python scripts/benchmark_tables.py --folder ../shared/bench/tables [--most-cells 3000] [--time-limit 150]

Every pattern is audited. The seconds of the reference were measured on another, loaded machine.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from pathlib import Path

import pandas as pd

from linkrisk import protect_table

_RULES = {"P(10,1)": "P10-1", "NK(2,75)": "NK2-75"}
_COSTS = {"OPTvalue": "value", "OPTunit": "unit"}


def main() -> None:
    """Print a line for each table of the reference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--most-cells", type=int, default=3000)
    parser.add_argument("--time-limit", type=float, default=150.0)
    arguments = parser.parse_args()
    folder = arguments.folder / "ref"
    wanted = pd.read_csv(folder / "reference.csv")
    wanted = wanted[wanted["method"].isin(_COSTS) & (wanted["cells"] <= arguments.most_cells)]
    print("table rule cost cells sensitive reference ours bound seconds reference-seconds")
    for row in wanted.itertuples():
        rule, cost = _RULES[row.rule], _COSTS[row.method]
        cells = folder / f"{row.table}_{rule}_cells.csv"
        with tempfile.TemporaryDirectory() as unpacked:
            relations = Path(unpacked) / "relations.csv"
            relations.write_bytes(gzip.decompress((folder / f"{row.table}_equations.csv.gz").read_bytes()))
            started = time.monotonic()
            found = protect_table(cells, relations, cost=cost, time_limit=arguments.time_limit)
            seconds = time.monotonic() - started
        assert found.pattern is not None
        said = (row.table, rule, cost, row.cells, row.primaries, row.objective_secondaries)
        print(*said, found.pattern.cost, found.pattern.bound, f"{seconds:.2f}", row.seconds, flush=True)


if __name__ == "__main__":
    main()
