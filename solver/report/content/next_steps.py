"""What to do next: rules from the numbers, each a sentence for whoever has to act."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from linkrisk.datasets.pairs.table_pair import BY_ROW
from linkrisk.errors import called
from linkrisk.solver.documents.wording import family_words, joined, of_all
from linkrisk.solver.measures.verdict import IDENTIFIERS, RELATED, TOLERATED, UNCHANGED, Answer, answer_of
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.content.verdict import FAR_BELOW, best_held_out
from linkrisk.solver.run.percent import confident, percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import run_ends, tolerated_of

_LITTLE_OVER_CHANCE = 2.0
"""Times what learning finds on shuffled files; a worst case below that is hardly a sign of a leak."""


class Without(NamedTuple):
    """The certified worst case if one attribute is withheld."""

    attribute: str
    low: float
    high: float


def next_steps(results: Results) -> tuple[str, ...]:
    """What the numbers advise, the most important first."""
    about = {one["key"]: one["about"] for one in (results.verdict or {}).get("findings", ())}
    found = {key: joined(names) for key, names in about.items()}
    steps = list(_of_names(about.get(IDENTIFIERS)))
    steps += list(_of_worst_case(results)) if results.interval is not None else []
    beside = [found[key] for key in (UNCHANGED, RELATED) if key in found]
    steps += _of_unchanged(joined(beside) if beside else None)
    steps += _of_order(results)
    steps += _of_sweep(results)
    return tuple(steps) or ("The numbers give no reason to do anything.",)


def _of_names(names: Sequence[str] | None) -> Iterator[str]:
    """What to do about direct identifiers."""
    if names:
        yield (
            f"Leave {joined(names)} out before anything else: `mask` does with "
            f"{called('drop', list(names))}, or by itself where a schema gives them the role identifier."
        )


def _of_unchanged(names: str | None) -> Iterator[str]:
    """What to do about other columns that are not compared."""
    if names:
        yield (
            f"Say what intruders know of {names}: compare what they may know, with {called('attributes')} or "
            "as key variables of a schema, mask it or leave it out; what they cannot know has the role "
            "confidential."
        )


def _of_order(results: Results) -> Iterator[str]:
    """What to do about an order that nobody can judge here: both files lie in the same one."""
    if results.details.get("alignment") == BY_ROW:
        yield (
            "Release the records in another order: here both files lie row by row, and whoever has the "
            f"original in this order would link every record; `mask` with {called('shuffle', True)} writes "
            "them at random."
        )


def _of_worst_case(results: Results) -> Iterator[str]:
    interval = results.interval
    assert interval is not None
    low, high = interval.shares
    allowed = tolerated(results)
    if results.verdict is None:
        yield (
            "Decide which share of the records may be re-identified; risk and report take it as "
            f"{called('tolerated')} and compare the worst case with it."
        )
    elif low > allowed:
        yield from _protect(results, allowed)
    elif high <= allowed and interval.low > 0:
        yield (
            "As far as linkage by distances goes, the release stays within what is tolerated; look at the "
            "other measures before it is released."
        )
    elif high <= allowed:
        yield (
            "No record can be re-identified by a distance of these families; look at the other measures "
            "before the file is released."
        )
    yield from _certainty(results)
    yield from _realism(results)


def tolerated(results: Results) -> float:
    """The share that may be re-identified; without a verdict that of the maskings of a sweep."""
    own = None if results.verdict is None else results.verdict["tolerated"]
    if own is None and results.sweep is not None:
        own = tolerated_of(results.sweep)
    return TOLERATED if own is None else float(own)


def _protect(results: Results, allowed: float) -> Iterator[str]:
    """What to mask more or to withhold."""
    same = [row["column"] for row in results.of_measure("changes", "columns") if _left_alone(row)]
    if same:
        yield f"Mask what was left as it is and may be known to an intruder: {joined(same)}."
    one = best_to_withhold(results)
    total = results.interval.total if results.interval is not None else 0.0
    if one is not None:
        within = one.high <= allowed * total
        enough = "that is within what is tolerated" if within else "that alone is not enough"
        most = of_all(one.high, total, weighted=results.weighted)
        yield (
            f"Withhold {one.attribute} or mask it more: without it at most {most} could be re-identified, "
            f"which is proven; {enough}."
        )
        if not within:
            yield (
                "Mask all attributes more strongly, and measure again; the command sweep compares many "
                "maskings by risk and loss."
            )
    else:
        yield "Mask more strongly, and measure again; the command sweep compares many maskings."


def _left_alone(row: Json) -> bool:
    return bool(row["compared"]) and row["changed"] == 0.0


def best_to_withhold(results: Results) -> Without | None:
    """The attribute without which the worst case of all families is lowest, if that is lower than now."""
    interval = results.interval
    rows = results.of_measure("attributes", "withheld")
    names = {family.name for family in results.found}
    choices = []
    for attribute in dict.fromkeys(row["attribute"] for row in rows):
        own = [row for row in rows if row["attribute"] == attribute]
        if {row["aggregator"] for row in own if row["most"] is not None} == names:
            low, high = max(row["linked"] for row in own), max(row["most"] for row in own)
            choices.append(Without(attribute, low, high))
    best = min(choices, key=lambda one: one.high, default=None)
    if best is None or interval is None or best.high >= interval.low:
        return None
    return best


def _certainty(results: Results) -> Iterator[str]:
    """What would make the answer surer."""
    interval = results.interval
    assert interval is not None
    open_ones = [family for family in results.found if not family.interval.proven]
    if interval.confidence is not None:
        yield (
            f"The upper end rests on samples and holds with {confident(interval.confidence)}; a longer "
            f"{called('time_limit')} takes more samples and narrows it."
        )
    elif open_ones and interval.high > interval.low:
        named = f"for the {joined([family_words(family.name) for family in open_ones])}"
        is_open = f"the interval from {' to '.join(map(percent, interval.shares))} is still open {named}"
        if not interval.bounded:
            is_open = f"no bound was found in time {named}"
        yield f"Search longer with a larger {called('time_limit')}: {is_open}."
    for family in results.families:
        if family.reason is not None:
            name = family_words(family.name)
            yield f"Mind that the {name} is not covered: it has no result, as {family.reason}."
    made = results.details.get("certificates")
    if made is None:
        yield (
            f"Let others check the bound: `fit` makes a proof with {called('certificate')}, and `verify` "
            "checks it with code of its own; `report` does both."
        )
    elif any(one["verified"] is not True for one in made):
        yield "Not every bound could be verified: how the report was made says which, and why."


def _realism(results: Results) -> Iterator[str]:
    """How the worst case stands beside what intruders can do, and beside chance."""
    interval = results.interval
    assert interval is not None
    low = interval.shares[0]
    held_out, chance = best_held_out(results), results.finding("references", "learned_on_shuffled")
    if chance is not None and 0.0 < low < _LITTLE_OVER_CHANCE * chance["value"]:
        yield (
            "The worst case is hardly above what learning finds on shuffled files, where there is nothing to "
            "find: do not take it for a leak."
        )
    elif held_out is not None and low > 0.0 and held_out[0] < FAR_BELOW * low:
        yield (
            "An intruder who does not know the truth for all records gets far less "
            f"({percent(held_out[0])}): "
            "the worst case is a limit, not a forecast. Decide which of the two your rules are about."
        )


def _objections(run: Json) -> bool:
    """Whether something stands against a masking that is no share of records."""
    findings = (run.get("verdict") or {}).get("findings", ())
    return answer_of([one["severity"] for one in findings if one["low"] is None]) != Answer.BELOW


def cheapest(results: Results) -> tuple[float | None, float, str] | None:
    """Find the masking of least loss whose worst case is tolerated: its loss, upper end and name.

    Where no loss is known, it is that of the lowest upper end.
    """
    allowed, choices = tolerated(results), []
    for run in (results.sweep or {}).get("runs", ()):
        ends = run_ends(run)
        if ends is not None and ends[1] <= allowed and not _objections(run):
            loss = None if run["loss"] is None else float(run["loss"])
            choices.append((loss, ends[1], str(run["masking"])))
    return min(choices, key=_by_loss, default=None)


def _by_loss(choice: tuple[float | None, float, str]) -> tuple[float, float, str]:
    loss, most, masking = choice
    return (math.inf if loss is None else loss), most, masking


def _of_sweep(results: Results) -> Iterator[str]:
    """The masking with the least loss whose worst case is tolerated."""
    if results.sweep is None:
        return
    allowed, found = tolerated(results), cheapest(results)
    if found is None:
        yield (
            f"No masking of the sweep keeps its worst case within {percent(allowed)} and has nothing else "
            "against it: try stronger ones, and mask, compare or leave out what is released as it is."
        )
        return
    loss, most, masking = found
    least = "has the lowest worst case" if loss is None else f"loses least ({loss:.3g})"
    yield (
        f"Of the maskings of the sweep, {masking} {least} of those whose worst case is within "
        f"{percent(allowed)}: it is at most {percent(most)}."
    )
    if results.sweep["unfinished"]:
        yield "Go on with the sweep: not all maskings have been measured."
