"""The runs of `engines.py`: each in a fresh process, each a line of a CSV file."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pandas as pd
from engine_cases import Case

from linkrisk.formulations.linkage.block_system import indicator_model, paper_options
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.engines.base import EngineOptions, rounded_bound
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.processes import MemoryMeter
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.search_state import problem_system

METHODS = {
    "exact": "--engine exact",
    "milp": "--engine milp --backend highs, tight C",
    "pulp-valid-c": "--engine milp --backend pulp, the smallest valid constant C, all rows",
    "pulp-paper-c": "--engine milp --backend pulp, C = 10 and margin 1e-4 as the authors have, all rows",
    "pulp-bare": "PuLP on the model of pulp-paper-c, C larger where 10 is too small, no attack to start from",
}
PAPER_C, PAPER_MARGIN = 10.0, 1e-4
GRACE = 120.0
"""Seconds beyond the time limit for importing, reading and building before a run is killed."""


@dataclass(frozen=True)
class Run:
    """One run: what was asked, and what came out.

    `status` is that of `fit`, ``killed``, or ``failed`` with the reason in `note`; `limit` the one that was
    hit. `seconds` are what `fit` took after reading the files, all libraries being loaded; the shared
    attack took `attack_seconds`; `peak_mb` is the peak resident memory of the process. `needed_c` is the
    smallest constant C that cuts nothing off, for constant C; `commit` that of the code that ran.
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
    attack_seconds: float = 0.0
    peak_mb: float = 0.0
    needed_c: float | None = None
    commit: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Pair, direction and aggregator."""
        return self.pair, self.direction, self.aggregator

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


class Ledger(harness.Ledger[Run]):
    """Of two runs of the same the later one counts, and what failed is run again."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Run)

    def __contains__(self, asked: tuple[Case, str, float]) -> bool:
        run = self._latest().get(self._asked(*asked))
        return run is not None and run.status != "failed"

    def runs(self, cases: Iterable[Case], limits: dict[str, dict[str, float]]) -> list[Run]:
        """Runs of these cases with these limits (by part, then by method), in the order of the cases."""
        asked = [(case, method, limit) for case in cases for method, limit in limits[case.part].items()]
        latest = self._latest()
        found = [latest.get(self._asked(*one)) for one in asked]
        return [run for run in found if run is not None]

    def _latest(self) -> dict[tuple[object, ...], Run]:
        return {(*run.key, run.method, run.time_limit): run for run in self.made}

    @staticmethod
    def _asked(case: Case, method: str, limit: float) -> tuple[object, ...]:
        return (case.pair, case.direction, case.aggregator, method, limit)


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
    return Run(
        case.part, case.pair, case.records, case.direction, case.aggregator, method, seconds,
        commit=_commit(), **answer,
    )  # fmt: skip


def _in_child(pipe: Connection, case: Case, method: str, seconds: float) -> None:
    try:
        # Once on a few records, so that loading libraries and compiled code is not counted for any method.
        solve(small(case), method, seconds)
        pipe.send(solve(case, method, seconds))
    except Exception as error:
        pipe.send({"status": "failed", "note": " ".join(f"{type(error).__name__}: {error}".split())})


def small(case: Case, records: int = 24) -> Case:
    """The same question about a few random records."""
    generator = np.random.default_rng(0)
    original = pd.DataFrame(generator.normal(size=(records, 3)), columns=["a", "b", "c"])
    masked = original + 0.4 * generator.normal(size=original.shape)
    return replace(case, original=original, masked=masked, records=records)


def solve(case: Case, method: str, seconds: float) -> dict[str, Any]:
    """What one method makes of a case, in this process."""
    meter = MemoryMeter()
    if method == "pulp-bare":
        return {**solve_bare(case, seconds), "peak_mb": round(meter.peak() / 1e6, 1)}
    options: dict[str, Any] = {}
    needed = None
    if method == "pulp-valid-c":
        needed = needed_c(case, EngineOptions().margin)
        options = {"backend": "pulp", "big_c": needed * (1 + 1e-9)}
    if method == "pulp-paper-c":
        needed = needed_c(case, PAPER_MARGIN)
        options = {"backend": "pulp", "big_c": PAPER_C, "margin": PAPER_MARGIN}
    result = fit(
        case.original,
        case.masked,
        engine="exact" if method == "exact" else "milp",
        aggregator=case.aggregator,
        direction=case.direction,
        time_limit=seconds,
        **options,
    )
    phases = result.details["phases"]
    return {
        "status": result.status,
        "limit": result.limit or "",
        "linked": result.linked,
        "bound": result.linked_upper_bound,
        "seconds": result.details["seconds"],
        "attack_seconds": sum(phases.get(name, 0.0) for name in ("first attack", "attack")),
        "peak_mb": round(meter.peak() / 1e6, 1),
        "needed_c": needed,
        "note": "; ".join(result.details["notes"]),
    }


def solve_bare(case: Case, seconds: float) -> dict[str, Any]:
    """What PuLP makes of the paper's model by itself, as in the literature; its answer is recounted."""
    options = ProblemOptions(aggregator=case.aggregator, direction=case.direction)
    problem = make_problem(case.original, case.masked, options)
    needed = needed_c(case, PAPER_MARGIN)
    clock = Clock(seconds)
    system = problem_system(problem, reduce=False)
    big_c = max(PAPER_C, needed * (1 + 1e-9))
    model = indicator_model(system, paper_options(big_c))
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
        "needed_c": needed,
    }


def needed_c(case: Case, margin: float) -> float:
    """The smallest constant C that cuts off no parameter, on rows of full length, none left out."""
    options = ProblemOptions(aggregator=case.aggregator, direction=case.direction)
    system = problem_system(make_problem(case.original, case.masked, options), reduce=False)
    return float((system.excess * system.length).max(initial=0.0)) + margin


def _commit() -> str:
    """The commit that the code is of, with a mark when files were changed since; nothing outside git."""
    here = Path(__file__).parent
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.stdout.strip()
