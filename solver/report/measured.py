"""What was measured beside the worst case: `risk` in short; on a page other intruders, releases, the cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.documents.document import Block, Document, Headline, Paragraph
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import files_line
from linkrisk.solver.report.findings import numbers_of
from linkrisk.solver.report.headline import UNKNOWN, in_short
from linkrisk.solver.report.results import Results
from linkrisk.solver.report.sweep import map_blocks
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.keys import Json

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
    """Of the JSON of one measure, with its name and what it says for a reader."""
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
