"""`python -m solver describe`: what is in a file, and a first guess of its schema."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import TYPE_CHECKING

from linkrisk.solver.options.operations.describe import DescribeCommand

_TITLE, _TITLES, _VALUES = "column", ("role", "scale", "different", "missing"), "values"
_SIZES = (10, 7, 9, 7)
_GAP = 2
_ENOUGH = 20
"""Where fewer cells of a terminal are left for values, these have a line of their own."""

_SHORTEST_NAME, _LONGEST_NAME = 12, 40
"""Cells that names are cut to, where there is little room and where there is much."""

_NONE = "-"
_LARGEST_WHOLE = 1e15

if TYPE_CHECKING:
    from linkrisk.datasets.microdata.describing import ColumnDescription, Description


ASKED = DescribeCommand
DESCRIPTION = (
    "Say what the columns of a file seem to be, and write that down as a schema, to be corrected by hand and "
    "given to the other commands as --schema. Values of columns that look like identifiers are not shown."
)
EXAMPLE = "example: describe survey.csv --output survey.toml"


def run(asked: DescribeCommand) -> int:
    """Read, print, write the files that were asked for."""
    from dataclasses import replace
    from pathlib import Path

    from linkrisk.datasets.microdata.describing import describe
    from linkrisk.datasets.microdata.schema_files import check_suffix, write_schema
    from linkrisk.datasets.microdata.tables import load_table
    from linkrisk.datasets.microdata.writing import write_whole

    if asked.output is not None:
        check_suffix(Path(asked.output))
    table = load_table(asked.file, asked.file)
    described = replace(describe(table.frame, table.source, table.notes), notes=table.remarks)
    if asked.output is not None:
        comments = {column.attribute.name: comment(column) for column in described.columns}
        write_schema(described.schema, asked.output, comments)
    if asked.json is not None:
        write_whole(asked.json, json.dumps(described.to_dict(), indent=2, ensure_ascii=False) + "\n")
    print(summary(described), end="")
    if asked.output is None:
        print("keep this with --output SCHEMA.toml, correct it, and use it as --schema")
    else:
        print(f"wrote {asked.output}: correct it, and use it as --schema of the other commands")
    return 0


def comment(column: ColumnDescription) -> str:
    """What speaks for the guess, and what is in the column, in one line."""
    from linkrisk.datasets.microdata.roles import Role

    guess = column.guess
    reasons = [guess.why_scale] + ([] if column.attribute.role is Role.KEY else [guess.why_role])
    return f"{'; '.join(reasons)}; {column.different} different, {column.missing} missing"


def summary(described: Description) -> str:
    """The columns as a table as wide as the terminal, what speaks for special roles, and notes."""
    from linkrisk.datasets.microdata.names import shown_name
    from linkrisk.datasets.microdata.roles import ROLE_WORDS, Role
    from linkrisk.solver.documents.formats import count

    width = shutil.get_terminal_size().columns
    special = [column for column in described.columns if column.attribute.role not in (None, Role.KEY)]
    reasons = [
        f"{_printable(shown_name(each.attribute.name))} is {ROLE_WORDS[each.attribute.role or Role.KEY]}: "
        f"it {each.guess.why_role}"
        for each in special
    ]
    said = [*reasons, *(f"note: {_printable(note)}" for note in described.notes)]
    lines = [
        f"{described.source}: {count(described.records)} records, {count(len(described.columns))} columns",
        "",
        *_table(described, width),
        "",
        *(line for each in said for line in textwrap.wrap(each, width, subsequent_indent="  ")),
    ]
    return "\n".join(lines) + "\n"


def _table(described: Description, width: int) -> list[str]:
    """A line for each column, or two where the terminal is narrow."""
    from rich.cells import cell_len

    from linkrisk.datasets.microdata.names import shown_name
    from linkrisk.solver.documents.formats import count

    longest = max(cell_len(_printable(shown_name(column.attribute.name))) for column in described.columns)
    left = width - sum(size + _GAP for size in _SIZES) - _GAP
    # Values get what they need on the same line, unless that would leave too little of the names.
    most = min(left - _ENOUGH, _LONGEST_NAME) if left - _ENOUGH >= _SHORTEST_NAME else width // 4
    name = max(len(_TITLE), min(longest, most))
    rest = left - name
    lines = [_line((_TITLE, *_TITLES), name) + (" " * _GAP + _VALUES if rest >= _ENOUGH else "")]
    for column in described.columns:
        attribute = column.attribute
        cells = (
            _cut(_printable(shown_name(attribute.name)), name),
            str(attribute.role),
            str(attribute.scale),
            count(column.different),
            _missing(column, described.records),
        )
        values = _printable(_values(column))
        lines.append(_line(cells, name))
        if rest >= _ENOUGH:
            lines[-1] += " " * _GAP + _cut(values, rest)
        elif values != _NONE:
            lines.append("    " + _cut(values, width - 4))
    return [line.rstrip() for line in lines]


def _line(cells: tuple[str, ...], name: int) -> str:
    """The first columns of a line: text to the left, numbers to the right."""
    from rich.cells import set_cell_size

    first, role, scale, different, missing = cells
    widths = dict(zip(("role", "scale", "different", "missing"), _SIZES, strict=True))
    parts = [
        set_cell_size(first, name),
        role.ljust(widths["role"]),
        scale.ljust(widths["scale"]),
        different.rjust(widths["different"]),
        missing.rjust(widths["missing"]),
    ]
    return (" " * _GAP).join(parts)


def _cut(text: str, width: int) -> str:
    """Text of at most so many cells of a terminal."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 3).rstrip() + "..."


def _printable(text: str) -> str:
    """Text in one line, whatever it holds."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _missing(column: ColumnDescription, records: int) -> str:
    from linkrisk.solver.documents.formats import NARROW_SPACE, percent

    return percent(column.missing, records).replace(NARROW_SPACE, " ") if column.missing else _NONE


def _values(column: ColumnDescription) -> str:
    """The range of numbers, or the most frequent categories; a dash where values are not shown."""
    if column.lowest is not None and column.highest is not None:
        return f"{_number(column.lowest)} to {_number(column.highest)}"
    if column.frequent:
        named = [f"{each.label or each.code} {each.records}" for each in column.frequent]
        return ", ".join(named) + (", ..." if column.different > len(named) else "")
    return _NONE


def _number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < _LARGEST_WHOLE else f"{value:.6g}"
