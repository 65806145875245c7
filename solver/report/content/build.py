"""From the JSON of results to a `Document`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from linkrisk.solver.documents.document import Audience, Document, page
from linkrisk.solver.run.versions import library_versions

if TYPE_CHECKING:
    from linkrisk.solver.report.content.results import Results


@page("what `fit --json`, `risk --json` or `sweep --json` of this version wrote")
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
    # What makes sections and charts is heavy, and not needed where a report is only read.
    from linkrisk.solver.report.content.external import for_external
    from linkrisk.solver.report.content.results import Results
    from linkrisk.solver.report.content.sections import sections_of
    from linkrisk.solver.report.content.verdict import headline

    outside = audience is Audience.EXTERNAL
    results = Results.of(*(map(for_external, given) if outside else given))
    title = "Re-identification risk of a protected file" if outside else _title(results)
    head, sections = headline(results), sections_of(results, audience)
    return Document(title, audience, head, sections, library_versions()["linkrisk"])


def _title(results: Results) -> str:
    """The files by their names, without the folders."""
    names = [PurePath(name).name for name in str(results.details["name"]).split(" and ")]
    return f"Re-identification risk of {' and '.join(names)}"
