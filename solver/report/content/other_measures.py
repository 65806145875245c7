"""Other measures: every finding with its direction and one sentence on what it says."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.documents.document import Block, Number, Numbers, Section
from linkrisk.solver.report.content.drawn import drawn
from linkrisk.solver.report.content.external import EQUAL, FAMILY_KEYS
from linkrisk.solver.report.content.meanings import meaning_of
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import family_words, number_of

OTHER = "other-measures"
"""Name of the section, whose end has the list of what was not measured."""

ELSEWHERE = ("worst-case", "simple-attacks", "references", "releases", "information-loss", "changes")
"""Measures that have a section of their own, or stand in one."""

CHARTS = {"link-reliability": ("reliability",), "interval-disclosure": ("disclosure",)}
"""Charts that stand below the findings of a measure."""


def other_measures(results: Results) -> Section:
    """What else was measured."""
    title = "Other measures"
    blocks = tuple(_blocks(results))
    if not blocks:
        lead = "Nothing else was measured; the command risk or report takes every measure."
        return Section(OTHER, title, lead)
    lead = "What other views of the same release say. Each line says which way is worse, and what it means."
    return Section(OTHER, title, lead, blocks)


def _blocks(results: Results) -> Iterator[Block]:
    for name, content in results.measures.items():
        if name not in ELSEWHERE and content.get("findings"):
            yield findings_block(results, name, content)
            yield from drawn(results, *CHARTS.get(name, ()))


def findings_block(results: Results, name: str, content: Json) -> Numbers:
    """The findings of one measure."""
    return Numbers(results.title(name), tuple(_line(one) for one in content["findings"]))


def _line(finding: Json) -> Number:
    meaning = meaning_of(finding["key"])
    return number_of(finding, _in_words(finding["key"], finding.get("words") or meaning.words), meaning.says)


def _in_words(key: str, line: str) -> str:
    """A line that begins with the name of a family, as options have it, begins with words instead."""
    name = next(
        (key.removeprefix(start).replace("_", "-") for start in FAMILY_KEYS if key.startswith(start)), ""
    )
    if not name or not line.startswith(name):
        return line
    words = "equal weights" if name == EQUAL else family_words(name)
    return words + line.removeprefix(name)
