"""Tune the searches for patterns, adjustments and rounded tables: each line says what its number trades.

None of these numbers can make an answer wrong: they decide how soon it is found. Shares of the time are of
what is left; tolerances are in `tolerances`.
"""

from __future__ import annotations

# ---- attacks: one linear program each

# iterations per relation before another method is tried: with bounds far apart the simplex method may cycle
ITERATIONS_PER_RELATION = 2
FEWEST_ITERATIONS = 2_000  # at least so many
# numbers stored for deviations and multipliers at once: memory against repeated solves
DEVIATIONS_AT_ONCE = 2_000_000
# relations up to which our own simplex method is faster, as it holds a dense inverse of the basis
OWN_SIMPLEX_RELATIONS = 1000

# ---- audit

# cells per task: larger ones cost less communication, smaller ones share the work more evenly
CELLS_PER_TASK = 64

# ---- certificates

# decimals to which values are rounded: the fewest that serve are used, for short certificates
CERTIFICATE_DECIMALS = (0, 2, 4, 7, 10)
# denominators of rounded multipliers, which are small integers or simple fractions in most tables
CERTIFICATE_DENOMINATORS = (1, 60, 10_000, 10**9)

# ---- insiders

MOVEMENTS_KEPT = 12  # of an attacker, newest first: each is tried before a program is solved

# ---- demands of a piece

DEMANDS_TOGETHER = 6  # demands of a piece from which they are served together
LEAST_ENERGY_CELLS = 1000  # cells of a piece from which least-energy movements are tried before any program
# rounds of serving demands together, and the share of them that each must meet for the next
ROUNDS_TOGETHER, LEAST_YIELD = 12, 0.05
# share of the time in which intervals are computed beside levels: afterwards levels come first
INSIDER_INTERVAL_SHARE = 0.5

# ---- attackers in whole numbers

INTEGER_ATTACK_SECONDS = 20.0  # time limit of one integer program: what it leaves undecided stays undecided
ANY_WITNESS_GAP = 0.02  # relative optimality gap where any witness suffices
# pieces whose programs are stored, and cells up to which one program serves all patterns: memory against
# warm starts
PROGRAMS_KEPT, ONE_PROGRAM_CELLS = 40, 1000
FRACTIONAL_SHARE = 0.4  # share of the time for fractional attacks on large patterns
LEVELS_KEPT = 5_000_000  # number of stored levels of attackers; more are recomputed
RANDOM_ROUNDS = 8  # rounds of moving all cells at once at random: cheap witnesses for many demands
# seconds for one program for many attackers; if it fails, smaller groups are tried
MANY_ATTACKERS_SECONDS = 1.0

# ---- movements of least energy

# independent movements and cells of the largest table: beyond them the matrices take too much memory
LEAST_ENERGY_MOVEMENTS, LEAST_ENERGY_MOST_CELLS = 3000, 20_000
SPARSE_DENSITY = 0.1  # density of a basis below which sparse products are faster
MOVEMENTS_AT_ONCE = 256  # movements computed at a time: speed against memory

# ---- movements of many cells

ROUNDS_OF_MANY_CELLS = 6  # rounds of moving many cells at once, at most: they spare single programs

# ---- shares of the time of an operation

# share of the time for finding the levels reachable against insiders that no option names
INSIDER_REACH_SHARE = 0.25
COUNT_REACH_SHARE = 0.3  # share of the time for finding the reachable levels
# cells up to which the exact search is the default: its bound closes, but takes long
OPTIMAL_CELLS = 3000
AUDIT_SECONDS_AFTER_STOP = 5.0  # seconds of the audit after Ctrl-C
# shares of the audit: its part of the time limit, how far it may exceed that, its least seconds, and its
# part for intervals; the rest is for levels, without which nothing is protected
AUDIT_SHARE, AUDIT_BEYOND_LIMIT, LEAST_AUDIT_SECONDS, INTERVAL_SHARE = 0.25, 0.05, 1.0, 0.5
# share of the time for protecting a large table of counts against fractional attacks
LARGE_COUNTS_SHARE = 0.6
LEVELS_FIRST_CELLS = 300  # suppressed cells from which levels are audited before intervals
# suppressed cells up to which the audit of a large table computes all intervals, not levels alone
INTERVAL_CELLS, COUNT_INTERVAL_CELLS = 5000, 1000
OUTSIDER_AUDIT_SHARE = 0.6  # share of the time, for counts, for the audit against the outsider

# ---- adjustment

ADJUSTMENT_DECIMALS = (6, 9, 12)  # tried in turn: fewer are easier to publish
DEARER_FOR_DECIMALS = 1e-7  # relative cost increase accepted for fewer decimals
EXACTLY_SOLVED_CELLS = 5000  # changed cells up to which relations are solved in fractions, which is slow
SCALED_COST = 1000.0  # cost of the first incumbent as backends see it, since their tolerances are absolute
INTEGRAL_SHARE = 0.5  # share of the remaining time for making an answer integral

# ---- controlled rounding

# fractional variables are fixed a fifth at a time: fewer per round need more solves, but fail less often
DIVE_FRACTION = 5
# shares of the remaining time: for the simplex method, then for the first-order method
ROUNDING_SIMPLEX_SHARE, ROUNDING_GRADIENT_SHARE = 0.2, 0.5
# flips per round of local search; the maximum, with an addition for each cell: longer walks fail less often
FLIPS_PER_ROUND, MOST_FLIPS, FLIPS_PER_CELL = 10_000, 200_000, 20
# cells tried at a time to reduce the cost; in small tables so many for each cell
CELLS_TRIED_AT_ONCE, TRIES_PER_CELL = 20_000, 20
# flips per try; rounds of a try per cell, and the least gain of a round that is repeated
FLIPS_PER_TRY, TRY_ROUNDS, LEAST_TRY_GAIN = (4, 8, 16, 32), 5, 1e-4
INFEASIBLE_TOTAL_PENALTY = 2.0  # penalty of an infeasible total per base, in units of the heaviest cell
# share of the remaining time for local search near the relaxation, diving, and local search near the values
ROUNDING_SEARCH_SHARE = 0.5

# ---- exact search: cutting planes and heuristics

# rounds of cutting planes without gain before branching: more raise the bound of a node but cost solves
CUT_ROUNDS, ROOT_CUT_ROUNDS = 3, 20
# violated capacity constraints from which no rounding cuts are added: they would slow the relaxation
FEW_VIOLATED = 10
LEAST_CUT_GAIN = 0.01  # least rise of the bound that counts as a gain, as a share of the gap of the node
# share of open cells below which the relaxation is rebuilt: a smaller program, at the price of a warm start
REBUILT_SHARE = 0.7
# solves for which slack rows are kept where bounds do not guide the search: rows found at one node serve
# others, so that each node needs only one round of separation
LONG_ROW_AGE = 200
# first nodes at which points that violate no cut are turned into patterns, and the interval afterwards: more
# incumbents against time
THINNED_FIRST_NODES, THINNED_EVERY = 24, 8
# rounds at the root after which a primal heuristic starts from the point
ROOT_HEURISTIC_ROUNDS = (2, 8, 25, 60, 120, 240)
NEIGHBOURHOOD_NODES = 40  # node limit of a neighbourhood: several small searches find more than one long one
# published cells left open in induced and in random neighbourhoods: more hold better patterns, but take
# longer
NEIGHBOURHOOD_CELLS = (120, 200)
# solves spent on neighbourhoods, as a share of those of the main search: incumbents against bounds
NEIGHBOURHOOD_SHARE = 0.4
# nodes before the first neighbourhood, as easy tables are solved by then, and solves granted at once then
NODES_BEFORE_NEIGHBOURHOODS, NEIGHBOURHOOD_FIRST_SOLVES = 60, 100
# limits of the share of the best pattern that stays open, which adapts
NEIGHBOURHOOD_LEAST_PART, NEIGHBOURHOOD_MOST_PART = 0.2, 0.9
# nodes before destructive bounds start, and the largest gap in units: too early, they repeat the main search
NODES_BEFORE_EXCLUSION, EXCLUSION_UNITS = 100, 2.0
# factor on those nodes for the last unit: other heuristics find a pattern of that cost sooner
EXCLUSION_LAST_UNIT = 10
# least share of the gap at the root that one unit must be: below it, the main search is soon finished
EXCLUSION_GAP_SHARE = 0.05
# node limit of such a search, and the factor by which limit and waiting time grow after a failure
EXCLUSION_NODES, EXCLUSION_GROWTH = 20_000, 10

# ---- exact search: branching

# growth of the weight of each conflict over the one before: recent against frequent conflicts
CONFLICT_GROWTH = 1.02
# share of the cutoff below which a bound is far from it: large subtrees justify more strong branching
FAR_FROM_CUTOFF = 0.1

# ---- exact search: separation of capacity constraints

# least violation of a bridgeless inequality: smaller ones hardly raise the bound
LEAST_BRIDGE_VIOLATION = 1e-3
# violated rows of given relations from which implied ones are not separated: the former often repair both
ENOUGH_GIVEN_ROWS = 100
# shares from which cells are left out of the attack of a second row, and its least share of the level
NEARLY_SUPPRESSED, LEAST_WEAKENING = 0.7, 1e-2
SEEN_AT_ONCE_DEMANDS = 1000  # demands from which stored deviations are tried for all of them at once first
LEAST_FRACTIONAL_VIOLATION = 1e-4  # least violation of cuts of a fractional point

# ---- exact search: its parts

# shares of the time: for the initial pattern, and for the outsider's problem before that of insiders
START_SHARE, OUTSIDER_SHARE = 0.3, 0.25
# share of the remaining time for the modular method, where no initial pattern was found in time
MODULAR_SHARE = 0.5
FLAT_GAP = 0.5  # gap, in units of cost, below which bounds no longer guide the search
SUPPORTS_KEPT = 100_000  # sets of cells that are not tried again

# ---- exact search: rows of insiders and in whole numbers

INSIDER_ROWS = 40  # cuts per point: more raise the bound faster, but each takes a program
INSIDER_ROWS_KEPT = 500  # newest rows that are tried before programs
INTEGER_CUTS = 12  # cuts per point: more raise the bound faster but each takes an integer program
# cost of moving a suppressed cell by a unit: just above 0, so that witnesses stay small
SUPPRESSED_CELL_COST = 1e-3

# ---- modular method

BOUND_SHARE, DIVE_SHARE = 0.4, 0.6  # shares of the remaining time: for the dual bound, then for diving
# shares of the remaining time: for least-energy patterns, for the first pattern, for dropping redundant
# cells, and for each repair; thinning has the rest
LEAST_ENERGY_SHARE, FIRST_PATTERN_SHARE, SHED_SHARE, REPAIR_SHARE = 0.5, 0.2, 0.5, 0.4
# rounds of least-energy patterns without gain, and the least gain as a share of the cost
LEAST_ENERGY_PATIENCE, LEAST_PATTERN_GAIN = 12, 1e-3
# share of met demands from which the unmet ones get their neighbourhoods, and the radii tried, in relations
NEARLY_MET, RADII = 0.99, (2, 3, 4)
# share of demands that least-energy movements must meet for their patterns to be of use
LEAST_ENERGY_MET = 0.5
# share of the fractional cells fixed per round of each dive, and dives without gain before it ends: smaller
# shares give cheaper patterns in more time
DIVE_PARTS, IDLE_DIVES = (0.1, 0.1, 0.05, 0.2, 0.03), 2

# ---- patterns of least energy

# use below which a cell is shut off, in the first round, its factor per round, and in the end: slower
# cooling gives cheaper patterns
FIRST_USE, USE_COOLING, LAST_USE = 0.5, 0.6, 1e-3
ENERGY_ROUNDS = 40  # limit of the rounds of cooling
# share of the remaining time for which rounds are planned; the rest is for rounds that take longer
PLANNED_SHARE = 0.7
# least gain of a round at the end, as a share of the cost, and rounds without it before it stops
LEAST_ROUND_GAIN, ROUNDS_WITHOUT_GAIN = 2e-3, 2
# resistance of sensitive cells, which cost nothing, against a median of 1 at the start
SENSITIVE_RESISTANCE = 0.01
# resistance of a movement as large as the bound of its cell, and the power by which it grows
BOUND_RESISTANCE, BOUND_POWER = 1.0, 4
# ratio of movement to bound from which the penalty is constant: it keeps the matrix well conditioned
MOST_BEYOND_BOUND = 6.0
# ratio of levels up to which demands share one penalty: fewer matrices against a finer penalty
LEVELS_SHARED = 16.0
LEAST_WITHIN_BOUNDS = 0.5  # share of demands that least energy must meet with all cells to be worth trying
REMOVED_USE = 1e-4  # use below which a cell is removed from the network
# numbers kept for the movements of all demands: larger tables are left to other heuristics
SHEDDING_NUMBERS = 2e7

# ---- modular method: relaxation and dives

BLOCK_DEMANDS = 300  # demands of a block: more share one program, fewer let the clock be read sooner
# rounds in a row with less gain, as a share of the bound, after which separation ends
STALE_ROUNDS, LEAST_BOUND_GAIN = 3, 1e-4
# iterations of the optimiser between two readings of the clock, and how often it continues
ITERATIONS_PER_SLICE, MOST_SLICES = 2000, 1000
ROUNDING_CUT_CELLS = 10_000  # open cells up to which rounding cuts are separated: their rows are dense
DIVE_ROUNDS = 400  # rounds of a dive, a safeguard that no table has come near

# ---- search of several programs in turn

SEARCH_SHARE = 0.4  # share of the remaining time for each search but the last

# ---- pool of patterns

POOL_SIZE = 10  # size of the pool: diversity against quality
# standard deviations of the logarithms of perturbed costs: larger ones diversify, smaller ones intensify
COST_NOISE = (0.05, 0.1, 0.3, 0.6)
# cost factor of the cells of the best pattern at the second try, which is not random
BEST_PATTERN_FAVOUR = 0.5
# cost factors of the cells of good patterns: smaller ones stay closer to them
GOOD_PATTERN_FAVOURS = (0.3, 0.5, 0.7, 0.9)
# relations from which least energy is tried: below, programs for single demands are fast enough
LEAST_ENERGY_RELATIONS = 1000
# tries without improvement, with and without a time limit; without one the exact search, which may prove its
# pattern at once, is not delayed
TRIES_WITHOUT_GAIN, TRIES_WITHOUT_LIMIT = 250, 20
# ratio to the cost of other heuristics from which a first least-energy pattern ends the attempt
HOPELESS_COST = 1.5
POINT_FAVOUR = 0.1  # cost factor of cells that a point suppresses fully

# ---- protecting patterns, one demand at a time

LIKELY_FAVOUR = 0.01  # cost factor of cells that are likely choices
# cells around the cell of a demand tried first in large tables: a program of all cells takes long
LOCAL_CELLS = 5000

# ---- relaxation and its rounding cuts

ROW_AGE = 8  # default age of rows
ROWS_PER_CELL = 3  # rows per open cell from which the default age applies: more would slow the relaxation
ROWS_REMOVED = 40  # fewest rows removed at a time, as each removal costs a warm start
# of each basis row: other multiples have other fractions, hence other cuts
BASIS_ROW_MULTIPLES = (1.0, -1.0, 2.0, -2.0, 3.0)
BASIS_ROWS = 80  # fractional cells whose basis rows give cuts: more cuts against slower rounds
CUTS_PER_ROUND = 30  # deepest ones first: more would slow the relaxation
LEAST_FRACTION, MOST_FRACTION = 0.05, 0.999  # of the right-hand side, between which a rounded row is stable
LEAST_CUT_DEPTH = 0.02  # least Euclidean distance by which a cut must be violated
PARALLEL_CUTS = 0.9  # cosine from which a cut says what a kept one says

# ---- thinning

# largest random cost reduction, as a share: more noise finds other movements, but dearer ones
REPAIR_NOISE = 0.5
