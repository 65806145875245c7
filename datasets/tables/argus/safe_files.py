"""Safe files of tau-ARGUS, to be published: a matrix, a list for pivot tables, codes and values.

As the program writes them, with one difference: what is suppressed is ``x`` in all of them. (The program
writes the values of suppressed cells when the status is asked for.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.described import Column, in_full
from linkrisk.datasets.tables.cells_and_relations import StoredTable

SUPPRESSED, NOBODY = "x", "-"
_SAFE_CODE, _SUPPRESSED_CODE, _EMPTY_CODE = "1", "3", "14"
"""Numbers of statuses in tau-ARGUS; that of a cell unsafe by a rule stands for all that are suppressed."""


def numbers_of(table: StoredTable, decimals: int | None = None) -> list[str]:
    """The values with as many decimals as all of them need, at most nine, or with so many."""
    value = table.numbers["value"]
    needed = decimals if decimals is not None else decimals_of(value)
    return [f"{one:.{needed}f}" for one in value.tolist()]


def decimals_of(value: npt.NDArray[np.float64], most: int = 9) -> int:
    """How many decimals numbers have, at most `most`."""
    close = 1e-12 * max(1.0, float(np.abs(value).max(initial=0.0)))
    return next((at for at in range(most) if (np.abs(value - np.round(value, at)) <= close).all()), most)


def safe_cells(table: StoredTable, suppressed: BoolArray, nobody: BoolArray) -> list[str]:
    """What stands in each cell: its value, `SUPPRESSED`, or `NOBODY` where nobody is in it."""
    return [
        SUPPRESSED if gone else NOBODY if empty else text
        for text, gone, empty in zip(numbers_of(table), suppressed, nobody, strict=True)
    ]


def of_missing(table: StoredTable, suppressed: BoolArray, nobody: BoolArray) -> str:
    """What stands for a cell that the table does not have: `NOBODY`; 0 beside a published 0."""
    zero = (table.numbers["value"] == 0) & ~suppressed & ~nobody
    return "0" if zero.any() else NOBODY


def records(
    table: StoredTable,
    suppressed: BoolArray,
    nobody: BoolArray,
    *,
    heading: str | None = None,
    status: bool = False,
    without_empty: bool = False,
    quotes: bool = True,
) -> str:
    """A line for each cell: its codes and what is in it, as the formats 2 and 3 of tau-ARGUS.

    Parameters
    ----------
    table : StoredTable
        With columns of codes.
    suppressed, nobody : ndarray of bool, shape (n,)
        Cells that are not published, and cells in which nobody is.
    heading : str, optional
        What to call the values in a first line with the names of all columns; without it there is none.
    status : bool
        Whether the number of the status is there, too.
    without_empty : bool
        Whether cells in which nobody is are left out.
    quotes : bool
        Whether codes stand in quotes.

    Raises
    ------
    DataError
        If the table has no codes.
    """
    _check_codes(table)
    lines = []
    if heading is not None:
        names = [*table.by, heading, *(["Status"] if status else [])]
        lines.append(",".join(_quoted(name, quotes) for name in names))
    shown = safe_cells(table, suppressed, nobody)
    for at, codes in enumerate(table.codes.itertuples(index=False, name=None)):
        if nobody[at] and without_empty:
            continue
        number = _SUPPRESSED_CODE if suppressed[at] else _EMPTY_CODE if nobody[at] else _SAFE_CODE
        cells = [*(_quoted(code, quotes) for code in codes), shown[at], *([number] if status else [])]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def matrix(table: StoredTable, suppressed: BoolArray, nobody: BoolArray, *, quotes: bool = True) -> str:
    """The last variable across and the one before it down, a block for each combination of the others.

    As the format 1 of tau-ARGUS; a cell that is not in the table is one without respondents (`of_missing`).

    Raises
    ------
    DataError
        If the table has no codes.
    """
    _check_codes(table)
    codes = list(table.codes.itertuples(index=False, name=None))
    shown = dict(zip(codes, safe_cells(table, suppressed, nobody), strict=True))
    across = list(dict.fromkeys(table.codes[table.by[-1]]))
    down = list(dict.fromkeys(code[-2:-1] for code in codes))
    missing = of_missing(table, suppressed, nobody)
    blocks = []
    for outer in dict.fromkeys(code[:-2] for code in codes):
        lines = [f"Var {at},{_quoted(code, quotes)}" for at, code in enumerate(outer, start=1)]
        lines.append("," + ",".join(_quoted(code, quotes) for code in across))
        for row in down:
            cells = [shown.get((*outer, *row, code), missing) for code in across]
            lines.append(",".join([_quoted(row[0], quotes) if row else "", *cells]))
        blocks.append("\n".join([*lines, "", ""]))
    return "".join(blocks)


def _quoted(text: str, quotes: bool) -> str:
    return f'"{text}"' if quotes else text


def _check_codes(table: StoredTable) -> None:
    if not table.by:
        raise DataError(f"{table.name} has no columns of codes; this format names cells by them")


_DIGITS = 9


def key_columns(shown: FloatArray, house: dict[str, FloatArray]) -> list[Column]:
    """Values with noise, and what is never published.

    Parameters
    ----------
    shown : ndarray of float64, shape (n,)
        Values with noise.
    house : dict of str to ndarray of float64, shape (n,)
        Further columns: ``original``, ``difference``, ``cell_key``.
    """
    digits = decimals_of(shown)
    value = Column(
        "value", [f"{one + 0.0:.{digits}f}" for one in shown], {"numeric": "", "decimals": str(digits)}
    )
    # Without the rounding errors of differences and of sums of keys, such as 0.9202729999998875.
    return [value, *(Column(name, in_full(one.round(_DIGITS))) for name, one in house.items())]
