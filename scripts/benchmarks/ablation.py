"""Switch off one mechanism of a search at a time, and print what it is worth: time, cost and bound.

    python scripts/benchmarks/ablation.py tables --output ../ablation.csv [--only WORD] [--without WORD]
    python scripts/benchmarks/ablation.py large --output ../ablation.csv --time-limit 60
    python scripts/benchmarks/ablation.py engine --output ../ablation.csv --time-limit 30

Each case is run with all mechanisms, then without each of them, one after the other, so that a machine that
is slower for a while slows all of them. Every run is written at once; what is there is not run again. A
pattern is audited whatever was switched off. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import astuple, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from engines import cases as engine_cases
from harness import DATA, PAIRS, TABLES, Ledger, listed, parser, timed
from scipy import sparse
from table_cases import cases, enterprises, large, large_tables, stored

from linkrisk.formulations.programs import no_cuts
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.engines.steering import STEERING, Steering
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.operations.source import cell_table
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large
from linkrisk.solver.worst_case.operations.fit import fit

_LEAST_SECONDS = 0.05
"""Shorter runs say nothing about time."""

_LONG = 2.0
"""Seconds from which a run is not repeated; of two runs the shorter counts."""

_SUPPRESSION = "linkrisk.solver.tables.suppression"
_ATTACKERS = "linkrisk.solver.tables.attackers"
_STEERING = "linkrisk.solver.tables.steering"


def _nothing(*_: Any, **__: Any) -> None:
    """Take the place of a step that only improves."""


def _zero(*_: Any, **__: Any) -> int:
    return 0


def _no_rows(_: Any, point: Any) -> tuple[Any, Any]:
    return sparse.csr_array((0, point.size)), np.zeros(0)


def _no_bridges(_: Any) -> Callable[[Any, float], Any]:
    return lambda x, _: no_cuts(x.size)


def _same(_: Any, pattern: Any, *__: Any) -> Any:
    """Take the place of what makes a pattern smaller."""
    return pattern


def _unseen(_: Any, suppressed: Any) -> tuple[Any, Any]:
    return np.zeros(suppressed.size), np.zeros(suppressed.size)


def _everything(table: CellTable, *_: Any) -> Any:
    return np.asarray(~table.fixed)


@dataclass(frozen=True)
class Changed:
    """Takes the place of a dataclass: the same with other values."""

    values: dict[str, Any]


Patch = tuple[str, Any]
"""Module and attribute (``module:name`` or ``module:Class.name``), and what takes its place."""

SWITCHES: dict[str, dict[str, tuple[Patch, ...]]] = {
    "tables": {
        "rounding cuts": ((f"{_SUPPRESSION}.branch_and_cut:rounding_cuts", _no_rows),),
        "neighbourhoods": ((f"{_SUPPRESSION}.branch_and_cut:WholeSearch._search_neighbourhoods", _nothing),),
        "exclusion": ((f"{_SUPPRESSION}.branch_and_cut:WholeSearch._exclude", _nothing),),
        "supports of points": ((f"{_SUPPRESSION}.incumbent:Supports.__call__", _nothing),),
        "patterns of points at the root": ((f"{_STEERING}:ROOT_HEURISTIC_ROUNDS", ()),),
        "conflict weights": ((f"{_SUPPRESSION}.branching:Conflicts.found", _nothing),),
        "strong branching": (
            (f"{_SUPPRESSION}.branching:_FEW", Changed({"most": 0})),
            (f"{_SUPPRESSION}.branching:_MANY", Changed({"most": 0})),
        ),
        "smaller relaxation": ((f"{_STEERING}:REBUILT_SHARE", 0.0),),
        "bridges": ((f"{_SUPPRESSION}.capacity_cuts:Bridges", _nothing),),
        "implied bridges": ((f"{_SUPPRESSION}.capacity_cuts:ImpliedBridges", _no_bridges),),
        "second rows of an attack": ((f"{_STEERING}:NEARLY_SUPPRESSED", 2.0),),
        "seen deviations": ((f"{_ATTACKERS}.attacks:Seen.reach", _unseen),),
        "own simplex method": ((f"{_STEERING}:OWN_SIMPLEX_RELATIONS", -1),),
        "all levels at once": ((f"{_STEERING}:LEAST_ENERGY_RELATIONS", 10**9),),
        "thinning": ((f"{_SUPPRESSION}.incumbent:Thinning.__call__", _same),),
        "demands together": ((f"{_STEERING}:SEEN_AT_ONCE_DEMANDS", 10**9),),
    },
    "large": {
        "implied bridges": ((f"{_SUPPRESSION}.capacity_cuts:ImpliedBridges", _no_bridges),),
        "seen deviations": ((f"{_ATTACKERS}.attacks:Seen.reach", _unseen),),
        "all levels at once": ((f"{_SUPPRESSION}.large_tables:_Search._at_once", _nothing),),
        "pool": ((f"{_STEERING}:LEAST_ENERGY_PATIENCE", 1),),
        "cells around": ((f"{_STEERING}:RADII", ()),),
        "shedding": ((f"{_SUPPRESSION}.least_energy_patterns:Shedding.run", _nothing),),
        "several dives": ((f"{_STEERING}:DIVE_PARTS", (0.1,)),),
        "wider blocks": ((f"{_SUPPRESSION}.modular:Modular.widen", _nothing),),
        "rounding cuts": ((f"{_SUPPRESSION}.modular:Modular._rounded_rows", _nothing),),
        "thinning": ((f"{_SUPPRESSION}.repair:Thinning.run", _zero),),
        "least energy in audits": ((f"{_ATTACKERS}.least_energy:may_do", lambda _: False),),
    },
}
"""By subject the mechanisms, and what is replaced to switch each one off."""

ENGINE: dict[str, dict[str, dict[str, Any]]] = {
    "simplex tree": {"turns": {"most_tree_dimensions": 0}},
    "pairs of rows": {"turns": {"rows_share": 0.0}},
    "pairs": {"turns": {"pairs_share": 0.0, "few_pairs_share": 0.0}},
    "witnesses of pairs": {"pairs": {"most_witnesses": 0}},
    "swaps": {"hitting": {"swap_share": 0.0}},
    "helping threads": {"hitting": {"alone": np.inf}},
    "several thresholds": {"hitting": {"thresholds": (1e-6,)}},
    "compiled pivots": {"finders": {"most_parameters": 0}},
    "line searches": {"attack": {"lines": 0}},
    "extension of attacks": {"attack": {"extended": 0}},
    "several widths": {"attack": {"widths": (0.1,)}},
    "simpler family first": {"attack": {"simpler_share": 0.0}},
}
"""The mechanisms of the exact engine, and the numbers of its steering that switch each one off."""


@dataclass(frozen=True)
class Run:
    """One case without one mechanism (or none)."""

    subject: str
    case: str
    without: str
    cost: float
    bound: float
    seconds: float
    note: str = ""


Task = Callable[[Steering], tuple[float, float]]
"""Runs a case; its value and its bound."""


def main() -> None:
    """Run what is missing, then print what each mechanism is worth."""
    made = parser(__doc__, "tables", "large", "engine")
    made.add_argument("--output", type=Path, required=True, help="file of all runs")
    made.add_argument("--time-limit", type=float, default=150.0)
    made.add_argument("--parts", type=listed(), default=["ref"], help="tables: folders")
    made.add_argument("--most-cells", type=int, default=3000, help="tables")
    made.add_argument("--only", default="", help="cases with this word in their name")
    made.add_argument("--without", default="", help="mechanisms with this word in their name")
    asked = made.parse_args()
    ledger = Ledger(asked.output, Run)
    known = {(one.subject, one.case, one.without): one for one in ledger.made}
    mechanisms = ENGINE if asked.part == "engine" else SWITCHES[asked.part]
    chosen = ["", *(one for one in mechanisms if asked.without in one)]
    for name, task in TASKS[asked.part](asked):
        for without in chosen if asked.only in name else ():
            if (asked.part, name, without) not in known:
                run = _run(asked.part, name, without, task)
                known[run.subject, run.case, run.without] = run
                ledger.add(run)
                print(*astuple(run), flush=True)
    for line in summary([one for one in known.values() if one.subject == asked.part]):
        print(line)


def _reference_tables(asked: argparse.Namespace) -> Iterator[tuple[str, Task]]:
    """Tables whose optimum is searched for."""
    for part in asked.parts:
        for case in cases(TABLES / part, asked.most_cells):
            table = cell_table(stored(case), "given")

            def task(_: Steering, table: CellTable = table) -> tuple[float, float]:
                found = suppress_cells(table, None, Clock(asked.time_limit))
                assert audit(table, found.suppressed).passed, "the pattern does not protect"
                return found.cost, found.bound

            yield f"{case.name} {case.cost}", task


def _large_tables(asked: argparse.Namespace) -> Iterator[tuple[str, Task]]:
    """Tables of firms, drawn ones of 2,500 and 10,000 cells, and the large ones of a collection."""
    found = {name: large(name) for name in ("2500", "10000")}
    with tempfile.TemporaryDirectory() as folder:
        for firms in enterprises(DATA):
            found[firms.name] = cell_table(firms.table(Path(folder)).stored(), "value")
    found |= {name: table for name, table in large_tables([], TABLES / "csplib") if len(table) <= 20_000}
    for name, table in found.items():

        def task(_: Steering, table: CellTable = table) -> tuple[float, float]:
            found = suppress_large(table, "modular", Clock(asked.time_limit))
            assert unmet(table, found.suppressed).all, "the pattern does not protect"
            return found.cost, found.bound

        yield name, task


def _file_pairs(asked: argparse.Namespace) -> Iterator[tuple[str, Task]]:
    """Fits; the value is what is not linked, so that less is better as elsewhere."""
    for case in engine_cases(PAIRS, Path(), parts=("census", "hard"), records=(400,)):

        def task(steering: Steering, case: Any = case) -> tuple[float, float]:
            found = fit(
                case.original, case.masked, aggregator=case.aggregator, engine="exact",
                direction=case.direction, time_limit=asked.time_limit, steering=steering,
            )  # fmt: skip
            return case.records - found.linked, case.records - found.linked_upper_bound

        yield f"{case.pair} {case.direction} {case.aggregator}", task


TASKS = {"tables": _reference_tables, "large": _large_tables, "engine": _file_pairs}


def _run(subject: str, name: str, without: str, task: Task) -> Run:
    steering, note, seconds, answer = STEERING, "", 0.0, (np.nan, np.nan)
    with ExitStack() as stack:
        if subject == "engine":
            for part, numbers in ENGINE.get(without, {}).items():
                steering = replace(steering, **{part: replace(getattr(steering, part), **numbers)})
        else:
            for target, other in SWITCHES[subject].get(without, ()):
                stack.enter_context(_switched(target, other))
        try:
            answer, spent = timed(lambda: task(steering))
            if spent.processor < _LONG:
                spent = min(spent, timed(lambda: task(steering))[1], key=lambda one: one.processor)
            seconds = round(spent.processor, 3)
        except (AssertionError, RuntimeError, ValueError) as error:
            note = f"{type(error).__name__}: {error}"[:100]
    return Run(subject, name, without, *answer, seconds, note)


def _switched(target: str, other: Any) -> AbstractContextManager[Any]:
    """Put something in the place of `module:name` or `module:Class.name`."""
    module_name, _, path = target.partition(":")
    owner: Any = import_module(module_name)
    *classes, name = path.split(".")
    for one in classes:
        owner = getattr(owner, one)
    if isinstance(other, Changed):
        other = replace(getattr(owner, name), **other.values)
    return patch.object(owner, name, other)


def summary(runs: Sequence[Run]) -> Iterator[str]:
    """A line for each mechanism: geometric mean of seconds and cost without it, and what stays open."""
    full = {run.case: run for run in runs if not run.without}
    yield f"{'without':32} cases seconds-ratio (range) cost-ratio worse better gap-with gap-without failed"
    for name in dict.fromkeys(run.without for run in runs if run.without):
        pairs = [(full[run.case], run) for run in runs if run.without == name and run.case in full]
        failed = sum(bool(other.note) for _, other in pairs)
        pairs = [(one, other) for one, other in pairs if not (one.note or other.note)]
        times = [
            max(other.seconds, 1e-3) / max(one.seconds, 1e-3)
            for one, other in pairs
            if max(one.seconds, other.seconds) >= _LEAST_SECONDS
        ]
        costs = [other.cost / one.cost for one, other in pairs if one.cost]
        worse = sum(other.cost > one.cost * (1 + 1e-9) for one, other in pairs)
        better = sum(other.cost < one.cost * (1 - 1e-9) for one, other in pairs)
        gaps = [[_gap(run) for run in both] for both in zip(*pairs, strict=True)] or [[0.0], [0.0]]
        mean, spread = _mean(times), (min(times, default=1.0), max(times, default=1.0))
        yield (
            f"{name:32} {len(pairs):5} {mean:13.3f} ({spread[0]:.2f}..{spread[1]:.2f}) {_mean(costs):.4f} "
            f"{worse} {better} {np.mean(gaps[0]):.3f} {np.mean(gaps[1]):.3f} {failed}"
        )


def _mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0


def _gap(run: Run) -> float:
    """In percent of the cost."""
    return 100.0 * (run.cost - run.bound) / max(run.cost, 1.0)


if __name__ == "__main__":
    main()
