"""Types of the columns of a delimited file: numbers, logical values or text, in one pass over its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.formats.delimited_cells import Cells, Column
from linkrisk.datasets.microdata.formats.number_text import (
    COMMA_NUMBER,
    GROUPS,
    LOGICAL,
    MISSING_MARKS,
    NUMBER,
    POINT_NUMBER,
    WHOLE,
    is_code,
)

Records = Callable[[], Iterable[Cells]]
"""Reads the records again, some at a time."""

_COMMA, _POINT, _WHOLE, _GROUPS = map(re.compile, (COMMA_NUMBER, POINT_NUMBER, WHOLE, GROUPS))
_BETWEEN = re.compile("[0-9],[0-9]")
_PLAIN_WHOLE = re.compile(r"-?[0-9]+")
_MARKS = frozenset(MISSING_MARKS)

_FEW = 64
"""Cells that Python reads sooner than NumPy."""

_WIDEST = 30
"""Bytes of a number that NumPy reads."""

_MOST_TEXTS = 1 << 15
"""Different texts of a column that are found again; when there are more, they are forgotten."""

_TEXT: Any = pd.Series(["a"]).dtype
"""Of columns of text: what pandas makes of it."""

_TENS = 10 ** np.arange(19, dtype=np.int64)
_DIVISORS = _TENS.astype(np.float64)


@dataclass(frozen=True)
class TypedColumns:
    """Columns by name, the decimal sign, and the columns of numbers that have another one."""

    columns: Mapping[str, Any]
    decimal: str
    unclear: tuple[str, ...]


def typed_columns(
    records: Records, header: Sequence[str], kept: Collection[str], decimal: str | None
) -> TypedColumns:
    """Types the columns of a file; `kept` ones stay text, in which only an empty cell is missing.

    `decimal` is the decimal sign; None where the columns decide. The file is read again where a column begins
    with numbers and is none.
    """
    columns = {name: _Typed(name in kept, decimal) for name in header}
    _read(records, dict(enumerate(columns.values())))
    unclear: tuple[str, ...] = ()
    if decimal is None:
        decimal, unclear = _decimal_of({name: one.evidence for name, one in columns.items()})
    again = {at: one for at, one in enumerate(columns.values()) if one.is_late(decimal)}
    for one in again.values():
        one.begin_as_text()
    if again:
        _read(records, again)
    return TypedColumns({name: columns.pop(name).values() for name in header}, decimal, unclear)


def columns_of_text(records: Iterable[Cells], header: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Columns letter by letter; only an empty cell is missing."""
    columns = {name: _Typed(True, ".") for name in names}
    chosen = {header.index(name): one for name, one in columns.items()}
    _read(lambda: records, chosen)
    return pd.DataFrame({name: one.values() for name, one in columns.items()}, copy=False)


def _read(records: Records, columns: Mapping[int, _Typed]) -> None:
    for cells in records():
        for at, column in columns.items():
            column.add(cells.column(at))


class _Evidence:
    """Which decimal sign the numbers of a column have, if all are numbers that have one or are whole."""

    def __init__(self) -> None:
        self.comma = self.point = False  # whether some number has the sign
        self.only_commas = self.only_points = True  # whether all others are whole
        self.between = False  # whether digits are on both sides of some comma
        self.grouped = True  # whether commas may separate thousands

    @property
    def open(self) -> bool:
        """Whether further cells can change what this says."""
        return self.only_commas or self.only_points

    def see(self, text: str) -> None:
        """Take a cell into account."""
        if _WHOLE.fullmatch(text):
            return
        if _COMMA.fullmatch(text):
            self.add(",", between=bool(_BETWEEN.search(text)), grouped=bool(_GROUPS.fullmatch(text)))
        elif _POINT.fullmatch(text):
            self.add(".")
        else:
            self.only_commas = self.only_points = False

    def add(self, sign: str, *, between: bool = False, grouped: bool = False) -> None:
        """Take numbers with a sign into account."""
        if sign == ".":
            self.point, self.only_commas = True, False
            return
        self.comma, self.only_points = True, False
        self.between |= between
        self.grouped &= grouped


def _decimal_of(evidence: Mapping[str, _Evidence]) -> tuple[str, tuple[str, ...]]:
    """The decimal sign, and columns of numbers with the other one or with one that may separate thousands.

    It is a comma only where a column of numbers cannot be read otherwise: one of cells such as ``1,234``,
    which may be a thousand or more, proves nothing. Where some columns speak for the comma and others for
    the point, it is the point, as the number of a day and month has one.
    """
    commas = {name: one for name, one in evidence.items() if one.comma and one.only_commas}
    if not any(one.between for one in commas.values()):
        return ".", ()
    unclear = [name for name, one in commas.items() if one.grouped]
    with_comma = [name for name in commas if name not in unclear]
    if with_comma and not any(one.point and one.only_points for one in evidence.values()):
        return ",", ()
    return ".", (*with_comma, *unclear)


class _Typed:
    """A column of which some cells at a time are read: as numbers while all are numbers, else as text."""

    def __init__(self, kept: bool, decimal: str | None) -> None:
        self.kept = kept
        self.decimal = decimal
        self.evidence = _Evidence()
        self.as_text = kept
        self.late = False  # whether it began with numbers and is none
        self.whole = True
        self.signs: set[str] = set()  # decimal signs of its numbers
        self.logical = True
        self.known = False  # whether a text is not missing
        self.parts: list[Any] = []
        self._done: list[Any] = []  # texts of cells before those of `parts`
        self._texts: list[str | float] = []  # different ones
        self._places: dict[bytes, int] = {}  # where they are

    def is_late(self, decimal: str) -> bool:
        """Whether it has to be read again, as text, now that the decimal sign is known."""
        return self.late or (not self.as_text and bool(self.signs - {decimal}))

    def begin_as_text(self) -> None:
        """Forget what was read."""
        self.as_text, self.late, self.decimal = True, False, "."
        self.parts.clear()

    def add(self, cells: Column) -> None:
        """Append cells."""
        if not self.as_text and not self.late:
            found = _Numbers(cells, self.decimal, self.evidence if self.decimal is None else None)
            signs = self.signs | found.signs
            if found.values is not None and len(signs) < 2:
                self.signs = signs
                self.whole &= found.whole
                self.parts.append(found.values)
                return
            self.late = bool(self.parts)
            self.as_text = not self.late
            self.parts.clear()
        if self.as_text or (self.decimal is None and self.evidence.open):
            self._add_text(cells)

    def _add_text(self, cells: Column) -> None:
        codes, firsts = cells.distinct()
        raw = cells.raw(firsts)
        places = list(map(self._places.get, raw))
        for at, place in enumerate(places):
            if place is None:
                places[at] = self._places[raw[at]] = len(self._texts)
                self._texts.append(self._seen(cells.text(raw[at])))
        if self.as_text:
            self.parts.append(np.array(places, dtype=np.int32)[codes])
        if len(self._texts) > _MOST_TEXTS:
            self._flush()

    def _flush(self) -> None:
        """Make texts of what was read, and forget which there were."""
        if self.as_text and self.parts:
            texts = pd.array(np.array(self._texts, dtype=object), dtype=_TEXT)
            self._done += [texts.take(places) for places in self.parts]
            self.parts.clear()
        self._texts.clear()
        self._places.clear()

    def _seen(self, text: str) -> str | float:
        """A text that is new, NaN where it stands for a missing value."""
        missing = not text or text in _MARKS
        if not missing and self.decimal is None and self.evidence.open:
            self.evidence.see(text)
        if not text or (missing and not self.kept):
            return np.nan
        self.known = True
        self.logical = self.logical and text in LOGICAL
        return text

    def values(self) -> Any:
        """The column."""
        if self.as_text:
            return self._text_values()
        numbers = np.concatenate(self.parts) if self.parts else np.empty(0, np.int64)
        self.parts.clear()
        if not self.whole:
            return numbers.astype(np.float64, copy=False)
        # Whole numbers have no sign of zero; they are doubles where one is missing.
        return numbers + 0.0 if np.isnan(numbers).any() else numbers.astype(np.int64, copy=False)

    def _text_values(self) -> Any:
        self._flush()
        if not self._done:
            return pd.Series([], dtype=_TEXT)
        column = pd.concat([pd.Series(one, copy=False) for one in self._done], ignore_index=True)
        self._done.clear()
        if not self.kept and not self.known:
            return np.full(len(column), np.nan)
        if not self.kept and self.logical:
            values = column.astype(object).map({text: text.lower() == "true" for text in LOGICAL})
            return values.astype(object if column.isna().any() else bool)
        return column


class _Numbers:
    """Cells as numbers, NaN where one is missing; `values` is None where one is a code or no number.

    Numbers are read to the nearest double: digits and a power of ten that doubles hold are divided, which
    rounds once (W. D. Clinger, How to read floating point numbers accurately, 1990);
    all others are read by Python.
    """

    def __init__(self, cells: Column, decimal: str | None, evidence: _Evidence | None) -> None:
        self.signs: set[str] = set()
        self.whole = True
        self.values: npt.NDArray[Any] | None = None
        self._decimal = decimal
        self._evidence = evidence
        values, odd = np.full(len(cells), np.nan), cells.lengths > 0
        if len(cells) > _FEW and 0 < cells.width <= _WIDEST:
            plain = _Plain(cells)
            if plain.has_codes() or not self._sees(plain):
                return
            odd &= ~plain.regular
            if self.whole and plain.regular.all() and (whole := plain.whole_numbers()) is not None:
                self.values = whole
                return
            values = plain.doubles()
        if self._read_odd(cells, np.flatnonzero(odd), values):
            self.values = values

    def _sees(self, plain: _Plain) -> bool:
        """Whether the decimal signs go together."""
        self.signs = plain.signs()
        self.whole = not self.signs
        if len(self.signs) > 1 or (self._decimal is not None and self.signs - {self._decimal}):
            return False
        if self.signs and self._evidence is not None:
            plain.tell(self._evidence)
        return True

    def _read_odd(self, cells: Column, odd: IndexArray, values: FloatArray) -> bool:
        """Read cells one by one; False where one is no number."""
        seen: dict[bytes, float] = {}
        for at, raw in zip(odd.tolist(), cells.raw(odd), strict=True):
            value = seen.get(raw)
            if value is None:
                value = self._number(cells.text(raw))
                if value is None:
                    return False
                seen[raw] = value
            values[at] = value
        return True

    def _number(self, text: str) -> float | None:
        """The number that a cell spells, NaN for a missing value; None where it is no number."""
        if text in _MARKS:
            return np.nan
        plain = text.strip()
        sign = "," if "," in plain else "." if "." in plain else ""
        number = plain.replace(",", ".")
        if sign and self._decimal not in (None, sign):
            return None
        if (
            not number.isascii()
            or not NUMBER.fullmatch(number)
            or ("," in plain and "." in plain)
            or is_code(text)
        ):
            return None
        self.signs |= {sign} if sign else set()
        self.whole = self.whole and _PLAIN_WHOLE.fullmatch(number) is not None
        if self._evidence is not None:
            self._evidence.see(text)
        return float(number)


class _Plain:
    """Cells that are digits, perhaps after a minus, perhaps with a point or comma among them."""

    def __init__(self, cells: Column) -> None:
        self.cells = cells
        places = cells.right()
        digits = places - ord("0")
        is_digit = digits < 10
        digits *= is_digit
        self._digits = digits
        self.count = is_digit.sum(axis=0, dtype=np.uint8)
        self._points = places == ord(".")
        self._commas = places == ord(",")
        self._marked = self._points | self._commas
        marks = self._marked.sum(axis=0, dtype=np.uint8)
        first = cells.signs.take(cells.starts)
        self.negative = (first == ord("-")) & (cells.lengths > 0)
        self.regular: BoolArray = (
            (self.count + marks + self.negative == cells.lengths) & (marks <= 1) & (self.count > 0)
        )
        self.marked = (marks == 1) & self.regular
        self._first = first

    def signs(self) -> set[str]:
        """The decimal signs."""
        found = zip((self._points, self._commas), ".,", strict=True)
        return {sign for places, sign in found if (places.any(axis=0) & self.regular).any()}

    def has_codes(self) -> bool:
        """Whether some number has leading zeros, or too many digits without a sign among them."""
        if (self.regular & ~self.marked & (self.count > 15)).any():
            return True
        starts, signs = self.cells.starts, self.cells.signs
        zero = np.flatnonzero(self.regular & ((self._first == ord("0")) | self.negative))
        at = starts[zero] + self.negative[zero]
        after = signs.take(at + 1) - ord("0")
        return bool(((signs.take(at) == ord("0")) & (after < 10) & (self.count[zero] > 1)).any())

    def _after(self) -> IndexArray:
        """Digits after the decimal sign."""
        width = len(self._digits)
        places = np.arange(width - 1, -1, -1, dtype=np.uint8)[:, None]
        return np.asarray((self._marked * places).sum(axis=0, dtype=np.uint8), dtype=np.intp)

    def tell(self, evidence: _Evidence) -> None:
        """Say how these numbers are written."""
        after = self._after()[self.marked]
        before = self.count[self.marked] - after
        comma = self._commas.any(axis=0)[self.marked]
        if (after == 0).any():
            evidence.only_commas = evidence.only_points = False
        elif comma.any():
            lead = self.cells.signs.take((self.cells.starts + self.negative)[self.marked])
            groups = (after == 3) & (before >= 1) & (before <= 3) & (lead != ord("0"))
            evidence.add(",", between=bool((before > 0).any()), grouped=bool(groups.all()))
        else:
            evidence.add(".")

    def _all_digits(self) -> npt.NDArray[np.int64]:
        """The digits as one number, with a zero in the place of a sign."""
        found = np.zeros(len(self.cells), dtype=np.int64)
        for row in self._digits[-18:]:
            found *= 10
            found += row
        return found

    def whole_numbers(self) -> npt.NDArray[np.int64] | None:
        """Whole numbers; None where a zero has a sign."""
        found = self._all_digits()
        if (self.negative & (found == 0)).any():
            return None
        return np.where(self.negative, -found, found)

    def doubles(self) -> FloatArray:
        """Numbers; NaN where a cell is none."""
        digits, after = self._all_digits(), self._after()
        power = _TENS[np.minimum(after, 17)]
        digits = np.where(self.marked, digits - digits // (power * 10) * (9 * power), digits)
        values = digits / _DIVISORS[np.minimum(after, 17)]
        np.negative(values, where=self.negative, out=values)
        long = np.flatnonzero(self.regular & ((self.count > 17) | (digits > 2**53)))
        raw = self.cells.raw(long)
        values[long] = (
            [float(one.replace(b",", b".")) for one in raw] if self._commas.any() else list(map(float, raw))
        )
        values[~self.regular] = np.nan
        return values
