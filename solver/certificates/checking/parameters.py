"""The parameters of a fit as exact numbers, and whether they are parameters of their family."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from linkrisk.solver.certificates.checking.families import (
    Choquet,
    Family,
    KAdditive,
    OrderedWeightedAverage,
    QuadraticForm,
    TwoAdditive,
)
from linkrisk.solver.certificates.checking.fields import Fields, listed, reals
from linkrisk.solver.certificates.checking.rejection import demand
from linkrisk.solver.certificates.checking.semidefinite import is_negative_semidefinite
from linkrisk.solver.certificates.checking.setting import MOST_ATTRIBUTES
from linkrisk.solver.run.errors import UsageError

SLACK = Fraction(1, 10**9)
"""By how much the sum that should be one may miss it: a common factor, which no comparison of distances sees.

Signs, monotony and semidefiniteness are exact: a weight of -1e-9 is a weight of no mean, however small.
"""


def read_parameters(fields: Fields, family: Family, attributes: Sequence[str]) -> list[Fraction]:
    """The exact parameters, as coefficients of the family's features.

    Raises
    ------
    UsageError
        If they are of another family or other attributes.
    RejectedError
        If they are outside the family's domain, up to a common factor.
    """
    _check_keys(fields, family)
    if isinstance(family, QuadraticForm):
        return _matrix(fields, family)
    if isinstance(family, Choquet):
        names = _subset_names(attributes, range(1, 2 ** len(attributes)))
        values = _named(fields, "measure", names)
        _check_measure([Fraction(0), *values], fields.where)
        return values
    if isinstance(family, TwoAdditive | KAdditive):
        k = 2 if isinstance(family, TwoAdditive) else max(map(len, family.subsets))
        sizes = range(1, min(k, len(attributes)) + 1)
        subsets = [subset for size in sizes for subset in combinations(range(len(attributes)), size)]
        names = [",".join(attributes[k] for k in subset) for subset in subsets]
        moebius = _named(fields, "moebius", names)
        if isinstance(family, KAdditive):
            _check_measure(_table(moebius, family.masks, len(attributes)), fields.where)
            return moebius
        theta = _two_additive(moebius, len(attributes))
    else:
        ordered = isinstance(family, OrderedWeightedAverage)
        ranks = [str(rank + 1) for rank in range(len(attributes))]
        theta = _named(fields, "weights", ranks if ordered else attributes)
    _check_simplex(theta, fields.where)
    return theta


def _check_keys(fields: Fields, family: Family) -> None:
    """Refuse parameters that show more than is read here."""
    key, more = "weights", set()
    if isinstance(family, QuadraticForm):
        key = "matrix"
    elif isinstance(family, Choquet):
        key = "measure"
    elif isinstance(family, TwoAdditive | KAdditive):
        key, more = "moebius", {"measure"}
    if not {key} <= set(fields.keys()) <= {key} | more:
        raise UsageError(f"{fields.where} must hold {key} and nothing else")


def _named(fields: Fields, key: str, names: Sequence[str]) -> list[Fraction]:
    table = fields.inner(key)
    if sorted(table.keys()) != sorted(names):
        raise UsageError(f"{table.where} must name the {len(names)} it should have: {shortened(names)}")
    return [Fraction(table.real(name)) for name in names]


def shortened(names: Sequence[str]) -> str:
    """The first few names."""
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def _subset_names(attributes: Sequence[str], masks: Sequence[int]) -> list[str]:
    return [",".join(name for k, name in enumerate(attributes) if mask >> k & 1) for mask in masks]


def _check_simplex(theta: Sequence[Fraction], where: str) -> None:
    total = sum(theta, Fraction(0))
    demand(min(theta) >= 0, f"{where}: a weight is below zero")
    demand(abs(total - 1) <= SLACK, f"{where}: the weights do not sum to one")


def _check_measure(table: Sequence[Fraction], where: str) -> None:
    """Check monotonicity and ``mu(V) = 1`` of values by bit mask."""
    demand(abs(table[-1] - 1) <= SLACK, f"{where}: the measure of all attributes is not one")
    for mask, value in enumerate(table):
        for k in range(len(table).bit_length() - 1):
            demand(
                bool(mask >> k & 1) or table[mask | 1 << k] >= value,
                f"{where}: the measure is not monotone from subset {mask:b} to {mask | 1 << k:b}",
            )


def _table(moebius: Sequence[Fraction], masks: Sequence[int], attributes: int) -> list[Fraction]:
    """The measure of each subset: the sum of the coefficients within it."""
    unit = max(value.denominator for value in moebius)
    table = [0] * 2**attributes
    for mask, value in zip(masks, moebius, strict=True):
        table[mask] = int(value * unit)
    for k in range(attributes):
        for mask in range(len(table)):
            if mask >> k & 1:
                table[mask] += table[mask ^ 1 << k]
    return [Fraction(value, unit) for value in table]


def _two_additive(moebius: Sequence[Fraction], attributes: int) -> list[Fraction]:
    """Weights of single attributes, minima and maxima: ``-min(c, d) = max(c, d) - c - d``."""
    single = list(moebius[:attributes])
    low, high = [], []
    for (first, second), value in zip(combinations(range(attributes), 2), moebius[attributes:], strict=True):
        low.append(max(value, Fraction(0)))
        high.append(max(-value, Fraction(0)))
        single[first] -= high[-1]
        single[second] -= high[-1]
    return [*single, *low, *high]


def _matrix(fields: Fields, family: QuadraticForm) -> list[Fraction]:
    """The upper triangle of a symmetric positive semidefinite matrix of trace one."""
    n, where = family.attributes, f"{fields.where}, matrix"
    rows = [reals(row, where, n) for row in listed(fields.value("matrix"), where)]
    if len(rows) != n:
        raise UsageError(f"{where} must have {n} rows")
    demand(all(rows[k][m] == rows[m][k] for k, m in family.cells), f"{where}: it is not symmetric")
    exact = [[Fraction(value) for value in row] for row in rows]
    trace = sum((exact[k][k] for k in range(n)), Fraction(0))
    demand(abs(trace - 1) <= SLACK, f"{where}: the trace is not one")
    # Denominators of doubles are powers of two, so the largest is a multiple of all.
    unit = max(value.denominator for row in exact for value in row)
    lifted = [[-int(value * unit) for value in row] for row in exact]
    demand(is_negative_semidefinite(lifted), f"{where}: it is not positive semidefinite")
    return [exact[k][m] for k, m in family.cells]


def measure_of(theta: Sequence[Fraction], family: Family) -> list[Fraction]:
    """The measure of each subset of attributes, by bit mask, of the parameters of a Choquet integral."""
    if isinstance(family, Choquet):
        return [Fraction(0), *theta]
    n = family.attributes
    if n > MOST_ATTRIBUTES:
        raise UsageError(f"a measure on {n} attributes has too many values to be listed")
    if isinstance(family, KAdditive):
        return _table(theta, family.masks, n)
    masks, values = [1 << k for k in range(n)], list(theta[:n])
    many = n * (n - 1) // 2
    for at, (k, m) in enumerate(combinations(range(n), 2)):
        low, high = theta[n + at], theta[n + many + at]
        values[k] += high
        values[m] += high
        values.append(low - high)
        masks.append(1 << k | 1 << m)
    return _table(values, masks, n)
