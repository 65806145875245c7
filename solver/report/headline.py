"""The headline: the verdict in one sentence, the worst case in another, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linkrisk.solver.documents.document import Headline
from linkrisk.solver.documents.wording import BASELINES, family_words, of_all, sentence
from linkrisk.solver.measures.verdict import grounds_of, kinds, sentence_of
from linkrisk.solver.report.results import Results
from linkrisk.solver.run.number_format import confident, percent, with_confidence
from linkrisk.solver.schemas.intervals import by_lot, meets, percents, without_recoding
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, run_ends, sweep_sentence

UNKNOWN, COMPARED = "unknown", "compared"

FAR_BELOW = 0.5
"""A held-out attack below so much of the worst case is far below it."""


def headline(results: Results) -> Headline:
    """What stands at the head of the page."""
    if results.sweep is not None and results.interval is None:
        return _of_sweep(results.sweep)
    short = in_short(results)
    said = _without_verdict(results) if results.verdict is None else short.verdict
    return Headline(short.answer, said, results.sentence, (*short.reasons, *_reasons(results)))


def in_short(results: Results) -> Headline:
    """The same of a terminal and a notebook: of a fit one sentence, of measures what the verdict says."""
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
    """How much more than the attack any distance of these kinds could link, and who says so."""
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
