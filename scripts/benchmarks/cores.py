"""Core finders side by side: compiled code, and linear programs on HiGHS.

python scripts/benchmarks/cores.py --pairs ../shared/bench/pairs

Both begin with the same small cores and collect more at the root of the covering program, one thread each,
for as many seconds.
"""

from __future__ import annotations

import time

import numpy as np
from harness import PAIRS, parser

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact.cores import Answer, CoreFinder, LinearCoreFinder
from linkrisk.solver.engines.exact.hitting_set import CoveringProgram, HittingSet
from linkrisk.solver.engines.exact.pairs import SmallCores
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock

_Kind = LinearCoreFinder | PolytopeCoreFinder

_THRESHOLDS = (1e-6, 0.34, 0.6)
_AT_ONCE = 8


def main() -> None:
    """Print one line for each finder."""
    made = parser(__doc__, pairs=PAIRS)
    made.add_argument("--pair", default="rankswap-15-6_400_s0")
    made.add_argument("--direction", default="original-to-masked", choices=[way.value for way in Direction])
    made.add_argument("--aggregator", default="choquet", choices=["choquet", "owa", "weighted-mean"])
    made.add_argument("--seconds", type=float, default=10.0, help="for each finder (10)")
    options = made.parse_args()
    original, masked = (options.pairs / f"{options.pair}_{side}.csv" for side in ("original", "masked"))
    chosen = ProblemOptions(aggregator=options.aggregator, direction=options.direction)
    problem = make_problem(original, masked, chosen)
    system = block_system(problem.pair, problem.aggregator)
    print(f"{options.pair}, {options.direction}, {options.aggregator}: {system.open_blocks.size} open blocks")
    small = _small_cores(system)
    print(f"{len(small)} cores of one and two blocks to begin with")
    for kind in (LinearCoreFinder, PolytopeCoreFinder):
        _collect(system, kind, small, options.seconds)


def _small_cores(system: BlockSystem) -> list[Answer]:
    """All cores of one and two blocks."""
    found: list[Answer] = []
    clock, scorer = Clock(None), Scorer(system)
    search = SmallCores(system, scorer, clock, found.append, np.random.default_rng(0))
    search.sample(system.aggregator.equal())
    search.ask([PolytopeCoreFinder(system, scorer, clock)], np.inf)
    return [answer for answer in found if answer.core is not None]


def _collect(
    system: BlockSystem,
    kind: type[LinearCoreFinder | PolytopeCoreFinder],
    small: list[Answer],
    seconds: float,
) -> None:
    """Separate at the root again and again; count and time what is asked."""
    master, finder = HittingSet(system.open_weight), kind(system, Scorer(system), Clock(None))
    for answer in small:
        if answer.core is not None and answer.proof is not None:
            master.add(answer.core, answer.proof)
    program, random = CoveringProgram(master), np.random.default_rng(0)
    _cores_at(finder, np.zeros(system.open_blocks.size), 1.0, random)  # loads and compiles
    sizes, spent, value, began = [], 0.0, 0.0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        point, value = program.solve()
        for threshold in _THRESHOLDS:
            asked = time.perf_counter()
            found = _cores_at(finder, point, threshold, random)
            spent += time.perf_counter() - asked
            for size, answer in found:
                assert answer.core is not None
                assert answer.proof is not None
                sizes.append((size, len(answer.core)))
                master.add(answer.core, answer.proof)
            if found:
                break
    if not sizes:
        print(f"  {kind.__name__:20}no core: all blocks can be linked")
        return
    before, after = np.mean(sizes, axis=0)
    print(
        f"  {kind.__name__:20}{len(sizes):6} cores  {1e3 * spent / len(sizes):6.2f} ms each, "
        f"of {before:.1f} blocks and {after:.1f} when shrunk; given up at least {value:.1f}"
    )


def _cores_at(
    finder: CoreFinder, point: FloatArray, threshold: float, random: np.random.Generator
) -> list[tuple[int, Answer]]:
    """Cores of blocks that a point gives up to less than a threshold, and how large each was at first."""
    found: list[tuple[int, Answer]] = []
    inside = point < threshold
    while len(found) < _AT_ONCE:
        answer = finder.ask(np.flatnonzero(inside))
        if answer.core is None:
            break
        order = sorted(answer.core, key=lambda block: (-point[block], random.random()))
        shrunk = finder.shrink(answer, order)
        assert shrunk.core is not None
        found.append((len(answer.core), shrunk))
        inside[max(shrunk.core, key=lambda block: (point[block], random.random()))] = False
    return found


if __name__ == "__main__":
    main()
