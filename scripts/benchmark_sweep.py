"""Print how long a sweep of 20 maskings takes, on the first 400 records of the Census file.

LINKRISK_DATA=../shared/data python scripts/benchmark_sweep.py

Six attributes, all families, the usual measures and limits, and as many processes as there are processors.
"""

from __future__ import annotations

import argparse

from linkrisk import sweep
from linkrisk.datasets.public.registry import load
from linkrisk.solver.run.progress import Progress

ATTRIBUTES = ["AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX"]
_GROUPS = "groups=AFNLWGT,AGI,EMCONTRB groups=FEDTAX,PTOTVAL,STATETAX"

MASKINGS = (
    f"microaggregation k=3..15:4 {_GROUPS}",
    "optimal-microaggregation k=3,10",
    "noise percent=5,10,20,30,50",
    "rank-swapping percent=2,5,10,20",
    "M4-33",
    "M6-853",
    f"microaggregation k=3 {_GROUPS} + noise percent=5,20 attributes=AGI,PTOTVAL",
    "top-coding percent=20 attributes=AGI,FEDTAX,PTOTVAL",
)
"""Twenty, with their ranges written out."""


def main() -> None:
    """Sweep, and print the map."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--workers", type=int, help="default: as many as there are processors")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each masking")
    arguments = parser.parse_args()
    census = load("census").head(arguments.records)[ATTRIBUTES]
    found = sweep(
        census, MASKINGS, workers=arguments.workers, time_limit=arguments.time_limit, on_progress=print_line
    )
    print(str(found), end="")
    print(f"{len(found.done)} maskings in {found.details['seconds'] / 60.0:.1f} min")


def print_line(progress: Progress) -> None:
    """Say how far it is."""
    print(progress.work or progress.phase, flush=True)


if __name__ == "__main__":
    main()
