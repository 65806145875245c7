"""What readers outside may know of a worst case: what the schemas mark, so that what is new is left out.

Kept are numbers of the whole file and names from lists. No text of the results passes: it may name
attributes, records, files or how the file was masked.
"""

from __future__ import annotations

from typing import Any

from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.documents.document import Paragraph, Section
from linkrisk.solver.report.content.meanings import meaning_of
from linkrisk.solver.report.content.outside_verdict import SIMPLE_ATTACKS, outside_findings
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.short.risk import EQUAL, FAMILY_KEYS
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.fit import FamilyFit
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.risk import Finding, Risk

FAMILIES = tuple(AGGREGATORS)
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


_OF_FAMILIES = frozenset(
    start + name.replace("-", "_") for start in FAMILY_KEYS for name in (*FAMILIES, EQUAL)
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
    kept = outside(schema_of(Risk), given)
    verdict = {**kept.get("verdict", {})}
    if "findings" in verdict:
        verdict["findings"] = outside_findings(given["verdict"]["findings"])
    measures = {
        name: {**kept["measures"].get(name, {}), "findings": _findings(name, content)}
        for name, content in (given.get("measures") or {}).items()
        if name in FINDINGS
    }
    return {
        "records": kept.get("records"),
        "name": "",
        "attributes": [],
        "worst_case": {"families": families},
        "measures": measures,
        "certificates": kept.get("certificates", []),
        "verdict": verdict or None,
        "not_measured": {},
        "titles": _titles(weighted=bool(verdict.get("weighted"))),
    }


def _titles(*, weighted: bool) -> dict[str, str]:
    """Titles of measures, with the units of their shares where two are used."""
    from linkrisk.solver.measures.registry import MEASURES

    return {name: MEASURES[name].heading(weighted=weighted, title=title) for name, title in TITLES.items()}


def _fit(one: Json) -> dict[str, Any]:
    if "reason" in one:
        return {"aggregator": one["aggregator"], "reason": "it was not searched"}
    return {**outside(schema_of(FamilyFit), one), "parameters": None}


def _findings(measure: str, content: Json) -> list[dict[str, Any]]:
    """Findings of the whole file and of families, in words of our own."""
    found = [one for one in content.get("findings", ()) if one["key"] in {*FINDINGS[measure], *_OF_FAMILIES}]
    known = schema_of(Finding)
    return [{**outside(known, one), "key": one["key"], "words": _words(one["key"])} for one in found]


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
