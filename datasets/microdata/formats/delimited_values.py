"""The cells of a delimited file as numbers and text: decimal sign, and codes that are not numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from linkrisk.datasets.microdata.formats.delimited_scan import blocks, may_hold_codes
from linkrisk.datasets.microdata.values import cells_of

# From version 3.1 pandas always reads the nearest double, and warns when asked to.
_PANDAS_ALWAYS_EXACT = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
_EXACT_NUMBERS: dict[str, Any] = {} if _PANDAS_ALWAYS_EXACT else {"float_precision": "round_trip"}

MISSING_MARKS = (
    *("NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""What stands for a missing value in a column of a text file that does not hold names."""

MOST_DIGITS = 15
"""Whole numbers of more digits are codes: programs that count in doubles would change them."""

_LONG = rf"-?\d{{{MOST_DIGITS + 1},}}"
_LEADING = r"[+-]?0\d|\+[\d.,]"
_BLANKS = r"[\t-\r ]*"  # not \s: patterns with it are looked for cell by cell, others by pyarrow
CODE = rf"{_BLANKS}(?:(?:{_LEADING})(?:.|\n)*|{_LONG}{_BLANKS})"
"""What a cell looks like that is written as no number is; as `re` and pyarrow both take it."""

_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*|\s*[+-]?inf(?:inity)?\s*", re.I)
_LOGICAL = {"True", "False", "TRUE", "FALSE", "true", "false"}
_COMMA = re.compile(r"\d,\d")
_COMMA_NUMBER = rf"{_BLANKS}[+-]?\d*,\d+(?:[eE][+-]?\d+)?{_BLANKS}"
_POINT_NUMBER = rf"{_BLANKS}[+-]?\d*\.\d+(?:[eE][+-]?\d+)?{_BLANKS}"
_WHOLE = rf"{_BLANKS}[+-]?\d+(?:[eE][+-]?\d+)?{_BLANKS}"
_GROUPS = rf"{_BLANKS}[+-]?[1-9]\d{{0,2}}(?:,\d{{3}})+{_BLANKS}"
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


def parse(
    text: str,
    header: Sequence[str],
    *,
    delimiter: str,
    decimal: str,
    text_columns: Collection[str],
) -> pd.DataFrame:
    """The cells of a text whose rows are all as long as its header."""
    kept = [name for name in header if name in text_columns]
    frame = _read(text, header, delimiter, decimal, kept, ())
    codes = _code_columns(frame, text, header, delimiter, kept) if _may_hold_codes(text) else []
    return _read(text, header, delimiter, decimal, kept, codes) if codes else frame


def _read(
    text: str,
    header: Sequence[str],
    delimiter: str,
    decimal: str,
    kept: Collection[str],
    codes: Collection[str],
    only: Sequence[str] | None = None,
    records: int | None = None,
) -> pd.DataFrame:
    marks: dict[Any, list[str]] = {name: [""] if name in kept else ["", *MISSING_MARKS] for name in header}
    frame: pd.DataFrame = pd.read_csv(
        io.BytesIO(text.encode()),  # pandas makes of StringIO four times as many bytes
        sep=delimiter,
        decimal=decimal,
        dtype=dict.fromkeys([*kept, *codes], "str"),
        na_values=marks,
        keep_default_na=False,
        low_memory=False,
        # A line of blanks is a row where blanks or tabs stand between columns.
        skip_blank_lines=False,
        index_col=False,
        usecols=None if only is None else list(only),
        nrows=records,
        **_EXACT_NUMBERS,
    )
    return frame


def as_written(
    text: str,
    header: Sequence[str],
    delimiter: str,
    names: Sequence[str] | None = None,
    records: int | None = None,
) -> pd.DataFrame:
    """Cells as text, missing where one is empty: of these columns and the first records, by default all."""
    kept = header if names is None else names
    return _read(text, header, delimiter, ".", kept, (), only=names, records=records)


def _may_hold_codes(text: str) -> bool:
    return any(map(may_hold_codes, blocks(io.BytesIO(text.encode()))))


def _code_columns(
    frame: pd.DataFrame, text: str, header: Sequence[str], delimiter: str, kept: Collection[str]
) -> list[str]:
    """The columns read as numbers that have a cell which is a code."""
    numeric = [
        name
        for name in header
        if name not in kept and pd.api.types.is_numeric_dtype(frame[name]) and not _is_logical(frame[name])
    ]
    if not numeric:
        return []
    written = as_written(text, header, delimiter, numeric)
    return [name for name in numeric if written[name].dropna().str.fullmatch(CODE).any()]


def _is_logical(column: pd.Series) -> bool:
    return bool(pd.api.types.is_bool_dtype(column.dtype))


def decimal_of(text: str, header: Sequence[str], delimiter: str) -> tuple[str, tuple[str, ...]]:
    """The decimal sign of a file, and the columns of numbers that have another one.

    A comma only where columns do not stand between commas, and a column of numbers cannot be read otherwise:
    one of cells such as ``1,234``, which may be a thousand or more, proves nothing. Where some columns speak
    for the comma and others for the point, it is the point, as the number of a day and month has one.
    """
    if delimiter == "," or _COMMA.search(text) is None:
        return ".", ()
    written = as_written(text, header, delimiter)
    with_comma: list[str] = []
    unclear: list[str] = []
    with_point: list[str] = []
    for name in header:
        cells = written[name].dropna()
        cells = cells[~cells.isin(MISSING_MARKS)]
        if _all_numbers(cells, _COMMA_NUMBER):
            groups = cells[cells.str.contains(",", regex=False)].str.fullmatch(_GROUPS).all()
            (unclear if groups else with_comma).append(name)
        elif _all_numbers(cells, _POINT_NUMBER):
            with_point.append(name)
    if with_comma and not with_point:
        return ",", ()
    return ".", (*with_comma, *unclear)


def _all_numbers(cells: pd.Series, marked: str) -> bool:
    """Whether all cells are numbers with this decimal sign or whole ones, and some have the sign."""
    if cells.empty or not cells.str.fullmatch(f"{marked}|{_WHOLE}").all():
        return False
    return bool(cells.str.fullmatch(marked).any())


def with_thousands(frame: pd.DataFrame, kept: Collection[str]) -> tuple[str, ...]:
    """Columns of text, but for `kept`, that are numbers with thousands apart: ``1.234,50``, ``12 000``."""
    return tuple(
        str(name) for name, column in frame.items() if name not in kept and _separates_thousands(column)
    )


def _separates_thousands(column: pd.Series) -> bool:
    cells = column.dropna()
    if cells.empty or not pd.api.types.is_string_dtype(cells):
        return False
    number = f"{_THOUSANDS}|{_MARKED}"
    return bool(
        cells[:1].str.fullmatch(number).all()  # nearly every column of text is out after a cell
        and cells.str.fullmatch(number).all()
        and cells.str.fullmatch(_THOUSANDS).any()
    )


def reads_as_numbers(column: pd.Series) -> bool:
    """Whether reading a column of text would make numbers or logical values of it."""
    texts = [text for text in set(map(str, cells_of(column.dropna()))) if text and text not in MISSING_MARKS]
    if not texts or any(is_code(text) for text in texts):
        return False
    return set(texts) <= _LOGICAL or all(_NUMBER.fullmatch(text) for text in texts)
