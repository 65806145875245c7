"""Which sections a report has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Audience, Section
from linkrisk.solver.documents.wording import table
from linkrisk.solver.report.content.external import about
from linkrisk.solver.report.content.leaking import which_records, who_leaks
from linkrisk.solver.report.content.making import how_it_was_made
from linkrisk.solver.report.content.measured import (
    OTHER,
    is_it_realistic,
    other_measures,
    several_releases,
    the_map,
    what_it_cost,
)
from linkrisk.solver.report.content.references import worst_case
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.content.summary import summary

SECTIONS: dict[Audience, tuple[Callable[[Results], Section], ...]] = {
    Audience.INTERNAL: (
        the_map,
        summary,
        worst_case,
        who_leaks,
        which_records,
        is_it_realistic,
        several_releases,
        other_measures,
        what_it_cost,
        how_it_was_made,
    ),
    Audience.EXTERNAL: (
        about,
        worst_case,
        is_it_realistic,
        several_releases,
        other_measures,
        what_it_cost,
    ),
}
"""Of each reader, in the order of the page."""


def sections_of(results: Results, audience: Audience) -> tuple[Section, ...]:
    """Write the sections that have something to say, and one list of what was not measured.

    Parameters
    ----------
    results : Results
    audience : Audience
    """
    made = [section(results) for section in SECTIONS[audience]]
    kept = [one for one in made if one.blocks]
    gaps = [[results.title(name), reason] for name, reason in results.not_measured.items()]
    if results.families:  # of the maskings of a sweep the map has all that was measured
        gaps += [[one.title, one.lead] for one in made if one.lead and not one.blocks]
    return _listing(kept, gaps) if gaps else tuple(kept)


def _listing(kept: Sequence[Section], gaps: list[list[str]]) -> tuple[Section, ...]:
    """Close the section of other measures, or else the last one, with what was not measured."""
    at = next((at for at, one in enumerate(kept) if one.name == OTHER), len(kept) - 1)
    missing = table("Not measured", [("measure", "Measure", Of.TEXT), ("reason", "Why not", Of.TEXT)], gaps)
    listing = replace(kept[at], blocks=(*kept[at].blocks, missing))
    return (*kept[:at], listing, *kept[at + 1 :])
