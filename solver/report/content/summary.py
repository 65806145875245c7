"""The page for the director: what was masked, who is at risk, what to do next. No formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words, group_in_words, name_in_words
from linkrisk.errors import called
from linkrisk.solver.documents.document import Block, Items, Paragraph, Section
from linkrisk.solver.documents.wording import joined, table
from linkrisk.solver.measures.base import OF_RECORDS, OF_WEIGHTS
from linkrisk.solver.report.content.leaking import group_columns
from linkrisk.solver.report.content.next_steps import next_steps
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.run.percent import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import is_weighted

MOST_STRATA = 5
"""The riskiest strata that are named."""

MOST_COLUMNS = 8
"""Changed columns that are named, those with most changes first."""

LEAST_GROUP = 10
"""Records of a group that is named as one of the riskiest."""


def summary(results: Results) -> Section:
    """What whoever decides has to know."""
    lead = "What was released, who is at risk, and what to do next."
    if results.worst is None:
        lead = "What was compared, and what to do next."
    return Section("summary", "In short", lead, tuple(_blocks(results)))


def _blocks(results: Results) -> Iterator[Block]:
    masked = list(what_was_masked(results))
    yield Items("What was masked", tuple(masked))
    if results.families:
        yield from _strata(results)
    yield Items("What to do next", tuple(next_steps(results)))


def what_was_masked(results: Results) -> Iterator[str]:
    """How much of which columns, as far as it is known."""
    if results.worst is None:
        yield "This is a comparison of maskings; each is named in the table of the map."
        return
    known = results.details.get("masking") or ()
    if known:
        yield f"Masked, as was said, by {'; '.join(known)}."
    columns = results.of_measure("changes", "columns")
    if columns:
        yield from _of_columns(columns)
        return
    loss = results.measure("information-loss")
    if loss is None:
        yield (
            "How much each column was changed was not measured; the measure changes tells it (command risk "
            "or report)."
        )
        return
    if loss["masked"]:
        yield f"Changed: {joined(loss['masked'])}."
    if loss["unchanged"]:
        yield f"Left exactly as they are: {joined(loss['unchanged'])}."


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


def _strata(results: Results) -> Iterator[Block]:
    """The groups of records that are hit hardest."""
    rows = [*_groups(results), *_design_strata(results)]
    if not rows:
        yield Paragraph(
            "There are no strata or categories to compare: a schema with the role stratum or key, or "
            f"the option {called('groups')}, would show which groups of records are hit hardest.",
            quiet=True,
        )
        return
    large = [row for row in rows if row[2] >= LEAST_GROUP] or rows
    large.sort(key=lambda row: -row[4])
    groups = results.of_measure("records", "groups")
    unit = (OF_WEIGHTS if groups else OF_RECORDS) if results.weighted or is_weighted(groups) else ""
    columns = group_columns(unit)
    yield table("The riskiest groups of records", columns, large[:MOST_STRATA])


def _groups(results: Results) -> Iterator[list[Any]]:
    for group in results.of_measure("records", "groups"):
        yield [*group_in_words(group), group["records"], group["linked"], group["share"]]


def _design_strata(results: Results) -> Iterator[list[Any]]:
    """Those of the fit, where `risk` has not looked at groups."""
    worst = results.worst
    if worst is None or results.of_measure("records", "groups"):
        return
    content = worst.content
    labels: Labels = content.get("labels", {})
    for name, own in (content.get("strata") or {}).items():
        share = own["linked"] / own["records"] if own["records"] else 0.0
        column = content["stratum"]
        words = name_in_words(column, labels), code_in_words(column, name, labels)
        yield [*words, own["records"], own["linked"], share]
