"""Print the figures of the exact engine beside the big-C model.

    python scripts/benchmarks/engines.py --output ../engines            # hours
    python scripts/benchmarks/engines.py --output ../engines --quick    # a minute or two

Every run has a process of its own and is written to runs.csv in the output folder at once; what is there
is not run again, so a stopped benchmark goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine_cases import AGGREGATORS, LIMITS, PARTS, QUICK, Case, Choice, best_known, cases
from engine_runs import METHODS, Ledger, measure
from engine_tables import part_tables
from harness import PAIRS, alone, listed, parser

from linkrisk.solver.worst_case.operations.fit import fit

QUICK_LIMIT = 10.0


def main() -> None:
    """Run what is missing, then print all tables."""
    arguments = parse()
    output: Path = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    every = list(cases(chosen(arguments), arguments.pairs, output / "pairs"))
    limits = {part: limits_of(part, arguments) for part in PARTS}
    ledger = Ledger(output / "runs.csv")
    if not arguments.tables_only:
        run_missing(every, limits, ledger, arguments.again)
    known = best_known(arguments.pairs.parent / "best_known.csv")
    commits = set()
    for part in PARTS:
        runs = ledger.runs([case for case in every if case.part == part], limits)
        commits |= {run.commit for run in runs if run.method == "exact"}
        if runs:
            print("\n".join(part_tables(part, runs, known)))
    print(f"code of the exact engine: {', '.join(sorted(commits)) or 'nothing was run'}")


def parse() -> argparse.Namespace:
    """The command line."""
    made = parser(__doc__, pairs=PAIRS)
    made.add_argument("--output", type=Path, required=True, help="folder for runs.csv and growing files")
    made.add_argument("--quick", action="store_true", help="a small subset, 10 s a run")
    made.add_argument("--parts", type=listed(), help=f"of {', '.join(PARTS)}")
    made.add_argument("--cases", type=listed(), help="kinds of pairs: M4-33,noise-20-6,...", dest="kinds")
    made.add_argument("--records", type=listed(int), help="sizes: 400,1080,...")
    made.add_argument("--aggregators", type=listed(), help=f"of {', '.join(AGGREGATORS)}")
    made.add_argument("--directions", type=listed(), help="original-to-masked, masked-to-original")
    made.add_argument("--methods", type=listed(), default=list(METHODS), help=f"of {', '.join(METHODS)}")
    made.add_argument("--time-limit", type=float, help=f"seconds for exact; default: {LIMITS}")
    made.add_argument("--milp-time-limit", type=float, default=120.0, help="seconds for milp (120)")
    made.add_argument("--pulp-time-limit", type=float, default=60.0, help="seconds for PuLP (60)")
    made.add_argument("--again", type=listed(), default=(), help="methods to run again")
    made.add_argument("--tables-only", action="store_true", help="run nothing")
    return made.parse_args()


def chosen(arguments: argparse.Namespace) -> Choice:
    """The cases that the options name; `--quick` says what holds where they say nothing."""
    given = {name: getattr(arguments, name) for name in vars(QUICK)}
    usual = QUICK if arguments.quick else Choice()
    return replace(usual, **{name: tuple(value) for name, value in given.items() if value is not None})


def limits_of(part: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Seconds for each method on a part; the big-C model is compared on the Census files of 400 records."""
    most = QUICK_LIMIT if arguments.quick else float("inf")
    limits = {"exact": arguments.time_limit or min(LIMITS[part], most)}
    if part == "census":
        limits["milp"] = min(arguments.milp_time_limit, most)
        pulp = [method for method in METHODS if method.startswith("pulp")]
        limits |= dict.fromkeys(pulp, min(arguments.pulp_time_limit, most))
    return {method: seconds for method, seconds in limits.items() if method in arguments.methods}


def run_missing(
    every: Sequence[Case], limits: dict[str, dict[str, float]], ledger: Ledger, again: Sequence[str]
) -> None:
    """Run what is not in the ledger, the exact engine first."""
    missing = [
        (case, method, limits[case.part][method])
        for method in METHODS
        for case in every
        if method in limits[case.part]
        and (method == "exact" or case.records == 400)
        and (method in again or (case, method, limits[case.part][method]) not in ledger)
    ]
    for aggregator in sorted({case.aggregator for case, _, _ in missing}):
        alone(compile_kernels, aggregator)
    for at, (case, method, seconds) in enumerate(missing, start=1):
        run = measure(case, method, seconds)
        ledger.add(run)
        print(
            f"{time.strftime('%H:%M:%S')} {at}/{len(missing)} {method} {case.pair} {case.direction} "
            f"{case.aggregator}: {run.status} {run.linked}..{run.bound} {run.seconds:.1f} s {run.note}",
            file=sys.stderr,
            flush=True,
        )


def compile_kernels(aggregator: str) -> None:
    """Solve the default pair with both engines, so that no run pays for what numba compiles at first."""
    fit(engine="exact", aggregator=aggregator, time_limit=20.0)
    fit(engine="milp", aggregator=aggregator, time_limit=5.0)


if __name__ == "__main__":
    main()
