"""From the JSON of results to a `Document`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from linkrisk.solver.documents.document import Audience, Document
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.versions import library_versions

if TYPE_CHECKING:
    from linkrisk.solver.report.content.results import Results


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

    try:
        outside = audience is Audience.EXTERNAL
        results = Results.of(*(map(for_external, given) if outside else given))
        return Document(
            title="Re-identification risk of a protected file" if outside else _title(results),
            audience=audience,
            headline=headline(results),
            sections=sections_of(results, audience),
            linkrisk=library_versions()["linkrisk"],
            made=datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds"),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, UsageError):
            raise
        what = f"they lack {error}" if isinstance(error, KeyError) else "a part is not what it should be"
        raise UsageError(
            f"these results cannot be shown, {what}: give what `fit --json`, `risk --json` or `sweep "
            "--json` of this version wrote"
        ) from error


def _title(results: Results) -> str:
    """The files by their names, without the folders."""
    names = [PurePath(name).name for name in str(results.details["name"]).split(" and ")]
    return f"Re-identification risk of {' and '.join(names)}"
