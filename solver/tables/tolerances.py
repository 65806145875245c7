"""Numerical tolerances of tables: what counts as equal, integral, at rest, met or protected.

An answer never depends on one alone: patterns are audited, costs are summed again, and bounds are lowered by
what their tolerance allows.
"""

from __future__ import annotations

# ---- levels, from the strictest to the audit's: what one stage calls met, the next one never calls missed

MET = 1e-9
"""Share of its level by which a movement may miss a demand that it is said to meet."""

SLIDING = 1e-7
"""Share by which a sliding level is lowered in programs: the largest movement may just reach it."""

ANSWERED = 1e-6
"""Share of its level by which an attack may miss a demand, within the tolerance of optimisers."""

SEARCHED = 2e-6
"""The same for cuts, beyond what optimisers can decide: no cut repeats because of rounding."""

AUDITED = 1e-5
"""The same for the audit and its page."""

# ---- movements of cells

STILL = 1e-9
"""Share of the largest movement, or of its level or bound, below which a cell does not move."""

RESIDUAL = 1e-9
"""Largest residual of a relation, relative to the largest deviation."""

MOVABLE = 1e-7
"""Largest accumulated rounding error of a deviation, relative to the range of its cell and to 1."""

RECOMPUTED = 1e-7
"""Relative error allowed where the answer of an optimiser is computed again."""

LARGEST_DEVIATION = 2.0**20
"""Largest deviation in scaled units, so that the absolute tolerance of 1e-9 has a meaning."""

INTERVAL_END = 1e-6
"""Rounding error of the end of an interval, which a linear program computes."""

LEAST_BOUND = 1e-6
"""Smallest bound of a cell, relative to the median: smaller ones make the matrix ill-conditioned."""

WITHIN_BOUND = 1.0 + 1e-6
"""Ratio of a movement of least energy to a bound up to which it is within."""

TINY, SMALLEST_NORM = 1e-12, 1e-300
"""Divisors at least so large, so that 0 needs no case of its own."""

# ---- points of programs

INTEGRAL = 1e-5
"""Distance from 0 and 1 up to which a suppressed share of a relaxation is integral."""

PUBLISHED = 1e-7
"""Suppressed share below which the capacity of a cell is 0."""

ROUNDED = 1e-6
"""Distance from an integer up to which the answer of an optimiser is rounded to it; sums are checked."""

DISTINCT_INTEGERS = 1e6
"""Steps of a cell beyond which optimisers cannot tell integers apart."""

SAME_POINT = 1e-6
"""Largest difference of two points that are separated once."""

SLACK = 1e-6
"""Slack from which a row of the relaxation ages."""

REDUCED_COST = 1e-6
"""Size from which a reduced cost of the wrong sign counts."""

INFEASIBLE = 1e-10
"""Least relative violation by which a ray proves that a relaxation is infeasible."""

# ---- coefficients of rounding cuts

CUT_ZERO = 1e-7
"""Fraction that counts as 0."""

CUT_COEFFICIENT = 1e-7
"""Share of the largest coefficient below which coefficients are dropped."""

CUT_MARGIN, CUT_UP = 1e-9, 1.0 + 1e-12
"""Margin of the right-hand side, and factor of the coefficients, above their rounding errors."""

# ---- costs and bounds

COST = 1e-9
"""Relative difference below which two costs are equal, and a bound proves its pattern."""

BACKEND_BOUND = 1e-6
"""Relative error of the bound of a backend, by which it is lowered."""

OPTIMA_EQUAL = 1e-6
"""Relative difference allowed between the optima of two backends."""

PROVEN, ADJUSTMENT_GAP, QUADRATIC_GAP = 1e-6, 1e-7, 1e-10
"""Relative gaps of adjustments: at which one is called optimal, what backends are asked for, and for the
quadratic program. Bounds do not depend on them."""

LEAST_GAIN = 1e-6
"""Gain of a branch, so that a product of gains is not 0."""

LARGEST_WEIGHT = 1e100
"""Weight of conflicts at which all of them are scaled down."""
