"""Findings of measures: how each is written, and what it says to a reader who has not met it before."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.documents.document import Number, Numbers
from linkrisk.solver.documents.formats import count, significant
from linkrisk.solver.documents.wording import sentence
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.intervals import ends_said
from linkrisk.solver.schemas.keys import Json

EQUAL = "equal-weights"
FAMILY_KEYS = {
    "worst_case_": "worst case",
    "held_out_": "held-out attack",
    "rise_": "rise since the first release",
}
"""Beginnings of keys of findings that end in a family, with what they are."""

_MANY = 10_000.0
"""From here on numbers are written without decimals."""

_DIRECTIONS = {"higher": "higher is worse", "lower": "lower is worse"}


def numbers_of(title: str, findings: Sequence[Json]) -> Numbers:
    """Findings of a measure, one below the other."""
    return Numbers(title, tuple(map(number_of, findings)))


def number_of(finding: Json) -> Number:
    """A finding of a measure with its interval, which way is worse, and what it means."""
    unit, low, high = finding["unit"], finding["low"], finding["high"]
    interval, kind, key = "", finding["kind"], finding["key"]
    if kind is not None:
        interval = ends_said(
            low, high, "for certain" if kind == "certain" else kind, lambda end: written(end, unit),
            certain=kind == "certain", share=unit == "share",
        )  # fmt: skip
    words, direction = sentence(_in_words(key, finding["words"])), _DIRECTIONS.get(finding["worse"], "")
    return Number(words, written(finding["value"], unit), interval, direction, meaning_of(key))


def written(value: float | None, unit: str) -> str:
    """A number with its unit."""
    if value is None:
        return "not known"
    if unit == "share":
        return percent(value)
    if unit in ("records", "persons"):
        return f"{count(value if unit == 'records' else round(value))} {unit}"
    text = count(round(value)) if abs(value) >= _MANY else significant(value)
    return f"{text} {unit}" if unit == "percentage points" else text


def _in_words(key: str, line: str) -> str:
    """A line that begins with the name of a family, as options have it, begins with words instead."""
    start = next((start for start in FAMILY_KEYS if key.startswith(start)), key)
    name = key.removeprefix(start).replace("_", "-")
    if not name or not line.startswith(name):
        return line
    return ("equal weights" if name == EQUAL else words_of(name).title) + line.removeprefix(name)


def meaning_of(key: str) -> str:
    """What a finding says, in one sentence; nothing of one that is not known here."""
    return MEANINGS.get(key) or next((said for start, said in _STARTS.items() if key.startswith(start)), "")


MEANINGS = {
    # simple attacks, changes
    "equal_weights": "The nearest masked record, every attribute counting the same.",
    "classical_mahalanobis": "The same by the textbook distance for correlated attributes.",
    "other_units": "Equal weights where numbers are in units of the original, or by their own in each file.",
    "ranks": "Equal weights of ranks: who is high and who is low, whatever has become of the scale.",
    "ranks_mahalanobis": "The textbook distance of ranks.",
    "households": (
        "Each record is compared together with the means of those that it lives with, and their number."
    ),
    "households_mahalanobis": "The textbook distance of the same.",
    "probabilistic": "The method of statistical offices, which learns without any truth.",
    "matched_equal_weights": (
        "All records are matched at once, each masked one used once; this may exceed the worst "
        "case, which links every record by itself."
    ),
    "bayesian": "An intruder who knows half of the records, and how they were masked from that.",
    "likelihood": (
        "An intruder who knows most records: rare values that agree count most, numbers are predicted."
    ),
    "household_members": (
        "The same by what all members of a household say together; who was changed much is who is left."
    ),
    "record_order": (
        "The same who also uses the places of released records, which go with what is known of them."
    ),
    "values_changed": "Values of compared columns that are not what they were.",
    "left_alone": "Columns that protect nobody.",
    # references
    "unmasked": "Records that would be re-identified if nothing had been masked.",
    "shuffled": "What is linked by chance when every attribute is shuffled.",
    "learned_on_shuffled": "What learning finds where there is nothing to find.",
    "chance": "What a random one-to-one matching gets right.",
    # attributes
    "importance": "How much of the worst distance one attribute makes up.",
    "fall": "How much the worst case falls if one attribute is withheld.",
    # records
    "linked_by_any": (
        "Records that at least one attack finds: several guesses for each, so that no verdict goes by it."
    ),
    "linked_by_all": "Records that every attack finds: they are easy prey.",
    "out_of_reach": "Records that no distance of these families can find.",
    "hidden": "Records that look-alikes hide well.",
    "worst_group": "The share of the group of records that is hit hardest.",
    # held-out
    "over_fit_gap": "How much less a learned distance links of records it was not learned from.",
    "one_to_one": "The same intruder, who uses each masked record only once.",
    # membership
    "highest_journalist": "The risk of the record that is hit hardest.",
    "persons": "How many persons of the population the links stand for.",
    # reliability
    "right": "How often the best match of probabilistic linkage is the right one.",
    "reliability_lower": "How sure the weakest links are.",
    "reliability_upper": "How sure the strongest links are.",
    "weight_at_target": "The match weight from which links are as good as sure.",
    # keys
    "below_2_anonymity": "Records that nobody else in the file looks like.",
    "below_2_anonymity_wildcard": "Sample uniques when a missing value may be anything.",
    "below_3_anonymity": "Records with at most one look-alike.",
    "below_5_anonymity": "Records with at most three look-alikes.",
    "original_below_2_anonymity": "The same before masking.",
    "global_risk": "The chance to find a record by its key variables.",
    "expected": "How many records that would be.",
    "highest_risk": "The risk of the record that is hit hardest.",
    "global_household_risk": "The chance to find someone of a household.",
    "global_risk_wildcard": "Global risk when a missing value may be anything.",
    "special_uniques": "Records that very few key variables make unique.",
    "with_msu": "Records that some set of key variables makes unique.",
    "dis": "The chance that a match of a unique record is right.",
    "highest_dis_suda": "The same for the record that is hit hardest.",
    "sample_uniques": "Records that nobody else in the file looks like.",
    "tau_1": "Records that nobody else in the population looks like.",
    "tau_2": "Links to the population that would be right.",
    "tau_2_released": "The same by the masked key variables.",
    "limit_one_record": "What no attack exceeds that knows one record.",
    "limit_all_records": "What no attack exceeds that knows all records.",
    "misfit": "How badly the population model fits; beyond 2 be careful.",
    "below_2_diversity": "Records whose group gives a confidential value away.",
    "least_distinct_l": "Different confidential values in the least varied group.",
    "least_entropy_l": "The same, counting how evenly the values are spread.",
    "most_t": "How far the most unusual group is from the whole file.",
    "mean_t": "How far groups are from the whole file on average.",
    # values
    "rank_intervals": "Values that the released value gives away closely, by rank.",
    "rank_intervals_jointly": "Records of which every value is given away that closely.",
    "sdid": "The same, by standard deviations.",
    "sdid_jointly": "Records of which every value is given away that closely.",
    "sdcmicro_drisk": "Records that stay close to their original in every value.",
    "rmdid1": "Records that stay close to their original, judged robustly.",
    "rmdid2": "Of these, records with no other close by.",
    # loss
    "il1s": "How far masked numbers are off, in standard deviations times the root of 2.",
    "mean_difference": "How far means have moved.",
    "variance_difference": "How far variances have moved.",
    "covariance_difference": "How far covariances have moved.",
    "correlation_difference": "How far correlations have moved.",
    "eigenvalue_difference": "How far the structure of correlations has moved.",
    "regression_difference": "How far regressions have moved.",
    "overlap_lost": "How much less the confidence intervals of regressions overlap.",
    "total_variation": "Share of records that would have to change back.",
    "hellinger": "Distance between frequencies before and after.",
    "suppressed": "Values that were taken out.",
    "pmse": "How well a model tells masked from original records; 0 is not at all.",
    "pmse_ratio": "The same beside chance: 1 is as good as a new sample.",
    # releases
    "all_releases": "The worst case of an intruder who has all releases.",
    "first_release": "The worst case before the later releases came.",
    "guessed_with_first": "Right guesses with the first release alone.",
    "intersected": "Right guesses of who keeps the candidates that all releases share.",
    "candidates_left": "How many candidates are left of each person then.",
}

_STARTS = {
    "worst_case_": "The certified worst case of this family of distances.",
    "held_out_": "What is linked by a distance that was learned from other records.",
    "rise_": "How much the worst case rises with the later releases.",
    "prosecutor": "The intruder knows that the person is in the file.",
    "journalist": "The intruder does not know whether the person is in the file.",
    "found_": "What an attack finds, and what none of its kind exceeds.",
    "expected_": "What the same attack would find on average over maskings of this kind.",
    "compatible_": "Links that the masking allows at all.",
    "marketer": "The intruder wants many right links, not one.",
}
"""By the beginning of a key, whose end names a family or an attacker."""
