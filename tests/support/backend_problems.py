"""Standard problems with known answers, as `MilpModel`s, and how to solve them in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import BackendProgress, BackendResult, SolveOptions, Watcher
from linkrisk.solver.backends.guard import IsolatedResult, Job
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Status

INF = float("inf")
PATIENCE = 600.0
"""Seconds after which what should have ended is given up. No outcome hangs on it but that of a fault."""


def make(
    objective: Sequence[float],
    rows: Sequence[tuple[Sequence[float], float, float]] = (),
    *,
    lower: Sequence[float] | float = 0.0,
    upper: Sequence[float] | float = 1.0,
    integer: Sequence[bool] | bool = True,
    constant: float = 0.0,
) -> MilpModel:
    columns = len(objective)
    matrix = np.array([row for row, _, _ in rows], dtype=float).reshape(len(rows), columns)
    return MilpModel(
        objective=np.array(objective, dtype=float),
        matrix=sparse.csr_array(matrix),
        row_lower=np.array([low for _, low, _ in rows], dtype=float),
        row_upper=np.array([high for _, _, high in rows], dtype=float),
        column_lower=np.broadcast_to(np.asarray(lower, dtype=float), columns).copy(),
        column_upper=np.broadcast_to(np.asarray(upper, dtype=float), columns).copy(),
        integer=np.broadcast_to(np.asarray(integer), columns).copy(),
        constant=constant,
    )


def knapsack() -> MilpModel:
    """Values 10, 13, 7, 8, weights 3, 4, 2, 3, capacity 7: the best two items are worth 23."""
    return make([-10, -13, -7, -8], [([3, 4, 2, 3], -INF, 7)])


CYCLE = [[float(element in (edge, (edge + 1) % 6)) for edge in range(6)] for element in range(6)]
PLANES = [
    ([*plane, *(10.0 * np.eye(5)[at])], 1e-4, INF)
    for at, plane in enumerate(((1.0, 1.0), (0.75, -0.25), (-0.25, 0.75), (-0.8, 0.2), (0.2, -0.8)))
]

SOLVED: dict[str, tuple[MilpModel, float]] = {
    "knapsack": (knapsack(), -23.0),
    # Six elements on a cycle, sets = edges with costs; the cheapest cover takes alternate edges.
    "set cover": (make([2, 3, 2, 3, 2, 3], [(row, 1, INF) for row in CYCLE]), 6.0),
    # The vertex (3, 1).
    "linear": (make([-1, -2], [([1, 1], -INF, 4), ([1, 3], -INF, 6)], upper=INF, integer=False), -5.0),
    # 3x + 5y = 31 over non-negative integers: (2, 5) and (7, 2).
    "equality": (make([1, 1], [([3, 5], 31, 31)], upper=INF), 7.0),
    # min |x - 2.5| with x an integer in [-5, -2] and everything else free.
    "free columns": (
        make([0, 1], [([1, -1], -INF, 2.5), ([1, 1], 2.5, INF)], lower=[-5, -INF], upper=[-2, INF],
             integer=[True, False]),
        4.5,
    ),
    "ranged row": (make([1], [([1], 2.5, 7.5)], lower=-INF, upper=INF), 3.0),
    # Half-planes on the simplex, each with an indicator to give it up: the first three hold together at
    # w = (0.5, 0.5), the last two need w1 < 0.2 and w1 > 0.8.
    "big M": (
        make(
            [0, 0, 1, 1, 1, 1, 1],
            [([1, 1, 0, 0, 0, 0, 0], 1, 1), *PLANES],
            integer=[False, False] + [True] * 5,
        ),
        2.0,
    ),
    **{
        f"no rows, {kind}": (make([1, -2], lower=[0.5, 0.0], upper=[4, 3], integer=whole, constant=1.0), most)
        for kind, whole, most in (("integer", True, -4.0), ("linear", False, -4.5))
    },
    "idle columns": (make([0, 1, 0], [([0, 2, 0], 3, INF)], lower=[1, 0, 0], upper=5), 2.0),
    "idle rows": (make([2, 3], [([0, 0], -1, 2), ([1, 1], -INF, INF), ([1, 1], 1, INF)]), 2.0),
}  # fmt: skip
"""Models and their optima."""


def infeasible() -> MilpModel:
    """2x + 4y = 7 has no integer solution, though a fractional one."""
    return make([1, 1], [([2, 4], 7, 7)], upper=10)


def unbounded(*, integer: bool) -> MilpModel:
    return make([-1, 0], [([1, -1], -INF, 2)], upper=INF, integer=integer)


def market_split(rows: int, columns: int, seed: int = 0) -> MilpModel:
    """Cornuejols and Dawande (1998): split customers evenly in several markets, hard from few columns on.

    The bound stays at 0 (here 7, the constant) almost to the end, and solutions are easy to find.
    """
    demand = np.random.default_rng(seed).integers(0, 100, (rows, columns)).astype(float)
    half = np.floor(demand.sum(axis=1) / 2)
    slack = np.eye(rows)
    return MilpModel(
        objective=np.concatenate([np.zeros(columns), np.ones(2 * rows)]),
        matrix=sparse.csr_array(np.hstack([demand, slack, -slack])),
        row_lower=half,
        row_upper=half.copy(),
        column_lower=np.zeros(columns + 2 * rows),
        column_upper=np.concatenate([np.ones(columns), np.full(2 * rows, INF)]),
        integer=np.arange(columns + 2 * rows) < columns,
        constant=7.0,
    )


def random_binary(seed: int) -> MilpModel:
    """A small random model of binaries, sometimes infeasible."""
    random = np.random.default_rng(seed)
    columns, rows = int(random.integers(2, 8)), int(random.integers(1, 6))
    matrix = random.integers(-4, 5, (rows, columns)) * (random.random((rows, columns)) < 0.7)
    low = random.integers(-4, 3, rows).astype(float)
    kind = random.integers(0, 3, rows)
    return MilpModel(
        objective=random.integers(-9, 10, columns).astype(float),
        matrix=sparse.csr_array(matrix.astype(float)),
        row_lower=np.where(kind == 1, -INF, low),
        row_upper=np.where(kind == 0, INF, np.where(kind == 1, low + 2, low + random.integers(0, 4, rows))),
        column_lower=np.zeros(columns),
        column_upper=np.ones(columns),
        integer=np.ones(columns, dtype=bool),
        constant=float(random.integers(-5, 6)),
    )


def enumerate_binary(model: MilpModel) -> float:
    """Least objective over all 0-1 points; inf when none is feasible."""
    points = (np.array(point, dtype=float) for point in product((0.0, 1.0), repeat=model.shape[1]))
    return min((model.value(point) for point in points if model.violation(point) < 1e-9), default=INF)


def planted_split(rows: int, columns: int, seed: int = 0) -> tuple[MilpModel, np.ndarray]:
    """As hard as `market_split`, but with a perfect split known: 7, which its bound shows at once."""
    model = market_split(rows, columns, seed)
    customers = np.random.default_rng(seed + 1).permutation(np.arange(columns) % 2).astype(float)
    values = np.concatenate([customers, np.zeros(2 * rows)])
    half = model.matrix @ values
    return replace(model, row_lower=half, row_upper=half.copy()), values


def knows_both(progress: BackendProgress) -> bool:
    """Whether a solve of `market_split` has a solution, and the bound that it stays at."""
    return progress.objective < INF and progress.bound > 6.999


def check_market_split(result: BackendResult, model: MilpModel) -> None:
    """What holds however far the search for the best market split has come, as it has not come to its end."""
    assert result.status in (Status.FEASIBLE, Status.NO_SOLUTION, Status.INTERRUPTED)
    assert result.bound <= 7 + 1e-6
    assert (result.values is None) == (result.objective is None)
    if result.values is not None:
        assert model.violation(result.values) < 1e-5
        assert result.objective == model.value(result.values)
        assert result.bound < result.objective


# Backends and engines in this process, where not the process of their own is what is asked


def solve_here(
    name: str,
    model: MilpModel,
    options: SolveOptions,
    starts: Sequence[FloatArray] = (),
    watch: Watcher | None = None,
) -> IsolatedResult:
    """As `solve_isolated`, but for what it costs."""
    return IsolatedResult(get_backend(name).solve(model, options, starts=starts, watch=watch), 0)


def run_here(job: Job, watch: Watcher | None = None) -> IsolatedResult:
    """As `run_isolated`, but for what it costs."""
    job.prepare()
    return IsolatedResult(job.run(watch), 0)
