"""What is known of cheaper answers than the one that was found, in words that are true of any bound."""

from __future__ import annotations

from linkrisk.solver.run.percent import two_digits

NO_BOUND = "no bound above 0 was found"

_SHOWN = 5e-7
"""Less than this is 0 in texts, which have six digits after the point; of costs below 1, it is a share."""


def has_bound(cost: float, bound: float) -> bool:
    """Whether anything is known: that nothing costs less than 0 is true of all costs."""
    return bound >= _SHOWN * min(1.0, cost)


def gap(cost: float, bound: float) -> float:
    """By how many per cent of a cost its bound is below it."""
    return 100.0 * (cost - bound) / cost if cost > 0 else 0.0


def no_less(claim: str, cost: float, bound: float, shown: str) -> str:
    """Say what nothing else costs less than.

    Parameters
    ----------
    claim : str
        Such as ``no pattern that protects costs less than``.
    cost, bound : float
        Of what was found, and of anything.
    shown : str
        The bound as it is written.
    """
    if not has_bound(cost, bound):
        return NO_BOUND
    return f"{claim} {shown}, a gap of {two_digits(gap(cost, bound))} %"
