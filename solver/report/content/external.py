"""What readers outside may know: a list of what is kept, so that whatever is new is left out.

Kept are numbers of the whole file and names from lists of this file. No text of the results passes: it may
name attributes, records, files or how the file was masked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.documents.document import Paragraph, Section
from linkrisk.solver.report.content.meanings import MEANINGS, meaning_of
from linkrisk.solver.report.content.outside_verdict import SIMPLE_ATTACKS, outside_findings
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.results import EXPECTED, LINKED, WEIGHTED, least_key, limit_key

Keep = Callable[[Any], Any]
"""From a value of a JSON to what of it is kept; None where that is nothing."""

FAMILIES = tuple(AGGREGATORS)
EQUAL = "equal-weights"
FAMILY_KEYS = ("worst_case_", "held_out_", "rise_")
"""Beginnings of keys of findings that end in a family."""

FINDINGS: dict[str, tuple[str, ...]] = {
    "simple-attacks": SIMPLE_ATTACKS,
    "references": ("unmasked", "learned_on_shuffled", "shuffled", "chance"),
    "worst-case": (),
    "releases": ("all_releases", "first_release"),
    "records": ("linked_by_any", "linked_by_all", "out_of_reach"),
    "held-out": ("over_fit_gap", "one_to_one"),
    "membership": ("prosecutor", "journalist", "persons"),
    "uniqueness": (
        "below_2_anonymity",
        "below_3_anonymity",
        "below_5_anonymity",
        "original_below_2_anonymity",
    ),
    "individual-risk": ("global_risk", "expected"),
    "population-uniqueness": ("tau_1", "tau_2_released"),
    "suda": ("with_msu",),
    "diversity": ("below_2_diversity",),
    "information-loss": (
        *(
            "il1s",
            "mean_difference",
            "variance_difference",
            "covariance_difference",
            "correlation_difference",
        ),
        *("eigenvalue_difference", "regression_difference", "overlap_lost", "total_variation", "hellinger"),
        *("suppressed", "pmse", "pmse_ratio"),
    ),
}
"""Findings of the whole file that are kept, by measure; and those of families (`FAMILY_KEYS`)."""

TITLES = {
    "records": "Which records",
    "held-out": "Held-out attack: an intruder who knows a share of the records",
    "membership": "Targets of the population, who may not be in the file",
    "uniqueness": "Uniqueness on the key variables",
    "individual-risk": "Individual risk (Benedetti and Franconi)",
    "population-uniqueness": "Uniqueness in the population",
    "suda": "Special uniques (SUDA)",
    "diversity": "Confidential attributes within a key",
}
"""Titles of measures that stand among the others, as the measures have them."""


def number(value: Any) -> Any:
    """A finite number."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if known else None


def flag(value: Any) -> Any:
    """True or false."""
    return value if isinstance(value, bool) else None


def one_of(*names: str) -> Keep:
    """One of these texts."""
    return lambda value: value if isinstance(value, str) and value in names else None


def listed(keep: Keep) -> Keep:
    """What is kept of every entry of a list."""
    return lambda value: [keep(each) for each in value] if isinstance(value, list | tuple) else []


def fields(kept: Mapping[str, Keep]) -> Keep:
    """These fields of an object, as far as it has them."""

    def keep(value: Any) -> dict[str, Any]:
        own = value if isinstance(value, Mapping) else {}
        return {name: each(own[name]) for name, each in kept.items() if name in own}

    return keep


_family = one_of(*FAMILIES, EQUAL)

_SUMS = dict.fromkeys(
    (
        *(key for keys in (LINKED, EXPECTED, WEIGHTED) for key in (*keys, limit_key(keys), least_key(keys))),
        *("records", "total_weight"),
    ),
    number,
)

_FIT = fields(
    {
        "aggregator": _family,
        **_SUMS,
        "confidence": number,
        "lost": number,
        "status": one_of("optimal", "feasible", "interrupted", "no_solution"),
        "limit": one_of("time", "work", "memory", "user", "ties"),
        "bound_from": _family,
        "baselines": fields({"euclid": number, "mahalanobis": number}),
    }
)

_FINDING = {
    "key": one_of(
        *MEANINGS, *(start + name.replace("-", "_") for start in FAMILY_KEYS for name in (*FAMILIES, EQUAL))
    ),
    **dict.fromkeys(("value", "low", "high"), number),
    "unit": one_of("share", "records", "persons", "percentage points", "number"),
    "worse": one_of("higher", "lower", "neither"),
    "kind": one_of("certain", "95 % confidence", "range"),
}

_RATE = fields(
    {
        "aggregator": _family,
        **dict.fromkeys(("share", "held_out", "low", "high", "gap", "one_to_one", "worst"), number),
    }
)

_RELEASE = fields(
    {
        "aggregator": _family,
        **dict.fromkeys(("number", "low", "high", "rise", "rise_low", "rise_high"), number),
    }
)

_MEASURES: dict[str, Mapping[str, Keep]] = {
    "held-out": {"rates": listed(_RATE), "shares": listed(number), "chance": number},
    "releases": {"way": one_of("together", "apart"), "releases": number, "risks": listed(_RELEASE)},
}
"""Fields of measures that are kept besides their findings."""

_TOP = fields(
    {
        "records": number,
        "verdict": fields(
            {
                "answer": one_of("above", "below", "open"),
                **dict.fromkeys(("low", "high", "tolerated", "confidence"), number),
                "findings": outside_findings(fields(dict.fromkeys(("low", "high", "confidence"), number))),
                "weighted": flag,
            }
        ),
    }
)


def for_external(given: Json) -> dict[str, Any]:
    """The JSON of `fit` or `risk` with nothing but what readers outside may know.

    Raises
    ------
    UsageError
        When there is no worst case.
    """
    whole = given.get("worst_case", given)
    if "runs" in given or not ("families" in whole or "aggregator" in whole):
        raise UsageError(
            "a report for external readers is about one worst case: give the JSON of risk or fit, "
            "and no sweep"
        )
    families = [_fit(one) for one in whole.get("families", (whole,)) if one.get("aggregator") in FAMILIES]
    kept = {**_TOP(given), "name": "", "attributes": [], "worst_case": {"families": families}}
    kept["measures"] = {
        name: _measure(name, content)
        for name, content in (given.get("measures") or {}).items()
        if name in FINDINGS
    }
    kept["certificates"] = listed(fields({"aggregator": _family, "verified": flag}))(
        given.get("certificates")
    )
    verdict = kept.get("verdict") or {}
    titles = _titles(weighted=bool(verdict.get("weighted")))
    return {**kept, "verdict": verdict or None, "not_measured": {}, "titles": titles}


def _titles(*, weighted: bool) -> dict[str, str]:
    """Titles of measures, with the units of their shares where two are used."""
    from linkrisk.solver.measures.registry import MEASURES

    return {name: MEASURES[name].heading(weighted=weighted, title=title) for name, title in TITLES.items()}


def _fit(one: Json) -> dict[str, Any]:
    if "reason" in one:
        return {"aggregator": one["aggregator"], "reason": "it was not searched"}
    return {**_FIT(one), "parameters": None}


def _measure(name: str, content: Json) -> dict[str, Any]:
    kept = fields(_MEASURES.get(name, {}))(content)
    return {**kept, "findings": [_finding(one) for one in content.get("findings", ()) if _allowed(name, one)]}


def _allowed(measure: str, finding: Json) -> bool:
    key = finding["key"]
    return key in FINDINGS[measure] or (key.startswith(FAMILY_KEYS) and _FINDING["key"](key) is not None)


def _finding(one: Json) -> dict[str, Any]:
    kept: dict[str, Any] = fields(_FINDING)(one)
    return {**kept, "words": _words(kept["key"])}


def _words(key: str) -> str:
    """The line of a finding in words of our own."""
    for start in FAMILY_KEYS:
        if key.startswith(start):
            name = key.removeprefix(start).replace("_", "-")
            return f"{name}, {meaning_of(key).words}"
    return meaning_of(key).words


def about(results: Results) -> Section:
    """What this page is, and what it leaves out."""
    lead = "How many records of a protected file could be re-identified at worst, and how sure that is."
    bounded = {family.name for family in results.bounded}
    made = results.details["certificates"]
    checked = sum(one["verified"] is True and one["aggregator"] in bounded for one in made)
    families = f"{checked} of {len(results.found)} families of distances"
    proof = f" A certificate of the bound was checked for {families}." if checked else ""
    text = (
        "The worst case assumes an intruder who knows the original values of all records, and who has found "
        f"the best distance of its kind.{proof}"
    )
    left_out = (
        "This page leaves out what would help an intruder: names and importance of attributes, parameters, "
        "records and groups, how the file was masked, and how the numbers were computed."
    )
    return Section("summary", "In short", lead, (Paragraph(text), Paragraph(left_out, quiet=True)))
