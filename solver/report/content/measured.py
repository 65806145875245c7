"""What was measured beside the worst case: other intruders, other releases, other measures, and the cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Numbers, Paragraph, Section
from linkrisk.solver.documents.wording import family_heading, table
from linkrisk.solver.report.content.drawn import drawn, drawn_or
from linkrisk.solver.report.content.next_steps import cheapest, tolerated
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.short.risk import EQUAL, number_of
from linkrisk.solver.report.short.sweep import runs_table
from linkrisk.solver.run.percent import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import held_out_of, upper_end


def is_it_realistic(results: Results) -> Section:
    """Learning curves, and the gap between what a distance was learned from and other records."""
    title, rates = "Is it realistic", results.of_measure("held-out", "rates")
    if not rates:
        lead = (
            "The held-out attack, of an intruder who knows the truth for some records only, was not "
            "measured; the command risk or report does it."
        )
        return Section("is-it-realistic", title, "" if "held-out" in results.not_measured else lead)
    lead = (
        "The worst case knows the truth for every record. Here an intruder knows it for a share of them, "
        "learns a distance from these, and attacks the others."
    )
    return Section("is-it-realistic", title, lead, tuple(_learned(results, rates)))


def _learned(results: Results, rates: Sequence[Json]) -> Iterator[Block]:
    yield from drawn(results, "learning-curve")
    columns = [
        ("family", "Distance", Of.TEXT),
        ("share", "Records known", Of.SHARE),
        ("held_out", "Re-identified of the others", Of.SHARE),
        ("low", "At least (95 %)", Of.SHARE),
        ("high", "At most (95 %)", Of.SHARE),
        ("gap", "Over-fit gap", Of.POINTS),
        ("one_to_one", "One to one", Of.SHARE),
        ("worst", "Worst case", Of.SHARE),
    ]
    rows = [
        {**rate, "family": _name(rate["aggregator"])}
        for rate in sorted(rates, key=lambda rate: (rate["aggregator"], rate["share"]))
    ]
    yield table("What is learned from a share of the records links of the others", columns, rows)
    chance = (results.measure("held-out") or {}).get("chance")
    if chance is not None:
        yield Paragraph(
            f"A random guess is right for {percent(chance)} of the records. The over-fit gap is what a "
            "distance links less of other records than of those that it was learned from; one to one is the "
            "same intruder, who uses every masked record once.",
            quiet=True,
        )


def _name(aggregator: Any) -> str:
    return "Equal weights, nothing learned" if aggregator == EQUAL else family_heading(str(aggregator))


def several_releases(results: Results) -> Section:
    """The worst case from release to release, and what intersecting candidates leaves."""
    title, found = "After several releases", results.measure("releases")
    if found is None:
        lead = "One release was measured. A further one can add to its risk: measure both together before."
        return Section("several-releases", title, lead)
    tell = "can tell" if found["way"] == "together" else "cannot tell"
    many = "" if found.get("releases") is None else f"{found['releases']} "
    lead = (
        f"An intruder who has all {many}releases, and {tell} which of their records belong together, beside "
        "one who has the first release alone."
    )
    return Section("several-releases", title, lead, tuple(_later(results, found)))


def _later(results: Results, found: Json) -> Iterator[Block]:
    if found["findings"]:
        yield Numbers("What the later releases add", tuple(map(number_of, found["findings"])))
    yield from drawn_or(drawn(results, "releases"), _risks(found))


def _risks(found: Json) -> Iterator[Block]:
    risks = found.get("risks") or ()
    if risks:
        columns = [
            ("number", "Releases" if found["way"] == "together" else "Release", Of.COUNT),
            ("family", "Family of distances", Of.TEXT),
            ("low", "Re-identified", Of.SHARE),
            ("high", "At most", Of.SHARE),
            ("rise_low", "Rise at least", Of.POINTS),
            ("rise_high", "Rise at most", Of.POINTS),
        ]
        rows = [
            {**one, "family": family_heading(one["aggregator"]), "high": upper_end(one["low"], one["high"])}
            for one in risks
        ]
        yield table("Worst case from release to release", columns, rows)


OTHER = "other-measures"
"""Name of the section, whose end has the list of what was not measured."""

ELSEWHERE = ("worst-case", "simple-attacks", "references", "releases", "information-loss", "changes")
"""Measures that have a section of their own, or stand in one."""

CHARTS = {"link-reliability": ("reliability",), "interval-disclosure": ("disclosure",)}
"""Charts that stand below the findings of a measure."""


def other_measures(results: Results) -> Section:
    """What else was measured."""
    title = "Other measures"
    blocks = tuple(_others(results))
    if not blocks:
        lead = "Nothing else was measured; the command risk or report takes every measure."
        return Section(OTHER, title, lead)
    lead = "What other views of the same release say. Each line says which way is worse, and what it means."
    return Section(OTHER, title, lead, blocks)


def _others(results: Results) -> Iterator[Block]:
    for name, content in results.measures.items():
        if name not in ELSEWHERE and content.get("findings"):
            yield findings_block(results, name, content)
            yield from drawn(results, *CHARTS.get(name, ()))


def findings_block(results: Results, name: str, content: Json) -> Numbers:
    """The findings of one measure."""
    return Numbers(results.title(name), tuple(map(number_of, content["findings"])))


def what_it_cost(results: Results) -> Section:
    """Loss of this release, and of the maskings of a sweep beside their risk."""
    title, blocks = "What protection has cost", tuple(_lost(results))
    if not blocks:
        lead = "It was not measured; the command risk or report does it."
        return Section("cost", title, "" if "information-loss" in results.not_measured else lead)
    lead = "How far the released file is from the original. More protection usually costs more."
    return Section("cost", title, lead, blocks)


def _lost(results: Results) -> Iterator[Block]:
    if columns := results.of_measure("changes", "columns"):
        yield _changes(columns)
    loss = results.measure("information-loss")
    if loss is not None and loss.get("findings"):
        yield findings_block(results, "information-loss", loss)
        yield from drawn(results, "loss")
    if results.sweep is not None and results.families:
        yield from map_blocks(results, results.sweep)


def _changes(columns: Sequence[Json]) -> Block:
    titles = [
        ("column", "Column", Of.TEXT),
        ("role", "Role", Of.TEXT),
        ("compared", "Compared", Of.FLAG),
        ("changed", "Values changed", Of.SHARE),
        ("missing", "Taken out", Of.SHARE),
        ("shift", "Shift of the mean, in standard deviations", Of.NUMBER),
        ("most_frequent", "Most frequent change", Of.TEXT),
    ]
    return table("What was changed", titles, columns)


_STOPPED = "stopped before it was done"


def the_map(results: Results) -> Section:
    """Open the report of a sweep alone; beside a worst case the map stands with what protection has cost."""
    title = "The map of the maskings"
    if results.families or results.sweep is None:
        return Section("map", title, "")
    return Section("map", title, "", tuple(map_blocks(results, results.sweep)))


def map_blocks(results: Results, sweep: Json) -> Iterator[Block]:
    """Draw the map, say the cheapest masking that is tolerated, and list all, the undominated first."""
    yield from drawn(results, "risk-utility", tolerated=tolerated(results))
    yield Paragraph(_cheapest(results))
    held_out = any(held_out_of(run) is not None for run in sweep["runs"])
    names = ("masking", "low", "high", *(["held_out"] if held_out else []), "loss", "place")
    shown = runs_table(sweep["loss"], sweep["runs"], names, "Maskings: their risk and their loss")
    stopped = [[masking, *(None for _ in names[2:]), _STOPPED] for masking in sweep["unfinished"]]
    yield replace(shown, rows=sorted([*shown.rows, *stopped], key=_order))
    yield Paragraph(
        "A masking is on the front when no other one has both less risk and less loss, whatever the risks "
        "are within their intervals.",
        quiet=True,
    )
    if held_out:
        yield Paragraph(
            "Held-out is what the strongest intruder re-identifies of other records, who has learned from a "
            "share of them.",
            quiet=True,
        )


def _cheapest(results: Results) -> str:
    allowed, found = tolerated(results), cheapest(results)
    if found is None:
        return (
            f"No masking keeps its worst case within the {percent(allowed)} that are tolerated and has "
            "nothing else against it, such as columns that are neither masked nor compared."
        )
    loss, most, masking = found
    within = f"whose worst case is within the {percent(allowed)} that are tolerated is {masking}"
    risk = f"at most {percent(most)} of its records can be re-identified"
    if loss is None:
        return f"The safest masking {within}: {risk}. What it loses was not measured."
    return f"The cheapest masking {within}: it loses {loss:.3g}, and {risk}."


def _order(row: Sequence[Any]) -> tuple[bool, float]:
    loss, place = row[-2:]
    return place != "on the front", math.inf if loss is None else loss
