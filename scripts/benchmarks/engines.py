"""Print the figures of the exact engine beside the big-C model.

    python scripts/benchmarks/engines.py --output ../engines            # hours
    python scripts/benchmarks/engines.py --output ../engines --quick    # a minute or two

Every run has a process of its own and is written to runs.csv in the output folder at once; what is there
is not run again, so a stopped benchmark goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from harness import PAIRS, Ledger, aligned, alone, listed, parser
from scale_cases import census

from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.formulations.linkage.block_system import indicator_model, paper_options
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.engines.base import rounded_bound
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.processes import MemoryMeter
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.search_state import problem_system

AGGREGATORS = ("weighted-mean", "choquet", "mahalanobis")
GROWTH = "M6-385"
"""The protection of the growing files: six attributes."""


class Part(NamedTuple):
    """Protections of file pairs, sizes, seconds for the exact engine, aggregators."""

    kinds: tuple[str, ...]
    records: tuple[int, ...]
    seconds: float
    aggregators: tuple[str, ...] = AGGREGATORS


HARD = "noise-10-6 noise-20-6 noise-30-4 rankswap-5-6 rankswap-15-6 mdav-5-6 mdav-20-6"
PARTS = {
    "census": Part(tuple(PROTECTIONS), (400, 1080), 60.0),
    "hard": Part(tuple(HARD.split()), (400,), 120.0),
    # For time and memory; the form keeps all rows and ends at 2,000 records.
    "growth": Part((GROWTH,), (1000, 2000, 5000, 10_000), 600.0, AGGREGATORS[:2]),
}
QUICK = {
    "kinds": ("M4-33", "M6-853", "noise-30-4", GROWTH),
    "records": (400, 1000),
    "aggregators": AGGREGATORS[:1],
}
"""A subset that is done in a minute or two, of 10 s a run."""

METHODS = {
    "exact": "--engine exact",
    "milp": "--engine milp --backend highs, tight C",
    "pulp-bare": "PuLP on the model of the authors, C larger where 10 is too small, no attack to start from",
}
PAPER_C, PAPER_MARGIN = 10.0, 1e-4
GRACE = 120.0
"""Seconds beyond the time limit for importing, reading and building before a run is killed."""

Key = tuple[str, str, str]
WAYS = {"original-to-masked": "o-m", "masked-to-original": "m-o"}


@dataclass(frozen=True)
class Case:
    """A file pair, named as in ``best_known.csv``, a direction and an aggregator."""

    part: str
    pair: str
    records: int
    direction: str
    aggregator: str
    original: Path | pd.DataFrame
    masked: Path | pd.DataFrame


class Known(NamedTuple):
    """What was known of a case before: links reached, and the bound proved."""

    linked: int
    bound: int


@dataclass(frozen=True)
class Run:
    """One run: what was asked, and what came out.

    `status` is that of `fit`, ``killed``, or ``failed`` with the reason in `note`; `limit` the one that was
    hit. `seconds` are what `fit` took after reading the files, all libraries being loaded; `peak_mb` is the
    peak resident memory of the process; `commit` that of the code that ran.
    """

    part: str
    pair: str
    records: int
    direction: str
    aggregator: str
    method: str
    time_limit: float
    status: str
    limit: str = ""
    linked: int | None = None
    bound: int | None = None
    seconds: float = 0.0
    peak_mb: float = 0.0
    commit: str = ""
    note: str = ""

    @property
    def key(self) -> Key:
        """Pair, direction and aggregator."""
        return self.pair, self.direction, self.aggregator

    @property
    def asked(self) -> tuple[Key, str, float]:
        """Of two runs of the same the later one counts."""
        return self.key, self.method, self.time_limit

    @property
    def proven(self) -> bool:
        """Whether attack and bound met."""
        return self.status == "optimal"

    @property
    def gap(self) -> float | None:
        """Bound less links, in percentage points of the records."""
        if self.linked is None or self.bound is None:
            return None
        return 100.0 * (self.bound - self.linked) / self.records

    def __str__(self) -> str:
        return f"{self.pair} {WAYS[self.direction]} {self.aggregator}"


# ---------------------------------------------------------------- cases


def cases(pairs: Path, made: Path, **wanted: Sequence[Any] | None) -> Iterator[Case]:
    """Every case of the `parts`, `kinds`, `records`, ... wanted (None: of all), small files first.

    Growing pairs are made in a folder.
    """

    def chosen(name: str, items: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
        only = wanted.get(name)
        return [one for one in items if only is None or one in only]

    for part in chosen("parts", PARTS):
        of, grows = PARTS[part], part == "growth"
        for records, kind in product(chosen("records", of.records), chosen("kinds", of.kinds)):
            name = f"{'growth-' * grows}{kind}_{records}_s0"
            files = [(made if grows else pairs) / f"{name}_{side}.csv" for side in ("original", "masked")]
            if grows and not all(file.exists() for file in files):
                made.mkdir(parents=True, exist_ok=True)
                original = census(records, np.random.default_rng(0))
                PROTECTIONS[GROWTH].apply(original, 0).to_csv(files[1], index=False)
                original.to_csv(files[0], index=False)
            ways, aggregators = chosen("directions", list(Direction)), chosen("aggregators", of.aggregators)
            for direction, aggregator in product(ways, aggregators):
                yield Case(part, name, records, str(direction), aggregator, *files)


def best_known(file: Path) -> dict[Key, Known]:
    """What ``best_known.csv`` says, by pair, direction and aggregator; nothing when there is no such file."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        return {
            (row["pair"], row["direction"], row["aggregator"]): Known(
                int(row["linked"]), int(row["linked_upper_bound"])
            )
            for row in csv.DictReader(stream)
        }


# ---------------------------------------------------------------- runs


def measure(case: Case, method: str, seconds: float) -> Run:
    """Run one method on one case in a fresh process, and kill it when it does not end."""
    context = get_context("spawn")
    near, far = context.Pipe(duplex=False)
    process = context.Process(target=_in_child, args=(far, case, method, seconds))
    process.start()
    far.close()
    answer: dict[str, Any]
    try:
        answer = near.recv() if near.poll(seconds + GRACE) else {"status": "killed"}
    except EOFError:
        process.join()
        answer = {"status": "failed", "note": f"the process died, exit code {process.exitcode}"}
    process.kill()
    process.join()
    asked = (case.part, case.pair, case.records, case.direction, case.aggregator, method, seconds)
    return Run(*asked, commit=_commit(), **answer)


def _in_child(pipe: Connection, case: Case, method: str, seconds: float) -> None:
    try:
        # Once on a few records, so that loading libraries and compiled code is not counted for any method.
        generator = np.random.default_rng(0)
        original = pd.DataFrame(generator.normal(size=(24, 3)), columns=["a", "b", "c"])
        masked = original + 0.4 * generator.normal(size=original.shape)
        solve(replace(case, original=original, masked=masked, records=24), method, seconds)
        pipe.send(solve(case, method, seconds))
    except Exception as error:
        pipe.send({"status": "failed", "note": " ".join(f"{type(error).__name__}: {error}".split())})


def solve(case: Case, method: str, seconds: float) -> dict[str, Any]:
    """What one method makes of a case, in this process."""
    meter = MemoryMeter()
    if method == "pulp-bare":
        return {**solve_bare(case, seconds), "peak_mb": round(meter.peak() / 1e6, 1)}
    result = fit(
        case.original, case.masked, engine=method, aggregator=case.aggregator, direction=case.direction,
        time_limit=seconds,
    )  # fmt: skip
    return {
        "status": result.status,
        "limit": result.limit or "",
        "linked": result.linked,
        "bound": result.linked_upper_bound,
        "seconds": result.details["seconds"],
        "peak_mb": round(meter.peak() / 1e6, 1),
        "note": "; ".join(result.details["notes"]),
    }


def solve_bare(case: Case, seconds: float) -> dict[str, Any]:
    """What PuLP makes of the paper's model by itself, as in the literature; its answer is recounted."""
    options = ProblemOptions(aggregator=case.aggregator, direction=case.direction)
    problem = make_problem(case.original, case.masked, options)
    clock = Clock(seconds)
    system = problem_system(problem, reduce=False)
    # The smallest constant C that cuts off no parameter, on rows of full length, none left out.
    needed = float((system.excess * system.length).max(initial=0.0)) + PAPER_MARGIN
    model = indicator_model(system, paper_options(max(PAPER_C, needed * (1 + 1e-9))))
    result = get_backend("pulp").solve(model.milp, SolveOptions(clock.remaining, absolute_gap=0.999))
    linked, bound = 0, problem.pair.blocks - int(system.lost.sum())
    if np.isfinite(result.bound):
        bound = min(bound, int(rounded_bound(model.linked_weight(result.bound), problem.pair.weight)))
    if result.values is not None:
        theta = system.aggregator.domain.repair(result.values[: model.dimension])
        linked = int(Evaluator(problem.pair).count(system.aggregator.form(theta)).linked_weight)
    return {
        # A proof counts when the recount reaches it; links below the model's margin may exceed it.
        "status": "optimal" if linked >= bound else "feasible",
        "limit": "" if result.limit is None else result.limit.value,
        "linked": linked,
        "bound": max(linked, bound),
        "seconds": round(clock.seconds, 3),
    }


def _commit() -> str:
    """The commit that the code is of, with a mark when files were changed since; nothing outside git."""
    asked = ["git", "describe", "--always", "--dirty"]
    try:
        said = subprocess.run(asked, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.stdout.strip()


# ---------------------------------------------------------------- tables


def part_tables(part: str, runs: Sequence[Run], known: Mapping[Key, Known]) -> Iterator[str]:
    """The lines on one part: a table for each size, and what follows from it."""
    if part == "growth":
        yield "Growing files (Census records resampled with noise, microaggregated)\n"
        yield growth_table(runs) + "\n"
        return
    for records in sorted({run.records for run in runs}):
        chosen = [run for run in runs if run.records == records]
        yield f"{part}, {records} records\n\n{case_table(chosen, known)}\n"
        yield from [*verdicts(chosen, known), "", *ratios(chosen), ""]


def by_method(runs: Sequence[Run], method: str) -> dict[Key, Run]:
    """The runs of a method by pair, direction and aggregator."""
    return {run.key: run for run in runs if run.method == method}


def case_table(runs: Sequence[Run], known: Mapping[Key, Known]) -> str:
    """One line per case: what was known, then each method's interval and seconds."""
    made = {method: found for method in METHODS if (found := by_method(runs, method))}
    rows: list[dict[str, object]] = []
    for key in dict.fromkeys(run.key for run in runs):
        row: dict[str, object] = {"pair": key[0], "way": WAYS[key[1]], "aggregator": key[2]}
        row["known"] = _span(known[key].linked, known[key].bound) if key in known else None
        for method, found in made.items():
            run = found.get(key)
            if run is not None:
                row[method] = run.status if run.gap is None else _span(run.linked, run.bound)
                row[f"{method}, s"] = None if run.gap is None else round(run.seconds, 1)
        exact = made.get("exact", {}).get(key)
        if exact is not None:
            gap = None if exact.gap is None else round(exact.gap, 2)
            row |= {"gap pp": gap, "MB": round(exact.peak_mb)}
        rows.append(row)
    return aligned(rows)


def _span(linked: int | None, bound: int | None) -> str:
    return f"{linked}" if linked == bound else f"{linked}..{bound}"


def verdicts(runs: Sequence[Run], known: Mapping[Key, Known]) -> list[str]:
    """What the exact engine has proven, and every answer that cannot be right."""
    exact = list(by_method(runs, "exact").values())
    answered = [run for run in exact if run.gap is not None]
    if not answered:
        return ["exact: no answer"]
    proven = [run for run in answered if run.proven]
    quick = sum(run.seconds <= 60 for run in proven)
    widest = max(answered, key=lambda run: run.gap or 0.0)
    slowest = max(answered, key=lambda run: run.seconds)
    groups = [[run for run in answered if run.aggregator == name] for name in AGGREGATORS]
    return [
        f"exact: {len(proven)} of {len(exact)} proven, {quick} of them within 60 s; "
        f"{len(exact) - len(answered)} without an answer",
        f"worst gap {widest.gap:.2f} percentage points ({widest}); worst time {slowest.seconds:.1f} s "
        f"({slowest}); most memory {max(run.peak_mb for run in answered):.0f} MB",
        *(_of_aggregator(group, known) for group in groups if group),
        *_wrong(runs, known),
    ]


def _of_aggregator(runs: Sequence[Run], known: Mapping[Key, Known]) -> str:
    """How many of an aggregator are proven, and its gaps beside what was known."""
    gaps = {run.key: run.gap or 0.0 for run in runs}
    before = {
        run.key: 100.0 * (known[run.key].bound - known[run.key].linked) / run.records
        for run in runs
        if run.key in known
    }
    proven = sum(run.proven for run in runs)
    line = f"  {runs[0].aggregator}: {proven} of {len(runs)} proven, worst gap {max(gaps.values()):.2f}"
    if sum(before.values()):
        both = sum(gaps[key] for key in before)
        line += f"; gaps of {both:.2f} in all where {sum(before.values()):.2f} were known"
        halves = [gaps[key] <= old / 2 for key, old in before.items() if old > 0]
        line += f", at most half of the known gap in {sum(halves)} of {len(halves)} open cases"
    return line


def _wrong(runs: Sequence[Run], known: Mapping[Key, Known]) -> list[str]:
    """Answers below what was known, and bounds that an answer refutes; each must be explained."""
    below, refuted, above = [], [], []
    for key, run in by_method(runs, "exact").items():
        if run.linked is None or run.bound is None:
            continue
        before = known.get(key, Known(0, run.records))
        if run.linked < before.linked:
            below.append(f"{run}: {run.linked} < {before.linked}")
        if run.linked > before.bound:
            above.append(f"{run}: {run.linked} > {before.bound}")
        most = max(before.linked, *(other.linked or 0 for other in runs if other.key == key))
        if run.bound < most:
            refuted.append(f"{run}: at most {run.bound}, but {most} are linked")
    return [
        f"answers below best_known.csv: {_lines(below)}",
        f"answers above the bound of best_known.csv: {_lines(above)}",
        f"bounds that some answer refutes: {_lines(refuted)}",
    ]


def ratios(runs: Sequence[Run]) -> list[str]:
    """How many times longer the other methods take."""
    exact, lines = by_method(runs, "exact"), []
    for method, title in METHODS.items():
        pairs = [(exact[key], other) for key, other in by_method(runs, method).items() if key in exact]
        if method == "exact" or not pairs:
            continue
        both = [(mine, other) for mine, other in pairs if mine.proven and other.proven]
        # A stopped run is counted with its limit: what it took beyond that to end says nothing.
        stopped = [
            (mine, replace(other, seconds=min(other.seconds, other.time_limit)))
            for mine, other in pairs
            if mine.proven and other.limit == "time"
        ]
        backwards = [str(other) for mine, other in pairs if other.proven and not mine.proven]
        narrow = [str(mine) for mine, other in both if (mine.linked or 0) > (other.linked or 0)]
        lines += [
            f"{method} ({title}): seconds in multiples of the exact engine's",
            f"  both prove: {_multiples(both)}",
            f"  exact proves, the other not within its limit, so at least: {_multiples(stopped)}",
            f"  proven by it and not by exact: {_lines(backwards)}",
            f"  both prove, and exact links more, by less than the model's margin: {_lines(narrow)}",
        ]
    return lines


def _multiples(pairs: Sequence[tuple[Run, Run]]) -> str:
    """The geometric mean and the range of the ratios of seconds, of a hundredth of a second at least."""
    times = [max(0.01, other.seconds) / max(0.01, mine.seconds) for mine, other in pairs]
    if not times:
        return "no case"
    mean = math.exp(math.fsum(map(math.log, times)) / len(times))
    many = "1 case" if len(times) == 1 else f"{len(times)} cases"
    return f"{mean:.1f} in the geometric mean of {many} ({min(times):.1f} to {max(times):.1f})"


def growth_table(runs: Sequence[Run]) -> str:
    """Time and memory by size."""
    return aligned(
        {
            "records": run.records, "way": WAYS[run.direction], "aggregator": run.aggregator,
            "linked": run.linked, "at most": run.bound,
            "gap pp": None if run.gap is None else round(run.gap, 2), "s": round(run.seconds, 1),
            "peak MB": round(run.peak_mb),
            "status": run.status if run.gap is not None else f"{run.status} {run.note[:60]}",
        }
        for run in runs
    )  # fmt: skip


def _lines(texts: Sequence[str]) -> str:
    return "none" if not texts else f"{len(texts)}\n" + "\n".join(f"    {text}" for text in texts)


# ---------------------------------------------------------------- the command line


def main() -> None:
    """Run what is missing, then print all tables."""
    made = parser(__doc__, pairs=PAIRS)
    made.add_argument("--output", type=Path, required=True, help="folder for runs.csv and growing files")
    made.add_argument("--quick", action="store_true", help="a small subset, 10 s a run")
    made.add_argument("--parts", type=listed(), help=f"of {', '.join(PARTS)}")
    made.add_argument("--cases", type=listed(), help="kinds of pairs: M4-33,noise-20-6,...", dest="kinds")
    made.add_argument("--records", type=listed(int), help="sizes: 400,1080,...")
    made.add_argument("--aggregators", type=listed(), help=f"of {', '.join(AGGREGATORS)}")
    made.add_argument("--directions", type=listed(), help="original-to-masked, masked-to-original")
    made.add_argument("--methods", type=listed(), default=list(METHODS), help=f"of {', '.join(METHODS)}")
    made.add_argument("--time-limit", type=float, help="seconds for exact (by part 60, 120, 600)")
    made.add_argument("--milp-time-limit", type=float, default=120.0, help="seconds for milp (120)")
    made.add_argument("--pulp-time-limit", type=float, default=60.0, help="seconds for PuLP (60)")
    made.add_argument("--again", type=listed(), default=(), help="methods to run again")
    made.add_argument("--tables-only", action="store_true", help="run nothing")
    asked = made.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)
    names = ("parts", "kinds", "records", "aggregators", "directions")
    given = {name: value for name in names if (value := getattr(asked, name)) is not None}
    every = list(cases(asked.pairs, asked.output / "pairs", **((QUICK if asked.quick else {}) | given)))
    limits = {part: limits_of(part, asked) for part in PARTS}
    ledger = Ledger(asked.output / "runs.csv", Run)
    if not asked.tables_only:
        run_missing(every, limits, ledger, asked.again)
    known = best_known(asked.pairs.parent / "best_known.csv")
    commits = set()
    for part in PARTS:
        runs = latest(ledger, [case for case in every if case.part == part], limits[part])
        commits |= {run.commit for run in runs if run.method == "exact"}
        if runs:
            print("\n".join(part_tables(part, runs, known)))
    print(f"code of the exact engine: {', '.join(sorted(commits)) or 'nothing was run'}")


def limits_of(part: str, asked: argparse.Namespace) -> dict[str, float]:
    """Seconds for each method on a part; the big-C model is compared on the Census files of 400 records."""
    limits = {"exact": asked.time_limit or PARTS[part].seconds}
    if part == "census":
        limits |= {"milp": asked.milp_time_limit, "pulp-bare": asked.pulp_time_limit}
    most = 10.0 if asked.quick else math.inf
    return {method: min(seconds, most) for method, seconds in limits.items() if method in asked.methods}


def latest(ledger: Ledger[Run], every: Sequence[Case], limits: Mapping[str, float]) -> list[Run]:
    """The last run of each of these cases with these limits."""
    found = {run.asked: run for run in ledger.made}
    asked = [((case.pair, case.direction, case.aggregator), *one) for case in every for one in limits.items()]
    return [found[one] for one in asked if one in found]


def run_missing(
    every: Sequence[Case], limits: dict[str, dict[str, float]], ledger: Ledger[Run], again: Sequence[str]
) -> None:
    """Run what is not in the ledger or has failed, the exact engine first."""
    missing = []
    for method, case in product(METHODS, every):
        seconds = limits[case.part].get(method)
        if seconds is None or (method != "exact" and case.records != 400):
            continue
        done = latest(ledger, [case], {method: seconds})
        if method in again or not done or done[0].status == "failed":
            missing.append((case, method, seconds))
    for aggregator in sorted({case.aggregator for case, _, _ in missing}):
        alone(compile_kernels, aggregator)
    for at, (case, method, seconds) in enumerate(missing, start=1):
        run = measure(case, method, seconds)
        ledger.add(run)
        print(
            f"{time.strftime('%H:%M:%S')} {at}/{len(missing)} {method} {run}: {run.status} "
            f"{run.linked}..{run.bound} {run.seconds:.1f} s {run.note}",
            file=sys.stderr,
            flush=True,
        )


def compile_kernels(aggregator: str) -> None:
    """Solve the default pair with both engines, so that no run pays for what numba compiles at first."""
    fit(engine="exact", aggregator=aggregator, time_limit=20.0)
    fit(engine="milp", aggregator=aggregator, time_limit=5.0)


if __name__ == "__main__":
    main()
