"""What a notebook shows of `verify`, made from its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.solver.charts.markup import bar, card, paragraph
from linkrisk.solver.run.results import WEIGHTED, least_of, limit_key, objective
from linkrisk.solver.run.worst_sentence import shares_of, worst_sentence

Json = Mapping[str, Any]


def _ends(fit: Json) -> tuple[float, float, float]:
    """What is linked, what is not exceeded, and what both are part of."""
    keys = objective(fit)
    high = fit[keys[1] if fit.get("confidence") is None else limit_key(keys)]
    return least_of(fit), high, fit["total_weight"] if keys == WEIGHTED else fit["records"]


def verification_card(result: Json) -> str:
    """Of `verify`: whether the certificate proves what the fit claims, and what it proves."""
    proved = result["proved"]
    sentence = "Verified." if result["verified"] else f"Rejected: {result['rejected']}"
    quiet = f"{result['name']}, {result['seconds']:.1f} s"
    if proved is None:
        return card(sentence, quiet=quiet)
    low, high, total = _ends(proved)
    said = worst_sentence(low, high, total, weighted=objective(proved) == WEIGHTED)
    return card(sentence, bar(*shares_of(low, high, total)), paragraph(f"Proved: {said}"), quiet=quiet)
