"""Tune the searches: shares of time, sizes from which another method is used, numbers of tries.

None of these numbers can make an answer wrong: they decide how soon it is found. Each line says what it
trades. Durations are seconds, or units of work where these are limited (`Clock.now`). Where a line does not
say how a number was chosen, there is no record of it but `docs/benchmarks.md`, whose figures were measured
with all of them as they are here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linkrisk.solver.linkage.evaluator import BLOCKS_AT_ONCE


@dataclass(frozen=True)
class AttackSteering:
    """The portfolio of attacks."""

    random_points: int = 400  # more find better starts, and each costs a look at all rows
    few_points: int = 60  # the same for an engine that attacks by itself: a first look
    probes: int = 8  # points whose tightest rows are looked at: with more the working set is larger and truer
    lines: int = 32  # directions of one line search: one sort each
    failures: int = 12  # line searches without gain before a restart
    restarts: int = 8  # random starts that are searched, unless two in a row gain nothing
    widths: tuple[float, ...] = (1.0, 0.3, 0.1, 0.02)  # of the hinge loss, as shares of the typical margin
    extended: int = 40  # blocks that are tried to be linked besides, one linear program each
    share: float = 0.2  # of what remains, for one portfolio; the rest is left to proofs
    simpler_share: float = 0.1  # the same for the simpler aggregator inside, whose answer is a start
    longest: float = 20.0  # duration of a portfolio: what it has not found by then, cores find better
    many_rows: int = 500_000  # from so many rows on it may last longer, in proportion


@dataclass(frozen=True)
class GrowthSteering:
    """Rows that grow where they matter."""

    probes: int = 12  # parameters at which the nearest rivals are met first: each is a look at all records
    attack_share: float = 0.25  # of what remains, for attacks before the engine
    attack_longest: float = 120.0  # duration of these at most
    first_round: float = 4.0  # how long an engine keeps its rows at least: a new round begins its search anew
    longer: float = 1.5  # by how much each round is longer than the one before
    fresh: float = 0.01  # share of new rows that makes a new round worth its start
    memory_share: float = 0.3  # of the memory left, for rows: a search makes as much again of them, and more


@dataclass(frozen=True)
class TurnSteering:
    """Which search of the exact engine has its turn when, and for how long."""

    most_tree_dimensions: int = 7  # the tree grows exponentially with them; beyond, only hitting sets
    quick_tree: float = 0.4  # easy files of few attributes end here
    quick_branching: float = 0.8  # others by a few cores
    short_tree: float = 1.2
    branching: float = 4.0  # cores without asking about pairs before
    rows_share: float = 0.1  # of what remains, for pairs that two rows exclude
    pairs_share: float = (
        0.4  # the same for asking about pairs one by one: the strongest cores, and the dearest
    )
    most_paired: int = 600  # of more blocks most pairs stay unasked all the same
    few_pairs_share: float = 0.15  # so they get less
    long_tree: float = 5.0
    longer_tree: float = 12.0
    longest_tree: float = 30.0
    hitting_share: float = 0.4  # of what remains, for hitting sets in turn with the tree
    narrow: float = (
        0.05  # gap, as a share of the weight, that hitting sets close steadily; a wider one the tree
    )
    most_blocks: int = 2_000  # among more there are too many pairs for hitting sets beside the tree


@dataclass(frozen=True)
class TreeSteering:
    """Branch and bound on simplices."""

    budget: int = 2_000  # simplices of one exploration: more are faster, but heed the best bound less
    budget_rows: int = 10_000_000  # rows that these look at: with many rows an exploration must end sooner
    most_pairs: int = 1_000_000_000  # pairs of rows that are looked at for conflicts in one simplex
    pairs_at_once: int = (
        50_000_000  # the same for each unit of duration that remains: a step must end in time
    )
    crowd: int = 200  # undecided rows up to which conflicts are looked for among all blocks
    few_rows: int = 20_000  # looked at anew for every subtree; of more, each is told which are undecided


@dataclass(frozen=True)
class PairSteering:
    """Cores of one or two blocks."""

    witness_cells: int = 400_000_000  # entries of rows that random parameters may look at
    most_witnesses: int = 6_000  # random parameters: each rules out the pairs that it links
    at_once: int = 500  # of these before the clock is asked
    few: float = 0.001  # share of new pairs below which more parameters show little
    most_blocks: int = (
        4_000  # whose pairs are looked at; of more so many by lot, as memory is quadratic in them
    )
    most_pairs: int = 2_000_000  # that are asked about; of more so many by lot, which takes minutes


@dataclass(frozen=True)
class FinderSteering:
    """Questions whether blocks can all be linked."""

    most_parameters: int = 300  # for compiled pivots; above as many the explicit inverse is slower than HiGHS
    most_pivots: int = 5_000  # before HiGHS is asked
    cells_at_once: int = 50_000_000  # entries that interior point steps look at before the clock is asked


@dataclass(frozen=True)
class HittingSteering:
    """Branch and cut for the lightest hitting set, and the walk beside it."""

    thresholds: tuple[float, ...] = (1e-6, 0.34, 0.6)  # shares given up below which blocks are asked for; as
    # Pfetsch (2008) separates: first what the point keeps whole, then more
    probes: int = 8  # as for attacks
    many: float = 1.1  # growth of the cores that makes a new tree worth its start
    swap_share: float = 0.2  # of what has passed, for the walk: attacks against bounds
    swap_time: float = 0.1  # duration of one walk
    alone: float = 0.3  # until then no thread helps another, so that small problems end the same each time
    helped: float = 0.8  # share of blocks that a helper asks about: others than the one that it helps
    idle: float = 0.004  # seconds that a thread naps; with 0.03 easy files waited for it at their end
    patience: int = 200  # steps of the walk without gain before it begins elsewhere
    given_up: int = 3  # blocks that a step of the walk gives up for one
    tabu: int = 12  # steps for which a block that was given up stays so
    most_at_once: int = 200  # inequalities that the covering program takes at a time
    most_rows: int = 1_200  # that it keeps; beyond, those that have not mattered for long go
    most_idle: int = 20  # solves for which an inequality may not matter


@dataclass(frozen=True)
class BuildSteering:
    """Whether all rows are made, and what looking at all records may take."""

    most_reduced: int = (
        400_000_000  # pairs for a search on all rows that are not dominated; beyond, they grow
    )
    most_unreduced: int = (
        2_000_000  # the same where no row can be left out: growing rows are faster long before
    )
    always: int = 1_000_000  # pairs up to which all rows are made whatever remains: a moment's work
    most_cells: int = 60_000_000  # entries of all rows: half a gigabyte, of which searches hold copies
    copies: int = 14  # times that a search holds all rows, in one form or another, threads included
    building_share: float = 0.2  # of what remains, for making all rows; else they grow
    model_share: float = 0.7  # the same for a big-C model, which needs them all
    blocks_at_once: int = BLOCKS_AT_ONCE  # counted between two looks at the clock
    sampled: int = 48  # blocks whose rows say how many there will be, and how long comparing takes
    worth_sampling: int = 8  # times as many blocks are worth that; of fewer, beside so many pairs, rows grow
    moment: float = 0.5  # that comparing may take whatever the limit: small files are compared whole by then
    most_at_once: int = 25_000_000  # pairs up to which the table of all records is made within a moment
    most_reserved: float = 0.25  # share of the time limit that may be left for that table
    orders_share: float = 0.1  # of what remains, for counting orders of attributes and ranks
    orders_longest: float = 10.0  # duration of that at most


@dataclass(frozen=True)
class SamplingSteering:
    """Searches of samples instead of all records. Sizes and numbers are taken before anything is drawn."""

    most_whole: int = 20_000  # records up to which all are searched unless samples are asked for
    size: int = 50  # records in a sample: larger ones stay open, smaller ones have distances of their own
    seconds: float = 3.0  # that a sample is worth; a second proves most, the others close slowly
    seconds_per_pair: float = 6e-8  # of a record of a sample and a candidate: making the rows
    fewest: int = 10  # samples, however short the time: chance costs more than bounds that stay open
    most: int = 80  # samples of the first stage: more narrow the limit by less than a point
    growth: float = 4.0  # samples of the second stage, where the first has left time
    worth_processes: float = 20.0  # seconds of the limit from which processes are worth their start
    pairs_worth_processes: int = 2_000_000  # and pairs of a record of the samples and a candidate
    later_share: float = 0.8  # of what samples of the first stage took, that those of the second must have
    searching_share: float = 0.5  # of the time limit, for the samples at least
    looking_share: float = 0.05  # of the time limit, up to which baselines are counted before the samples
    attacking_share: float = 0.15  # of the time limit, that samples leave to the attack
    counts: float = 6.0  # and so many times what counting an attack on all records takes
    counting_share: float = 0.8  # of what is left then, for counting the attack on all records
    attacked: int = 4_000  # records for an attack: on fewer it fits them too well
    attack_share: float = 0.3  # of what is left then, for an attack on all samples together


@dataclass(frozen=True)
class PartSteering:
    """Searches of parts, where a search of all records leaves a wide gap."""

    fewest: int = 300  # records from which parts are worth a thought
    before_share: float = 0.35  # of what remains, for the search of all records until it seems hopeless
    before: float = 60.0  # seconds of that at most
    wide: float = 0.15  # gap that it then has, as a share of the weight
    size: int = 50  # records in a part of the first round
    seconds: float = 3.0  # for one of them at most; for larger ones in proportion
    worth_processes: float = 10.0  # seconds left from which processes are worth their start


@dataclass(frozen=True)
class Steering:
    """All of it; `EngineOptions` has one, so that a run can be tuned."""

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
