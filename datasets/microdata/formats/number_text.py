"""Numbers in text: marks of missing values, codes that are no numbers, signs of decimals and thousands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.values import cells_of
from linkrisk.errors import called

MISSING_MARKS = (
    *("NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""What stands for a missing value in a column of a text file that does not hold names."""

MOST_DIGITS = 15
"""Whole numbers of more digits are codes: programs that count in doubles would change them."""

_LONG = rf"-?\d{{{MOST_DIGITS + 1},}}"
_LEADING = r"[+-]?0\d|\+[\d.,]"
_BLANKS = r"[\t-\r ]*"  # not \s: pyarrow, where it is installed, looks for patterns with it cell by cell
CODE = rf"{_BLANKS}(?:(?:{_LEADING})(?:.|\n)*|{_LONG}{_BLANKS})"
"""What a cell looks like that is written as no number is."""

NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*|\s*[+-]?inf(?:inity)?\s*", re.I)
LOGICAL = {"True", "False", "TRUE", "FALSE", "true", "false"}
COMMA_NUMBER = rf"{_BLANKS}[+-]?\d*,\d+(?:[eE][+-]?\d+)?{_BLANKS}"
POINT_NUMBER = rf"{_BLANKS}[+-]?\d*\.\d+(?:[eE][+-]?\d+)?{_BLANKS}"
WHOLE = rf"{_BLANKS}[+-]?\d+(?:[eE][+-]?\d+)?{_BLANKS}"
GROUPS = rf"{_BLANKS}[+-]?[1-9]\d{{0,2}}(?:,\d{{3}})+{_BLANKS}"
_MARKED = rf"{_BLANKS}[+-]?\d*[.,]?\d+{_BLANKS}"
# Thousands apart by a point, a comma, an apostrophe or a blank, and perhaps decimals after another sign.
_THOUSANDS = (
    rf"{_BLANKS}[+-]?[1-9]\d{{0,2}}"
    "(?:(?:\\.\\d{3})+(?:,\\d*)?|(?:,\\d{3})+(?:\\.\\d*)?|(?:['’ \u00a0\u2009\u202f]\\d{3})+(?:[.,]\\d*)?)"
    rf"{_BLANKS}"
)


def is_code(text: str) -> bool:
    """Whether a cell is written as no number is: leading zeros, a leading plus, more than 15 digits."""
    return re.fullmatch(CODE, text) is not None


def with_thousands(frame: pd.DataFrame, kept: Collection[str]) -> tuple[str, ...]:
    """Columns of text, but for `kept`, that are numbers with thousands apart: ``1.234,50``, ``12 000``."""
    return tuple(
        str(name) for name, column in frame.items() if name not in kept and _separates_thousands(column)
    )


def _separates_thousands(column: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    cells = column.dropna()
    if cells.empty or not pd.api.types.is_string_dtype(cells):
        return False
    number = f"{_THOUSANDS}|{_MARKED}"
    return bool(
        re.fullmatch(number, str(cells.iloc[0])) is not None  # nearly every column of text is out here
        and cells.str.fullmatch(number).all()
        and cells.str.fullmatch(_THOUSANDS).any()
    )


def reads_as_numbers(column: pd.Series) -> bool:
    """Whether reading a column of text would make numbers or logical values of it."""
    texts = [text for text in set(map(str, cells_of(column.dropna()))) if text and text not in MISSING_MARKS]
    if not texts or any(is_code(text) for text in texts):
        return False
    return set(texts) <= LOGICAL or all(NUMBER.fullmatch(text) for text in texts)


DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", "’", " ")
SIGNS = ("decimal", "thousands")
"""What they are called, as options of commands and keywords of `reading`."""

BLANK = "blank"
"""What the blank is called as a sign between thousands."""

_APART = " \u00a0\u2009\u202f"


@dataclass(frozen=True)
class NumberSigns:
    """The signs in numbers."""

    decimal: str = ""  # what stands before decimals; empty where nothing is said
    thousands: str = ""  # what stands between thousands, likewise

    @property
    def given(self) -> bool:
        """Whether anything is said."""
        return bool(self.decimal or self.thousands)

    @property
    def said(self) -> dict[str, str]:
        """The keywords of `reading`."""
        apart = BLANK if self.thousands == " " else self.thousands
        return {name: sign for name, sign in zip(SIGNS, (self.decimal, apart), strict=True) if sign}

    def numbers(self, cells: pd.Series) -> pd.Series | None:
        """Read text cells as numbers; None where one of them is none, or all are plain digits."""
        known = cells.dropna().astype(str)
        decimal = self.decimal or ("." if self.thousands != "." else ",")
        signs = re.escape(self.thousands) if self.thousands != " " else f"[{_APART}]"
        grouped = rf"\d{{1,3}}(?:{signs}\d{{3}})+|" if self.thousands else ""
        number = rf"[+-]?(?:{grouped}\d*){re.escape(decimal)}?\d*(?:[eE][+-]?\d+)?"
        if known.empty or not known.str.fullmatch(number).all() or not known.str.contains(r"\d").all():
            return None
        plain = known.str.replace(signs, "", regex=True) if self.thousands else known
        plain = plain.str.replace(decimal, ".", regex=False)
        if plain.equals(known):
            return None
        made = pd.Series(np.nan, cells.index, dtype=np.float64, name=cells.name)
        made[plain.index] = pd.to_numeric(plain).to_numpy(dtype=np.float64)
        whole = not plain.str.contains(r"[.eE]").any() and len(plain) == len(cells)
        return made.astype(np.int64) if whole and (made.abs() < 2**53).all() else made


_TRIED = ((",", ""), (",", "."), (",", " "), (".", ","), (".", "'"), (".", "’"), (".", " "))
"""Signs of numbers as they are written in most countries, those with a decimal comma first."""


def reading_options(column: pd.Series) -> str:
    """Options that read all texts of a column as numbers, such as ``--decimal ,``; empty where none do."""
    cells = pd.Series([cell for cell in column.unique() if isinstance(cell, str)], dtype=object)
    for decimal, thousands in _TRIED:
        if NumberSigns(decimal, thousands).numbers(cells) is not None:
            apart = BLANK if thousands == " " else thousands
            options = [called("decimal", decimal)] if decimal == "," else []
            return " ".join([*options, called("thousands", apart)] if apart else options)
    return ""


_NOTHING_SAID = NumberSigns()
_signs: ContextVar[NumberSigns] = ContextVar("signs", default=_NOTHING_SAID)


def number_signs() -> NumberSigns:
    """The signs that were said of what is read now."""
    return _signs.get()


@contextmanager
def reading(decimal: str | None = None, thousands: str | None = None) -> Iterator[None]:
    """Read text files and text in workbooks with these signs in numbers."""
    apart = " " if thousands == BLANK else thousands
    if decimal is not None and decimal not in DECIMALS:
        raise DataError(f"{called('decimal')} is {decimal!r}; give '.' or ','", option="decimal")
    if apart is not None and apart not in THOUSANDS:
        raise DataError(
            f"{called('thousands')} is {thousands!r}; give '.', ',', \"'\" or {BLANK}", option="thousands"
        )
    if decimal is not None and decimal == apart:
        raise DataError(
            f"{called('decimal')} and {called('thousands')} are both {decimal!r}; give two signs",
            option="thousands",
        )
    token = _signs.set(NumberSigns(decimal or "", apart or ""))
    try:
        yield
    finally:
        _signs.reset(token)
