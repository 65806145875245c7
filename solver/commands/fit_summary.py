"""What `fit` prints: the answer in a few lines, for one family of distances and for several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.formulations.linkage.aggregators import Words, words_of
from linkrisk.solver.commands.headline import headline
from linkrisk.solver.documents.formats import count, weight
from linkrisk.solver.report.short.wording import (
    baseline_name,
    baseline_pairs,
    files_line,
    heading,
    listed,
    share,
    strata_lines,
    way,
)
from linkrisk.solver.report.words import family_title, state, sum_of_parts
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.results import EXPECTED, WEIGHTED, FamilyFit, least_key, objective
from linkrisk.solver.run.worst_sentence import without_recoding
from linkrisk.solver.worst_case.result import Family, FitResult

_REASONS = {
    "time": "the time limit was reached; a longer --time-limit or fewer attributes may narrow the interval",
    "work": "the work limit was reached; a larger --work-limit or fewer attributes may narrow the interval",
    "user": "stopped before the end; a longer run narrows the interval",
    "ties": "differences that count as ties keep the two numbers apart; the note says which",
    "memory": "memory ran out; a larger --memory-limit, fewer records or attributes may narrow it",
}
_NO_LIMIT = "the engine could not narrow the interval further"


def summary(fitted: FitResult) -> str:
    """The answer: of one family in full; of several a table of them, and what the worst one relies on."""
    if not fitted.alone:
        return _of_families(fitted)
    result, details = fitted.worst, fitted.details
    lines = [
        *heading(details, result.records),
        "",
        *headline(fitted),
        "",
        *_interval(result),
        *listed(_affected(result)),
        "",
        *listed(baseline_pairs(details["baselines"], result.total)),
        *_beyond(result),
        "",
        *parameter_lines(result),
        "",
        *strata_lines(details),
        *_notes(details),
        _making(details),
    ]
    return "\n".join(lines) + "\n"


def _of_families(results: FitResult) -> str:
    worst, details = results.worst, results.details
    lines = [
        *files_line(details, worst.records),
        f"{several(len(results.results), 'family', 'families')} of distances, {way(details['direction'])}",
        "",
        *headline(results),
        "",
        *_families_table(results),
        "",
        *_worst_of(results),
        "",
        *listed(baseline_pairs(worst.details["baselines"], worst.total)),
        *(_beyond(worst) if _outside_all(results) else []),
        "",
        f"  of the {family_title(worst.details)}:",
        *parameter_lines(worst),
        "",
        *strata_lines(worst.details),
        *_notes(details),
        *(
            f"note on the {family_title(result.details)}: {note}"
            for result in results.results.values()
            for note in result.details["notes"]
            if note not in details["notes"]
        ),
        f"{details['engine']}, seed {details['seed']}{_workers(worst.details)}, {details['seconds']:.1f} s",
    ]
    return "\n".join(lines) + "\n"


# The interval


def _interval(result: FamilyFit) -> list[str]:
    """The interval that holds the worst case, and the state of its proof."""
    records, (low, high) = _shown(result.total, result), (_shown(end, result) for end in result.interval)
    what = _what(result)
    if result.confidence is not None:
        return _sampled(result, what)
    if result.proven:
        pairs = [(f"{what} in the worst case", share(low, records)), ("at most", share(high, records))]
        margin = result.details["margin"]
        least = "" if margin is None else f" by a margin of {margin:g}"
        proven = "proven" if result.said_proven else "by the search, its certificate is to come"
        said = f"  {proven}: no other parameters re-identify more{least}"
        return [*listed(pairs), said, *_sum_of_parts(result.details)]
    pairs = [
        (f"{what}, at least", share(low, records)),
        _at_most(what, high, records, bounded=result.bounded),
    ]
    return [*listed(pairs), f"  not proven: {why_not_proven(result)}", *_sum_of_parts(result.details)]


def _at_most(what: str, high: float, records: float, *, bounded: bool) -> tuple[str, str]:
    """The upper end, or that there is none."""
    return f"{what}, at most", share(high, records) if bounded else "no bound was found in time"


def _sum_of_parts(details: Mapping[str, Any]) -> list[str]:
    """What the bound is the sum of, if it is one."""
    return [f"  {sum_of_parts(details['parts'])}"] if "parts" in details else []


def _sampled(result: FamilyFit, what: str) -> list[str]:
    """The limit of samples, with its confidence; what was seen in them; and who was counted."""
    records, (low, high) = _shown(result.total, result), (_shown(end, result) for end in result.interval)
    sampling = result.details["sampling"]
    sample, counted = sampling["sample"], sampling["counted"]
    confidence = f"{_percent(result)} confidence"
    most = f"{share(high, records)}, with {confidence}"
    lines = listed([(f"{what}, at least", share(low, records)), (f"{what}, at most", most)])
    lines.append(
        f"  from {count(sample['samples'])} samples of {count(sampling['draw']['size'])} records: of their "
        f"{count(sample['records'])}, this attack links {count(sample['linked'])} and none more than "
        f"{count(sample['linked_upper_bound'])}"
    )
    if not counted["all"]:
        text = f"  the attack was counted on {count(counted['records'])} of {count(result.records)} records"
        if least_key(objective(result.details)) in counted:
            text += f", and links {share(low, records)} of all at least, with {confidence}"
        lines.append(text)
    return lines


def _shown(links: float, result: FamilyFit) -> float:
    """Links as they are shown: of sampling weights whole persons."""
    return round(links) if objective(result.details) == WEIGHTED else links


def _percent(result: FamilyFit | FitResult) -> str:
    return f"{100.0 * (result.confidence or 0.0):.4g} %"


def _what(result: FamilyFit) -> str:
    return {WEIGHTED: "weighted links", EXPECTED: "expected links"}.get(
        objective(result.details), "re-identified"
    )


def why_not_proven(result: FamilyFit) -> str:
    """What ended the search before its two ends met, or why that says nothing."""
    if result.details.get("not_comparable"):
        return without_recoding(result.details["not_comparable"])
    if result.status == "interrupted":
        return _REASONS["user"]
    return _REASONS.get(result.limit or "", _NO_LIMIT)


def _affected(result: FamilyFit) -> list[tuple[str, str]]:
    """Which records no parameters reach, and which the tie rule decides about."""
    records, details = result.records, result.details
    pairs = []
    if details["ties"] == "share":
        pairs.append(("nearest up to identical ones", share(result.linked, records)))
    elif "weight" in details:
        pairs.append(("re-identified records", share(result.linked, records)))
    if details["lost"]:
        pairs.append(("out of reach for any parameters", share(details["lost"], records)))
    tied, twins = details["tied"]["records"], details["tied"]["with_twins"]
    if tied:
        pairs.append(("partner tied, so not counted", share(tied, records) + _see_ties(tied, twins)))
    expected = details["tied"].get("expected_links", 0.0)
    if expected > result.interval[0]:
        pairs.append(("expected, guessing among equals", share(_shown(expected, result), result.total)))
    return pairs


def _see_ties(tied: int, twins: int) -> str:
    """Only ties with identical records are ones that the other tie rule would count."""
    if not twins:
        return ""
    return (
        "; see --ties share" if twins == tied else f"; {count(twins)} with identical ones, see --ties share"
    )


# Beside other distances


def _beyond(result: FamilyFit) -> list[str]:
    """A baseline of another family that links more."""
    known = result.details["best_known"]
    if known is None:
        return []
    name, linked = baseline_name(known["attack"]), count(known["linked"])
    family = family_title(result.details)
    how = f"try {known['options']}" if known["options"] else "no family of --aggregator contains it"
    if known["above_bound"]:
        return [
            f"  more than any {family}: the {name} links {linked}",
            f"  the bound is about this family only; {how}",
        ]
    return [f"  more than the {family} found: the {name} links {linked}; {how}"]


def _outside_all(results: FitResult) -> bool:
    """Whether the worst of all families is still less than a baseline outside of them."""
    known = results.worst.details["best_known"]
    return known is not None and known["linked"] > results.interval[0]


# Parameters


def parameter_lines(result: FamilyFit) -> list[str]:
    """The importance of each attribute, or the weight of each rank (or part); what breaks ties is named."""
    importance, words = result.details["importance"], words_of(result.details["aggregator"])
    numbers = result.parameters["weights"] if importance is None else importance
    return [f"  {words.numbers}", *_columns(numbers, words, result)]


def _columns(values: Mapping[str, float], words: Words, result: FamilyFit) -> list[str]:
    width = max(len(shown_name(name)) for name in values)
    breaking = result.details["tie_breaking"]
    names = [] if breaking is None else breaking[words.owners]
    these = "it" if len(names) == 1 else f"these {len(names)}"
    lines = []
    for name, value in values.items():
        text = weight(value, breaks_ties=name in names)
        if name in names:
            text += f" ({value:.1e}: {_effect(breaking['linked_without'], these, result)})"
        lines.append(f"    {shown_name(name):<{width}}  {text}")
    return lines


def _effect(without: float | None, these: str, result: FamilyFit) -> str:
    if without is None:
        return "may break ties; no time was left to count"
    return f"breaks ties; without {these}, {count(without)} of {count(result.linked)} are linked"


# Several families


def _families_table(results: FitResult) -> list[str]:
    """A line for each family; and why some have none."""
    titles = {
        name: _short_title(family) for name, family in zip(_names(results), results.families, strict=True)
    }
    width = max(len(title) for title in titles.values())
    lines = [f"  {'family':<{width}}  {'linked':>9}  {'at most':>9}  {'seconds':>7}  state"]
    for family in results.families:
        title, result = titles[family.aggregator], family.result
        if result is None:
            lines.append(f"  {title:<{width}}  {'-':>9}  {'-':>9}  {'-':>7}  {family.reason}")
            continue
        low, high = (count(_shown(end, result)) for end in result.interval)
        high = high if result.bounded else "-"
        seconds, whose = result.details["seconds"], result.details.get("bound_from")
        ended = state(result.status, result.limit, result.confidence, whose)
        lines.append(f"  {title:<{width}}  {low:>9}  {high:>9}  {seconds:>7.1f}  {ended}")
    return lines


def _names(results: FitResult) -> list[str]:
    return [family.aggregator for family in results.families]


def _short_title(family: Family) -> str:
    if family.result is None:
        return words_of(family.aggregator).title
    return family_title(family.result.details)


def _worst_of(results: FitResult) -> list[str]:
    """One maximum, and what is proven of it."""
    worst = results.worst
    ends = results.bounded_interval
    records, (low, high) = _shown(worst.total, worst), (_shown(end, worst) for end in ends)
    what, title = _what(worst), family_title(worst.details)
    if results.proven:
        pairs = [(f"{what} in the worst case", f"{share(low, records)}, by the {title}")]
        pairs.append(("at most", share(high, records)))
        said = "proven: no parameters of these families re-identify more"
    else:
        pairs = [(f"{what}, at least", f"{share(low, records)}, by the {title}")]
        pairs.append(_at_most(what, high, records, bounded=len(results.with_bound) == len(results.results)))
        lacking = worst.details.get("not_comparable")
        said = f"not proven: {without_recoding(lacking) if lacking else 'the table says why'}"
        if results.confidence is not None:
            said = f"the limit holds with {_percent(results)} confidence, for all of them together"
    missing = len(results.families) - len(results.results)
    if missing:
        said += f" ({missing} of {len(results.families)} without a result)"
    return [*listed(pairs), f"  {said}"]


# How it was made


def _notes(details: Mapping[str, Any]) -> list[str]:
    return [f"note: {note}" for note in details["notes"]]


def _making(details: Mapping[str, Any]) -> str:
    engine = details["engine"] + (f" on {details['backend']}" if details["backend"] else "")
    margin = f", margin {details['margin']:g}" if details["margin"] is not None else ""
    return f"{engine}{margin}, seed {details['seed']}{_workers(details)}, {details['seconds']:.1f} s"


def _workers(details: Mapping[str, Any]) -> str:
    """Who else has worked, where anybody was asked to."""
    if "workers" not in details:
        return ""
    scheduler, many = details["workers"]["scheduler"], details["workers"]["at_start"]
    where = "" if scheduler is None else f" of {scheduler}"
    return f", {many} {'worker' if many == 1 else 'workers'}{where}"
