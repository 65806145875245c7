"""Tune the searches: shares of time, sizes from which another method is used, numbers of tries.

None of these numbers can make an answer wrong: they decide how soon it is found. Each line says what it
trades. Durations are seconds, or units of work where these are limited (`Clock.now`). Where a line does not
say how a number was chosen, there is no record of it but `docs/results/benchmarks.md`, whose figures were
measured with all of them as they are here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linkrisk.solver.linkage.evaluator import BLOCKS_AT_ONCE


@dataclass(frozen=True)
class AttackSteering:
    """Portfolio of primal heuristics."""

    random_points: int = 400  # more find better starts, each costs a pass over all rows
    few_points: int = 60  # the same for an engine with heuristics of its own
    probes: int = 8  # points whose tightest rows make the working set: more are slower, but truer
    lines: int = 32  # directions of one line search: one sort each
    failures: int = 12  # line searches without gain before a restart
    restarts: int = 8  # random restarts, unless two in a row gain nothing
    widths: tuple[float, ...] = (1.0, 0.3, 0.1, 0.02)  # of the hinge loss, in typical margins
    extended: int = 40  # further blocks tried, one linear program each
    share: float = 0.2  # of what remains, for one portfolio; the rest is left to proofs
    simpler_share: float = 0.1  # the same for the simpler aggregator, a warm start
    longest: float = 20.0  # duration of a portfolio: later, cores find better attacks
    many_rows: int = 500_000  # rows from which it may last longer, in proportion


@dataclass(frozen=True)
class GrowthSteering:
    """Row generation."""

    probes: int = 12  # initial parameters for row generation: each costs a pass over all records
    attack_share: float = 0.25  # of what remains, for attacks before the engine
    attack_longest: float = 120.0  # duration of these at most
    first_round: float = 4.0  # shortest round: each new one restarts the search
    longer: float = 1.5  # growth of the rounds
    fresh: float = 0.01  # share of new rows that justifies a new round
    memory_share: float = 0.3  # of the memory left, for rows: a search needs several times as much


@dataclass(frozen=True)
class TurnSteering:
    """Schedule of the exact engine's searches, and their time slices."""

    most_tree_dimensions: int = 7  # the tree grows exponentially with them; beyond, only hitting sets
    quick_tree: float = 0.4  # easy files of few attributes end here
    quick_branching: float = 0.8  # others by a few cores
    short_tree: float = 1.2
    branching: float = 4.0  # cores without a test of pairs before
    rows_share: float = 0.1  # of what remains, for pairs that two rows exclude
    pairs_share: float = 0.4  # the same for tests of single pairs: the strongest cores, at the highest cost
    most_paired: int = 600  # among more blocks most pairs stay untested anyway
    few_pairs_share: float = 0.15  # so they get less
    long_tree: float = 5.0
    longer_tree: float = 12.0
    longest_tree: float = 30.0
    hitting_share: float = 0.4  # of what remains, for hitting sets between slices of the tree
    narrow: float = 0.05  # gap, as a share of the weight, up to which hitting sets go first
    most_blocks: int = 2_000  # among more there are too many pairs for hitting sets beside the tree


@dataclass(frozen=True)
class TreeSteering:
    """Branch and bound on simplices."""

    budget: int = 2_000  # simplices of one exploration: more are faster, but less best-first
    budget_rows: int = 10_000_000  # rows that these evaluate: shortens explorations of many rows
    most_pairs: int = 1_000_000_000  # pairs of rows tested for conflicts in one simplex
    pairs_at_once: int = 50_000_000  # the same for each unit of the remaining time: a step must end in time
    few_undecided: int = 200  # undecided rows up to which all blocks are tested for conflicts
    few_rows: int = 20_000  # up to which a subtree classifies all rows; beyond, it gets the undecided ones


@dataclass(frozen=True)
class PairSteering:
    """Cores of one or two blocks."""

    witness_cells: int = 400_000_000  # entries of rows evaluated at random parameters
    most_witnesses: int = 6_000  # random parameters: each rules out the pairs that it links
    at_once: int = 500  # of these between checks of the clock
    few: float = 0.001  # share of new pairs below which more parameters show little
    most_blocks: int = 4_000  # of more a random sample: memory is quadratic in them
    most_pairs: int = 2_000_000  # tested, which takes minutes; of more a random sample


@dataclass(frozen=True)
class FinderSteering:
    """Core finders, which decide whether blocks can all be linked."""

    most_parameters: int = 300  # for compiled pivots; beyond, the explicit inverse is slower than HiGHS
    most_pivots: int = 5_000  # before HiGHS takes over
    cells_at_once: int = 50_000_000  # entries that interior point steps read between checks of the clock


@dataclass(frozen=True)
class HittingSteering:
    """Branch and cut for the lightest hitting set, and local search."""

    thresholds: tuple[float, ...] = (1e-6, 0.34, 0.6)  # shares given up below which blocks are kept; as
    # Pfetsch (2008) separates: first blocks kept entirely, then more
    probes: int = 8  # as for attacks
    many: float = 1.1  # growth of the cores that justifies a new tree
    swap_share: float = 0.2  # of what has passed, for local search: attacks against bounds
    swap_time: float = 0.1  # duration of one local search
    alone: float = 0.3  # until then threads do not help each other: small problems stay deterministic
    helped: float = 0.8  # share of blocks in a helper's queries, to differ from the thread that it helps
    idle: float = 0.004  # seconds that an idle thread sleeps; 0.03 delayed the end of easy files
    patience: int = 200  # steps without gain before local search restarts
    given_up: int = 3  # blocks that a step gives up for one
    tabu: int = 12  # steps for which a block stays given up (tabu tenure)
    most_at_once: int = 200  # cuts added to the covering program at a time
    most_rows: int = 1_200  # that it keeps; beyond, those slack for long are dropped
    most_idle: int = 20  # solves for which a cut may be slack


@dataclass(frozen=True)
class BuildSteering:
    """Limits for building all rows, and for passes over all records."""

    most_reduced: int = (
        400_000_000  # pairs for a search on all rows that are not dominated; beyond, row generation
    )
    most_unreduced: int = (
        2_000_000  # the same where no row is dominated: row generation is faster long before
    )
    always: int = 1_000_000  # pairs up to which all rows are built regardless of time
    most_cells: int = 60_000_000  # entries of all rows: half a gigabyte, of which searches hold copies
    copies: int = 14  # copies of all rows in a search, threads included
    building_share: float = 0.2  # of what remains, for building all rows; else row generation
    model_share: float = 0.7  # the same for a big-C model, which needs them all
    blocks_at_once: int = BLOCKS_AT_ONCE  # counted between two checks of the clock
    sampled: int = 48  # blocks sampled to estimate the number of rows and the time of comparisons
    worth_sampling: int = 8  # multiple of these from which that pays; with fewer blocks, row generation
    moment: float = 0.5  # seconds of comparisons whatever the limit: enough for small files
    most_at_once: int = 25_000_000  # pairs up to which the table of all records takes no time
    most_reserved: float = 0.25  # share of the time limit reserved for that table
    orders_share: float = 0.1  # of what remains, for counting lexicographic orders
    orders_longest: float = 10.0  # duration of that at most


@dataclass(frozen=True)
class SamplingSteering:
    """Searches of samples instead of all records. Sizes and numbers are fixed before drawing."""

    most_whole: int = 20_000  # records up to which all are searched by default
    size: int = 50  # records in a sample: larger ones stay open, smaller ones have distances of their own
    seconds: float = 3.0  # for a sample; a second proves most, the others close slowly
    seconds_per_pair: float = 6e-8  # to make a row, for each sampled record and candidate
    fewest: int = 10  # samples at least: sampling error costs more than open gaps
    most: int = 80  # samples of the first stage: more narrow the limit by less than a point
    growth: float = 4.0  # samples of the second stage, where the first has left time
    worth_processes: float = 20.0  # time limit from which processes pay
    pairs_worth_processes: int = 2_000_000  # and pairs of a record of the samples and a candidate
    later_share: float = 0.8  # of what samples of the first stage took, that those of the second must have
    searching_share: float = 0.5  # of the time limit, for the samples at least
    looking_share: float = 0.05  # of the time limit, for counting baselines before the samples
    attacking_share: float = 0.15  # of the time limit, reserved for the attack
    counts: float = 6.0  # and so many times the count of an attack on all records
    counting_share: float = 0.8  # of what is left then, for counting the attack on all records
    attacked: int = 4_000  # records for an attack: fewer are overfitted
    attack_share: float = 0.3  # of what is left then, for an attack on all samples together


@dataclass(frozen=True)
class PartSteering:
    """Searches of parts, where a search of all records leaves a wide gap."""

    fewest: int = 300  # records from which parts are considered
    before_share: float = 0.35  # of what remains, for the search of all records before the gap is judged
    before: float = 60.0  # seconds of that at most
    wide: float = 0.15  # gap at which parts are searched instead, as a share of the weight
    size: int = 50  # records in a part of the first round
    seconds: float = 3.0  # for one of them at most; for larger ones in proportion
    worth_processes: float = 10.0  # seconds left from which processes pay


@dataclass(frozen=True)
class Steering:
    """All of it; `EngineOptions` has one, so that a run can be tuned.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from linkrisk import Steering
    >>> usual = Steering()
    >>> patient = replace(usual, tree=replace(usual.tree, budget=10 * usual.tree.budget))
    >>> patient.tree.budget
    20000
    """

    build: BuildSteering = field(default_factory=BuildSteering)
    growth: GrowthSteering = field(default_factory=GrowthSteering)
    attack: AttackSteering = field(default_factory=AttackSteering)
    turns: TurnSteering = field(default_factory=TurnSteering)
    tree: TreeSteering = field(default_factory=TreeSteering)
    pairs: PairSteering = field(default_factory=PairSteering)
    finders: FinderSteering = field(default_factory=FinderSteering)
    hitting: HittingSteering = field(default_factory=HittingSteering)
    sampling: SamplingSteering = field(default_factory=SamplingSteering)
    parts: PartSteering = field(default_factory=PartSteering)


STEERING = Steering()
"""The default."""
