"""From the JSON of an action of `tables` to a `Document`: what is said, by what was done."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from linkrisk.solver.documents.document import Audience, Block, Document, Headline, Numbers, Section
from linkrisk.solver.report.content.tables import changed, making, suppressed
from linkrisk.solver.report.content.tables.consistency import check
from linkrisk.solver.report.content.tables.outside import (
    TITLES,
    for_external,
    outside_headline,
    outside_sections,
)
from linkrisk.solver.report.content.tables.shown import changed_table, changes_by_category, loss, the_table
from linkrisk.solver.report.content.tables.words import Json, in_words
from linkrisk.solver.run.errors import UsageError

KEY = "protection"
"""What the JSON of a table has and no other."""


@dataclass(frozen=True)
class Kind:
    """What is said of tables with which the same was done.

    Attributes
    ----------
    title : str
        Of the page, as it begins.
    about : str
        Which words stand around the page.
    headline : callable
    found : callable
        The blocks of the page that an answer in short has, too.
    sections : callable
        Of the page, but for what it does not tell.
    """

    title: str
    about: str
    headline: Callable[[Json], Headline]
    found: Callable[[Json], tuple[Block, ...]]
    sections: Callable[[Json], tuple[Section, ...]]


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
        kind = KINDS[given[KEY]]
        check(given)
        head, sections, title = _said(kind, in_words(given), audience)
        return Document(
            title=title,
            audience=audience,
            headline=head,
            sections=sections,
            linkrisk=given["linkrisk"],
            made=datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds"),
            about=kind.about,
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, UsageError):
            raise
        what = f"they lack {error}" if isinstance(error, KeyError) else "a part is not what it should be"
        raise UsageError(
            f"these results cannot be shown, {what}: give what `tables suppress` or another action of "
            "`tables` of this version wrote with --json"
        ) from error


def _said(kind: Kind, given: Json, audience: Audience) -> tuple[Headline, tuple[Section, ...], str]:
    if audience is Audience.EXTERNAL:
        kept = for_external(given)
        return outside_headline(kept), outside_sections(kept), TITLES[given[KEY]]
    # linked tables are called by all of their names, without folders
    name = " and ".join(PurePath(part).name for part in given["name"].split(" + "))
    return kind.headline(given), (*kind.sections(given), making.limits(given)), f"{kind.title} {name}"


def _suppressed(given: Json) -> tuple[Section, ...]:
    return (
        the_table(given),
        loss(given),
        suppressed.what_attackers_find(given),
        suppressed.audited(given),
        *suppressed.counted(given),
        making.made(given, making.of_suppression(given), making.search(given)),
    )


def _rounded(given: Json) -> tuple[Section, ...]:
    how = making.made(given, making.of_rounding(given), making.search(given))
    return changed_table(given), changed.rounding_changes(given), changes_by_category(given), how


def _adjusted(given: Json) -> tuple[Section, ...]:
    return (
        changed_table(given),
        changed.moved_cells(given),
        changed.changes_by_share(given),
        changes_by_category(given),
        making.made(given, making.of_adjustment(given), making.search(given)),
    )


def _noisy(given: Json) -> tuple[Section, ...]:
    changes = changed.noise_changes if given[KEY] == "counts" else changed.changes_by_share
    table, utility = changed_table(given), changed.utility(given)
    return table, changes(given), utility, changes_by_category(given), making.noise_made(given)


def _recoded(given: Json) -> tuple[Section, ...]:
    how = making.made(given, making.of_recoding(given), what="Microdata")
    return changed.effects(given), *changed.codes(given), changed.recoded_table(given), how


def _found_by_attackers(given: Json) -> tuple[Block, ...]:
    """What the audit found, and how a large table was protected."""
    found = suppressed.audit_numbers(given).numbers if given["sensitive"] else ()
    how = tuple(making.method(given)) if "added_by_repair" in given else ()
    known = suppressed.known_of_counts(given) if given.get("counts") else ()
    return (Numbers("", (*found, *how)), *known) if (*found, *how) else known


KINDS = {
    "suppression": Kind("Protection of", "table", suppressed.headline, _found_by_attackers, _suppressed),
    "rounding": Kind(
        "Rounding of",
        "rounding",
        changed.rounding_headline,
        lambda given: (Numbers("", tuple(making.of_rounding(given))),),
        _rounded,
    ),
    "adjustment": Kind(
        "Adjustment of",
        "adjustment",
        changed.adjustment_headline,
        lambda given: (changed.sensitive_numbers(given),),
        _adjusted,
    ),
    "counts": Kind(
        "Counts with noise, of",
        "noise",
        changed.noise_headline,
        lambda given: (Numbers("", tuple(making.of_counts(given))),),
        _noisy,
    ),
    "sums": Kind(
        "Sums with noise, of",
        "noise",
        changed.noise_headline,
        lambda given: (Numbers("", tuple(making.of_sums(given))),),
        _noisy,
    ),
    "recoding": Kind(
        "Coarser codes of",
        "recoding",
        changed.recoding_headline,
        lambda given: changed.effects(given).shown,
        _recoded,
    ),
}
