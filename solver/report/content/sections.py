"""Which sections a report has."""

from __future__ import annotations

from collections.abc import Callable

from linkrisk.solver.report.content.cost import what_it_cost
from linkrisk.solver.report.content.external import about
from linkrisk.solver.report.content.leaks import who_leaks
from linkrisk.solver.report.content.making import how_it_was_made
from linkrisk.solver.report.content.other_measures import other_measures
from linkrisk.solver.report.content.realism import is_it_realistic
from linkrisk.solver.report.content.records import which_records
from linkrisk.solver.report.content.references import worst_case
from linkrisk.solver.report.content.releases import several_releases
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.content.summary import summary
from linkrisk.solver.report.document import Audience, Section

SECTIONS: dict[Audience, tuple[Callable[[Results], Section], ...]] = {
    Audience.INTERNAL: (
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
