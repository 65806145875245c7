"""From the JSON of `suppress` to a `Document`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from linkrisk.solver.documents.document import Audience, Document
from linkrisk.solver.report.content.suppression.labelled import in_words
from linkrisk.solver.report.content.suppression.making import how_it_was_made
from linkrisk.solver.report.content.suppression.outside import (
    for_external,
    outside_headline,
    outside_sections,
)
from linkrisk.solver.report.content.suppression.risk import risk, riskiest, unsafe
from linkrisk.solver.report.content.suppression.variables import frequencies, key_variables
from linkrisk.solver.report.content.suppression.verdict import headline


def suppression_document(given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """What the report of a suppression says.

    Parameters
    ----------
    given : mapping
        The JSON of `suppress`.
    audience : Audience
        For external readers nothing is written but what `for_external` keeps.
    """
    given = in_words(given)
    if audience is Audience.EXTERNAL:
        kept = for_external(given)
        title = "Suppression in a protected file"
        head, sections = outside_headline(kept), outside_sections(kept)
    else:
        title = f"Suppression in {PurePath(given['name']).name}"
        head = headline(given)
        parts = (risk, unsafe, key_variables, frequencies, riskiest, how_it_was_made)
        sections = tuple(part(given) for part in parts)
    return Document(
        title=title,
        audience=audience,
        headline=head,
        sections=sections,
        version=given["linkrisk"],
        made=datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds"),
        about="suppression",
    )
