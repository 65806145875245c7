"""The page of a worst case or a sweep, and its last section: how the result was computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from linkrisk.solver.charts.chart import Of
from linkrisk.solver.documents.document import (
    Audience,
    Block,
    Choice,
    Code,
    Document,
    Number,
    Numbers,
    Paragraph,
    Section,
    page,
)
from linkrisk.solver.documents.wording import cell_text, duration, family_heading, table, texts
from linkrisk.solver.report.findings import headline
from linkrisk.solver.report.leaking import which_records, who_leaks
from linkrisk.solver.report.results import FamilyResult, Results
from linkrisk.solver.report.summary import (
    about,
    is_it_realistic,
    other_measures,
    several_releases,
    summary,
    what_it_cost,
)
from linkrisk.solver.report.sweep import the_map
from linkrisk.solver.report.worst_case import worst_case
from linkrisk.solver.run.result import dump_json
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.keys import Json

_SAID = {
    "name": "Files",
    "alignment": "Records aligned",
    "attributes": "Attributes compared",
    "schema": "Categorical attributes",
    "direction": "Direction",
    "ties": "Ties",
    "standardisation": "Standardisation",
    "missing": "Missing values compared as",
    "masking": "Known masking",
    "weight": "Sampling weights",
    "engine": "Engine",
    "seed": "Seed",
    "time_limit": "Time limit",
    "work_limit": "Work limit",
    "seconds": "Time taken",
    "loss": "Information loss of the map",
    "measures": "Measures",
    "families": "Families of distances",
}


def how_it_was_made(results: Results) -> Iterator[str | Block]:
    """Everything that is needed to make it again, and to check it."""
    yield "Everything that is needed to make this again, and to check that it is true."
    details, worst = results.details, {} if results.worst is None else results.worst.content
    if details.get("command"):
        yield Code("The command", details["command"])
    yield Numbers("Files and options", tuple(_options({**worst, **details}, alone=not results.families)))
    if files := details.get("files"):
        yield table("The files, to the byte", texts(role="File", name="Name", sha256="SHA-256"), files)
    if "certificates" in details:
        yield _certificates(details["certificates"])
    if results.found:
        options = tuple((family_heading(one.name), tuple(_family(results, one))) for one in results.found)
        yield Choice("Family of distances", options)
    if versions := details.get("versions") or worst.get("versions"):
        yield table("Versions", texts(part="Part", version="Version"), list(versions.items()))


def _options(details: Json, *, alone: bool) -> Iterator[Number]:
    """What was asked; of a sweep `alone` measures and families are names, else they are what was found."""
    for key, words in _SAID.items():
        value = _categorical(details.get(key)) if key == "schema" else details.get(key)
        if value is not None and (alone or key not in ("families", "measures")):
            yield Number(words, _text(key, value))


def _categorical(schema: Json | None) -> list[str] | None:
    """Which attributes are categories, and of what kind."""
    attributes = [] if schema is None else schema["attributes"]
    kinds = ("nominal", "ordinal")
    return [f"{one['name']} ({one['scale']})" for one in attributes if one.get("scale") in kinds] or None


def _text(key: str, value: Any) -> str:
    if key in ("seconds", "time_limit"):
        return duration(value)
    if isinstance(value, list):
        return ("; " if key == "masking" else ", ").join(map(str, value))
    return str(value)


def _certificates(made: list[Json]) -> Block:
    columns = [
        *texts(family="Family of distances", sha256="SHA-256 of the certificate"),
        ("verified", "Verified", Of.FLAG),
        *texts(said="What verify said"),
    ]
    rows = [{**one, "family": family_heading(one["aggregator"])} for one in made]
    caption = "Certificates, checked by code that shares nothing with the search"
    return table(caption, columns, rows) if rows else Paragraph("No certificate was made.")


def _family(results: Results, family: FamilyResult) -> Iterator[Block]:
    content = family.content
    lines = {
        "Status": content["status"],
        "Time taken": duration(content["seconds"]),
        "Seed": cell_text(content.get("seed"), Of.COUNT),
    }
    if (certificate := content.get("certificate")) is not None:
        lines["Certificate"] = "made" if certificate["made"] else f"none: {certificate['reason']}"
    lines |= {f"Phase: {phase}": duration(seconds) for phase, seconds in content["phases"].items()}
    yield Numbers("Search", tuple(Number(words, value) for words, value in lines.items()))
    yield from results.shown("bound", family=family.name)
    if content["parameters"]:
        yield Code("Parameters", dump_json(content["parameters"]))


_ALL = {
    "map": ("The map of the maskings", the_map),
    "summary": ("In short", summary),
    "worst-case": ("How many at worst", worst_case),
    "who-leaks": ("Which attributes leak", who_leaks),
    "which-records": ("Which records", which_records),
    "is-it-realistic": ("Is it realistic", is_it_realistic),
    "several-releases": ("After several releases", several_releases),
    "other-measures": ("Other measures", other_measures),
    "cost": ("What protection has cost", what_it_cost),
    "making": ("How it was made", how_it_was_made),
}
_OUTSIDE = ("worst-case", "is-it-realistic", "several-releases", "other-measures", "cost")
SECTIONS = {
    Audience.INTERNAL: _ALL,
    Audience.EXTERNAL: {"summary": ("In short", about), **{name: _ALL[name] for name in _OUTSIDE}},
}
"""Of each reader, in the order of the page: titles, and who writes them.

A writer yields what the section says in one sentence, then its blocks; without a block there is no section.
"""

_LACKING = {
    "who-leaks": "No distance was learned, so nothing can be said of attributes.",
    "which-records": "No distance was learned, so no record can be named.",
    "is-it-realistic": "The held-out attack, of an intruder who knows the truth for some records only, was "
    "not measured; the command risk or report does it.",
    "several-releases": "One release was measured. A further one can add to its risk: measure both together "
    "before.",
    "other-measures": "Nothing else was measured; the command risk or report takes every measure.",
    "cost": "It was not measured; the command risk or report does it.",
}
"""Why there is no such section, but where a measure that was not taken says that itself."""

_MEASURES = {"is-it-realistic": "held-out", "cost": "information-loss"}


@page("what `fit --json`, `risk --json` or `sweep --json` of this version wrote")
def document_of(*given: Json, audience: Audience = Audience.INTERNAL) -> Document:
    """Make the document of a report.

    `*given`: JSON of `fit`, `risk` or `sweep`, each of which gives what the others lack. Raises UsageError
    when one is no JSON of results, contradicts itself, or is one that this version cannot read.
    """
    if audience is Audience.EXTERNAL:
        from linkrisk.solver.report.outside import for_external  # which loads all measures

        results, title = Results.of(*map(for_external, given)), "Re-identification risk of a protected file"
    else:
        results = Results.of(*given)
        names = [PurePath(name).name for name in str(results.details["name"]).split(" and ")]
        title = f"Re-identification risk of {' and '.join(names)}"
    results.check()
    head, sections = headline(results), _sections(results, audience)
    return Document(title, audience, head, sections, library_versions()["linkrisk"])


def _sections(results: Results, audience: Audience) -> tuple[Section, ...]:
    """Make the sections with content, and one list of what was not measured."""
    made, gaps = {}, [[results.title(name), reason] for name, reason in results.not_measured.items()]
    for name, (title, write) in SECTIONS[audience].items():
        said: list[Any] = [*write(results)]
        if len(said) > 1:
            made[name] = title, said[0], said[1:]
        elif name in _LACKING and results.families and _MEASURES.get(name) not in results.not_measured:
            gaps.append([title, _LACKING[name]])  # of the maskings of a sweep the map has all
    if gaps:
        last = "other-measures" if "other-measures" in made else [*made][-1]
        made[last][2].append(table("Not measured", texts(measure="Measure", reason="Why not"), gaps))
    return tuple(Section(name, title, lead, tuple(blocks)) for name, (title, lead, blocks) in made.items())
