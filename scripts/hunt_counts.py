"""Hunt for count tables that are called protected, and are not from an attacker who reasons in whole numbers.

python scripts/hunt_counts.py --tables 2000 --seed 0

The attacker is that of the tests (`tests/support/whole_attacker.py`). A table that is wrong is written down.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from whole_attacker import attacked


def main() -> int:
    """Attack so many tables; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=10.0)
    arguments = parser.parse_args()
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


if __name__ == "__main__":
    sys.exit(main())
