"""What users ought to know about an estimate, in one line each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkrisk.solver.linkage.probabilistic.em import BOUND, MOST_MATCHES, EMSettings, Estimate


def notes_on(
    attributes: Sequence[str], found: Estimate, settings: EMSettings, records: int, pairs: float
) -> tuple[str, ...]:
    """What is doubtful about an estimate.

    Parameters
    ----------
    attributes : sequence of str, length K
    found : Estimate
    settings : EMSettings
    records : int
        Those of the smaller file: the most matches there can be when no record has two partners.
    pairs : float
        How many were compared.
    """
    notes = []
    if not found.converged:
        notes.append(
            f"EM did not converge in {found.iterations:,} iterations: probabilities still changed by more "
            f"than {settings.tolerance:g}; allow more iterations"
        )
    expected = found.p * pairs
    if settings.p is None and found.p <= BOUND:
        notes.append(f"the share of matches p is at its bound {BOUND:g}: EM found no matches")
    elif settings.p is None and found.p >= settings.most_p:
        notes.append(
            f"EM would expect more than {expected:,.0f} matches for {records:,} records and was held to "
            "these: many pairs are similar without being matches; give the share of matches if you know it"
        )
    elif settings.p is None and expected > MOST_MATCHES * records:
        notes.append(
            f"EM expects {expected:,.0f} matches for {records:,} records: what it found are similar pairs, "
            "not matches; give the share of matches, or compare other attributes"
        )
    for name, m, u in zip(attributes, found.m, found.u, strict=True):
        for symbol, table in (("m", m), ("u", u)):
            at_bound = [str(level) for level in np.flatnonzero(table <= BOUND * (1 + 1e-6))]
            if at_bound:
                notes.append(
                    f"the {symbol}-probability of {name!r} is at its bound {BOUND:g} at level "
                    f"{', '.join(at_bound)} (0 is disagreement), which alone sets the weight there; set a "
                    "prior"
                )
        if m[-1] <= u[-1]:
            notes.append(
                f"full agreement on {name!r} is not more likely among matches (m = {m[-1]:.4g}) than among "
                f"other pairs (u = {u[-1]:.4g}): it is no evidence of a match"
            )
    return tuple(notes)
