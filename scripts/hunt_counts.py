"""Hunt for count tables that are called protected, and are not from an attacker who reasons in whole numbers.

python scripts/hunt_counts.py --tables 2000 --seed 0
python scripts/hunt_counts.py --sizes 100,300,1000 --ways 2,3 --time-limit 60

The attacker is that of the tests (`tests/support/whole_attacker.py`). A table that is wrong is written down.
With `--sizes`, tables of so many cells or more instead: what they cost with and without insiders, and the
time that takes, the audit included.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import numpy as np
import pandas as pd
from whole_attacker import attacked

from linkrisk import make_table, suppress_table


def main() -> int:
    """Attack so many tables; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--sizes", default="", help="cells")
    parser.add_argument("--ways", default="2,3")
    parser.add_argument("--each", type=float, default=1.0, help="persons for each cell")
    arguments = parser.parse_args()
    if arguments.sizes:
        measure(arguments)
        return 0
    protected, wrong, begun = 0, 0, time.perf_counter()
    for seed in range(arguments.seed, arguments.seed + arguments.tables):
        before = time.perf_counter()
        found = attacked(seed, time_limit=arguments.time_limit)
        protected += found is not None
        if found:
            wrong += 1
            print(f"seed {seed}: {found}", flush=True)
        if time.perf_counter() - before > arguments.time_limit:
            print(f"seed {seed}: {time.perf_counter() - before:.1f} s", flush=True)
    print(
        f"{arguments.tables} tables, {protected} of them protected, {wrong} wrongly; "
        f"{time.perf_counter() - begun:.0f} s"
    )
    return 1 if wrong else 0


def measure(arguments: argparse.Namespace) -> None:
    """Print a line for each table of random counts, below 3 of which are sensitive."""
    print("| cells | ways | sensitive | insiders | cost | bound | protected | processor seconds | seconds |")
    for size in map(int, arguments.sizes.split(",")):
        for ways in map(int, arguments.ways.split(",")):
            persons, trees = many_persons(size, ways, arguments.each)
            made = make_table(persons, list(persons.columns), rules=["frequency=3"], hierarchies=trees)
            for insiders in ("none", None):
                before, begun = time.process_time(), time.perf_counter()
                found = suppress_table(made, insiders=insiders, time_limit=arguments.time_limit)
                seconds = time.process_time() - before, time.perf_counter() - begun
                known = found.to_dict()["from"]["who"]
                print(
                    f"| {len(made.cells):,} | {ways} | {made.sensitive:,} | {', '.join(known) or 'none'} | "
                    f"{found.pattern.cost:,g} | {found.pattern.bound:,g} | "
                    f"{'yes' if found.protected else 'no'} | {seconds[0]:.1f} | {seconds[1]:.1f} |",
                    flush=True,
                )


def many_persons(size: int, ways: int, each: float) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Persons of a table of so many cells or more, and hierarchies of every other variable."""
    generator, side = np.random.default_rng(size + ways), max(2, round(size ** (1 / ways)) - 1)
    persons, trees = pd.DataFrame(index=range(int(each * size))), {}
    for at in range(ways):
        shares = generator.exponential(1.0, side)
        codes = [f"c{code:03d}" for code in range(side)]
        persons[f"v{at}"] = generator.choice(codes, len(persons), p=shares / shares.sum())
        found = sorted(persons[f"v{at}"].unique())
        if len(found) >= 4 and at % 2 == 0:
            groups = round(len(found) ** 0.5)
            parents = [f"g{code * groups // len(found)}" for code in range(len(found))]
            above = sorted(set(parents))
            codes, parents = [*found, *above], [*parents, *("Total" for _ in above)]
            trees[f"v{at}"] = pd.DataFrame({"code": codes, "parent": parents})
    return persons, trees


if __name__ == "__main__":
    sys.exit(main())
