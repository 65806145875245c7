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
    *("suppressed-table", "rounded-table", "adjusted-table", "perturbed-counts", "perturbed-sums"),
    "recoded-table",
)
_MAKERS = {
    "inputs.describe": {"dataset": "data_set", "datasets": "data_sets", "description": "description"},
    "linkage.short": {"evaluation": "evaluation", "link": "linkage", "links": "found"},
    "masking.short": {"masking": "masking"},
    "protocol.run": {"protocol": "said"},
    "report.summary": {"measure": "measure", "risk": "risk"},
    "report.sweep": {"sweep": "swept"},
    "report.worst_case": {"fit": "fitted", "verification": "verification"},
    "suppression.short": {"suppression": "suppression", "unsafe": "unsafe"},
    "tables.pages.build": {
        "table-comparison": "comparison",
        "tabulation": "made",
        "batch": "batch",
        **dict.fromkeys(_OF_TABLES, "protected"),
    },
    "worst_case.short": {"comparison": "comparison"},
}
MAKERS = {
    f"linkrisk-{kind}": f"{module}:{name}" for module, own in _MAKERS.items() for kind, name in own.items()
}
"""By the `format` of a JSON, the module of `solver` and the function in it that says it in short."""

PAGES = {
    "linkrisk-suppression": "suppression.page:suppression_document",
    **{f"linkrisk-{kind}": "tables.pages.build:table_document" for kind in _OF_TABLES},
}
"""The same of what makes a page of its own."""


def short(
    *parts: Iterable[Block],
    said: str | Headline = "",
    asked: Sequence[str] = (),
    notes: Iterable[str] = (),
    how: str = "",
) -> Document:
    """Put an answer in short together; its parts are set apart, but for empty ones, which are left out.

    In a line or two it says what was asked (files, sizes and way of linking), and how it was found (engine,
    seed and seconds); notes stand with the most important first.
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
