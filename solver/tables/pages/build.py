"""From the JSON of an action of `tables` to a `Document`: what is said, by what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from linkrisk.solver.documents.document import (
    Audience,
    Block,
    Document,
    Headline,
    Number,
    Numbers,
    Section,
    page,
)
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages import changed, making, outside, shown, suppressed
from linkrisk.solver.tables.pages.consistency import check
from linkrisk.solver.tables.pages.words import in_words

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
    asked : callable
        What was asked.
    parts : tuple of callables
        Sections of the page, but for how it was made and what it does not tell.
    found : callable, optional
        The blocks of the page that an answer in short has, too; what was asked when absent.
    """

    title: str
    about: str
    headline: Callable[[Json], Headline]
    asked: Callable[[Json], Iterable[Number]]
    parts: tuple[Callable[[Json], Section | Iterable[Section]], ...]
    found: Callable[[Json], tuple[Block, ...]] | None = None

    def brief(self, given: Json) -> tuple[Block, ...]:
        """What an answer in short has below its headline."""
        return (Numbers("", tuple(self.asked(given))),) if self.found is None else self.found(given)

    def sections(self, given: Json) -> Iterator[Section]:
        """All of the page."""
        for part in self.parts:
            made = part(given)
            yield from (made,) if isinstance(made, Section) else made
        yield making.made(given, self.asked(given))
        yield making.limits(given)


@page("what `tables suppress` or another action of `tables` of this version wrote with --json")
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
    kind = KINDS[given[KEY]]
    check(given)
    given = in_words(given)
    if audience is Audience.EXTERNAL:
        kept = outside.for_external(given)
        title, head = outside.KINDS[given[KEY]].title, outside.outside_headline(kept)
        sections = tuple(outside.outside_sections(kept))
    else:
        # linked tables are called by all of their names, without folders
        title = f"{kind.title} {' and '.join(PurePath(part).name for part in given['name'].split(' + '))}"
        head, sections = kind.headline(given), tuple(kind.sections(given))
    return Document(title, audience, head, sections, given["linkrisk"], about=kind.about)


def _found_by_attackers(given: Json) -> tuple[Block, ...]:
    """What the audit found, and how a large table was protected."""
    found = suppressed.audit_numbers(given).numbers if given["sensitive"] else ()
    how = tuple(making.method(given)) if "added_by_repair" in given else ()
    known = suppressed.known_of_counts(given) if given.get("counts") else ()
    return (Numbers("", (*found, *how)), *known) if (*found, *how) else known


def _coarser(given: Json) -> Section:
    return shown.the_table(given, "; nothing is suppressed in it yet")


_NOISY = (shown.the_table, changed.changes, changed.utility, shown.changes_by_category)
KINDS = {
    "suppression": Kind(
        *("Protection of", "table", suppressed.headline, making.of_suppression),
        (shown.the_table, shown.loss, suppressed.what_attackers_find, suppressed.audited, suppressed.counted),
        _found_by_attackers,
    ),
    "rounding": Kind(
        *("Rounding of", "rounding", changed.rounding_headline, making.of_rounding),
        (shown.the_table, changed.changes, shown.changes_by_category),
    ),
    "adjustment": Kind(
        *("Adjustment of", "adjustment", changed.adjustment_headline, making.of_adjustment),
        (shown.the_table, changed.moved_cells, changed.changes, shown.changes_by_category),
        lambda given: (changed.sensitive_numbers(given),),
    ),
    "counts": Kind("Counts with noise, of", "noise", changed.noise_headline, making.of_counts, _NOISY),
    "sums": Kind("Sums with noise, of", "noise", changed.noise_headline, making.of_sums, _NOISY),
    "recoding": Kind(
        *("Coarser codes of", "recoding", changed.recoding_headline, making.of_recoding),
        (changed.effects, changed.codes, _coarser),
        lambda given: changed.effects(given).shown,
    ),
}
