"""External view of a worst case: the keys that schemas mark as public.

Kept are numbers of the whole file and names from lists. No text of the results passes: it may name
attributes, records, files or how the file was masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linkrisk.formulations.linkage.aggregators import AGGREGATORS, words_of
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.measures.verdict import (
    ATTACK,
    IDENTIFIERS,
    ORDER,
    RELATED,
    UNCHANGED,
    Severity,
    sentence_by_key,
)
from linkrisk.solver.report.findings import EQUAL, FAMILY_KEYS
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.fit import FamilyFit
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.risk import Finding, Risk, VerdictFinding

FINDINGS = {
    "simple-attacks": {
        "equal_weights": "equal weights",
        "classical_mahalanobis": "classical Mahalanobis",
        "other_units": "equal weights, other units",
        "ranks": "equal weights, ranks",
        "ranks_mahalanobis": "classical Mahalanobis, ranks",
        "households": "equal weights, households together",
        "households_mahalanobis": "classical Mahalanobis, households together",
        "probabilistic": "probabilistic linkage",
        "matched_equal_weights": "equal weights, one to one",
        "bayesian": "Bayesian, half known",
        "likelihood": "likelihood ratios, most known",
        "household_members": "likelihood ratios, whole households",
        "record_order": "likelihood ratios with the order of the records",
    },
    "references": {
        "unmasked": "no masking at all",
        "learned_on_shuffled": "attributes shuffled, weights learned",
        "shuffled": "attributes shuffled, equal weights",
        "chance": "matched at random",
    },
    "worst-case": {},
    "releases": {"all_releases": "all releases", "first_release": "the first release alone"},
    "records": {
        "linked_by_any": "re-identified by any of the attacks",
        "linked_by_all": "by all of them",
        "out_of_reach": "provably by no parameters of any family",
    },
    "held-out": {"over_fit_gap": "over-fit gap", "one_to_one": "one to one, half known"},
    "membership": {
        "prosecutor": "prosecutor",
        "journalist": "journalist",
        "persons": "linked if all were in the file",
    },
    "uniqueness": {
        "below_2_anonymity": "sample uniques (below 2-anonymity)",
        "below_3_anonymity": "below 3-anonymity",
        "below_5_anonymity": "below 5-anonymity",
        "original_below_2_anonymity": "sample uniques of the original file",
    },
    "individual-risk": {
        "global_risk": "global risk (mean of individual risks)",
        "expected": "expected re-identifications",
    },
    "population-uniqueness": {
        "tau_1": "unique in the population too",
        "tau_2_released": "right links to uniques, as released",
    },
    "suda": {"with_msu": "with any minimal sample unique"},
    "diversity": {"below_2_diversity": "one confidential value in the group"},
    "information-loss": {
        "il1s": "IL1s of numbers",
        "mean_difference": "means, in standard deviations",
        "variance_difference": "variances, relative",
        "covariance_difference": "covariances, standardised",
        "correlation_difference": "correlations",
        "eigenvalue_difference": "eigenvalues of the correlations",
        "regression_difference": "regression coefficients, standardised",
        "overlap_lost": "their 95 % intervals, overlap lost",
        "total_variation": "category frequencies, total variation",
        "hellinger": "category frequencies, Hellinger distance",
        "suppressed": "values suppressed",
        "pmse": "propensity scores, pMSE",
        "pmse_ratio": "pMSE ratio (1: drawn from the original)",
    },
}
"""Findings of the whole file that are kept, by measure, in words of our own."""

_OF_FAMILIES = {
    start + name.replace("-", "_"): f"{name}, {words}"
    for start, words in FAMILY_KEYS.items()
    for name in (*AGGREGATORS, EQUAL)
}
"""And those of families."""

TITLED = (
    "records",
    "held-out",
    "membership",
    "uniqueness",
    "individual-risk",
    "population-uniqueness",
    "suda",
    "diversity",
)
"""Measures that the page shows by their titles, which name no file."""

_SENTENCES: dict[str, str] = {
    IDENTIFIERS: "the release has columns that name its records",
    UNCHANGED: "columns that were released as they are are not compared",
    RELATED: "columns that go with the original are not compared",
    ORDER: "the order of the records tells whose they are",
}
"""For keys of findings of a verdict that are not about what an intruder links."""

_OTHER = "something that is not shown here stands against the release"

_TITLES = tuple(words_of(name).title for name in AGGREGATORS)
_NAMES = frozenset(
    (
        *FINDINGS["simple-attacks"].values(),
        "the order of the records",
        "intersecting candidates",
        *("knowing one record and the masking", "knowing all records and the masking"),
        *_TITLES,
        *(
            f"{name}{how}, {known} % known"
            for name in (*_TITLES, "equal weights")
            for how in ("", " one to one")
            for known in ("10", "25", "50")
        ),
    )
)
"""What findings of a verdict may be about: attacks, families, and what is learned by one."""


def for_external(given: Json) -> dict[str, Any]:
    """The JSON of `fit` or `risk` with nothing but what readers outside may know.

    Raises UsageError when there is no worst case.
    """
    whole = given.get("worst_case", given)
    if "runs" in given or not ("families" in whole or "aggregator" in whole):
        raise UsageError(
            "a report for external readers is about one worst case: give the JSON of risk or fit, "
            "and no sweep"
        )
    kept = outside(schema_of(Risk), given)
    verdict = {**kept.get("verdict", {})}
    if "findings" in verdict:
        verdict["findings"] = list(_of_verdict(given["verdict"]["findings"]))
    families = [_fit(one) for one in whole.get("families", (whole,)) if one.get("aggregator") in AGGREGATORS]
    weighted = bool(verdict.get("weighted"))
    return {
        "records": kept.get("records"),
        "name": "",
        "attributes": [],
        "worst_case": {"families": families},
        "measures": {
            name: {**kept["measures"].get(name, {}), "findings": _findings(FINDINGS[name], content)}
            for name, content in (given.get("measures") or {}).items()
            if name in FINDINGS
        },
        "certificates": kept.get("certificates", []),
        "verdict": verdict or None,
        "not_measured": {},
        "titles": {name: MEASURES[name].heading(weighted=weighted) for name in TITLED},
    }


def _fit(one: Json) -> dict[str, Any]:
    if "reason" in one:
        return {"aggregator": one["aggregator"], "reason": "it was not searched"}
    return {**outside(schema_of(FamilyFit), one), "parameters": None}


def _findings(measure: Mapping[str, str], content: Json) -> list[dict[str, Any]]:
    """Findings of the file and of families, in our own words."""
    said = {**measure, **_OF_FAMILIES}
    return [
        {**outside(schema_of(Finding), one), "key": one["key"], "words": said[one["key"]]}
        for one in content.get("findings", ())
        if one["key"] in said
    ]


def _of_verdict(given: Any) -> Iterator[dict[str, Any]]:
    """Findings in words of our own: of one that has none readers learn that there is one, if it weighs."""
    for one in given:
        if not isinstance(one, Mapping) or one.get("severity") not in list(Severity):
            continue
        key, severity, listed = str(one.get("key")), one["severity"], one.get("about")
        about = [name for name in listed if name in _NAMES] if isinstance(listed, list | tuple) else []
        ends = dict.fromkeys(("low", "high", "confidence")) | outside(schema_of(VerdictFinding), one)
        kept = {"key": key, "severity": severity, "about": about, **ends}
        said = _SENTENCES.get(key)
        if said is None and (about or not key.startswith(ATTACK)):
            said = sentence_by_key(kept)
        if said is not None:
            yield {**kept, "sentence": said}
        elif severity != Severity.INFORMATION:
            yield {**kept, "key": "other", "sentence": _OTHER}
