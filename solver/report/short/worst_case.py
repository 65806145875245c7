"""What is said of `fit` and `verify` in short: the worst case of one family of distances, or of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import called
from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.document import Block, Document, Headline, Number, Numbers, Paragraph
from linkrisk.solver.documents.formats import count, weight
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import (
    BASELINES,
    WAYS,
    baselines,
    family_title,
    files_line,
    heading,
    how,
    of_all,
    proof,
    sentence,
    strata,
    sum_of_parts,
)
from linkrisk.solver.report.content.results import FamilyResult, Results
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.percent import confident, with_confidence
from linkrisk.solver.run.results import EXPECTED, NOT_YET, WEIGHTED, least_key, may_say_proven, objective
from linkrisk.solver.run.worst_sentence import shares_of, without_recoding, worst_sentence
from linkrisk.solver.schemas.keys import Json

FAMILIES = {
    "family": Column("family", "Family of distances"),
    "low": Column("low", "Re-identified", Of.COUNT),
    "high": Column("high", "At most", Of.COUNT),
    "low_share": Column("low_share", "Share", Of.SHARE),
    "high_share": Column("high_share", "At most, share", Of.SHARE),
    "lost": Column("lost", "Out of reach, records", Of.COUNT),
    "seconds": Column("seconds", "Seconds", Of.NUMBER),
    "state": Column("state", "State"),
}
"""What a table of families may say."""

_SHORT = ("family", "low", "high", "seconds", "state")

_WHAT = {WEIGHTED: "weighted links", EXPECTED: "expected links"}


def fitted(result: Json) -> Document:
    """Of the JSON of `fit`: of one family in full; of several a table, and what the worst one relies on."""
    results = Results.of(result)
    worst = results.worst
    assert worst is not None
    return _alone(results, worst) if "families" not in result else _of_families(results, worst)


def headline(results: Results) -> Headline:
    """The worst case of all families in one sentence, and as a bar."""
    return Headline("unknown", worst_of_all(results), bar=bar(results))


def bar(results: Results) -> tuple[float, float]:
    """Shares of the worst case, with guesses among equal candidates where there are some."""
    interval = results.interval
    assert interval is not None
    return shares_of(*(results.guessed or (interval.low, interval.high)), interval.total)


def worst_of_all(results: Results) -> str:
    """The interval of all families in one sentence."""
    interval = results.interval
    assert interval is not None
    bounded = [one.name for one in results.families if one.reason is None and one.interval.bounded]
    some = 0 < len(bounded) < len(results.found)
    return worst_sentence(
        interval.low,
        interval.high,
        interval.total,
        weighted=results.weighted,
        confidence=interval.confidence,
        kinds=[words_of(name).title for name in bounded] if some else (),
        guessed=results.guessed,
    )


def _alone(results: Results, family: FamilyResult) -> Document:
    content = family.content
    return short(
        [*_interval(family), pairs(*_affected(family))],
        [*baselines(content), *_beyond(family)],
        [parameters(content)],
        strata(content),
        said=headline(results),
        asked=heading(content),
        notes=content["notes"],
        how=how(content),
    )


def _of_families(results: Results, worst: FamilyResult) -> Document:
    details, content = results.details, worst.content
    known = content["best_known"]
    outside = known is not None and results.interval is not None and known["linked"] > results.interval.low
    own = [
        f"on the {family_title(one.content)}: {note}"
        for one in results.families
        for note in one.content.get("notes", ())
        if note not in details["notes"]
    ]
    families = several(len(results.found), "family", "families")
    return short(
        [families_table(results, _SHORT)],
        _worst_of(results, worst),
        [*baselines(content), *(_beyond(worst) if outside else ())],
        [parameters(content, f"of the {family_title(content)}: ")],
        strata(content),
        said=headline(results),
        asked=(files_line(content), f"{families} of distances, {WAYS[details['direction']]}"),
        notes=[*details["notes"], *own],
        how=how({**content, "margin": None, "backend": None, **details}),
    )


# ---- the interval


def _interval(family: FamilyResult) -> Iterator[Block]:
    """The interval that holds the worst case, and the state of its proof."""
    content, interval = family.content, family.interval
    what = _WHAT.get(objective(content), "re-identified")
    low, high = (_of_all(family, end) for end in (interval.low, interval.high))
    if interval.confidence is not None:
        high += with_confidence(interval.confidence)
        yield pairs((f"{what}, at least", low), (f"{what}, at most", high))
        yield from map(Paragraph, sampled(family))
        return
    if content["status"] == "optimal" and "not_comparable" not in content:
        yield pairs((f"{what} in the worst case", low), ("at most", high))
        least = "" if content["margin"] is None else f" by a margin of {content['margin']:g}"
        proven = "proven"
        if not may_say_proven(content):
            to_come = content["certificate"]["reason"] == NOT_YET
            proven = (
                f"by the search, {'its certificate is to come' if to_come else 'which has no certificate'}"
            )
        yield Paragraph(f"{proven}: no other parameters re-identify more{least}")
    else:
        yield pairs((f"{what}, at least", low), _at_most(what, high, bounded=interval.bounded))
        yield Paragraph(f"not proven: {why_not_proven(content)}")
    if "parts" in content:
        yield Paragraph(sum_of_parts(content["parts"]))


def _of_all(family: FamilyResult, links: float) -> str:
    weighted = objective(family.content) == WEIGHTED
    return of_all(links, family.interval.total, weighted=weighted)


def _at_most(what: str, high: str, *, bounded: bool) -> tuple[str, str]:
    """The upper end, or that there is none."""
    return f"{what}, at most", high if bounded else "no bound was found in time"


def sampled(family: FamilyResult) -> Iterator[str]:
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


def why_not_proven(content: Json) -> str:
    """What ended the search before its two ends met, or why that says nothing."""
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


# ---- beside other distances


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


# ---- parameters


def parameters(content: Json, of: str = "") -> Numbers:
    """The importance of each attribute, or the weight of each rank (or part); what breaks ties is named."""
    importance, words = content["importance"], words_of(content["aggregator"])
    values: Mapping[str, float] = content["parameters"]["weights"] if importance is None else importance
    breaking = content["tie_breaking"]
    names = [] if breaking is None else breaking[words.owners]
    effect = "" if breaking is None else _effect(content, breaking["linked_without"], len(names))
    lines = []
    for name, value in values.items():
        breaks = name in names
        said = f"{value:.1e}: {effect}" if breaks else ""
        lines.append(Number(shown_name(name), weight(value, breaks_ties=breaks), said))
    return Numbers(f"{of}{words.numbers}", tuple(lines))


def _effect(content: Json, without: float | None, many: int) -> str:
    if without is None:
        return "may break ties; no time was left to count"
    these = "it" if many == 1 else f"these {many}"
    return f"breaks ties; without {these}, {count(without)} of {count(content['linked'])} are linked"


# ---- several families


def families_table(results: Results, names: Mapping[str, Any] | tuple[str, ...], caption: str = "") -> Table:
    """Every family with its interval and the state of its proof; why some have none."""
    rows = [[_cells(results, family).get(name) for name in names] for family in results.families]
    return Table(tuple(FAMILIES[name] for name in names), rows, caption)


def _cells(results: Results, family: FamilyResult) -> dict[str, Any]:
    content, title = family.content, sentence(words_of(family.name).title)
    if family.reason is not None:
        return {"family": title, "state": f"no result: {family.reason}"}
    interval = family.interval
    low, high = (round(end) if results.weighted else end for end in (interval.low, interval.high))
    seconds = content.get("seconds")
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


def _worst_of(results: Results, worst: FamilyResult) -> Iterator[Block]:
    """One maximum, and what is proven of it."""
    content, interval = worst.content, results.interval
    assert interval is not None
    what = _WHAT.get(objective(content), "re-identified")
    low = f"{_of_all(worst, interval.low)}, by the {family_title(content)}"
    high = _of_all(worst, interval.high)
    if results.details["proven"]:
        yield pairs((f"{what} in the worst case", low), ("at most", high))
        said = "proven: no parameters of these families re-identify more"
    else:
        bounded = len(results.bounded) == len(results.found)
        yield pairs((f"{what}, at least", low), _at_most(what, high, bounded=bounded))
        lacking = content.get("not_comparable")
        said = f"not proven: {without_recoding(lacking) if lacking else 'the table says why'}"
        if interval.confidence is not None:
            said = f"the limit holds with {confident(content['confidence'])}, for all of them together"
    missing = len(results.families) - len(results.found)
    yield Paragraph(said + (f" ({missing} of {len(results.families)} without a result)" if missing else ""))


# ---- its certificate


def verification(result: Json) -> Document:
    """Of the JSON of `verify`: of a fit, of several, or of a table."""
    if (parts := result.get("certificates")) is not None:
        verified = sum(one["verified"] for one in parts.values())
        said = f"verified: {verified} of {several(len(parts), 'family', 'families')}"
        return short(said=said, asked=[line for one in parts.values() for line in one["said"]])
    if "seconds" not in result:
        return short(said=_of_table(result), asked=result["said"])
    return short(said=_proved(result), asked=result["said"])


def _verified(result: Json) -> str:
    return "Verified." if result["verified"] else f"Rejected: {result['rejected']}"


def _of_table(result: Json) -> Headline:
    """What the certificate of a table proves."""
    if not result["verified"]:
        return Headline("above", f"REJECTED: {result['rejected']}. Nothing is proven")
    levels = f"{count(result['met'])} of {count(result['demands'])} levels are met"
    if result["protected"]:
        return Headline("below", f"PROVEN: the table is protected from outsiders, {levels}")
    more = f"{count(result['missed'])} missed, {count(result['undecided'])} undecided"
    return Headline("above", f"NOT PROTECTED: {levels}, {more}")


def _proved(result: Json) -> Headline:
    """Whether the certificate proves what the fit claims, and the worst case that it proves."""
    proved = result["proved"]
    if proved is None:
        return Headline("unknown", _verified(result))
    interval = FamilyResult(proved["aggregator"], proved).interval
    ends = interval.low, interval.high, interval.total
    said = worst_sentence(*ends, weighted=objective(proved) == WEIGHTED)
    return Headline("unknown", _verified(result), f"Proved: {said}", bar=shares_of(*ends))
