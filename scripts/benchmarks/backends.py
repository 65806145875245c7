"""Print the figures of the big-C model: building, proving, and the evaluator's speed.

    python scripts/benchmarks/backends.py --pairs ../shared/bench/pairs

Each figure is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from harness import PAIRS, alone, parser, timed

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import block_system, indicator_model, paper_options
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


def build(pairs: Path, aggregator: str) -> dict[str, Any]:
    """Build the full model (no row left out, one constant C) as arrays."""
    problem = make_problem(
        *files(pairs, "M6-385_400_s0"), ProblemOptions(aggregator=aggregator, direction=BACK)
    )
    block_system(problem.pair, problem.aggregator, reduce=False)  # compile and warm up

    def made() -> Any:
        system = block_system(problem.pair, problem.aggregator, reduce=False)
        return indicator_model(system, paper_options()).milp

    model, spent = timed(made)
    return {"seconds": spent.seconds, "shape": model.shape, "nonzeros": model.nonzeros}


def hand_over(pairs: Path, backend: str) -> dict[str, Any]:
    """Hand the full model to a backend; its time is up when it could begin to solve."""
    problem = make_problem(
        *files(pairs, "M6-385_400_s0"), ProblemOptions(aggregator="weighted-mean", direction=BACK)
    )
    system = block_system(problem.pair, problem.aggregator, reduce=False)
    model = indicator_model(system, paper_options()).milp
    isolated = solve_isolated(backend, model, SolveOptions(time_limit=1e-3))
    return {"seconds": isolated.result.build_seconds, "peak": isolated.peak_memory_bytes / 1e6}


def prove(pairs: Path, aggregator: str, kind: str, seconds: float) -> dict[str, Any]:
    """Run `fit --engine milp --backend highs` on one thread."""
    result = fit(*files(pairs, f"{kind}_400_s0"), aggregator=aggregator, direction=BACK, time_limit=seconds)
    return {
        "linked": result.linked, "bound": result.linked_upper_bound, "status": result.status,
        "seconds": result.details["seconds"],
    }  # fmt: skip


def evaluate(aggregator: str, records: int) -> dict[str, Any]:
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
    return {
        "seconds": spent.seconds, "linked": int(linked.sum()), "peak": spent.megabytes,
        "same": bool((linked == plain).all()), "plain": slow.seconds,
    }  # fmt: skip


def main() -> None:
    """Print all figures."""
    made = parser(__doc__, pairs=PAIRS)
    made.add_argument("--seconds", type=float, default=120.0, help="time limit of each proof")
    made.add_argument("--records", type=int, default=20_000, help="records of the evaluator's pair")
    made.add_argument("--only", choices=("build", "prove", "evaluate"), help="one part only")
    arguments = made.parse_args()
    if arguments.only in (None, "build"):
        print_build(arguments.pairs)
    if arguments.only in (None, "prove"):
        print_proofs(arguments.pairs, arguments.seconds)
    if arguments.only in (None, "evaluate"):
        print_evaluator(arguments.records)


def print_build(pairs: Path) -> None:
    """Building and handing over."""
    print("Building the full model, M6-385, 400 records, masked to original")
    for aggregator in ("weighted-mean", "choquet", "mahalanobis"):
        row = alone(build, pairs, aggregator)
        rows, columns = row["shape"]
        print(
            f"  arrays, {aggregator:<13} {rows:>7} rows {columns:>4} columns {row['nonzeros']:>8} non-zeros"
            f"  {row['seconds']:6.2f} s"
        )
    print("Handing the weighted mean's model over")
    for backend in available_backends():
        row = hand_over(pairs, backend)
        print(f"  {backend:<12} {row['seconds']:6.2f} s  peak {row['peak']:6.0f} MB", flush=True)


def print_proofs(pairs: Path, seconds: float) -> None:
    """What the engine proves, beside the best known figures."""
    with (pairs.parent / "best_known.csv").open(encoding="utf-8") as stream:
        known = {(row["pair"], row["direction"], row["aggregator"]): row for row in csv.DictReader(stream)}
    print(f"fit --engine milp --backend highs, one thread, masked to original, limit {seconds:g} s")
    for aggregator, kind in PROOFS:
        row = alone(prove, pairs, aggregator, kind, seconds)
        best = known[f"{kind}_400_s0", BACK, aggregator]
        print(
            f"  {aggregator:<13} {kind:<7} linked {row['linked']} at most {row['bound']} {row['status']:<9}"
            f" {row['seconds']:6.1f} s   known {best['linked']} to {best['linked_upper_bound']}",
            flush=True,
        )


def print_evaluator(records: int) -> None:
    """The evaluator against the plain computation."""
    print(f"Counting links of {records} x {records} records, 6 attributes, all cores")
    for aggregator in ("weighted-mean", "owa", "choquet", "mahalanobis"):
        row = alone(evaluate, aggregator, records)
        print(
            f"  {aggregator:<13} {row['seconds']:6.2f} s  peak {row['peak']:4.0f} MB  linked {row['linked']}"
            f"  same as plain: {row['same']} ({row['plain']:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
