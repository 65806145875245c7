"""What a report says, for tests: its texts, its sections, its tables."""

from __future__ import annotations

from linkrisk.solver.report.page import document_of


def leaves(content):
    """Every text and number of a JSON, keys of objects not included."""
    if isinstance(content, dict):
        content = content.values()
    if isinstance(content, list | tuple | type({}.values())):
        for each in content:
            yield from leaves(each)
    else:
        yield content


def said(*results, **options):
    """All texts of the report of some results, in one."""
    return " ".join(str(leaf) for leaf in leaves(document_of(*results, **options).to_dict()))


def section(document, name):
    """A section of a document, as its JSON has it."""
    return next(one for one in document.to_dict()["sections"] if one["name"] == name)


def blocks(content, kind):
    """All blocks of a kind, wherever they are."""
    if isinstance(content, dict):
        if content.get("kind") == kind:
            yield content
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from blocks(each, kind)


def rows(content, caption):
    """The rows of the table with this caption."""
    return next(one for one in blocks(content, "table") if one["caption"] == caption)["rows"]
