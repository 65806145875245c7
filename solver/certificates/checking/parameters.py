"""Reading parameters as exact numbers: what families have in common."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

SLACK = Fraction(1, 10**9)
"""By how much the sum that should be one may miss it: a common factor, which no comparison of distances sees.

Signs, monotony and semidefiniteness are exact: a weight of -1e-9 is a weight of no mean, however small.
"""


def named_numbers(fields: Fields, key: str, names: Sequence[str]) -> list[Fraction]:
    """The number of each of these names, and of no other; UsageError if there are others."""
    table = fields.inner(key)
    if sorted(table.keys()) != sorted(names):
        raise UsageError(f"{table.where} must name the {len(names)} it should have: {shortened(names)}")
    return [Fraction(table.real(name)) for name in names]


def shortened(names: Sequence[str]) -> str:
    """The first few names."""
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def check_weights(theta: Sequence[Fraction], where: str) -> None:
    """Reject weights that are not on the simplex, up to a common factor."""
    total = sum(theta, Fraction(0))
    demand(min(theta) >= 0, f"{where}: a weight is below zero")
    demand(abs(total - 1) <= SLACK, f"{where}: the weights do not sum to one")
