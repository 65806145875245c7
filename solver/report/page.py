"""The page of a worst case or a sweep: from the JSON of results to a `Document`."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from linkrisk.solver.documents.document import Audience, Document, Section, page
from linkrisk.solver.documents.wording import table, texts
from linkrisk.solver.report.headline import headline
from linkrisk.solver.report.leaking import which_records, who_leaks
from linkrisk.solver.report.making import how_it_was_made
from linkrisk.solver.report.measured import is_it_realistic, other_measures, several_releases, what_it_cost
from linkrisk.solver.report.results import Results
from linkrisk.solver.report.summary import about, summary
from linkrisk.solver.report.sweep import the_map
from linkrisk.solver.report.worst_case import worst_case
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.keys import Json

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
    """What a report says of results.

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
    """Write the sections that have something to say, and one list of what was not measured."""
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
