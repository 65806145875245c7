"""What was learned, as the JSON shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.em import Estimate
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts
from linkrisk.solver.linkage.probabilistic.weights import level_weights


def shown_parameters(
    attributes: Sequence[str],
    comparisons: Sequence[Comparison],
    counts: PatternCounts,
    found: Estimate,
    *,
    p_known: bool,
) -> dict[str, Any]:
    """Probabilities and match weights of every attribute, and how they were learned.

    Parameters
    ----------
    attributes : sequence of str, length K
    comparisons : sequence of Comparison, length K
        Of each attribute, in its units.
    counts : PatternCounts
    found : Estimate
    p_known : bool
        Whether the share of matches was given.
    """
    rows = zip(attributes, comparisons, found.m, found.u, strict=True)
    return {
        "p": found.p,
        "p_estimated": not p_known,
        "attributes": [
            {
                "attribute": name,
                "comparison": comparison.to_dict(),
                "m": m.tolist(),
                "u": u.tolist(),
                "weights": level_weights(m, u).tolist(),
            }
            for name, comparison, m, u in rows
        ],
        "blocking": [],
        "compared_pairs": int(counts.pairs),
        "patterns": len(counts.counts),
        "expected_matches": float(counts.counts @ found.match_probability),
        "iterations": found.iterations,
        "converged": found.converged,
        "log_posterior": found.log_posterior[-1],
        "thresholds": None,
    }
