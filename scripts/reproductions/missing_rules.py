"""What each rule for missing values lets an intruder link: why the default is the expected distance.

    python scripts/reproductions/missing_rules.py --pairs ../shared/bench/pairs

Values are taken out at random, of the masked file or of both, and weighted means are searched under every
rule with as much work, so that the figures are the same on any machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.formulations.linkage.comparison import Missing
from linkrisk.solver.worst_case.operations.fit import fit

PAIRS = ("M4-28_400_s0", "noise-20-6_400_s0", "rankswap-15-6_400_s0")
SHARES = (0.02, 0.1, 0.3, 0.5)


def main() -> None:
    """Print a table of links and bounds."""
    parser = argparse.ArgumentParser(description="Links under each rule for missing values.")
    parser.add_argument("--pairs", type=Path, required=True, help="folder of <name>_original.csv, ...")
    parser.add_argument("--work", type=float, default=2.0, help="units of work for each search (2)")
    options = parser.parse_args()
    print(f"| pair | missing | in | {' | '.join(Missing)} |")
    print("|---|---|---|---|---|---|")
    for name in PAIRS:
        files = [pd.read_csv(options.pairs / f"{name}_{side}.csv") for side in ("original", "masked")]
        for share in SHARES:
            for both in (False, True):
                found = [
                    fit(
                        *lacking(files, share, both),
                        missing=rule.value,
                        time_limit=None,
                        work_limit=options.work,
                    )
                    for rule in Missing
                ]
                cells = [f"{result.linked} to {result.linked_upper_bound}" for result in found]
                where = "both" if both else "masked"
                print(f"| {name} | {share:.0%} | {where} | {' | '.join(cells)} |", flush=True)


def lacking(files: list[pd.DataFrame], share: float, both: bool) -> list[pd.DataFrame]:
    """The files without some of their values, the same ones every time."""
    random = np.random.default_rng(1)
    gone = [file.apply(lambda column: random.random(len(column)) < share) for file in files]
    return [
        file.mask(holes) if both or at else file
        for at, (file, holes) in enumerate(zip(files, gone, strict=True))
    ]


if __name__ == "__main__":
    main()
