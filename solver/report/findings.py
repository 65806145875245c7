"""The headline of a report, and the findings of measures in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.documents.document import Headline, Number, Numbers
from linkrisk.solver.documents.wording import BASELINES, count, family_words, of_all, sentence, significant
from linkrisk.solver.measures.verdict import grounds_of, kinds, sentence_of
from linkrisk.solver.report.results import Results
from linkrisk.solver.run.number_format import confident, percent, with_confidence
from linkrisk.solver.schemas.intervals import by_lot, ends_said, meets, percents, without_recoding
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, run_ends, sweep_sentence

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
    """Explain a finding in one sentence; empty for an unknown one."""
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

UNKNOWN, COMPARED = "unknown", "compared"

FAR_BELOW = 0.5
"""A held-out attack below so much of the worst case is far below it."""


def headline(results: Results) -> Headline:
    """Make the headline of the page."""
    if results.sweep is not None and results.interval is None:
        return _of_sweep(results.sweep)
    short = in_short(results)
    said = _without_verdict(results) if results.verdict is None else short.verdict
    return Headline(short.answer, said, results.sentence, (*short.reasons, *_reasons(results)))


def in_short(results: Results) -> Headline:
    """Make the headline for terminal and notebook: a sentence of a fit, or the verdict on measures."""
    if results.verdict is None:
        return Headline(UNKNOWN, results.sentence, bar=results.bar)
    said = f"{sentence(sentence_of(results.verdict))}."
    grounds = tuple(grounds_of(results.verdict))
    return Headline(results.verdict["answer"], said, results.sentence, grounds, results.bar)


def _without_verdict(results: Results) -> str:
    """The worst case as a share, with guesses among equal candidates first, where there are some."""
    alone = results.ends
    shown, lots = alone, ""
    if results.guessed is not None:
        low, high = results.guessed
        shown, lots = replace(alone, low=low, high=high), by_lot(*alone.shares)
    whom = "the weighted records" if results.weighted else "the records"
    lots += with_confidence(alone.confidence)
    return f"At worst {_between(shown)} of {whom} can be re-identified{lots}."


def _between(interval: Interval) -> str:
    """An interval of shares in words: ``81.0 %``, ``between 50.0 % and 81.0 %``, or ``50.0 % or more``."""
    low, high = (percent(end) for end in interval.shares)
    if not interval.bounded:
        return f"{low} or more"
    return low if low == high else f"between {low} and {high}"


def _reasons(results: Results) -> Iterator[str]:
    """Why the verdict is what it is, and what it is worth."""
    interval, first = results.ends, results.found[0]
    whom = "records that stand for " if results.weighted else ""
    yield (
        f"The worst distance found is the {family_words(first.name)}: it re-identifies {whom}"
        f"{of_all(first.interval.low, first.interval.total, weighted=results.weighted)}."
    )
    yield _bounded(results, interval)
    known = first.content.get("best_known")
    if known is not None:
        name = BASELINES[known["attack"]]
        linked = of_all(known["linked"], first.interval.total, weighted=results.weighted)
        about = " The upper end is about the families searched only." if known.get("above_bound") else ""
        yield f"A distance of another family, the {name}, re-identifies more: {linked}.{about}"
    if missing := [family_words(family.name) for family in results.families if family.reason is not None]:
        yield f"Without a result, and so not covered: {', '.join(missing)}."
    yield from _beside(results, interval.shares[0])


def _bounded(results: Results, interval: Interval) -> str:
    """Explain the gap between attack and bound, with its proof."""
    if lacking := results.found[0].content.get("not_comparable"):
        return sentence(f"{without_recoding(lacking)}.")
    none = sentence(kinds([family_words(family.name) for family in results.bounded or results.found]))
    who = "which is proven" if interval.comparable else "as the search says: there is no certificate of it"
    if interval.confidence is None and meets(interval.low, interval.high):
        return f"{none} re-identifies more, {who}."
    if not results.bounded:
        return "No bound was found in time on how much more any distance could re-identify."
    what = f"{none} re-identifies more than {percent(interval.shares[1])}"
    if interval.confidence is None:
        return f"{what}, {who}; what lies between is open."
    return f"{what}, as random samples say with {confident(interval.confidence)}."


def _beside(results: Results, low: float) -> Iterator[str]:
    """Compare the worst case with other numbers."""
    held_out = best_held_out(results)
    if held_out is not None and low > 0.0:
        share, known = held_out
        far = share < FAR_BELOW * low
        yield (
            f"An intruder who knows {100.0 * known:g} % of the records and learns from them re-identifies "
            f"{percent(share)} of the others, {'far less than' if far else 'close to'} the worst case."
        )
    matched = results.finding("simple-attacks", "matched_equal_weights")
    if matched is not None and matched["value"] > low:
        yield (
            f"Matching all records at once, each masked one used once, gets {percent(matched['value'])} "
            "right: more than the worst case, which is about linking every record by itself."
        )
    chance = results.finding("references", "learned_on_shuffled")
    if chance is not None:
        yield (
            f"On a file with shuffled attributes, where there is nothing to find, learning still links "
            f"{percent(chance['value'])}: so much of a worst case means nothing."
        )


def best_held_out(results: Results) -> tuple[float, float] | None:
    """What the strongest intruder who learns from part of the records links, and which share he knows."""
    rates = [(rate["share"], rate["held_out"]) for rate in results.of_measure("held-out", "rates")]
    return max(rates)[::-1] if rates else None


def _of_sweep(sweep: Json) -> Headline:
    """Of a sweep alone, there is no single worst case."""
    runs = sweep["runs"]
    said = sweep_sentence(runs, len(runs) + len(sweep["unfinished"]))
    found = [ends for run in runs if run["status"] == "done" and (ends := run_ends(run)) is not None]
    if not found:
        return Headline(COMPARED, said, "No worst case was measured.")
    shares = percents(min(low for low, _ in found), max(high for _, high in found))
    worst = f"Whichever of them is released, at worst {shares} of the records can be re-identified."
    return Headline(COMPARED, said, worst)
