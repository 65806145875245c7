"""The worst case of families of distances: `fit` and `verify` in short, and its section of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import called
from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.documents.document import Block, Document, Headline, Number, Numbers, Paragraph
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import (
    BASELINES,
    WAYS,
    baselines,
    count,
    counts,
    family_heading,
    family_title,
    family_words,
    files_line,
    heading,
    how,
    of_all,
    proof,
    sentence,
    shares,
    strata,
    sum_of_parts,
    table,
    texts,
    weight,
)
from linkrisk.solver.measures.base import OF_WEIGHTS
from linkrisk.solver.report.findings import in_short, numbers_of
from linkrisk.solver.report.results import FamilyResult, Results
from linkrisk.solver.run.number_format import confident, several, with_confidence
from linkrisk.solver.schemas.intervals import (
    EXPECTED,
    NOT_YET,
    WEIGHTED,
    least_key,
    may_say_proven,
    objective,
    shares_of,
    without_recoding,
    worst_sentence,
)
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval

_ENDS = (
    *Of.TEXT.columns(family="Family of distances"),
    *Of.COUNT.columns(low="Re-identified", high="At most"),
)
_STATE = Of.TEXT.columns(state="State")
_SHORT = (*_ENDS, *Of.NUMBER.columns(seconds="Seconds"), *_STATE)
_LONG = (
    *_ENDS,
    *Of.SHARE.columns(low_share="Share", high_share="At most, share"),
    *Of.COUNT.columns(lost="Out of reach, records"),
    *_STATE,
)

_WHAT = {WEIGHTED: "weighted links", EXPECTED: "expected links"}

_NO_BOUND = "no bound was found in time"


def fitted(result: Json) -> Document:
    """Of the JSON of `fit`: of one family in full; of several a table, and what the worst one relies on."""
    results = Results.of(result)
    worst = results.found[0]
    return _alone(results, worst) if "families" not in result else _of_families(results, worst)


def _alone(results: Results, family: FamilyResult) -> Document:
    content = family.content
    return short(
        [*_interval(family), pairs(*_affected(family))],
        [*baselines(content), *_beyond(family)],
        [_parameters(content)],
        strata(content),
        said=in_short(results),
        asked=heading(content),
        notes=content["notes"],
        how=how(content),
    )


def _of_families(results: Results, worst: FamilyResult) -> Document:
    details, content = results.details, worst.content
    known = content["best_known"]
    outside = known is not None and known["linked"] > results.ends.low
    own = [
        f"on the {family_title(one.content)}: {note}"
        for one in results.families
        for note in one.content.get("notes", ())
        if note not in details["notes"]
    ]
    families = several(len(results.found), "family", "families")
    return short(
        [Table.of(_SHORT, (_cells(results, one) for one in results.families))],
        _worst_of(results, worst),
        [*baselines(content), *(_beyond(worst) if outside else ())],
        [_parameters(content, f"of the {family_title(content)}: ")],
        strata(content),
        said=in_short(results),
        asked=(files_line(content), f"{families} of distances, {WAYS[details['direction']]}"),
        notes=[*details["notes"], *own],
        how=how({**content, "margin": None, "backend": None, **details}),
    )


# ---- the interval


def _interval(family: FamilyResult) -> Iterator[Block]:
    """The interval that holds the worst case, and the state of its proof."""
    content, interval = family.content, family.interval
    sure = with_confidence(interval.confidence)
    closed = not sure and content["status"] == "optimal" and "not_comparable" not in content
    yield _ends(family, interval, closed=closed, bounded=interval.bounded or bool(sure), sure=sure)
    if sure:
        yield from map(Paragraph, _sampled(family))
        return
    if closed:
        least = "" if content["margin"] is None else f" by a margin of {content['margin']:g}"
        proven = "proven"
        if not may_say_proven(content):
            to_come = content["certificate"]["reason"] == NOT_YET
            its = "its certificate is to come" if to_come else "which has no certificate"
            proven = f"by the search, {its}"
        yield Paragraph(f"{proven}: no other parameters re-identify more{least}")
    else:
        yield Paragraph(f"not proven: {_why_not_proven(content)}")
    if "parts" in content:
        yield Paragraph(sum_of_parts(content["parts"]))


def _worst_of(results: Results, worst: FamilyResult) -> Iterator[Block]:
    """One maximum of several families, and what is proven of it."""
    content, interval, closed = worst.content, results.ends, results.details["proven"]
    by, bounded = f", by the {family_title(content)}", len(results.bounded) == len(results.found)
    yield _ends(worst, interval, closed=closed, bounded=bounded, by=by)
    lacking = content.get("not_comparable")
    said = f"not proven: {without_recoding(lacking) if lacking else 'the table says why'}"
    if closed:
        said = "proven: no parameters of these families re-identify more"
    elif interval.confidence is not None:
        said = f"the limit holds with {confident(interval.confidence)}, for all of them together"
    missing = len(results.families) - len(results.found)
    yield Paragraph(said + (f" ({missing} of {len(results.families)} without a result)" if missing else ""))


def _ends(
    family: FamilyResult, interval: Interval, *, closed: bool, bounded: bool, by: str = "", sure: str = ""
) -> Numbers:
    """Both ends; of an interval that is open, each by its name."""
    what = _WHAT.get(objective(family.content), "re-identified")
    low, high = f"{_of_all(family, interval.low)}{by}", f"{_of_all(family, interval.high)}{sure}"
    if closed:
        return pairs((f"{what} in the worst case", low), ("at most", high))
    return pairs((f"{what}, at least", low), (f"{what}, at most", high if bounded else _NO_BOUND))


def _of_all(family: FamilyResult, links: float) -> str:
    weighted = objective(family.content) == WEIGHTED
    return of_all(links, family.interval.total, weighted=weighted)


def _sampled(family: FamilyResult) -> Iterator[str]:
    """What a limit of samples rests on, and how far the attack was counted."""
    content, sampling = family.content, family.content["sampling"]
    sample, counted = sampling["sample"], sampling["counted"]
    yield (
        f"from {count(sample['samples'])} samples of {count(sampling['draw']['size'])} records: of their "
        f"{count(sample['records'])}, this attack links {count(sample['linked'])} and none more than "
        f"{count(sample['linked_upper_bound'])}"
    )
    if not counted["all"]:
        text = f"the attack was counted on {count(counted['records'])} of {count(content['records'])} records"
        if least_key(objective(content)) in counted:
            least = _of_all(family, family.interval.low)
            text += f", and links {least} of all at least, with {confident(content['confidence'])}"
        yield text


def _why_not_proven(content: Json) -> str:
    """Explain why attack and bound did not meet."""
    if content.get("not_comparable"):
        return without_recoding(content["not_comparable"])
    if content["status"] == "no_solution":
        return "no parameters were found to count with"
    narrow = "may narrow the interval"
    reasons = {
        "time": f"the time limit was reached; a longer {called('time_limit')} or fewer attributes {narrow}",
        "work": f"the work limit was reached; a larger {called('work_limit')} or fewer attributes {narrow}",
        "user": "stopped before the end; a longer run narrows the interval",
        "ties": "differences that count as ties keep the two numbers apart; the note says which",
        "memory": f"memory ran out; a larger {called('memory_limit')}, fewer records or attributes {narrow}",
    }
    limit = "user" if content["status"] == "interrupted" else content.get("limit")
    return reasons.get(limit or "", "the engine could not narrow the interval further")


def _affected(family: FamilyResult) -> Iterator[tuple[str, str]]:
    """Which records no parameters reach, and which the tie rule decides about."""
    content, tied = family.content, family.content["tied"]
    records = content["records"]
    if content["ties"] == "share":
        yield "nearest up to identical ones", of_all(content["linked"], records)
    elif "weight" in content:
        yield "re-identified records", of_all(content["linked"], records)
    if content["lost"]:
        yield "out of reach for any parameters", of_all(content["lost"], records)
    if many := tied["records"]:
        twins, see = tied["with_twins"], f"see {called('ties', 'share')}"
        # Only ties with identical records are ones that the other tie rule would count.
        some = "" if twins == many else f"{count(twins)} with identical ones, "
        yield "partner tied, so not counted", of_all(many, records) + (f"; {some}{see}" if twins else "")
    if (expected := tied.get("expected_links", 0.0)) > family.interval.low:
        yield "expected, guessing among equals", _of_all(family, expected)


def _beyond(family: FamilyResult) -> Iterator[Block]:
    """A baseline of another family that links more."""
    known = family.content["best_known"]
    if known is None:
        return
    links = f"the {BASELINES[known['attack']]} links {count(known['linked'])}"
    title, options = family_title(family.content), known["options"]
    try_it = f"try {options}" if options else f"no family of {called('aggregator')} contains it"
    if known["above_bound"]:
        yield Paragraph(f"more than any {title}: {links}")
        yield Paragraph(f"the bound is about this family only; {try_it}")
    else:
        yield Paragraph(f"more than the {title} found: {links}; {try_it}")


def _parameters(content: Json, of: str = "") -> Numbers:
    """The importance of each attribute, or the weight of each rank (or part); what breaks ties is named."""
    importance, words = content["importance"], words_of(content["aggregator"])
    values: Mapping[str, float] = content["parameters"]["weights"] if importance is None else importance
    breaking = content["tie_breaking"] or {}
    names, without = breaking.get(words.owners, ()), breaking.get("linked_without")
    effect = "may break ties; no time was left to count"
    if without is not None:
        these = "it" if len(names) == 1 else f"these {len(names)}"
        effect = f"breaks ties; without {these}, {count(without)} of {count(content['linked'])} are linked"
    lines = [
        Number(
            shown_name(name),
            weight(value, breaks_ties=name in names),
            f"{value:.1e}: {effect}" if name in names else "",
        )
        for name, value in values.items()
    ]
    return Numbers(f"{of}{words.numbers}", tuple(lines))


def _cells(results: Results, family: FamilyResult) -> dict[str, Any]:
    """A family with its interval and the state of its proof; why it has none."""
    content = family.content
    if family.reason is not None:
        return {"family": family_heading(family.name), "state": f"no result: {family.reason}"}
    interval, seconds = family.interval, content.get("seconds")
    low, high = (round(end) if results.weighted else end for end in (interval.low, interval.high))
    return {
        "family": sentence(family_title(content)),
        "low": low,
        "high": high if interval.bounded else None,
        "low_share": interval.shares[0],
        "high_share": interval.shares[1] if interval.bounded else None,
        "lost": None if interval.confidence is not None else content.get("lost"),
        "seconds": None if seconds is None else round(seconds, 1),
        "state": proof(content) if interval.bounded else f"no bound in time, {proof(content)}",
    }


# ---- on a page


def worst_case(results: Results) -> Iterator[str | Block]:
    """Every family with the state of its proof, beside simple attacks and references."""
    if not results.families:
        return  # each masking of a sweep has a worst case of its own
    yield (
        "For every family of distances, what the worst one found re-identifies, and what none of the family "
        "can exceed; beside it what simple attacks get, and what chance would."
    )
    yield from results.drawn("headline")
    unit = f", {OF_WEIGHTS}" if results.weighted else ""
    every = Table.of(_LONG, (_cells(results, one) for one in results.families))
    yield replace(every, caption=f"Worst case of every family of distances{unit}")
    # Notes, the most important first: what limits the claim, what it counts, the files and searches, words.
    yield from (Paragraph(text, quiet=True) for text in (*_limits(results), *results.notes))
    if any(family.content.get("lost") and family.interval.confidence is None for family in results.found):
        yield Paragraph(
            "Out of reach are records that one other candidate keeps from being re-identified, whatever the "
            "parameters.",
            quiet=True,
        )
    for measure, title in (("simple-attacks", "Simple attacks"), ("references", "References")):
        if found := results.of_measure(measure, "findings"):
            yield numbers_of(f"{title}{unit}", found)
        elif measure == "simple-attacks" and results.worst is not None:
            yield from _baselines(results.worst, f"Simple attacks, which learn nothing{unit}")


def _limits(results: Results) -> Iterator[str]:
    """What the ends of the intervals rest on, and what counts are where records have sampling weights."""
    for family in results.found:
        content, name = family.content, family_heading(family.name)
        yield from (f"{name}: {said}." for said in _limits_of(family))
        if content.get("ties") == "share":
            yield "Candidates that equal the partner throughout share its link: numbers are expected ones."
    if results.weighted:
        linked, records = (count(results.found[0].content[key]) for key in ("linked", "records"))
        yield (
            "Counts are sums of sampling weights, of what records stand for. Counted as one each, "
            f"{linked} of {records} records are re-identified by the worst distance."
        )


def _limits_of(family: FamilyResult) -> Iterator[str]:
    content, interval = family.content, family.interval
    if not interval.proven and interval.confidence is None:
        lies = "The worst case lies between the two numbers"
        yield f"{_why_not_proven(content)}. {lies if interval.bounded else sentence(_NO_BOUND)}"
    if (outer := content.get("bound_from")) is not None:
        yield f"its bound is that of the {family_words(outer)}, which contains it"
    if "sampling" in content:
        yield from _sampled(family)
    if (parts := content.get("parts")) is not None:
        yield sum_of_parts({key: int(parts[key]) for key in ("parts", "largest", "proven")})
    if (margin := content.get("margin")) is not None:
        yield f"the bound holds up to a margin of {margin:g}; smaller differences count as ties"


def _baselines(worst: FamilyResult, caption: str) -> Iterator[Block]:
    """The two attacks that every fit has counted."""
    found, total = worst.content.get("baselines") or {}, worst.interval.total
    columns = [*texts(attack="Attack"), *counts(linked="Re-identified"), *shares(share="Share")]
    if found:
        rows = [
            [sentence(BASELINES[name]), linked, None if linked is None else linked / total]
            for name, linked in found.items()
        ]
        yield table(caption, columns, rows)


# ---- its certificate


def verification(result: Json) -> Document:
    """Of the JSON of `verify`: of a fit, of several, or of a table."""
    if (parts := result.get("certificates")) is not None:
        verified = sum(one["verified"] for one in parts.values())
        said = f"verified: {verified} of {several(len(parts), 'family', 'families')}"
        return short(said=said, asked=[line for one in parts.values() for line in one["said"]])
    if "seconds" not in result:
        return short(said=_of_table(result), asked=result["said"])
    said = "Verified." if result["verified"] else f"Rejected: {result['rejected']}"
    if (proved := result["proved"]) is None:
        return short(said=said, asked=result["said"])
    interval = FamilyResult(proved["aggregator"], proved).interval
    ends = interval.low, interval.high, interval.total
    worst = f"Proved: {worst_sentence(*ends, weighted=interval.weighted)}"
    return short(said=Headline("unknown", said, worst, bar=shares_of(*ends)), asked=result["said"])


def _of_table(result: Json) -> Headline:
    """What the certificate of a table proves."""
    if not result["verified"]:
        return Headline("above", f"REJECTED: {result['rejected']}. Nothing is proven")
    levels = f"{count(result['met'])} of {count(result['demands'])} levels are met"
    if result["protected"]:
        return Headline("below", f"PROVEN: the table is protected from outsiders, {levels}")
    more = f"{count(result['missed'])} missed, {count(result['undecided'])} undecided"
    return Headline("above", f"NOT PROTECTED: {levels}, {more}")
