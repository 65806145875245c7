"""JJ files (.jj): the cells and relations of a table, as tau-ARGUS and sdcTable exchange them.

A line ``0``, the number of cells, a line for each cell (its number from 0, value, cost, status, lower and
upper bound, lower, upper and sliding protection level), the number of relations, and a line for each of them:
right-hand side, number of terms, a colon, and each term as ``cell (coefficient)``.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import read_text
from linkrisk.datasets.tables.public_bounds import integer_numbers
from linkrisk.datasets.tables.stored_table import NUMBERS, STATUS, StoredTable, stored_table

SUFFIX = ".jj"
_TERM = re.compile(r"(\d+)\s*\(\s*([^()\s]+)\s*\)")
_COLUMNS = (
    *("value", "cost", STATUS, "lower_bound", "upper_bound"),
    *("lower_protection", "upper_protection", "sliding_protection"),
)


class _Lines:
    """The lines of a file that are not empty, in turn, with their numbers."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self._left = enumerate(read_text(path)[0].splitlines(), start=1)

    def next(self, what: str) -> str:
        for self.number, line in self._left:  # noqa: B020
            if line.strip():
                return line.strip()
        raise DataError(f"{self.path} ends where {what} should stand; it is cut off, or no JJ file")

    def count(self, what: str) -> int:
        line = self.next(what)
        if not line.isdigit():
            raise self.wrong(f"{line!r} is not {what}")
        return int(line)

    def wrong(self, what: str) -> DataError:
        return DataError(f"{self.path}, line {self.number}: {what}")


def read_jj(path: str | Path) -> StoredTable:
    """Read a table."""
    lines = _Lines(Path(path))
    if lines.next("the first line, 0") not in ("0", "0.0"):
        raise lines.wrong("a JJ file begins with a line 0")
    cells = lines.count("the number of cells")
    rows = [_cell(lines, number) for number in range(cells)]
    terms: list[tuple[int, int, float]] = []
    for relation in range(lines.count("the number of relations")):
        terms += [(relation, cell, coefficient) for cell, coefficient in _relation(lines, relation, cells)]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return stored_table(
        frame, pd.DataFrame(terms, columns=["relation", "cell", "coefficient"]), str(path), str(path), ()
    )


def _cell(lines: _Lines, number: int) -> list[float | str]:
    words = lines.next(f"cell {number}").split()
    if len(words) != 1 + len(_COLUMNS) or words[0] != str(number):
        raise lines.wrong(
            f"it is not cell {number}: a cell has its number, {', '.join(_COLUMNS).replace('_', ' ')}"
        )
    return [
        word.lower() if column == STATUS else _number(lines, word)
        for column, word in zip(_COLUMNS, words[1:], strict=True)
    ]


def _relation(lines: _Lines, number: int, cells: int) -> list[tuple[int, float]]:
    head, colon, rest = lines.next(f"relation {number}").partition(":")
    words = head.split()
    terms = [(int(cell), _number(lines, factor)) for cell, factor in _TERM.findall(rest)]
    if not colon or len(words) != 2 or _TERM.sub("", rest).strip():
        raise lines.wrong("it is no relation; write '0 3 : 0 (-1) 1 (1) 2 (1)'")
    if _number(lines, words[0]) != 0:
        raise lines.wrong(f"its terms sum to {words[0]}; bring it to the other side as a cell of that value")
    if words[1] != str(len(terms)):
        raise lines.wrong(f"it has {len(terms)} terms, not {words[1]}")
    beyond = next((cell for cell, _ in terms if cell >= cells), None)
    if beyond is not None:
        raise lines.wrong(f"{beyond} is no cell; they are 0 to {cells - 1}")
    return terms


def _number(lines: _Lines, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise lines.wrong(f"{word!r} is not a number") from None


def jj_text(table: StoredTable) -> str:
    """Write a JJ file: numbers with all their digits, bounds and costs that are not given by default.

    The default bounds are those of `StoredTable.usual_bounds`, the default cost of a cell its value, at least
    1. Bounds and levels of counts are whole, as readers know them.
    """
    value = table.numbers["value"]
    least, most = table.usual_bounds()
    usual = {
        "lower_bound": np.full(value.size, least),
        "upper_bound": np.full(value.size, most),
        "cost": np.maximum(np.abs(value), 1.0),
    }
    numbers = {**table.numbers, **(integer_numbers(table.numbers, table.status) if table.counting else {})}
    columns = {}
    for name in NUMBERS:
        given = numbers.get(name, np.full(value.size, np.nan))
        columns[name] = np.where(np.isnan(given), usual.get(name, np.zeros(value.size)), given)
    lines = ["0", str(len(table))]
    for at in range(len(table)):
        words = [table.status[at] if name == STATUS else _written(columns[name][at]) for name in _COLUMNS]
        lines.append(" ".join([str(at), *words]))
    relations = table.terms_by_relation()
    lines.append(str(len(relations)))
    for terms in relations:
        written = [f"{table.cell[at]} ({_written(table.coefficient[at])})" for at in terms]
        lines.append(f"0 {terms.size} : {' '.join(written)}")
    return "\n".join(lines) + "\n"


def _written(number: float) -> str:
    """Write all digits of a double, a whole one without a point."""
    whole = int(number)
    return str(whole) if whole == number else repr(float(number))
