"""How numbers are written in text, where it is said and not found out: the same for all that is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.errors import called

DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", "’", " ")
SIGNS = ("decimal", "thousands")
"""What they are called, as options of commands and keywords of `reading`."""

BLANK = "blank"
"""What the blank is called as a sign between thousands."""

_BLANKS = " \u00a0\u2009\u202f"


@dataclass(frozen=True)
class NumberSigns:
    """The signs in numbers."""

    decimal: str = ""  # what stands before decimals and between thousands; empty where nothing is said
    thousands: str = ""  # what stands before decimals and between thousands; empty where nothing is said

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
        signs = re.escape(self.thousands) if self.thousands != " " else f"[{_BLANKS}]"
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
