"""From the JSON of results to a `Document`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from linkrisk.solver.report.content.cost import what_it_cost
from linkrisk.solver.report.content.external import about, for_external
from linkrisk.solver.report.content.leaks import who_leaks
from linkrisk.solver.report.content.making import how_it_was_made
from linkrisk.solver.report.content.other_measures import other_measures
from linkrisk.solver.report.content.realism import is_it_realistic
from linkrisk.solver.report.content.records import which_records
from linkrisk.solver.report.content.references import worst_case
from linkrisk.solver.report.content.releases import several_releases
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.content.summary import summary
from linkrisk.solver.report.content.verdict import headline
from linkrisk.solver.report.document import Audience, Document, Section
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.answers import library_versions

SECTIONS: tuple[Callable[[Results], Section], ...] = (
    summary,
    worst_case,
    who_leaks,
    which_records,
    is_it_realistic,
    several_releases,
    other_measures,
    what_it_cost,
    how_it_was_made,
)
"""In the order of the page."""

EXTERNAL: tuple[Callable[[Results], Section], ...] = (
    about,
    worst_case,
    is_it_realistic,
    several_releases,
    other_measures,
    what_it_cost,
)
"""The same for readers outside."""


def document_of(*given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """What a report says of results.

    Parameters
    ----------
    *given : mapping
        JSON of `fit`, `risk` or `sweep`, each of which gives what the others lack.
    audience : Audience

    Raises
    ------
    UsageError
        When one is no JSON of results, or one that this version cannot read.
    """
    try:
        outside = audience is Audience.EXTERNAL
        results = Results.of(*(map(for_external, given) if outside else given))
        return Document(
            title="Re-identification risk of a protected file" if outside else _title(results),
            audience=audience,
            headline=headline(results),
            sections=tuple(section(results) for section in (EXTERNAL if outside else SECTIONS)),
            version=library_versions()["linkrisk"],
            made=datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds"),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, UsageError):
            raise
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(
            f"these results cannot be shown, {what}: give what `fit --json`, `risk --json` or `sweep "
            "--json` of this version wrote"
        ) from error


def _title(results: Results) -> str:
    """The files by their names, without the folders."""
    names = [PurePath(name).name for name in str(results.details["name"]).split(" and ")]
    return f"Re-identification risk of {' and '.join(names)}"
