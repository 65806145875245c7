"""Cells of fixed width as numbers and text, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.delimited_values import is_code
from linkrisk.datasets.microdata.formats.kinds import Kind, as_text, cells_of, is_wide, kind_of

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Written:
    """A column as text.

    Attributes
    ----------
    cells : list of str
        Blank where a value is missing.
    number : bool
        Whether they are numbers.
    decimals : int
        The most decimals that they have.
    """

    cells: list[str]
    number: bool
    decimals: int = 0


def stripped(raw: Sequence[str]) -> list[str]:
    """Cells without the blanks around them."""
    known = {cell: cell.strip() for cell in set(raw)}
    return [known[cell] for cell in raw]


def typed_cells(texts: Sequence[str], *, numeric: bool, text: bool, where: str) -> pd.Series:
    """Cells without blanks around them as a column.

    Parameters
    ----------
    texts : sequence of str
        Empty where a value is missing.
    numeric : bool
        Whether the file says that they are numbers.
    text : bool
        Whether to keep them as they are.
    where : str
        The file and the column, for messages.

    Raises
    ------
    DataError
        If a cell of a numeric column is not a number.
    """
    # Codes are few and records many: each value is looked at once.
    present = set(texts) - {""}
    if not text and numeric:
        _check_numbers(texts, present, where)
    numbers = present and all(_NUMBER.fullmatch(cell) for cell in present)
    if text or not present or not (numeric or (numbers and not any(map(is_code, present)))):
        return pd.Series([cell or None for cell in texts], dtype="str" if present else object)
    values = {cell: float(cell) for cell in present} | {"": np.nan}
    if "" not in texts and all(_WHOLE.fullmatch(cell) and len(cell) < 19 for cell in present):
        whole = {cell: int(cell) for cell in present}
        return pd.Series([whole[cell] for cell in texts], dtype=np.int64)
    return pd.Series([values[cell] for cell in texts], dtype=np.float64)


def _check_numbers(texts: Sequence[str], present: Iterable[str], where: str) -> None:
    wrong = {cell for cell in present if _NUMBER.fullmatch(cell) is None}
    for row, cell in enumerate(texts, start=1):
        if cell in wrong:
            raise DataError(f"{where}, row {row}: {cell!r} is not a number, though the column is <NUMERIC>")


def code_in(column: pd.Series, code: str) -> str:
    """A code of the metadata as a column spells it: ``099`` among numbers is 99."""
    if column.dtype.kind in "if" and _NUMBER.fullmatch(code):
        return spelled(float(code))
    return code


def written(column: pd.Series, decimals: int | None, path: Path) -> Written:
    """A column as text that reads back the same.

    Parameters
    ----------
    column : Series
        Any column.
    decimals : int, optional
        How many decimals its numbers should have, where these are enough.
    path : Path
        The file to be written, for messages.
    """
    kind = kind_of(column)
    values = cells_of(column)
    if kind is Kind.LOGICAL:
        return Written(["" if value is None else str(int(value)) for value in values], number=False)
    if kind is Kind.WHOLE and not is_wide(column):
        return Written(["" if value is None else str(int(value)) for value in values], number=True)
    if kind is Kind.NUMBER:
        return _written_numbers([None if value is None else float(value) for value in values], decimals)
    texts = ["" if value is None else value for value in cells_of(as_text(column))]
    for row, text in enumerate(texts, start=1):
        if not text.isprintable():
            raise DataError(
                f"{path} cannot be written: column {column.name!r}, row {row}: a line end or a character "
                "that cannot be printed; write .csv"
            )
    return Written([text.strip() for text in texts], number=False)


def _written_numbers(values: Sequence[float | None], decimals: int | None) -> Written:
    present = [value for value in values if value is not None]
    if any(not np.isfinite(value) for value in present):
        return Written(["" if value is None else str(value) for value in values], number=False)
    whole = all(value.is_integer() for value in present)
    if whole and not decimals and (decimals is not None or len(present) < len(values)):
        return Written(["" if value is None else f"{value:.0f}" for value in values], number=True)
    cells = [None if value is None else format(Decimal(repr(value)), "f").partition(".") for value in values]
    places = max(decimals or 0, *(len(cell[2]) for cell in cells if cell is not None), 1)
    padded = ["" if cell is None else f"{cell[0]}.{cell[2].ljust(places, '0')}" for cell in cells]
    return Written(padded, number=True, decimals=places)


def is_left_aligned(raw: Sequence[Any]) -> bool:
    """Whether cells stand at the left of their place: blanks only after them."""
    blank = [cell for cell in set(raw) if cell.strip() and cell != cell.strip()]
    return bool(blank) and all(cell == cell.lstrip() for cell in blank)
