"""Rendering of a document as a card of HTML for a notebook; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linkrisk.errors import lacks_extra
from linkrisk.solver.documents.document import Document, Section

ROWS = 12
"""Of longer tables a card shows so many rows, and says how many more there are."""


def notebook(document: Document) -> str | None:
    """Draw a document as a card: its sentence, the bar, what was found, and the rest in small letters."""
    head, quiet = document.headline, [document.how, *document.notes]
    first, *others = head.sentences or document.asked or (document.title,)
    bars = [] if head.bar is None else [head.bar]
    asked = [one for one in document.asked if one != first]
    return card(first, [*others, *bars, *head.reasons], document.sections, filter(None, [*asked, *quiet]))


def card(
    said: str,
    lines: Sequence[str | tuple[float, float]],
    sections: Sequence[Section] = (),
    quiet: Iterable[str] = (),
) -> str | None:
    """A headline and what is below it: sentences, shares drawn as bars, sections; last what is `quiet`.

    None without the extra that draws pages: a notebook then shows the text.
    """
    if lacks_extra("jinja2") or lacks_extra("vl_convert"):
        return None
    from linkrisk.solver.documents.page.rendering import environment

    template = environment().get_template("card.html.jinja")
    return template.render(said=said, lines=lines, sections=sections, quiet="; ".join(quiet), card_rows=ROWS)
