"""Words and tables that the sections share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkrisk.datasets.microdata.names import level_in_words
from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block
from linkrisk.solver.report.content.wording import joined, table

Json = Mapping[str, Any]

MEANS = {
    "own-category": "missing as a category of its own",
    "matches-anything": "missing matches anything",
}
"""What a missing value means to whoever counts, at the head of a column."""

COUNTED = {
    "own-category": "where a missing value is a category of its own",
    "matches-anything": "where it matches anything",
}
"""The same in a sentence."""

PROBLEMS = {
    "cover": "cover: every minimal unsafe combination of the input loses a value",
    "recount": "recount: every record has k like it when the output is counted",
    "joint": "joint: every record has k like it in the output, by recoding together with suppression",
}


def several(many: int, one: str, more: str = "") -> str:
    """``1 value``, ``1,204 values``."""
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def recoded(given: Json) -> str:
    """``town recoded to level 1 and age recoded to level 2``; empty where nothing was."""
    return joined([f"{name} recoded to {level}" for name, level in levels_taken(given)])


def levels_taken(given: Json) -> list[tuple[str, str]]:
    """The variables that were recoded, each with its level in words."""
    names = given.get("level_names", {})
    return [
        (name, level_in_words(level, names.get(name, ()))) for name, level in given["levels"].items() if level
    ]


def frequency_tables(lines: Sequence[Json], level: int) -> tuple[Block, ...]:
    """Records by category, before and after; of a recoded variable a table of each."""
    if not level:
        columns = [
            ("category", "Category", Of.TEXT),
            *(("before", "Before", Of.COUNT), ("after", "After", Of.COUNT), ("lost", "Lost", Of.COUNT)),
        ]
        rows = [[_category(one), one["before"], one["after"], one["before"] - one["after"]] for one in lines]
        return (table("Records by category", columns, rows),)
    found = []
    for when, said in (("before", "before"), ("after", f"after, at level {level}")):
        columns = [("category", "Category", Of.TEXT), (when, "Records", Of.COUNT)]
        rows = [[_category(one), one[when]] for one in lines if one[when] is not None]
        found.append(table(f"Records by category {said}", columns, rows))
    return tuple(found)


def _category(line: Json) -> str:
    return f"{several(line['others'], 'other')}" if line["category"] is None else str(line["category"])
