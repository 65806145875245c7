"""An answer in short: the document that a terminal and a notebook show of a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from linkrisk.solver.documents.document import (
    Audience,
    Block,
    Document,
    Headline,
    Number,
    Numbers,
    Paragraph,
    Section,
)

_OF_TABLES = (
    *("linkrisk-suppressed-table", "linkrisk-rounded-table", "linkrisk-adjusted-table"),
    *("linkrisk-perturbed-counts", "linkrisk-perturbed-sums", "linkrisk-recoded-table"),
)
MAKERS = {
    "linkrisk-comparison": "worst_case.short:comparison",
    "linkrisk-dataset": "inputs.short:data_set",
    "linkrisk-datasets": "inputs.short:data_sets",
    "linkrisk-description": "inputs.short:description",
    "linkrisk-evaluation": "linkage.short:evaluation",
    "linkrisk-fit": "report.short.worst_case:fitted",
    "linkrisk-link": "linkage.short:linkage",
    "linkrisk-links": "linkage.short:found",
    "linkrisk-masking": "masking.short:masking",
    "linkrisk-measure": "report.short.risk:measure",
    "linkrisk-protocol": "protocol.run:said",
    "linkrisk-risk": "report.short.risk:measured",
    "linkrisk-suppression": "suppression.pages.short:suppression",
    "linkrisk-sweep": "report.short.sweep:swept",
    "linkrisk-verification": "report.short.worst_case:verification",
    "linkrisk-unsafe": "suppression.pages.short:unsafe",
    "linkrisk-table-comparison": "tables.pages.build:comparison",
    "linkrisk-tabulation": "tables.pages.build:made",
    "linkrisk-batch": "tables.pages.build:batch",
    **dict.fromkeys(_OF_TABLES, "tables.pages.build:protected"),
}
"""By the `format` of a JSON, the module of `solver` and the function in it that says it in short."""

PAGES = {
    "linkrisk-suppression": "suppression.pages.build:suppression_document",
    **dict.fromkeys(_OF_TABLES, "tables.pages.build:table_document"),
}
"""The same of what makes a page of its own."""


def short(
    *parts: Iterable[Block],
    said: str | Headline = "",
    asked: Sequence[str] = (),
    notes: Iterable[str] = (),
    how: str = "",
) -> Document:
    """Put an answer in short together.

    Parameters
    ----------
    *parts : iterables of blocks
        Each is set apart from the next by an empty line; an empty one is left out.
    said : str or Headline
    asked : sequence of str
        Files, sizes and way of linking, in a line or two.
    notes : iterable of str
        The most important first.
    how : str
        Engine, seed and seconds.
    """
    sections = [Section("", "", "", blocks) for part in parts if (blocks := tuple(part))]
    quiet = tuple(Paragraph(note, quiet=True) for note in dict.fromkeys(notes))
    head = said if isinstance(said, Headline) else Headline("unknown", said)
    return Document(
        title=asked[0] if asked else head.verdict,
        audience=Audience.INTERNAL,
        headline=head,
        sections=(*sections, *((Section("", "", "", quiet),) if quiet else ())),
        asked=tuple(asked),
        how=how,
    )


def pairs(*named: tuple[str, str], title: str = "") -> Numbers:
    """Names and values below each other: ``re-identified  352 of 400 (88.0 %)``; none without a value."""
    return Numbers(title, tuple(Number(name, value) for name, value in named if value))


def short_of(result: Mapping[str, Any]) -> Document:
    """Say any result in short, from its JSON with its `format`."""
    return _made_by(MAKERS, result)


def page_of(result: Mapping[str, Any], audience: Audience) -> Document:
    """Say all of a result that makes a page of its own, or what readers outside may have."""
    return _made_by(PAGES, result, audience)


def _made_by(makers: Mapping[str, str], result: Mapping[str, Any], *more: Audience) -> Document:
    module, function = makers[result["format"]].split(":")
    document: Document = getattr(import_module(f"linkrisk.solver.{module}"), function)(result, *more)
    return document
