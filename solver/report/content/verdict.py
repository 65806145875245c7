"""The headline: the verdict in one sentence, the worst case in another, and the reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from linkrisk.solver.documents.document import Headline
from linkrisk.solver.documents.wording import BASELINES, family_words, of_all, sentence
from linkrisk.solver.measures.verdict import answer_of, grounds_of, kinds, sentence_of, severity_of
from linkrisk.solver.report.content.results import FamilyResult, Results
from linkrisk.solver.report.short.worst_case import worst_of_all
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.percent import confident, percent, with_confidence
from linkrisk.solver.run.results import meets
from linkrisk.solver.run.worst_sentence import by_lot, percents, without_recoding
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, run_ends, sweep_sentence

UNKNOWN, COMPARED = "unknown", "compared"

FAR_BELOW = 0.5
"""A held-out attack below so much of the worst case is far below it."""


def headline(results: Results) -> Headline:
    """What stands at the head of the report; UsageError where results contradict themselves."""
    check(results)
    if results.interval is None:
        return _of_sweep(results)
    verdict = results.verdict
    if verdict is None:
        answer = UNKNOWN
        said = _without_verdict(results, results.interval)
    else:
        answer = verdict["answer"]
        said = sentence(sentence_of(verdict)) + "."
    return Headline(answer, said, worst_of_all(results), tuple(_reasons(results)))


def _without_verdict(results: Results, alone: Interval) -> str:
    """The worst case as a share, with guesses among equal candidates first, where there are some."""
    shown, lots = alone, ""
    if results.guessed is not None:
        low, high = results.guessed
        shown, lots = replace(alone, low=low, high=high), by_lot(*alone.shares)
    sure = with_confidence(alone.confidence)
    return f"At worst {between(shown)} of {_records(results)} can be re-identified{lots}{sure}."


def between(interval: Interval) -> str:
    """An interval of shares in words: ``81.0 %``, ``between 50.0 % and 81.0 %``, or ``50.0 % or more``."""
    low, high = (percent(end) for end in interval.shares)
    if not interval.bounded:
        return f"{low} or more"
    return low if low == high else f"between {low} and {high}"


def _records(results: Results) -> str:
    return "the weighted records" if results.weighted else "the records"


def _bounded(results: Results, first: FamilyResult, interval: Interval, none: str) -> str:
    """How much more than the attack any distance of these kinds could link, and who says so."""
    if "not_comparable" in first.content:
        return sentence(f"{without_recoding(first.content['not_comparable'])}.")
    who = "which is proven" if interval.comparable else "as the search says: there is no certificate of it"
    if interval.confidence is None and meets(interval.low, interval.high):
        return f"{none} re-identifies more, {who}."
    if not results.bounded:
        return "No bound was found in time on how much more any distance could re-identify."
    most = percent(interval.shares[1])
    if interval.confidence is None:
        return f"{none} re-identifies more than {most}, {who}; what lies between is open."
    sure = f"as random samples say with {confident(interval.confidence)}"
    return f"{none} re-identifies more than {most}, {sure}."


def _reasons(results: Results) -> Iterator[str]:
    """Why the verdict is what it is, and what it is worth."""
    interval, first = results.interval, results.worst
    assert interval is not None
    assert first is not None
    if results.verdict is not None:
        yield from grounds_of(results.verdict)
    none = sentence(kinds([family_words(family.name) for family in results.bounded or results.found]))
    whom = "records that stand for " if results.weighted else ""
    yield (
        f"The worst distance found is the {family_words(first.name)}: it re-identifies {whom}"
        f"{of_all(first.interval.low, first.interval.total, weighted=results.weighted)}."
    )
    yield _bounded(results, first, interval, none)
    known = first.content.get("best_known")
    if known is not None:
        name = BASELINES[known["attack"]]
        linked = of_all(known["linked"], first.interval.total, weighted=results.weighted)
        about = " The upper end is about the families searched only." if known.get("above_bound") else ""
        yield f"A distance of another family, the {name}, re-identifies more: {linked}.{about}"
    if missing := [family_words(family.name) for family in results.families if family.reason is not None]:
        yield f"Without a result, and so not covered: {', '.join(missing)}."
    yield from _beside(results, interval.shares[0])


def _beside(results: Results, low: float) -> Iterator[str]:
    """What other numbers say of the worst case."""
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
    rates = results.of_measure("held-out", "rates")
    if not rates:
        return None
    most = max(rate["share"] for rate in rates)
    return max(rate["held_out"] for rate in rates if rate["share"] == most), most


def _of_sweep(results: Results) -> Headline:
    """Of a sweep alone, there is no single worst case."""
    assert results.sweep is not None
    runs = results.sweep["runs"]
    done = [run for run in runs if run["status"] == "done"]
    asked = len(runs) + len(results.sweep["unfinished"])
    return Headline(COMPARED, sweep_sentence(runs, asked), _worst_of_sweep(done))


def _worst_of_sweep(done: Sequence[Json]) -> str:
    found = [interval for run in done for interval in [run_ends(run)] if interval is not None]
    if not found:
        return "No worst case was measured."
    low, high = min(low for low, _ in found), max(high for _, high in found)
    ends = percents(low, high)
    return f"Whichever of them is released, at worst {ends} of the records can be re-identified."


ROUNDING = 1e-6
"""Sums of weights are rounded: ends of intervals may be wrong by so much, relatively."""


def check(results: Results) -> None:
    """Refuse results that contradict themselves, as those of a JSON may that was edited or cut.

    That they agree does not make them true: what is true, certificates prove and `verify` checks.

    Raises
    ------
    UsageError
        With the first contradiction.
    """
    for fault in _faults(results):
        raise UsageError(f"these results contradict themselves, {fault}: give the JSON as it was written")


def _faults(results: Results) -> Iterator[str]:
    if results.sweep is None and results.worst is None:
        yield "there is no worst case of any family"
    for family in results.found:
        yield from _of_family(family)
    if results.verdict is not None:
        yield from _of_verdict(results.verdict, results)


def _of_family(family: FamilyResult) -> Iterator[str]:
    interval = family.interval
    low, high, total = interval.low, interval.high, interval.total
    if not (all(map(math.isfinite, (low, high, total))) and _rising(0.0, low, high, total) and total > 0.0):
        yield f"the {family_words(family.name)} links {low:g}, at most {high:g}, of {total:g}"


def _of_verdict(verdict: Json, results: Results) -> Iterator[str]:
    low, high, tolerated = (float(verdict[name]) for name in ("low", "high", "tolerated"))
    findings = verdict["findings"]
    others = [one["severity"] for one in findings if one["low"] is None]
    answer = answer_of([severity_of(low, high, tolerated), *others])
    if not _rising(0.0, low, high, 1.0):
        yield f"the verdict is about {low:g} to {high:g} of 1"
    if verdict["answer"] != answer:
        yield f"the verdict says {verdict['answer']!s:.20} and its numbers say {answer}"
    interval = results.interval
    if interval is not None and not all(
        _rising(least, end) for least, end in zip(interval.shares, (low, high), strict=True)
    ):
        yield "the verdict is below the worst case of a family"
    if any(one["low"] is not None and not _rising(one["low"], low) for one in findings):
        yield "the verdict is below one of its own findings"


def _rising(*numbers: float) -> bool:
    """Whether none is below the one before it; false with what is no number."""
    return all(a <= b + ROUNDING * abs(a) for a, b in pairwise(numbers))
