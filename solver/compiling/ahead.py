"""Compile ahead what numba would compile at its first use, so that no run pays for it out of its time.

Code is compiled once for every machine and version, and kept. Every kernel is called here on a small problem,
with the types of arguments that runs call it with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.compiled import mark
from linkrisk.formulations.linkage.aggregators import AGGREGATORS, Aggregator, make_aggregator
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import nominal_table
from linkrisk.formulations.linkage.pair import LinkagePair, make_pair
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.formulations.proportional_fitting import proportional_fit
from linkrisk.solver.compiling.parts import CERTIFICATES, LINKAGE, MASKING, RISK, TABLES
from linkrisk.solver.engines.attacks.scoring import Scorer, best_on_lines, nearest_rows
from linkrisk.solver.engines.attacks.search import attack
from linkrisk.solver.engines.exact.hitting_search import HittingSearch
from linkrisk.solver.engines.exact.simplex_tree import undecided
from linkrisk.solver.engines.exact.treatments import treatment
from linkrisk.solver.engines.growing_rows import GrowingRows
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.lexicographic import best_order
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent

if TYPE_CHECKING:
    from linkrisk.formulations.tables.cell_table import CellTable


_BLOCKS, _ATTRIBUTES = 18, 3
_ENOUGH = 60.0


def compile_everything(say: Callable[[str], None]) -> None:
    """Compile all that any run needs, part by part; `say` is called with the name of each."""
    for part in (*AGGREGATORS, *_OTHERS):
        say(part)
        compile_part(part)


def compile_part(part: str) -> None:
    """Call everything compiled that a part of the program calls, and note that it was done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _OTHERS.get(part, partial(_family, part))()
    mark(part)


def _family(name: str) -> None:
    """What a fit of a family calls."""
    pair = _small_pair()
    aggregator = make_aggregator(name, pair.attributes)
    _search(block_system(pair, aggregator))
    _grow(pair, aggregator)
    for some in (pair, _small_pair(categories=3)):
        for ranked in (False, True):
            best_order(some, lambda: False, ranked=ranked)


def _small_pair(categories: int = 0) -> LinkagePair:
    """Records of which some exclude each other, so that every search has something to do.

    With categories, the last attribute is nominal.
    """
    random = np.random.default_rng(1)
    original = random.normal(size=(_BLOCKS, _ATTRIBUTES))
    masked = original + 1.5 * random.normal(size=original.shape)
    if not categories:
        return make_pair(original, masked)
    original[:, -1], masked[:, -1] = random.integers(categories, size=(2, _BLOCKS))
    numeric: list[FloatArray | None] = [None] * (_ATTRIBUTES - 1)
    return make_pair(original, masked, columns=Columns(tables=[*numeric, nominal_table(categories)]))


def _incumbent(system: BlockSystem) -> Incumbent[FloatArray]:
    """An incumbent for which nothing has been proven."""
    return Incumbent(Clock(_ENOUGH), system.aggregator.equal(), 0.0, system.total_weight)


def _search(system: BlockSystem) -> None:
    """Run each search on its own: in a fit, the first may prove everything."""
    evaluator, aggregator = Evaluator(system.pair), system.aggregator
    evaluator.rank(aggregator.form(aggregator.equal()))
    attack(system, _incumbent(system), evaluator, 0)
    if isinstance(system.values, np.ndarray):  # as of many attributes, most entries of which are zero
        _cut_sparse(replace(system, values=sparse.csr_array(system.values)))
    hitting = HittingSearch(system, _incumbent(system), evaluator, 0)
    treated = treatment(aggregator.domain)
    if treated.tree is not None:
        treated.tree(system, _incumbent(system), evaluator).run(_ENOUGH)
    if treated.pairs_of_rows:
        hitting.pairs_of_rows(_ENOUGH)
    hitting.all_pairs(_ENOUGH)
    hitting.branch(_ENOUGH)
    hitting.rehearse()
    nearest_rows(np.ones(system.rows), np.array([0, system.rows], dtype=np.intp))
    if treated.tree is not None and isinstance(system.values, np.ndarray):
        rows, corners = np.arange(system.rows, dtype=np.int32), np.eye(aggregator.dimension)
        undecided(system.values, system.row_open, system.open_weight, rows, corners, 0.0)


def _cut_sparse(system: BlockSystem) -> None:
    """What searching on lines calls where rows are sparse."""
    theta = system.aggregator.equal()
    best_on_lines(Scorer(system), theta, np.eye(theta.size)[:1], np.array([[-1.0, 1.0]]))


def _grow(pair: LinkagePair, aggregator: Aggregator) -> None:
    """What large files need."""
    lost_blocks(pair, aggregator, lambda: False)
    clock = Clock(_ENOUGH)
    rows = GrowingRows(pair, aggregator, clock, 0)
    rows.probe(Incumbent(clock, aggregator.equal(), 0.0, float(pair.blocks)), np.inf)
    rows.system()


def _certificates() -> None:
    """What making a certificate and checking it call."""
    from linkrisk.solver.certificates.checking.simplex_kernels import replay
    from linkrisk.solver.certificates.writing.simplex import TreeSearch

    values = np.random.default_rng(1).integers(-9, 10, size=(_BLOCKS, _ATTRIBUTES), dtype=np.int64)
    owner, weight = np.arange(_BLOCKS, dtype=np.int64), np.ones(_BLOCKS, dtype=np.int64)
    codes = TreeSearch(values, owner, weight, _BLOCKS // 2).run(_BLOCKS)
    replay(values, owner, weight, _BLOCKS // 2, np.frombuffer(codes.tobytes(), dtype=np.uint8))
    _check()


def _masking() -> None:
    """What methods of masking call."""
    from linkrisk.datasets.masking.greedy_suppression import greedy_suppression
    from linkrisk.datasets.masking.mdav import indexed_partition
    from linkrisk.datasets.masking.microaggregation import optimal_partition
    from linkrisk.datasets.masking.rank_swapping import swap_partners
    from linkrisk.formulations.suppression.hitting_sets import solve_household, solve_problems

    random = np.random.default_rng(1)
    points = random.normal(size=(100, _ATTRIBUTES))
    indexed_partition(points, 3)
    optimal_partition(points[:, 0], 3)
    swap_partners(len(points), 5, random)
    ends, sets, cost = np.array([0, 2, 3]), np.array([3, 6, 5]), np.ones(_ATTRIBUTES, dtype=np.int64)
    solve_problems(ends, sets, cost, 7, 100, np.zeros((2, 3), dtype=np.int64))
    solve_household(ends, sets, cost, 7, 1, 100, np.zeros(2, dtype=np.int64))
    _recount(random.integers(0, 3, size=(60, 3), dtype=np.int32))
    codes = random.integers(-1, 9, size=(100, _ATTRIBUTES), dtype=np.int32)  # some have too few alike
    greedy_suppression(codes, 5, np.zeros(_ATTRIBUTES, dtype=np.int64), mutual=True)


def _recount(codes: NDArray[np.int32]) -> None:
    """What the problems call in which the output is counted again, and a heuristic for them."""
    from linkrisk.formulations.suppression.key_table import KeyTable, MissingMeaning
    from linkrisk.formulations.suppression.unsafe_combinations import k_anonymity
    from linkrisk.solver.backends.registry import get_backend
    from linkrisk.solver.suppression.answer import SearchTask
    from linkrisk.solver.suppression.heuristics import sdcmicro_suppression
    from linkrisk.solver.suppression.problem import RECOUNT, Problem
    from linkrisk.solver.suppression.recount import anonymise, match_anything

    sdcmicro_suppression(codes, 4)
    table = KeyTable(("a", "b", "c"), codes)
    cost = np.ones(codes.shape[1], dtype=np.int64)
    for solve in (anonymise, match_anything):
        problem = Problem(table, k_anonymity(3, 4), MissingMeaning(), cost, kind=RECOUNT, k=4)
        solve(SearchTask(problem, Clock(_ENOUGH), get_backend("highs")))


def _linkage() -> None:
    """What counting links by parameters that are known calls, and probabilistic record linkage."""
    import pandas as pd

    from linkrisk.datasets.microdata.schema import Schema
    from linkrisk.solver.linkage.judging import judged_links
    from linkrisk.solver.linkage.linker import Truth
    from linkrisk.solver.linkage.probabilistic.all_pairs import ComparedFiles
    from linkrisk.solver.linkage.probabilistic.comparisons import Comparison, Measure
    from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
    from linkrisk.solver.linkage.probabilistic.patterns import joint_table
    from linkrisk.solver.linkage.representatives import SumOfStandardised

    names = tuple("ABC")
    first = pd.DataFrame(np.random.default_rng(1).integers(4, size=(_BLOCKS, 3)), columns=names)
    second = first.mask(np.eye(_BLOCKS, 3, dtype=np.bool_), 1)
    task = LinkageTask(first, second, names, names, Schema.from_frame(first))
    truth = Truth.of(np.arange(_BLOCKS), _BLOCKS)
    judged_links(Probabilistic().learn(task), truth)
    _link_in_passes(task)
    near = Comparison(Measure.WITHIN, (1.0,))
    files = ComparedFiles.of(task, {"A": Comparison(), "B": near, "C": near}, ())
    joint_table(files.columns, files.comparisons, files.kinds)
    judged_links(SumOfStandardised().learn(task), truth, curve=False)
    pair = _small_pair()
    for name in AGGREGATORS:
        aggregator = make_aggregator(name, pair.attributes)
        Evaluator(pair).rank(aggregator.form(aggregator.equal()))


def _link_in_passes(task: LinkageTask) -> None:
    """What comparing the pairs of passes, deciding on them and judging them call."""
    from linkrisk.solver.linkage.judging import judge
    from linkrisk.solver.linkage.linker import Truth
    from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
    from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
    from linkrisk.solver.linkage.probabilistic.decisions import decide
    from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
    from linkrisk.solver.linkage.probabilistic.passes import LearnedPasses

    linker = Probabilistic(
        passes=(parse_pass("A"), parse_pass("B")), compare=(("C", Comparison()),), frequency_weights=True
    )
    learned = linker.learn(task)
    if isinstance(learned, LearnedPasses):
        decide(learned, "greedy")
    judge(learned, Truth.of(np.arange(_BLOCKS), _BLOCKS))


def _risk() -> None:
    """What measures of a release call by themselves."""
    pair = _small_pair()
    aggregator = make_aggregator(next(iter(AGGREGATORS)), pair.attributes)
    Evaluator(pair).claims(aggregator.form(aggregator.equal()), 0)
    groups = [np.array([0, 0, 1, 1], dtype=np.intp), np.array([0, 1, 0, 1], dtype=np.intp)]
    proportional_fit(np.ones(4), np.arange(4.0), groups, lambda: False, 1.0)


def _tables() -> None:
    """What attackers of a table call, what looks for implied relations, and rounding by flips."""
    from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
    from linkrisk.formulations.tables.implied_relations import ImpliedBridges
    from linkrisk.solver.tables.attackers.attacks import Attacker
    from linkrisk.solver.tables.perturbation.rounding import walked

    attacker = Attacker(_table([3.0, 1.0, 2.0], [[-1.0, 1.0, 1.0], [-2.0, 2.0, 2.0]]))
    attacker.knows(np.ones(3))
    attacker.attack(0, 1.0)
    circle = [
        [-1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0, 1.0, 0.0, -1.0],
    ]
    ImpliedBridges(_table([6.0, 1.0, 5.0, 2.0, 3.0, 3.0], circle))(np.full(6, 0.5), 1.0)
    sums = sparse.csr_array(np.array([[-1.0, 1.0, 1.0, 1.0]]))
    value = np.array([3.0, 1.0, 1.0, 1.0])
    rounding = ControlledRounding(
        value=value, relations=sums, weight=np.ones(4), base=3, zero_restricted=True
    )
    walked(rounding, Clock(_ENOUGH))


def _table(cells: list[float], relations: list[list[float]]) -> CellTable:
    """A table where nothing is sensitive."""
    from linkrisk.formulations.tables.cell_table import CellTable

    value, none = np.array(cells), np.zeros(len(cells))
    return CellTable(
        value=value,
        relations=sparse.csr_array(np.array(relations)),
        lower=none,
        upper=2.0 * value,
        primary=none > 0,
        fixed=none > 0,
        cost=value,
        lower_level=none,
        upper_level=none,
        sliding_level=none,
    )


_OTHERS: Mapping[str, Callable[[], None]] = MappingProxyType(
    {CERTIFICATES: _certificates, MASKING: _masking, LINKAGE: _linkage, RISK: _risk, TABLES: _tables}
)


def _check() -> None:
    """Call all compiled code of the verifier, with the types of arguments that checks call it with."""
    from fractions import Fraction

    from linkrisk.solver.certificates.checking.linkage import FastLinkage
    from linkrisk.solver.certificates.checking.record_arrays import FastRecords
    from linkrisk.solver.certificates.core.claims import Problem
    from linkrisk.solver.certificates.core.families import WeightedMean
    from linkrisk.solver.certificates.core.records import Files

    values = np.random.default_rng(1).normal(size=(2, 40)).tolist()
    chosen = ("weighted-mean", "original-to-masked", "strict", "own", "squared", "nearest")
    records = FastRecords(Files(values, values, range(40)), Problem(*chosen, ["A", "B"], {}))
    linkage, theta = FastLinkage(records, WeightedMean("AB")), [Fraction(1), Fraction(1)]
    linkage.linked(theta)
    linkage.settled(theta)
    linkage.best_order()
