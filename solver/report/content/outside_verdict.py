"""What readers outside may know of a verdict: its numbers, the families and attacks that have names of ours.

Of any other finding they learn that there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.formulations.linkage.aggregators import AGGREGATORS, words_of
from linkrisk.solver.measures.verdict import (
    ATTACK,
    IDENTIFIERS,
    ORDER,
    RELATED,
    UNCHANGED,
    Severity,
    sentence_by_key,
)
from linkrisk.solver.report.content.meanings import MEANINGS
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.risk import VerdictFinding

WORDS: dict[str, str] = {
    IDENTIFIERS: "the release has columns that name its records",
    UNCHANGED: "columns that were released as they are are not compared",
    RELATED: "columns that go with the original are not compared",
    ORDER: "the order of the records tells whose they are",
}
"""Sentences for keys of findings that are not about what an intruder links."""

_OTHER = "something that is not shown here stands against the release"

SIMPLE_ATTACKS = (
    *("equal_weights", "classical_mahalanobis", "other_units", "ranks", "ranks_mahalanobis"),
    *("households", "households_mahalanobis", "probabilistic", "matched_equal_weights", "bayesian"),
    *("likelihood", "household_members", "record_order"),
)
"""Keys of all simple attacks: none of them says anything of records or columns."""

_ATTACKERS = (
    *(MEANINGS[key].words for key in SIMPLE_ATTACKS),
    "the order of the records",
    "intersecting candidates",
    *("knowing one record and the masking", "knowing all records and the masking"),
)
_TITLES = tuple(words_of(name).title for name in AGGREGATORS)
_LEARNING = tuple(
    f"{name}{how}, {known} % known"
    for name in (*_TITLES, "equal weights")
    for how in ("", " one to one")
    for known in ("10", "25", "50")
)
_NAMES = frozenset((*_ATTACKERS, *_TITLES, *_LEARNING))


def outside_findings(given: Any) -> list[dict[str, Any]]:
    """What is kept of the findings of a verdict."""
    found = (_kept(one) for one in given if isinstance(one, Mapping))
    return [one for one in found if one is not None]


def _kept(one: Json) -> dict[str, Any] | None:
    """One finding in words of our own; None where it is information that outsiders have no words for."""
    key, severity = str(one.get("key")), one.get("severity")
    if severity not in list(Severity):
        return None
    listed = one.get("about")
    about = [name for name in listed if name in _NAMES] if isinstance(listed, list | tuple) else []
    ends = dict.fromkeys(("low", "high", "confidence")) | outside(schema_of(VerdictFinding), one)
    kept = {"key": key, "severity": severity, "about": about, **ends}
    said = WORDS.get(key) or (sentence_by_key(kept) if about or not key.startswith(ATTACK) else None)
    if said is None and severity == Severity.INFORMATION:
        return None
    return {**kept, "key": key, "sentence": said} if said else {**kept, "key": "other", "sentence": _OTHER}
