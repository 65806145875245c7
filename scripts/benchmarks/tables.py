"""Print what protecting tables takes, and what is proven.

    python scripts/benchmarks/tables.py optimal [--only WORD] [--parts ref,random,csplib] [--reference PYTHON]
    python scripts/benchmarks/tables.py large [--names 2500,10000] [--method modular] [--folder CSPLIB]
    python scripts/benchmarks/tables.py enterprises [--names drawn-dominance] [--reference PYTHON]
    python scripts/benchmarks/tables.py insiders [--names t2_10x10,h2_18x12]
    python scripts/benchmarks/tables.py audit [--exact]
    python scripts/benchmarks/tables.py rounding
    python scripts/benchmarks/tables.py adjustment --folder CSPLIB [--names TARGUS,TABLE8]

`optimal`: the reference lists; with `--reference`, an interpreter that has the package `pytauargus`, its
engine protects the same tables (as JJ files, which it reads within its time). The least of two calls counts,
here as there; the geometric mean is over tables that both prove. `large`: every pattern is audited, all
levels, by witnesses. `enterprises`: tables of activity, area and size by the modular method, and by that of
the reference program from the same records: what its pattern costs, and levels that it leaves open.
`insiders`: tables of the microdata (p = 10 %, every record a respondent) protected from
the outsider, from all singletons and from all respondents. `audit`: 2,000 suppressed cells of tables of
20,000, in a corner so dense that most hang together, the hardest pattern of so many; the levels alone are
timed beside it. `adjustment`: linear and with squares, beside known optima. Seconds are those of the
processor.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from harness import DATA, TABLES, alone, head, listed, parser, row, show, timed
from table_cases import Case, Enterprises, cases, crossed, large_tables, stored, tabulated
from table_cases import enterprises as table_enterprises

from linkrisk import make_table, suppress_table
from linkrisk.arrays import BoolArray
from linkrisk.datasets.tables.argus.jj_files import jj_text
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.stored_table import StoredTable, read_cells_and_relations
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.parts import TABLES as KERNELS
from linkrisk.solver.compiling.parts import compile_once
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.audit import audit as audited
from linkrisk.solver.tables.attackers.certified import certify
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.pieces import known_exactly, pieces_of
from linkrisk.solver.tables.operations.make import MadeTable
from linkrisk.solver.tables.operations.source import cell_table
from linkrisk.solver.tables.perturbation.adjustment import adjust_cells
from linkrisk.solver.tables.perturbation.rounding import round_cells
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large

_LONG = 4.0
"""Seconds from which a call is not repeated."""

_REFERENCE = """
import json, sys, time
import pytauargus
jj, folder, limit = sys.argv[1:]
control, least = pytauargus.HiTaSCtrl(), float("inf")
for _ in range(2):
    before = time.process_time()
    code = control.full_jj(in_file_jj=jj, out_file=jj + ".out", max_time=int(limit), out_dir=folder)
    least = min(least, time.process_time() - before)
    if least > 4:
        break
print(json.dumps([code, least, [int(line.split()[0]) for line in open(jj + ".out") if line.strip()]]))
"""


def optimal(asked: argparse.Namespace) -> None:
    """Cell suppression beside the optima of the reference program."""
    compile_once(KERNELS)
    print("table cost cells sensitive known ours bound gap-percent seconds audit-seconds reference ratio")
    ratios = []
    for part in asked.parts:
        for case in cases((asked.folder or TABLES) / part, asked.most_cells):
            if asked.only in f"{case.name} {case.cost}":
                ratios += _beside_reference(case, asked.time_limit, asked.reference)
    if ratios:
        print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f} ({len(ratios)} tables)")


def _beside_reference(case: Case, limit: float, reference: Path | None) -> list[float]:
    """Protect a table and print what was found; the ratio to the reference, where both prove."""
    made = stored(case)
    table, least = cell_table(made, "given"), np.inf
    for _ in range(2):
        found, spent = timed(lambda: suppress_cells(table, None, Clock(limit)))
        least = min(least, spent.processor)
        if least > _LONG:
            break
    checked, audit_ = timed(lambda: audited(table, found.suppressed))
    assert checked.passed, f"{case.name}: the pattern does not protect"
    other = None if reference is None else _reference(made, reference, limit)
    ratio = [] if other is None or not (found.proven and case.proven) else [least / other]
    show(
        [case.name, case.cost, len(table), int(table.primary.sum()), case.known, found.cost, found.bound,
         f"{100.0 * (found.cost - found.bound) / max(found.cost, 1.0):.2f}", f"{least:.3f}",
         f"{audit_.processor:.3f}", "-" if other is None else f"{other:.3f}", *(f"{r:.2f}" for r in ratio)]
    )  # fmt: skip
    return ratio


def _reference(made: StoredTable, python: Path, limit: float) -> float | None:
    """Processor seconds of the reference program; None where it does not end in time."""
    with tempfile.TemporaryDirectory() as folder:
        jj = Path(folder) / "table.jj"
        jj.write_text(jj_text(made))
        command = [str(python), "-c", _REFERENCE, str(jj), folder, str(int(limit))]
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=4 * limit, cwd=folder, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return None
        return float(json.loads(ended.stdout.strip().splitlines()[-1])[1])


def large(asked: argparse.Namespace) -> None:
    """Large tables: cost, bound, and what it takes; each has a process of its own."""
    print("table cells sensitive secondary cost of-all-% bound gap-% seconds cpu-seconds peak-MB")
    names = asked.names or ([] if asked.folder else ["2500", "10000"])
    for name, table in large_tables(names, asked.folder):
        show(alone(_large, name, table, asked.method, asked.time_limit))


def _large(name: str, table: CellTable, method: str, limit: float) -> list[object]:
    found, spent = timed(lambda: suppress_large(table, method, Clock(limit)))
    assert unmet(table, found.suppressed).all
    gap = 100.0 * (found.cost - found.bound) / max(found.cost, 1.0)
    share = 100.0 * found.cost / table.cost_of(~table.fixed)
    counted = (name, len(table), int(table.primary.sum()), int((found.suppressed & table.free).sum()))
    costs = (f"{found.cost:.0f}", f"{share:.1f}", f"{found.bound:.0f}", f"{gap:.1f}")
    return [*counted, *costs, *(f"{one:.0f}" for one in spent)]


_REFERENCE_MODULAR = """
import sys, time
import pandas as pd
from pytauargus import protect
records, by, rule, folder, out, *files = sys.argv[1:]
by, frame = by.split(","), pd.read_csv(records)
files = dict(zip(files[::2], files[1::2]))
before = time.process_time()
made = protect(frame[[*by, "turnover"]], by, response="turnover", safety_rules=rule, suppress="MOD(1)",
               hrc=files, decimals=2, workdir=folder)
print(time.process_time() - before)
pd.DataFrame(made.tables[0].dataframe()).to_csv(out, index=False)
"""


def enterprises(asked: argparse.Namespace) -> None:
    """Tables of firms by the modular method, and by that of the reference program."""
    compile_once(KERNELS)
    head(("table", "cells, sensitive", "cost", "at least", "gap %", "s", "reference: cost", "open", "s"))
    for firms in table_enterprises(asked.folder or DATA):
        if asked.names and firms.name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = firms.table(Path(folder))
            table = cell_table(made.stored(), "value")
            found, spent = timed(partial(suppress_large, table, "modular", Clock(asked.time_limit)))
            assert unmet(table, found.suppressed).all, "the pattern does not protect"
            gap = 100.0 * (found.cost - found.bound) / found.cost
            cells = [firms.name, f"{len(table):,}, {int(table.primary.sum()):,}", f"{found.cost:,.0f}"]
            cells += [f"{found.bound:,.0f}", f"{gap:.1f}", f"{spent.processor:.1f}"]
            other = None if asked.reference is None else _modular(firms, asked.reference, Path(folder))
            if other is not None:
                codes = pd.MultiIndex.from_frame(made.cells[firms.by].astype(str))
                hidden = other[0].reindex(codes).isin(["M", "U"]).to_numpy()
                open_ = len(unmet(table, hidden | table.primary).unmet)
                cells += [f"{table.cost_of(hidden):,.0f}", f"{open_:,}", f"{other[1]:.1f}"]
            row(cells)


def _modular(firms: Enterprises, python: Path, folder: Path) -> tuple[pd.Series[str], float] | None:
    """The status that the reference program gives each cell, and its seconds; None where it fails."""
    records, out = folder / "records.csv", folder / "statuses.csv"
    firms.records.to_csv(records, index=False)
    kind, _, numbers = firms.rule.partition("=")
    rule = f"P({numbers},1)" if kind == "p" else f"NK({numbers})"
    files = [str(one) for pair in firms.hierarchies(folder).items() for one in pair]
    command = [str(python), "-c", _REFERENCE_MODULAR, str(records), ",".join(firms.by), rule]
    ended = subprocess.run(
        [*command, str(folder / "work"), str(out), *files], capture_output=True, text=True, cwd=folder
    )
    if ended.returncode:
        return None
    statuses = pd.read_csv(out, dtype=str).set_index(firms.by)["status"]
    return statuses, float(ended.stdout.strip().splitlines()[-1])


_MICRODATA = ("t2_10x10", "h2_18x12", "t2_20x20", "t2_50x50", "t3_5x5x4", "t3_8x6x5", "t3_10x8x6")


def insiders(asked: argparse.Namespace) -> None:
    """What it costs to protect tables from those who are in them, and how long it takes."""
    own = ("singletons", "cost", "s", "respondents", "cost", "s")
    head(("table", "cells, sensitive", "outsider", "s", *own))
    folder = asked.folder or TABLES / "micro"
    first = _made(folder, _MICRODATA[0])
    suppress_table(first.cells, first.relations)  # compiles
    for name in asked.names or _MICRODATA:
        table = _made(folder, name)
        cells = [name, f"{len(table.cells):,}, {table.sensitive:,}"]
        for who in (None, "singletons", "contributors"):
            many, cost, seconds = _protected(table, who, asked.time_limit)
            cells += [cost, seconds] if who is None else [many, cost, seconds]
        row(cells)


def _made(folder: Path, name: str) -> MadeTable:
    """A table of the benchmark, of its microdata."""
    frame = pd.read_csv(folder / f"{name}.csv")
    by = [column for column in frame.columns if column != "value"]
    frame["respondent"] = [f"r{at}" for at in range(len(frame))]
    files = {code: folder / f"{name}_hierarchy_{code}.csv" for code in by}
    hierarchies = {code: path for code, path in files.items() if path.exists()}
    return make_table(
        frame, by, response="value", rules=["p=10"], hierarchies=hierarchies, respondent="respondent"
    )


def _protected(table: MadeTable, who: str | None, limit: float) -> tuple[str, str, str]:
    """How many insiders there are, what it costs, and the seconds of the processor."""
    asked = {"insiders": who or "none", "contributors": table.contributors if who else None}
    found, spent = timed(lambda: suppress_table(table.cells, table.relations, time_limit=limit, **asked))
    pattern = found.pattern
    assert pattern is not None
    proof = "" if pattern.proven else f", at least {pattern.bound:,.0f}"
    many = "" if found.insiders is None else f"{len(found.insiders.audit.names) - 1:,}"
    return many, f"{pattern.cost:,.0f}{proof}", f"{spent.processor:.1f}"


_DENSE = (
    ((130, 130), (10, 10), 0.7),
    ((140, 140), (0, 0), 0.3),
    ((22, 22, 22), (4, 4, 4), 0.95),
    ((27, 27, 25), (0, 0, 0), 0.45),
)
"""Codes and groups of each variable, and the share of the corner's cells that is suppressed."""


def audit(asked: argparse.Namespace) -> None:
    """Intervals of all suppressed cells, the levels alone, and these in rational numbers."""
    print(
        "codes groups cells suppressed exactly-known largest-piece audited unprotected seconds levels exact"
    )
    for sizes, groups, density in _DENSE:
        table, suppressed = _dense(sizes, groups, density)
        known = known_exactly(table, suppressed)
        piece = max((one.cells.size for one in pieces_of(table, suppressed & ~known)), default=0)
        found, intervals = timed(partial(audited, table, suppressed))
        _, levels = timed(partial(unmet, table, suppressed))
        exact = timed(partial(certify, table, suppressed))[1].processor if asked.exact else math.nan
        counts = (len(table), int(suppressed.sum()), int(known.sum()), piece, int(found.audited.sum()))
        seconds = (f"{one:.1f}" for one in (intervals.processor, levels.processor, exact))
        show([*_shape(sizes, groups), *counts, int((found.short > 0).sum()), *seconds])


def _shape(*numbers: tuple[int, ...]) -> list[str]:
    return ["x".join(map(str, one)) for one in numbers]


def _dense(sizes: tuple[int, ...], groups: tuple[int, ...], density: float) -> tuple[CellTable, BoolArray]:
    """A table, and a pattern of 2,000 cells in a corner of it, sensitive ones among them."""
    trees, frame = crossed(sizes, groups)
    generator, many = np.random.default_rng(0), 2000
    frame["value"] = np.round(generator.lognormal(3.0, 1.5, len(frame))) + 1.0
    made, relations = tabulated(frame, trees)
    value = made.total
    grid = np.arange(value.size).reshape([len(one.codes) for one in trees])
    side = round((many / density) ** (1 / grid.ndim))
    # The last codes of the last groups, with the totals of these: a corner that hangs together.
    corner = grid[np.ix_(*[_corner(one, side) for one in trees])].ravel()
    suppressed = np.zeros(value.size, dtype=np.bool_)
    suppressed[generator.choice(corner, min(many, corner.size), replace=False)] = True
    primary = suppressed & (generator.random(value.size) < 0.15)
    level, none = np.where(primary, np.ceil(0.15 * value), 0.0), np.zeros(value.size)
    table = CellTable(
        value=value,
        relations=relations,
        lower=none,
        upper=np.full(value.size, value.max()),
        primary=primary,
        fixed=np.zeros(value.size, dtype=np.bool_),
        cost=np.ones(value.size),
        lower_level=level,
        upper_level=np.minimum(level, value.max() - value),
        sliding_level=none,
    )
    return table, suppressed


def _corner(tree: CodeTree, side: int) -> list[int]:
    """About so many nodes: the total, groups, and codes below these."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        below.setdefault(parent, []).append(node)
    found = [0]
    for node in found:
        room = side - len(found)
        if room > 0:
            children = below.get(node, [])
            groups = node == 0 and any(child in below for child in children)
            found += children[: max(room // 6, 2)] if groups else children[:room]
    return sorted(found)


_ROUNDED = (
    ((300, 500), (0, 0)),
    ((300, 500), (20, 0)),
    ((290, 480), (20, 25)),
    ((20, 20, 20), (0, 0, 0)),
    ((50, 50, 50), (0, 0, 0)),
    ((40, 40, 40), (6, 5, 4)),
)


def rounding(asked: argparse.Namespace) -> None:
    """Controlled rounding to base 5 of tables of up to 150,000 cells."""
    print("codes groups cells relations kind change bound proven seconds process_seconds")
    for sizes, groups in _ROUNDED:
        trees, frame = crossed(sizes, groups)
        frame["value"] = np.random.default_rng(0).integers(0, 200, len(frame))
        made, relations = tabulated(frame, trees)
        weight = np.ones(made.total.size)
        problem = ControlledRounding(made.total, relations, weight=weight, base=5, zero_restricted=True)
        found, spent = timed(partial(round_cells, problem, get_backend("highs"), Clock(asked.time_limit)))
        kind = "zero-restricted" if found.zero_restricted else "relaxed"
        costs = (f"{found.cost:.0f}", f"{found.bound:.0f}", found.proven)
        seconds = (f"{spent.seconds:.1f}", f"{spent.processor:.1f}")
        show([*_shape(sizes, groups), *relations.shape[::-1], kind, *costs, *seconds])


def adjustment(asked: argparse.Namespace) -> None:
    """Controlled tabular adjustment: cost, bound and seconds, linear and with squares."""
    folder = asked.folder or TABLES / "csplib"
    reference = pd.read_csv(folder / "cta_reference.csv")
    print("table weight up squares cost bound proven reference cpu_seconds")
    names = asked.names or list(dict.fromkeys(reference["instance"]))
    for name, weight, up, squares in product(names, ("1/value", "1"), (True, False), (False, True)):
        table = _to_adjust(folder, name)
        each = np.ones(len(table)) if weight == "1" else 1.0 / np.maximum(table.value, 1.0)
        this = (reference["instance"] == name) & (reference["weight"] == weight)
        known = reference[this & (reference["directions"].str.startswith("all") == up)]
        problem = TabularAdjustment(table=table, weight=each, up=up, quadratic=squares)
        backend = None if squares else get_backend("highs")
        found, spent = timed(partial(adjust_cells, problem, backend, Clock(asked.time_limit)))
        best = "-" if squares or known.empty else float(known["l1_objective"].iloc[0])
        answer = (found.cost, found.bound, found.proven, best, f"{spent.processor:.1f}")
        show([name, weight, up, squares, *answer])


def _to_adjust(folder: Path, name: str) -> CellTable:
    frame = pd.read_csv(folder / f"{name}_cells.csv").fillna(0.0)
    frame["status"] = np.where(frame["sensitive"], "u", "s")
    return cell_table(
        read_cells_and_relations(frame, pd.read_csv(folder / f"{name}_equations.csv.gz")), "unit"
    )


PARTS: dict[str, tuple[Callable[[argparse.Namespace], None], float]] = {
    "optimal": (optimal, 150.0),
    "large": (large, 800.0),
    "enterprises": (enterprises, 100.0),
    "insiders": (insiders, 40.0),
    "audit": (audit, math.inf),
    "rounding": (rounding, 300.0),
    "adjustment": (adjustment, 60.0),
}
"""What can be measured, and how many seconds each problem has."""


def main(given: list[str] | None = None) -> None:
    """Measure one part."""
    made = parser(__doc__, *PARTS)
    made.add_argument("--folder", type=Path, help=f"of tables; default: in {TABLES}")
    made.add_argument("--names", type=listed(), default=[], help="of tables")
    made.add_argument("--time-limit", type=float, help="seconds for each problem")
    made.add_argument("--parts", type=listed(), default=["ref"], help="optimal: folders")
    made.add_argument("--only", default="", help="optimal: tables with this word in their names")
    made.add_argument("--most-cells", type=int, default=3000, help="optimal")
    made.add_argument("--reference", type=Path, help="the interpreter of the reference program")
    made.add_argument("--method", default="modular", help="large")
    made.add_argument("--exact", action="store_true", help="audit: in rational numbers, too")
    asked = made.parse_args(given)
    measure, limit = PARTS[asked.part]
    asked.time_limit = asked.time_limit or limit
    measure(asked)


if __name__ == "__main__":
    main()
