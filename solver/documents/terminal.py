"""Rendering of a document as text for a terminal."""

from __future__ import annotations

import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import TextIO

from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.documents.document import (
    Block,
    Choice,
    Code,
    Document,
    Headline,
    Items,
    Number,
    Numbers,
    Paragraph,
    Section,
)
from linkrisk.solver.documents.wording import NARROW_SPACE, cell_text, is_numeric

_BLOCKS, _PLAIN = "█▒░", "#=."
"""What is re-identified, what lies between attack and bound, and the rest."""

_LEFT, _RIGHT = "  0 % ", " 100 %"
_LONGEST, _SHORTEST = 60, 10
"""Of the bar, in characters."""

_ELSEWHERE = 80
"""Columns of whatever is no terminal."""

_NONE = "-"
_ENOUGH = 20
"""Where fewer columns are left for the last cells of a table, these have lines of their own."""

_SHORTEST_NAME, _LONGEST_NAME = 12, 40
"""What other long cells are cut to, where there is little room and where there is much."""


def terminal(document: Document, stream: TextIO | None = None) -> str:
    """Draw a document as text, its parts set apart by empty lines, then notes and how it was found.

    The stream where it will be written (standard output when absent) says how wide it is and whether it can
    show bars.
    """
    stream = sys.stdout if stream is None else stream
    room, blocks = columns(stream), [block for one in document.sections for block in one.shown]
    alone = [one.numbers for one in blocks if isinstance(one, Numbers) and not one.title]
    width = _longest(*alone)  # values of all parts stand below each other
    last = [*(f"note: {note}" for note in document.notes), *([document.how] if document.how else [])]
    parts = [document.asked, [*_headline(document.headline, stream, room)]]
    parts += [[*_section(one, width, room)] for one in document.sections]
    lines = ("\n".join(map(printable, part)) for part in (*parts, last) if part)
    return "\n\n".join(lines) + "\n"


def printable(text: str) -> str:
    """Text in one line, whatever names and values hold: nothing that moves in a terminal, or colours it."""
    return "".join(sign if sign.isprintable() or sign == NARROW_SPACE else "?" for sign in text)


def _headline(head: Headline, stream: TextIO, room: int) -> Iterator[str]:
    """The sentences, broken to the width of the terminal, and the bar below them."""
    whole = max(room - 1, 20)
    for sentence in head.sentences:
        yield from textwrap.wrap(sentence, whole, break_on_hyphens=False)
    if head.bar is not None:
        yield bar(*head.bar, room - 1, _BLOCKS if _encodes(stream, _BLOCKS) else _PLAIN)
    for reason in head.reasons:
        yield from textwrap.wrap(
            reason, whole, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )


def _section(section: Section, width: int, room: int) -> list[str]:
    lines = [line for block in section.shown for line in _block(block, width, room)]
    return [section.title, *lines] if lines and section.title else lines


def _block(block: Block, width: int, room: int) -> Iterator[str]:
    """A block in lines, those below a title indented; charts, grids and tables of records are for pages."""
    title: str = ""
    lines: Sequence[str] = ()
    match block:
        case Paragraph():
            lines = [block.text]
        case Numbers():
            own = _longest(block.numbers) if block.title else width
            title, lines = block.title, [_number(one, own) for one in block.numbers]
        case Items():
            title, lines = block.title, block.items
        case Code():
            title, lines = block.title, block.text.splitlines()
        case Table():
            title, lines = block.caption, table(block, room - (4 if block.caption else 2))
        case Choice():
            for name, blocks in block.options:
                yield f"  {block.label}: {name}"
                yield from (f"  {line}" for one in blocks for line in _block(one, width, room - 2))
    if title:
        yield f"  {title}"
    yield from (f"    {line}" if title else f"  {line}" for line in lines)


def _longest(*numbers: Sequence[Number]) -> int:
    return max((len(one.words) for lines in numbers for one in lines), default=0)


def _number(one: Number, width: int) -> str:
    said = f"{one.value} ({one.interval})" if one.interval else one.value
    return f"{one.words:<{width}}  {said}".rstrip()


def table(shown: Table, room: int) -> list[str]:
    """Columns as wide as they need to be, numbers to the right.

    Where that is wider than the `room` that there is, columns of long texts are cut; the last one has lines
    of its own where too little would be left of it.
    """
    kinds = [column.of for column in shown.columns]
    head = [column.title for column in shown.columns]
    cells = [
        [
            printable(_NONE if value is None else cell_text(value, of))
            for value, of in zip(row, kinds, strict=True)
        ]
        for row in shown.rows
    ]
    widths = [max(map(cell_len, texts)) for texts in zip(head, *cells, strict=True)]
    below = _fit(widths, [at for at, column in enumerate(shown.columns) if column.long], room)

    def cut(text: str, width: int, of: Of = Of.TEXT) -> str:
        if cell_len(text) > width:
            text = _first_cells(text, width - 3).rstrip() + "..."
        space = " " * (width - cell_len(text))
        return space + text if is_numeric(of) else text + space

    lines = []
    for line in (head, *cells):
        sides = list(map(cut, line, widths, kinds))
        lines.append("  ".join(sides[: -1 if below else None]).rstrip())
        if below and line is not head and line[-1] != _NONE:
            lines.append("    " + cut(line[-1], room - 4).rstrip())
    return lines


def cell_len(text: str) -> int:
    """How many columns of a terminal a text takes: signs of some scripts take two, marks on letters none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


@cache
def _cells(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _first_cells(text: str, width: int) -> str:
    """As much of a text as has room."""
    ends = accumulate(map(_cells, text))
    return text[: sum(end <= width for end in ends)]


def _fit(widths: list[int], long: Sequence[int], room: int) -> bool:
    """Cut widths of columns to what there is room for; whether the last one has lines of its own."""
    if not long or sum(widths) + 2 * (len(widths) - 1) <= room:
        return False
    *others, last = long
    left = room - sum(width for at, width in enumerate(widths) if at not in long) - 2 * (len(widths) - 1)
    alone = min(room // 4, left + 2)  # of names, where the last column has lines of its own
    most = min(left - _ENOUGH, _LONGEST_NAME) if left - _ENOUGH >= _SHORTEST_NAME else alone
    for at in others:
        widths[at] = min(widths[at], most)
    widths[last] = left - sum(widths[at] for at in others)
    return widths[last] < _ENOUGH


def bar(low: float, high: float, width: int, marks: str = _BLOCKS) -> str:
    """An interval of shares; what is more than nothing is seen, and so is what is less than all.

    The `width` is that of the line, with its ends; a bar has ten characters at least. The `marks` are for
    what is below `low`, between the two, and above `high`.
    """
    cells = min(max(width - len(_LEFT) - len(_RIGHT), _SHORTEST), _LONGEST)
    wanted = [(0.0, low), (low, high), (high, 1.0)]
    least = [int(end > begin) for begin, end in wanted]
    full = min(max(round(cells * low), least[0]), cells - least[1] - least[2])
    ends = min(max(round(cells * high), full + least[1]), cells - least[2])
    return _LEFT + marks[0] * full + marks[1] * (ends - full) + marks[2] * (cells - ends) + _RIGHT


def columns(stream: TextIO) -> int:
    """Width of a terminal, or that of the environment (COLUMNS); 80 of all else."""
    said = os.environ.get("COLUMNS", "")
    if said.isdigit() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _ELSEWHERE
    except (OSError, ValueError, AttributeError):
        return _ELSEWHERE


def _encodes(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
