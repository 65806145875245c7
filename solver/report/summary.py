"""Sections of a report: the summary, other intruders, several releases, measures and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.names import code_in_words, group_in_words, name_in_words
from linkrisk.datasets.pairs.alignment import BY_ROW
from linkrisk.errors import called
from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.documents.document import Block, Document, Headline, Items, Paragraph
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import family_words, files_line, joined, of_all, table
from linkrisk.solver.measures.base import OF_RECORDS, OF_WEIGHTS
from linkrisk.solver.measures.verdict import IDENTIFIERS, RELATED, UNCHANGED
from linkrisk.solver.report.findings import FAR_BELOW, UNKNOWN, best_held_out, in_short, numbers_of
from linkrisk.solver.report.leaking import group_columns
from linkrisk.solver.report.results import Results
from linkrisk.solver.report.sweep import cheapest, map_blocks
from linkrisk.solver.run.number_format import confident, percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import is_weighted

_ELSEWHERE = ("worst-case", "simple-attacks", "references", "releases", "information-loss", "changes")
"""Measures that have a section of their own, or stand in one."""

_CHARTS = {"link-reliability": "reliability", "interval-disclosure": "disclosure"}
"""Charts that stand below the findings of a measure."""


def risk(result: Json) -> Document:
    """Of the JSON of `risk`: the verdict, the findings of every measure, and what has to be known."""
    results, measures = Results.of(result), result["measures"]
    lacking = pairs(*result["not_measured"].items(), title="Not measured")
    return short(
        *([numbers_of(results.title(name), one["findings"])] for name, one in measures.items()),
        [lacking] if lacking.numbers else [],
        said=in_short(results),
        asked=(files_line(result),),
        notes=[*result["notes"], *(note for one in measures.values() for note in one["notes"])],
        how=f"seed {result['seed']}, {result['seconds']:.1f} s",
    )


def measure(result: Json) -> Document:
    """Make a document of the JSON of one measure."""
    said = Headline(UNKNOWN, result["measure"], result["paragraph"])
    return short([numbers_of("", result["findings"])], said=said, notes=result["notes"])


# ---- on a page


def is_it_realistic(results: Results) -> Iterator[str | Block]:
    """Learning curves, and the gap between what a distance was learned from and other records."""
    if not results.of_measure("held-out", "rates"):
        return
    yield (
        "The worst case knows the truth for every record. Here an intruder knows it for a share of them, "
        "learns a distance from these, and attacks the others."
    )
    yield from results.shown("learning-curve")
    chance = results.measures["held-out"].get("chance")
    if chance is not None:
        yield Paragraph(
            f"A random guess is right for {percent(chance)} of the records. The over-fit gap is what a "
            "distance links less of other records than of those that it was learned from; one to one is the "
            "same intruder, who uses every masked record once.",
            quiet=True,
        )


def several_releases(results: Results) -> Iterator[str | Block]:
    """The worst case from release to release, and what intersecting candidates leaves."""
    if (found := results.measures.get("releases")) is None:
        return
    tell = "can tell" if found["way"] == "together" else "cannot tell"
    many = "" if found.get("releases") is None else f"{found['releases']} "
    yield (
        f"An intruder who has all {many}releases, and {tell} which of their records belong together, beside "
        "one who has the first release alone."
    )
    if found["findings"]:
        yield numbers_of("What the later releases add", found["findings"])
    yield from results.shown("releases")


def other_measures(results: Results) -> Iterator[str | Block]:
    """What else was measured."""
    yield "What other views of the same release say. Each line says which way is worse, and what it means."
    for name, content in results.measures.items():
        if name not in _ELSEWHERE and content.get("findings"):
            yield numbers_of(results.title(name), content["findings"])
            if name in _CHARTS:
                yield from results.drawn(_CHARTS[name])


def what_it_cost(results: Results) -> Iterator[str | Block]:
    """Loss of this release, and of the maskings of a sweep beside their risk."""
    yield "How far the released file is from the original. More protection usually costs more."
    if changes := results.of_measure("changes", "columns"):
        columns = (
            *Of.TEXT.columns(column="Column", role="Role"),
            *Of.FLAG.columns(compared="Compared"),
            *Of.SHARE.columns(changed="Values changed", missing="Taken out"),
            *Of.NUMBER.columns(shift="Shift of the mean, in standard deviations"),
            *Of.TEXT.columns(most_frequent="Most frequent change"),
        )
        yield replace(Table.of(columns, changes), caption="What was changed")
    if loss := results.of_measure("information-loss", "findings"):
        yield numbers_of(results.title("information-loss"), loss)
        yield from results.drawn("loss")
    if results.sweep is not None and results.families:
        yield from map_blocks(results)


MOST_STRATA = 5
"""The riskiest strata that are named."""

MOST_COLUMNS = 8
"""Changed columns that are named, those with most changes first."""

LEAST_GROUP = 10
"""Records of a group that is named as one of the riskiest."""

_LITTLE_OVER_CHANCE = 2.0
"""Times what learning finds on shuffled files; a worst case below that is hardly a sign of a leak."""


def summary(results: Results) -> Iterator[str | Block]:
    """Summarise the release for a decision."""
    what = "was compared" if results.worst is None else "was released, who is at risk"
    yield f"What {what}, and what to do next."
    yield Items("What was masked", tuple(_what_was_masked(results)))
    if results.families:
        yield _strata(results)
    steps = tuple(_next_steps(results)) or ("The numbers give no reason to do anything.",)
    yield Items("What to do next", steps)


def about(results: Results) -> Iterator[str | Block]:
    """The same for readers outside: what this page is, and what it leaves out."""
    yield "How many records of a protected file could be re-identified at worst, and how sure that is."
    bounded = {family.name for family in results.bounded}
    made = results.details["certificates"]
    checked = sum(one["verified"] is True and one["aggregator"] in bounded for one in made)
    families = f"{checked} of {len(results.found)} families of distances"
    proof = f" A certificate of the bound was checked for {families}." if checked else ""
    yield Paragraph(
        "The worst case assumes an intruder who knows the original values of all records, and who has found "
        f"the best distance of its kind.{proof}"
    )
    yield Paragraph(
        "This page leaves out what would help an intruder: names and importance of attributes, parameters, "
        "records and groups, how the file was masked, and how the numbers were computed.",
        quiet=True,
    )


def _what_was_masked(results: Results) -> Iterator[str]:
    """How much of which columns, as far as it is known."""
    if results.worst is None:
        yield "This is a comparison of maskings; each is named in the table of the map."
        return
    if known := results.details.get("masking"):
        yield f"Masked, as was said, by {'; '.join(known)}."
    loss = results.measures.get("information-loss")
    if columns := results.of_measure("changes", "columns"):
        yield from _of_columns(columns)
    elif loss is None:
        yield (
            "How much each column was changed was not measured; the measure changes tells it (command risk "
            "or report)."
        )
    else:
        for key, said in (("masked", "Changed"), ("unchanged", "Left exactly as they are")):
            if loss[key]:
                yield f"{said}: {joined(loss[key])}."


def _of_columns(rows: Sequence[Json]) -> Iterator[str]:
    changed = sorted((row for row in rows if row["changed"]), key=lambda row: -row["changed"])
    if changed:
        named = joined([f"{row['column']} {percent(row['changed'])}" for row in changed], MOST_COLUMNS)
        yield f"Changed, with the share of the values: {named}."
    same = [row for row in rows if row["changed"] == 0.0]
    if compared := [row["column"] for row in same if row["compared"]]:
        yield f"Left exactly as they are, although an intruder may know them: {joined(compared)}."
    if others := [row["column"] for row in same if not row["compared"]]:
        yield f"Also left as they are, and not compared: {joined(others)}."
    without = [row for row in rows if row["changed"] is None]
    for note in dict.fromkeys(row["note"] for row in without):
        named = joined([row["column"] for row in without if row["note"] == note])
        yield f"Not compared with what it was, {note}: {named}."


def _strata(results: Results) -> Block:
    """List the groups of records with most risk; where `risk` has none, strata of the fit."""
    groups = results.of_measure("records", "groups")
    rows: list[list[Any]] = [
        [*group_in_words(one), one["records"], one["linked"], one["share"]] for one in groups
    ] or list(_design_strata(results))
    if not rows:
        return Paragraph(
            "There are no strata or categories to compare: a schema with the role stratum or key, or "
            f"the option {called('groups')}, would show which groups of records are hit hardest.",
            quiet=True,
        )
    large = [row for row in rows if row[2] >= LEAST_GROUP] or rows
    large.sort(key=lambda row: -row[4])
    unit = (OF_WEIGHTS if groups else OF_RECORDS) if results.weighted or is_weighted(groups) else ""
    return table("The riskiest groups of records", group_columns(unit), large[:MOST_STRATA])


def _design_strata(results: Results) -> Iterator[list[Any]]:
    content = {} if results.worst is None else results.worst.content
    labels = content.get("labels", {})
    for name, own in (content.get("strata") or {}).items():
        share = own["linked"] / own["records"] if own["records"] else 0.0
        column = content["stratum"]
        words = name_in_words(column, labels), code_in_words(column, name, labels)
        yield [*words, own["records"], own["linked"], share]


# ---- what to do next: rules from the numbers, the most important first


def _next_steps(results: Results) -> Iterator[str]:
    about = {one["key"]: one["about"] for one in (results.verdict or {}).get("findings", ())}
    if names := about.get(IDENTIFIERS):
        yield (
            f"Leave {joined(names)} out before anything else: `mask` does with "
            f"{called('drop', list(names))}, or by itself where a schema gives them the role identifier."
        )
    if results.interval is not None:
        yield from _of_worst_case(results)
        yield from _certainty(results)
        yield from _realism(results)
    if beside := [joined(about[key]) for key in (UNCHANGED, RELATED) if about.get(key)]:
        yield (
            f"Say what intruders know of {joined(beside)}: compare what they may know, with "
            f"{called('attributes')} or as key variables of a schema, mask it or leave it out; what they "
            "cannot know has the role confidential."
        )
    if results.details.get("alignment") == BY_ROW:  # an order that nobody can judge here
        yield (
            "Release the records in another order: here both files lie row by row, and whoever has the "
            f"original in this order would link every record; `mask` with {called('shuffle', True)} writes "
            "them at random."
        )
    if results.sweep is not None:
        found, said = cheapest(results)
        yield said
        if not found:
            yield "Try stronger ones, and mask, compare or leave out what is released as it is."
        elif results.sweep["unfinished"]:
            yield "Go on with the sweep: not all maskings have been measured."


def _of_worst_case(results: Results) -> Iterator[str]:
    low, high = results.ends.shares
    if results.verdict is None:
        yield (
            "Decide which share of the records may be re-identified; risk and report take it as "
            f"{called('tolerated')} and compare the worst case with it."
        )
    elif low > results.tolerated:
        yield from _protect(results)
    elif high <= results.tolerated and results.ends.low > 0:
        yield (
            "As far as linkage by distances goes, the release stays within what is tolerated; look at the "
            "other measures before it is released."
        )
    elif high <= results.tolerated:
        yield (
            "No record can be re-identified by a distance of these families; look at the other measures "
            "before the file is released."
        )


def _protect(results: Results) -> Iterator[str]:
    """What to mask more or to withhold."""
    columns = results.of_measure("changes", "columns")
    same = [row["column"] for row in columns if row["compared"] and row["changed"] == 0.0]
    if same:
        yield f"Mask what was left as it is and may be known to an intruder: {joined(same)}."
    best, total = _best_to_withhold(results), results.ends.total
    if best is None:
        yield "Mask more strongly, and measure again; the command sweep compares many maskings."
        return
    high, attribute = best
    within = high <= results.tolerated * total
    enough = "that is within what is tolerated" if within else "that alone is not enough"
    yield (
        f"Withhold {attribute} or mask it more: without it at most "
        f"{of_all(high, total, weighted=results.weighted)} could be re-identified, which is proven; {enough}."
    )
    if not within:
        yield (
            "Mask all attributes more strongly, and measure again; the command sweep compares many "
            "maskings by risk and loss."
        )


def _best_to_withhold(results: Results) -> tuple[float, str] | None:
    """What none of the families exceeds without one attribute, where that is least and below the attack."""
    most: dict[str, dict[str, float]] = {}
    for row in results.of_measure("attributes", "withheld"):
        if row["most"] is not None:
            most.setdefault(row["attribute"], {})[row["aggregator"]] = row["most"]
    names = {family.name for family in results.found}
    choices = [(max(own.values()), name) for name, own in most.items() if own.keys() == names]
    best = min(choices, key=lambda one: one[0], default=None)
    return None if best is None or best[0] >= results.ends.low else best


def _certainty(results: Results) -> Iterator[str]:
    """What would make the answer surer."""
    interval = results.ends
    open_ones = [family_words(family.name) for family in results.found if not family.interval.proven]
    if interval.confidence is not None:
        yield (
            f"The upper end rests on samples and holds with {confident(interval.confidence)}; a longer "
            f"{called('time_limit')} takes more samples and narrows it."
        )
    elif open_ones and interval.high > interval.low:
        ends = " to ".join(map(percent, interval.shares))
        is_open = (
            f"the interval from {ends} is still open" if interval.bounded else "no bound was found in time"
        )
        yield f"Search longer with a larger {called('time_limit')}: {is_open} for the {joined(open_ones)}."
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
    """Compare the worst case with other intruders and with chance."""
    low = results.ends.shares[0]
    held_out, chance = best_held_out(results), results.finding("references", "learned_on_shuffled")
    if chance is not None and 0.0 < low < _LITTLE_OVER_CHANCE * chance["value"]:
        yield (
            "The worst case is hardly above what learning finds on shuffled files, where there is nothing to "
            "find: do not take it for a leak."
        )
    elif held_out is not None and low > 0.0 and held_out[0] < FAR_BELOW * low:
        yield (
            "An intruder who does not know the truth for all records gets far less "
            f"({percent(held_out[0])}): the worst case is a limit, not a forecast. Decide which of the two "
            "your rules are about."
        )
