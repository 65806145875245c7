"""What a fit says that it has maximised, where that is no number of records: sums, as doubles."""

from __future__ import annotations

from fractions import Fraction

from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.records import Records
from linkrisk.solver.certificates.checking.setting import Setting
from linkrisk.solver.certificates.core.claims import demand

ROUNDED = Fraction(1, 10**9)
"""Relative difference of a weight in the JSON of a fit, a double, from the exact one."""

WEIGHTED = ("weighted_links", "weighted_links_upper_bound")
EXPECTED = ("expected_links", "expected_links_upper_bound")
TOTAL = "total_weight"


def objective_keys(setting: Setting) -> tuple[str, str] | None:
    """The keys of what is linked and of its bound; None where records are counted."""
    if setting.weight is not None:
        return WEIGHTED
    return EXPECTED if setting.share else None


def check_sums(claim: Fields, records: Records, setting: Setting, weight: Fraction) -> None:
    """Check the sum of all weights, and that of the blocks that the table of records calls linked.

    Parameters
    ----------
    claim : Fields
        The fit.
    records : Records
    setting : Setting
    weight : Fraction
        Of these blocks.
    """
    if records.sampling is None:
        for key in (*WEIGHTED, TOTAL):
            demand(claim.get(key) is None, f"{claim.where}, {key}: the fit names no column of weights")
    else:
        _demand_close(claim, TOTAL, sum(records.sampling.weights, Fraction(0)), "the files give")
    keys = objective_keys(setting)
    if keys is not None:
        _demand_close(claim, keys[0], weight, "the parameters give")


def _demand_close(claim: Fields, key: str, here: Fraction, how: str) -> None:
    told = Fraction(claim.real(key))
    demand(
        abs(told - here) <= ROUNDED * here,
        f"{claim.where}, {key}: {float(told):.10g}, but {how} {float(here):.10g}",
    )
