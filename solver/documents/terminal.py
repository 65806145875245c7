"""A document as text: the sentence on top with its bar, names and values, tables, notes."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.documents.cell_grid import CellGrid
from linkrisk.solver.documents.document import (
    Block,
    Choice,
    Code,
    Document,
    Items,
    Numbers,
    Paragraph,
    Records,
    Section,
)
from linkrisk.solver.documents.formats import NARROW_SPACE, cell_text, is_numeric

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

    Parameters
    ----------
    document : Document
    stream : text stream, optional
        Where it will be written, which says how wide it is and whether it can show bars; standard output
        when absent.
    """
    stream = sys.stdout if stream is None else stream
    parts = [list(document.asked), [*_headline(document, stream)]]
    width = _names(document.sections)
    parts += [[*_section(one, width, columns(stream))] for one in document.sections]
    last = [*(f"note: {note}" for note in document.notes), *([document.how] if document.how else [])]
    lines = ("\n".join(map(printable, part)) for part in (*parts, last) if part)
    return "\n\n".join(lines) + "\n"


def printable(text: str) -> str:
    """Text in one line, whatever names and values hold: nothing that moves in a terminal, or colours it."""
    return "".join(sign if sign.isprintable() or sign == NARROW_SPACE else "?" for sign in text)


def _headline(document: Document, stream: TextIO) -> Iterator[str]:
    """The sentences, broken to the width of the terminal, and the bar below them."""
    width = columns(stream)
    for sentence in document.headline.sentences:
        yield from _broken(sentence, width)
    if document.headline.bar is not None:
        yield bar(*document.headline.bar, width - 1, _BLOCKS if _encodes(stream, _BLOCKS) else _PLAIN)
    for reason in document.headline.reasons:
        yield from _broken(reason, width, "  ")


def _broken(sentence: str, width: int, indent: str = "") -> list[str]:
    whole = max(width - 1, 20)
    return textwrap.wrap(
        sentence, whole, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _names(sections: Sequence[Section]) -> int:
    """Width of the names of all values that stand without a title, so that values stand below each other."""
    blocks = (block for one in sections for block in one.shown)
    found = (one.numbers for one in blocks if isinstance(one, Numbers) and not one.title)
    return max((len(one.words) for numbers in found for one in numbers), default=0)


def _section(section: Section, width: int, room: int) -> Iterator[str]:
    lines = [line for block in section.shown for line in _block(block, width, room)]
    if lines and section.title:
        yield section.title
    yield from lines


def _block(block: Block, width: int, room: int) -> Iterator[str]:
    """A block in lines; charts, grids and tables of records are for pages."""
    match block:
        case Paragraph():
            yield f"  {block.text}"
        case Numbers():
            own = max((len(one.words) for one in block.numbers), default=0) if block.title else width
            yield from _titled(
                block.title,
                (f"{one.words:<{own}}  {_value(one.value, one.interval)}".rstrip() for one in block.numbers),
            )
        case Items():
            yield from _titled(block.title, block.items)
        case Code():
            yield from _titled(block.title, block.text.splitlines())
        case Table():
            yield from _titled(block.caption, table(block, room - (4 if block.caption else 2)))
        case Choice():
            for name, blocks in block.options:
                yield f"  {block.label}: {name}"
                yield from (f"  {line}" for one in blocks for line in _block(one, width, room - 2))
        case Records() | CellGrid() | Chart():
            return


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines below a title, indented once more than without."""
    if title:
        yield f"  {title}"
    yield from (f"  {line}" if title else line for line in (f"  {line}" for line in lines))


def _value(value: str, interval: str) -> str:
    return f"{value} ({interval})" if interval else value


def table(shown: Table, room: int) -> list[str]:
    """Columns as wide as they need to be, numbers to the right.

    Where that is wider than the `room` that there is, columns of long texts are cut; the last one has lines
    of its own where too little would be left of it.
    """
    from rich.cells import cell_len, set_cell_size  # signs of some scripts are two columns wide

    kinds = [column.of for column in shown.columns]
    cells = [[column.title for column in shown.columns]]
    cells += [
        [printable(_cell(value, of)) for value, of in zip(row, kinds, strict=True)] for row in shown.rows
    ]
    widths = [max(cell_len(line[at]) for line in cells) for at in range(len(kinds))]
    below = _fit(widths, [at for at, column in enumerate(shown.columns) if column.long], room)

    def cut(text: str, width: int) -> str:
        return text if cell_len(text) <= width else set_cell_size(text, width - 3).rstrip() + "..."

    lines = []
    for line in cells:
        texts = [cut(text, width) for text, width in zip(line, widths, strict=True)]
        sides = [
            set_cell_size(text, width) if not is_numeric(of) else " " * (width - cell_len(text)) + text
            for text, width, of in zip(texts, widths, kinds, strict=True)
        ]
        lines.append("  ".join(sides[: -1 if below else None]).rstrip())
        if below and line is not cells[0] and line[-1] != _NONE:
            lines.append("    " + cut(line[-1], room - 4))
    return lines


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


def _cell(value: Any, of: Of) -> str:
    return _NONE if value is None else cell_text(value, of)


def bar(low: float, high: float, width: int, marks: str = _BLOCKS) -> str:
    """An interval of shares; what is more than nothing is seen, and so is what is less than all.

    Parameters
    ----------
    low, high : float
        From 0 to 1.
    width : int
        Of the line, with its ends; a bar has ten characters at least.
    marks : str
        One each for what is below `low`, between the two, and above `high`.
    """
    cells = min(max(width - len(_LEFT) - len(_RIGHT), _SHORTEST), _LONGEST)
    wanted = [(0.0, low), (low, high), (high, 1.0)]
    least = [int(end > begin) for begin, end in wanted]
    full = min(max(round(cells * low), least[0]), cells - least[1] - least[2])
    ends = min(max(round(cells * high), full + least[1]), cells - least[2])
    return _LEFT + marks[0] * full + marks[1] * (ends - full) + marks[2] * (cells - ends) + _RIGHT


def columns(stream: TextIO) -> int:
    """Width of a terminal, or what the environment says of it (COLUMNS); 80 of all else."""
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
