"""Print the figures of the big-C model: building, proving, and the evaluator's speed.

    python scripts/benchmarks/backends.py --pairs ../shared/bench/pairs

Each figure is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from engines import best_known
from harness import PAIRS, alone, parser, timed

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import (
    BlockSystem,
    block_system,
    indicator_model,
    paper_options,
)
from linkrisk.formulations.linkage.pair import Direction, make_pair
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.guard import solve_isolated
from linkrisk.solver.backends.registry import available_backends
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.operations.fit import fit

PROOFS = (
    *(("weighted-mean", kind) for kind in ("M4-33", "M4-28", "M6-385", "M6-853")),
    *(("choquet", kind) for kind in ("M4-33", "M6-385", "M6-853")),
)
BACK = Direction.MASKED_TO_ORIGINAL.value


def files(pairs: Path, name: str) -> tuple[Path, Path]:
    """The original and the masked file of a pair."""
    return pairs / f"{name}_original.csv", pairs / f"{name}_masked.csv"


def full(pairs: Path, aggregator: str) -> Callable[[], BlockSystem]:
    """What makes the full system: no row left out."""
    options = ProblemOptions(aggregator=aggregator, direction=BACK)
    problem = make_problem(*files(pairs, "M6-385_400_s0"), options)
    return lambda: block_system(problem.pair, problem.aggregator, reduce=False)


def build(pairs: Path, aggregator: str) -> str:
    """Build the full model (one constant C) as arrays."""
    system = full(pairs, aggregator)
    system()  # compile and warm up
    model, spent = timed(lambda: indicator_model(system(), paper_options()).milp)
    rows, columns = model.shape
    return (
        f"  arrays, {aggregator:<13} {rows:>7} rows {columns:>4} columns {model.nonzeros:>8} non-zeros"
        f"  {spent.seconds:6.2f} s"
    )


def hand_over(pairs: Path, backend: str) -> str:
    """Hand the full model to a backend; its time is up when it could begin to solve."""
    model = indicator_model(full(pairs, "weighted-mean")(), paper_options()).milp
    isolated = solve_isolated(backend, model, SolveOptions(time_limit=1e-3))
    seconds, peak = isolated.result.build_seconds, isolated.peak_memory_bytes / 1e6
    return f"  {backend:<12} {seconds:6.2f} s  peak {peak:6.0f} MB"


def prove(pairs: Path, aggregator: str, kind: str, seconds: float) -> str:
    """What the engine proves on one thread, beside the best known figures."""
    result = fit(
        *files(pairs, f"{kind}_400_s0"), engine="milp", backend="highs", aggregator=aggregator,
        direction=BACK, time_limit=seconds,
    )  # fmt: skip
    known = best_known(pairs.parent / "best_known.csv")[f"{kind}_400_s0", BACK, aggregator]
    return (
        f"  {aggregator:<13} {kind:<7} linked {result.linked} at most {result.linked_upper_bound} "
        f"{result.status:<9} {result.details['seconds']:6.1f} s   known {known.linked} to {known.bound}"
    )


def evaluate(aggregator: str, records: int) -> str:
    """Count links on a large noisy pair, and again by the plain n x n computation."""
    generator = np.random.default_rng(0)
    original = generator.standard_normal((records, 6))
    pair = make_pair(original, original + 0.3 * generator.standard_normal((records, 6)))
    family = make_aggregator(aggregator, pair.attributes)
    form = family.form(family.domain.sample(1, generator)[0])
    evaluator = Evaluator(pair)
    evaluator.count(family.form(family.equal()))  # compile and warm up
    linked, spent = timed(lambda: evaluator.count(form).linked)

    def plainly() -> Any:
        plain = np.zeros(records, dtype=bool)
        for part, distances in pair.chunks(form.differences):
            every = form(distances)
            rows = np.arange(len(every))
            own = every[rows, pair.partner[part]]
            every[rows, pair.partner[part]] = np.inf
            nearest = every.min(axis=1)
            plain[part] = nearest - own > 1e-12 * (nearest + own)
        return plain

    plain, slow = timed(plainly)
    return (
        f"  {aggregator:<13} {spent.seconds:6.2f} s  peak {spent.megabytes:4.0f} MB  linked {linked.sum()}"
        f"  same as plain: {(linked == plain).all()} ({slow.seconds:.0f} s)"
    )


def main() -> None:
    """Print all figures."""
    made = parser(__doc__, pairs=PAIRS)
    made.add_argument("--seconds", type=float, default=120.0, help="time limit of each proof")
    made.add_argument("--records", type=int, default=20_000, help="records of the evaluator's pair")
    made.add_argument("--only", choices=("build", "hand-over", "prove", "evaluate"), help="one part only")
    asked = made.parse_args()
    limit, size = asked.seconds, asked.records
    parts: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
        "build": (
            "Building the full model, M6-385, 400 records, masked to original",
            [(build, asked.pairs, one) for one in ("weighted-mean", "choquet", "mahalanobis")],
        ),
        "hand-over": (
            "Handing the weighted mean's model over",
            [(hand_over, asked.pairs, one) for one in available_backends()],
        ),
        "prove": (
            f"fit --engine milp --backend highs, one thread, masked to original, limit {limit:g} s",
            [(prove, asked.pairs, *one, limit) for one in PROOFS],
        ),
        "evaluate": (
            f"Counting links of {size} x {size} records, 6 attributes, all cores",
            [(evaluate, one, size) for one in ("weighted-mean", "owa", "choquet", "mahalanobis")],
        ),
    }
    for title, works in [parts[asked.only]] if asked.only else parts.values():
        print(title)
        for do, *given in works:
            print(alone(do, *given), flush=True)


if __name__ == "__main__":
    main()
