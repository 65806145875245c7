"""The part `leave-one-out` of `benchmark_risk.py`: the worst case without each attribute, and with all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures.attributes import WithheldAttribute, withheld
from linkrisk.solver.measures.task import Attack
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.worst_case.operations.fit import fit_request
from linkrisk.solver.worst_case.single_fit import FitRequest, fit_one

FAMILIES = ("weighted-mean", "choquet")

LIMIT = 10.0
"""Seconds for each search without an attribute."""

_ONCE = 60.0
"""Seconds for the search with all of them."""


def leave_one_out(folder: Path, names: Sequence[str]) -> None:
    """Print a line for each pair and family."""
    print("seconds of processors: of the search with all attributes; of those without one; of these without")
    print("cores; of these with nothing carried over. In brackets: how many of them were proven.")
    for name in names:
        for family in FAMILIES:
            line = one_line(folder, name, family)
            print(f"{name:8} {family:14} {line}", flush=True)


def one_line(folder: Path, name: str, family: str) -> str:
    """Seconds of all searches of one pair and family."""
    files = [folder / f"{name}_400_s0_{which}.csv" for which in ("original", "masked")]
    problem = make_problem(*files, ProblemOptions(aggregator=family))
    request = fit_request(EngineOptions(seed=0), Limits(_ONCE, None))
    fit_one(problem, replace(request, limits=Limits(1.0, None)))  # which compiles
    began = time.process_time()
    fitted = fit_one(problem, request)
    once = time.process_time() - began
    theta = problem.aggregator.domain.exact(problem.aggregator.encode(fitted.result.parameters))
    attack = Attack(problem, theta, fitted.result, fitted.run.final, fitted.cores)
    carried = timed(lambda: without_each(attack, request))
    coreless = timed(lambda: without_each(replace(attack, cores=()), request))
    alone = timed(lambda: alone_each(attack, request))
    low, high = fitted.result.interval
    spent = [f"{seconds:6.1f} ({proven})" for seconds, proven in (carried, coreless, alone)]
    return (
        f"{low:.0f} to {high:.0f} {once:6.1f}  {' '.join(spent)}  times {carried[0] / once:.1f}, "
        f"{len(attack.cores)} cores, {len(problem.pair.attributes)} attributes"
    )


def timed(searches: Callable[[], Sequence[WithheldAttribute | None]]) -> tuple[float, int]:
    """Seconds of the processors, and how many intervals were closed."""
    began = time.process_time()
    found = searches()
    spent = time.process_time() - began
    return spent, sum(one is not None and one.linked == one.most for one in found)


def without_each(attack: Attack, request: FitRequest) -> list[WithheldAttribute | None]:
    """What the measure does, with a limit of its own for each attribute."""
    return [withheld(attack, name, request, Clock(LIMIT)) for name in attack.problem.pair.attributes]


def alone_each(attack: Attack, request: FitRequest) -> list[WithheldAttribute | None]:
    """The same by searches that know nothing of the one with all attributes."""
    equal = attack.problem.aggregator.equal()
    everything = replace(attack.result, linked_upper_bound=attack.result.records)
    return without_each(Attack(attack.problem, equal, everything, attack.evaluation), request)
