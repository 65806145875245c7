"""From the JSON of an action of `tables` to a `Document`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from linkrisk.solver.documents.document import Audience, Document, Headline, Section
from linkrisk.solver.report.content.tables.adjustment import adjustment_headline, adjustment_sections
from linkrisk.solver.report.content.tables.consistency import check
from linkrisk.solver.report.content.tables.counted import counted
from linkrisk.solver.report.content.tables.found import audited, what_attackers_find
from linkrisk.solver.report.content.tables.labelled import in_words
from linkrisk.solver.report.content.tables.making import how_it_was_made, what_it_does_not_tell
from linkrisk.solver.report.content.tables.noise import noise_headline, noise_sections
from linkrisk.solver.report.content.tables.outside import (
    TITLES,
    for_external,
    outside_headline,
    outside_sections,
)
from linkrisk.solver.report.content.tables.recoding import recoding_headline, recoding_sections
from linkrisk.solver.report.content.tables.rounding import rounding_headline, rounding_sections
from linkrisk.solver.report.content.tables.shown import loss, the_table
from linkrisk.solver.report.content.tables.verdict import headline
from linkrisk.solver.run.errors import UsageError

KEY = "protection"
"""What the JSON of a table has and no other."""

_ABOUT = {
    "suppression": "table",
    "rounding": "rounding",
    "adjustment": "adjustment",
    "counts": "noise",
    "sums": "noise",
    "recoding": "recoding",
}
_PARTS = (the_table, loss, what_attackers_find, audited)
_LAST = (how_it_was_made, what_it_does_not_tell)


def table_document(given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """What the report of a protected table says.

    Parameters
    ----------
    given : mapping
        The JSON of `tables suppress`, `audit`, `round`, `adjust`, `recode`, `perturb-counts` or
        `perturb-sums`.
    audience : Audience
        For external readers nothing is written but what `for_external` keeps.

    Raises
    ------
    UsageError
        If it is no such JSON, or contradicts itself.
    """
    try:
        about = _ABOUT[given[KEY]]
        check(given)
        head, sections, title = _said(in_words(given), audience)
        return Document(
            title=title,
            audience=audience,
            headline=head,
            sections=sections,
            linkrisk=given["linkrisk"],
            made=datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds"),
            about=about,
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, UsageError):
            raise
        what = f"they lack {error}" if isinstance(error, KeyError) else "a part is not what it should be"
        raise UsageError(
            f"these results cannot be shown, {what}: give what `tables suppress` or another action of "
            "`tables` of this version wrote with --json"
        ) from error


def _said(given: Mapping[str, Any], audience: Audience) -> tuple[Headline, tuple[Section, ...], str]:
    kind = given[KEY]
    if audience is Audience.EXTERNAL:
        kept = for_external(given)
        return outside_headline(kept), outside_sections(kept), TITLES[kind]
    head, sections, title = _INSIDE[kind]
    return head(given), sections(given), f"{title} {_shown_name(given['name'])}"


def _suppressed(given: Mapping[str, Any]) -> tuple[Section, ...]:
    return (*(part(given) for part in _PARTS), *counted(given), *(part(given) for part in _LAST))


_Said = Callable[[Mapping[str, Any]], Any]

_INSIDE: dict[str, tuple[_Said, _Said, str]] = {
    "suppression": (headline, _suppressed, "Protection of"),
    "rounding": (rounding_headline, rounding_sections, "Rounding of"),
    "adjustment": (adjustment_headline, adjustment_sections, "Adjustment of"),
    "counts": (noise_headline, noise_sections, "Counts with noise, of"),
    "sums": (noise_headline, noise_sections, "Sums with noise, of"),
    "recoding": (recoding_headline, recoding_sections, "Coarser codes of"),
}
"""Headline, sections and the beginning of the title, by what was done."""


def _shown_name(name: str) -> str:
    """What a table is called, without folders; linked ones are called by all of their names."""
    return " and ".join(PurePath(part).name for part in name.split(" + "))
