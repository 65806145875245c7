"""What every finding of a measure says, in one sentence for a reader who has not met it before."""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """The line of a finding, where its own words may name attributes; and what it says."""

    words: str
    says: str


_M = Meaning

MEANINGS: dict[str, Meaning] = {
    # simple attacks, changes
    "equal_weights": _M("equal weights", "The nearest masked record, every attribute counting the same."),
    "classical_mahalanobis": _M(
        "classical Mahalanobis", "The same by the textbook distance for correlated attributes."
    ),
    "other_units": _M(
        "equal weights, other units",
        "Equal weights where numbers are in units of the original, or by their own in each file.",
    ),
    "ranks": _M(
        "equal weights, ranks",
        "Equal weights of ranks: who is high and who is low, whatever has become of the scale.",
    ),
    "ranks_mahalanobis": _M("classical Mahalanobis, ranks", "The textbook distance of ranks."),
    "households": _M(
        "equal weights, households together",
        "Each record is compared together with the means of those that it lives with, and their number.",
    ),
    "households_mahalanobis": _M(
        "classical Mahalanobis, households together", "The textbook distance of the same."
    ),
    "probabilistic": _M(
        "probabilistic linkage", "The method of statistical offices, which learns without any truth."
    ),
    "matched_equal_weights": _M(
        "equal weights, one to one",
        "All records are matched at once, each masked one used once; this may exceed the worst case, which "
        "links every record by itself.",
    ),
    "bayesian": _M(
        "Bayesian, half known",
        "An intruder who knows half of the records, and how they were masked from that.",
    ),
    "likelihood": _M(
        "likelihood ratios, most known",
        "An intruder who knows most records: rare values that agree count most, numbers are predicted.",
    ),
    "household_members": _M(
        "likelihood ratios, whole households",
        "The same by what all members of a household say together; who was changed much is who is left.",
    ),
    "record_order": _M(
        "likelihood ratios with the order of the records",
        "The same who also uses the places of released records, which go with what is known of them.",
    ),
    "values_changed": _M("values changed", "Values of compared columns that are not what they were."),
    "left_alone": _M("compared columns left exactly as they are", "Columns that protect nobody."),
    # references
    "unmasked": _M("no masking at all", "Records that would be re-identified if nothing had been masked."),
    "shuffled": _M(
        "attributes shuffled, equal weights", "What is linked by chance when every attribute is shuffled."
    ),
    "learned_on_shuffled": _M(
        "attributes shuffled, weights learned", "What learning finds where there is nothing to find."
    ),
    "chance": _M("matched at random", "What a random one-to-one matching gets right."),
    # attributes
    "importance": _M(
        "largest importance of an attribute", "How much of the worst distance one attribute makes up."
    ),
    "fall": _M(
        "largest fall without one attribute", "How much the worst case falls if one attribute is withheld."
    ),
    # records
    "linked_by_any": _M(
        "re-identified by any of the attacks",
        "Records that at least one attack finds: several guesses for each, so that no verdict goes by it.",
    ),
    "linked_by_all": _M("by all of them", "Records that every attack finds: they are easy prey."),
    "out_of_reach": _M(
        "provably by no parameters of any family", "Records that no distance of these families can find."
    ),
    "hidden": _M("not by the worst attack, and two near rivals", "Records that look-alikes hide well."),
    "worst_group": _M("worst group", "The share of the group of records that is hit hardest."),
    # held-out
    "over_fit_gap": _M(
        "over-fit gap", "How much less a learned distance links of records it was not learned from."
    ),
    "one_to_one": _M("one to one, half known", "The same intruder, who uses each masked record only once."),
    # membership
    "journalist": _M("journalist", "The intruder does not know whether the person is in the file."),
    "prosecutor": _M("prosecutor", "The intruder knows that the person is in the file."),
    "marketer": _M("marketer: right claims, all links kept", "The intruder wants many right links, not one."),
    "highest_journalist": _M(
        "journalist, highest of a linked record", "The risk of the record that is hit hardest."
    ),
    "persons": _M(
        "linked if all were in the file", "How many persons of the population the links stand for."
    ),
    # reliability
    "right": _M(
        "best candidates that are right",
        "How often the best match of probabilistic linkage is the right one.",
    ),
    "reliability_lower": _M("reliability at the lowest weight", "How sure the weakest links are."),
    "reliability_upper": _M("reliability at the highest weight", "How sure the strongest links are."),
    "weight_at_target": _M(
        "weight of 90 % reliability", "The match weight from which links are as good as sure."
    ),
    # keys
    "below_2_anonymity": _M(
        "sample uniques (below 2-anonymity)", "Records that nobody else in the file looks like."
    ),
    "below_2_anonymity_wildcard": _M(
        "the same, missing values fit any", "Sample uniques when a missing value may be anything."
    ),
    "below_3_anonymity": _M("below 3-anonymity", "Records with at most one look-alike."),
    "below_5_anonymity": _M("below 5-anonymity", "Records with at most three look-alikes."),
    "original_below_2_anonymity": _M("sample uniques of the original file", "The same before masking."),
    "global_risk": _M(
        "global risk (mean of individual risks)", "The chance to find a record by its key variables."
    ),
    "expected": _M("expected re-identifications", "How many records that would be."),
    "highest_risk": _M("highest individual risk", "The risk of the record that is hit hardest."),
    "global_household_risk": _M("mean of household risks", "The chance to find someone of a household."),
    "global_risk_wildcard": _M(
        "global risk, missing values fit any", "Global risk when a missing value may be anything."
    ),
    "special_uniques": _M("unique on few keys", "Records that very few key variables make unique."),
    "with_msu": _M("with any minimal sample unique", "Records that some set of key variables makes unique."),
    "dis": _M("a unique match is correct (DIS)", "The chance that a match of a unique record is right."),
    "highest_dis_suda": _M("highest DIS-SUDA of a record", "The same for the record that is hit hardest."),
    "sample_uniques": _M(
        "unique in the file on its keys", "Records that nobody else in the file looks like."
    ),
    "tau_1": _M("unique in the population too", "Records that nobody else in the population looks like."),
    "tau_2": _M("right links to uniques, keys unmasked", "Links to the population that would be right."),
    "tau_2_released": _M("right links to uniques, as released", "The same by the masked key variables."),
    "limit_one_record": _M("limit of who knows one record", "What no attack exceeds that knows one record."),
    "limit_all_records": _M(
        "limit of who knows all records", "What no attack exceeds that knows all records."
    ),
    "misfit": _M(
        "misfit of the model, in deviations", "How badly the population model fits; beyond 2 be careful."
    ),
    "below_2_diversity": _M(
        "one confidential value in the group", "Records whose group gives a confidential value away."
    ),
    "least_distinct_l": _M("least distinct l", "Different confidential values in the least varied group."),
    "least_entropy_l": _M("least entropy l", "The same, counting how evenly the values are spread."),
    "most_t": _M("largest t (t-closeness)", "How far the most unusual group is from the whole file."),
    "mean_t": _M("mean t over records", "How far groups are from the whole file on average."),
    # values
    "rank_intervals": _M(
        "within 1 to 10 % of the ranks", "Values that the released value gives away closely, by rank."
    ),
    "rank_intervals_jointly": _M(
        "all attributes within 10 %", "Records of which every value is given away that closely."
    ),
    "sdid": _M("within 1 to 10 % of a std. deviation (SDID)", "The same, by standard deviations."),
    "sdid_jointly": _M(
        "all attributes within 10 % (SDID)", "Records of which every value is given away that closely."
    ),
    "sdcmicro_drisk": _M(
        "sdcMicro's dRisk, k = 0.05", "Records that stay close to their original in every value."
    ),
    "rmdid1": _M("RMDID1", "Records that stay close to their original, judged robustly."),
    "rmdid2": _M("RMDID2, unsafe and alone", "Of these, records with no other close by."),
    # loss
    "il1s": _M(
        "IL1s of numbers", "How far masked numbers are off, in standard deviations times the root of 2."
    ),
    "mean_difference": _M("means, in standard deviations", "How far means have moved."),
    "variance_difference": _M("variances, relative", "How far variances have moved."),
    "covariance_difference": _M("covariances, standardised", "How far covariances have moved."),
    "correlation_difference": _M("correlations", "How far correlations have moved."),
    "eigenvalue_difference": _M(
        "eigenvalues of the correlations", "How far the structure of correlations has moved."
    ),
    "regression_difference": _M("regression coefficients, standardised", "How far regressions have moved."),
    "overlap_lost": _M(
        "their 95 % intervals, overlap lost", "How much less the confidence intervals of regressions overlap."
    ),
    "total_variation": _M(
        "category frequencies, total variation", "Share of records that would have to change back."
    ),
    "hellinger": _M(
        "category frequencies, Hellinger distance", "Distance between frequencies before and after."
    ),
    "suppressed": _M("values suppressed", "Values that were taken out."),
    "pmse": _M(
        "propensity scores, pMSE", "How well a model tells masked from original records; 0 is not at all."
    ),
    "pmse_ratio": _M(
        "pMSE ratio (1: drawn from the original)", "The same beside chance: 1 is as good as a new sample."
    ),
    # releases
    "all_releases": _M("all releases", "The worst case of an intruder who has all releases."),
    "first_release": _M("the first release alone", "The worst case before the later releases came."),
    "guessed_with_first": _M("guessed with the first", "Right guesses with the first release alone."),
    "intersected": _M(
        "guessed by intersecting", "Right guesses of who keeps the candidates that all releases share."
    ),
    "candidates_left": _M("candidates left", "How many candidates are left of each person then."),
}

PREFIXES: dict[str, Meaning] = {
    "worst_case_": _M("worst case", "The certified worst case of this family of distances."),
    "held_out_": _M("held-out attack", "What is linked by a distance that was learned from other records."),
    "rise_": _M("rise since the first release", "How much the worst case rises with the later releases."),
    "prosecutor_": _M("prosecutor", "The intruder knows that the person is in the file."),
    "journalist_": _M("journalist", "The intruder does not know whether the person is in the file."),
    "found_": _M("found and bound", "What an attack finds, and what none of its kind exceeds."),
    "expected_": _M("expected", "What the same attack would find on average over maskings of this kind."),
    "compatible_": _M("compatible", "Links that the masking allows at all."),
    "marketer_": _M("marketer", "The intruder wants many right links, not one."),
}


def meaning_of(key: str) -> Meaning:
    """What a finding says; empty sentences for one that is not known here."""
    known = MEANINGS.get(key)
    if known is not None:
        return known
    return next((said for start, said in PREFIXES.items() if key.startswith(start)), Meaning("", ""))
