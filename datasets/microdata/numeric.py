"""Numbers out of table columns, with every reason why a column cannot be used said in one line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError, NotANumberError
from linkrisk.datasets.microdata.formats.number_text import reading_options
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import called

LARGEST = 1e150
"""Beyond this, squared differences are not safe from overflow in double precision."""

SMALLEST_RANGE = 1e-300
"""Below this, a standard deviation may have fewer digits than doubles of usual size."""

CONSTANT, NEARLY = "constant", "constant except for the last digits"
"""What is wrong with an attribute that cannot be compared."""


def numeric_matrix(
    frame: pd.DataFrame,
    attributes: Sequence[str],
    source: str,
    *,
    allow_missing: bool = False,
    otherwise: str | None = None,
) -> npt.NDArray[np.float64]:
    """Take numeric attributes out of a table as an array.

    Logical values count as 0 and 1, text that spells a number as that number.

    Returns (n, a).
    """
    if otherwise is None:
        otherwise = f"choose other {called('attributes')}"
    matrix = np.empty((len(frame), len(attributes)), dtype=np.float64)
    for position, attribute in enumerate(attributes):
        column = frame[attribute]
        missing = column.isna().to_numpy(dtype=bool)
        if missing.any() and not allow_missing:
            raise DataError(
                f"{_place(source, attribute, missing)}: missing value; {_or('fill it in', otherwise)}"
            )
        if not missing.any():
            matrix[:, position] = _numbers(column, ~missing, attribute, source, otherwise)
            continue
        matrix[missing, position] = np.nan
        matrix[~missing, position] = _numbers(column, ~missing, attribute, source, otherwise)
    return matrix


def check_known(
    names: Iterable[str],
    columns: Sequence[str],
    source: str,
    *,
    what: str = "attribute",
    option: str | None = None,
) -> None:
    """Raise a DataError for the first name that is not a column, with the closest name that is."""
    kind = "" if what == "column" else f" ({called(option) if option else what})"
    for name in names:
        if name not in columns:
            raise DataError(
                f"{source} has no column {name!r}{kind}{suggestion(name, columns, shown_name)}", option=option
            )


def check_no_duplicates(
    names: Sequence[str], where: str | None = None, *, option: str = "attributes"
) -> None:
    """Raise a DataError when a name is given twice: by an option, or where else they are from."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(
                f"the attribute {name!r} is given twice in {where or called(option)}; give it once",
                option=None if where else option,
            )
        seen.add(name)


def suggestion(name: str, known: Sequence[str], shown: Callable[[str], str] = str) -> str:
    """Return "; did you mean ...?" or the list of what exists (its beginning when it is long)."""
    lowered = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=1)
    if close:
        return f"; did you mean {shown(lowered[close[0]])!r}?"
    listed = ", ".join(shown(each) for each in known[:12])
    return f"; there are: {listed}, ..." if len(known) > 12 else f"; there are: {listed}"


def constant_attributes(matrix: npt.NDArray[np.float64], attributes: Sequence[str]) -> dict[str, str]:
    """Name the attributes whose values are all equal, or differ in the last digits of doubles only.

    Rounding makes the second of the first, and of deviations from the mean it leaves nothing.

    `matrix` (n, a): the values.
    """
    lowest, highest = _extremes(matrix)
    spread = highest - lowest
    rounding = 8 * np.finfo(np.float64).eps * np.maximum(np.abs(lowest), np.abs(highest))
    return {
        attribute: CONSTANT if width == 0.0 else NEARLY
        for attribute, width, least in zip(attributes, spread.tolist(), rounding.tolist(), strict=True)
        if width <= least
    }


def check_some_value(matrix: npt.NDArray[np.float64], attributes: Sequence[str], source: str) -> None:
    """Raise a DataError for the first attribute that is missing in all records.

    `matrix` (n, a): the values, NaN where one is missing.
    """
    empty = np.isnan(matrix).all(axis=0)
    if empty.any():
        raise DataError(
            f"{source}, column {attributes[int(np.argmax(empty))]!r} has no value at all and cannot be "
            f"compared; choose other {called('attributes')}",
            option="attributes",
        )


def check_ranges(matrix: npt.NDArray[np.float64], attributes: Sequence[str], source: str) -> None:
    """Raise a DataError for the first attribute whose values differ by too little to be standardised.

    `matrix` (n, a): the values.
    """
    lowest, highest = _extremes(matrix)
    for attribute, width in zip(attributes, (highest - lowest).tolist(), strict=True):
        if width < SMALLEST_RANGE:
            raise DataError(
                f"{source}: the values of {attribute!r} differ by at most {width:g}, too little to be "
                "standardised; give the attribute in another unit"
            )


def _extremes(matrix: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The lowest and the highest known value of each attribute; zero where there is none."""
    unknown = np.isnan(matrix)
    lowest = np.where(unknown, np.inf, matrix).min(axis=0)
    highest = np.where(unknown, -np.inf, matrix).max(axis=0)
    some = lowest <= highest
    return np.where(some, lowest, 0.0), np.where(some, highest, 0.0)


def _or(mend: str, otherwise: str) -> str:
    return f"{mend} or {otherwise}" if otherwise else mend


def _numbers(
    column: pd.Series, known: npt.NDArray[np.bool_], attribute: str, source: str, otherwise: str
) -> npt.NDArray[np.float64]:
    """The known values of a column."""
    if pd.api.types.is_bool_dtype(column.dtype) or (
        pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype)
    ):
        values = column[known].to_numpy(dtype=np.float64)
    else:
        values = _spelled_numbers(column[known], known, attribute, source, otherwise)
    infinite = ~np.isfinite(values)
    if infinite.any():
        raise DataError(
            f"{_place(source, attribute, _among(known, infinite))}: infinite value; give finite numbers"
        )
    large = np.abs(values) > LARGEST
    if large.any():
        raise DataError(
            f"{_place(source, attribute, _among(known, large))}: {values[large][0]:g} is too large to be "
            "squared; give the attribute in another unit"
        )
    return values


def _spelled_numbers(
    series: pd.Series, known: npt.NDArray[np.bool_], attribute: str, source: str, otherwise: str
) -> npt.NDArray[np.float64]:
    cells = [cell if isinstance(cell, str | Real | Decimal) else None for cell in series.to_list()]
    values = _read(cells)
    unread = np.isnan(values)
    if unread.any():
        # in a column with decimal commas the cell that keeps it from being numeric, not the first comma
        odd = unread & np.isnan(_read([str(cell).replace(",", ".") for cell in cells]))
        unread = odd if odd.any() else unread
        cell = str(series.iloc[int(np.argmax(unread))])
        shown = cell if len(cell) <= 40 else cell[:37] + "..."
        raise NotANumberError(
            f"{_place(source, attribute, _among(known, unread))}: {shown!r} is not a number; "
            f"{_or('fix it', otherwise)}{reading_cure(series)}"
        )
    return values


def _read(cells: list[Any]) -> npt.NDArray[np.float64]:
    """Read cells as numbers, NaN where one is none."""
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(dtype=np.float64)


def reading_cure(column: pd.Series) -> str:
    """Say how a column that is written with other signs is read as numbers; nothing of other columns."""
    options = reading_options(column)
    return f"; {options} reads it as a number" if options else ""


def _among(known: npt.NDArray[np.bool_], wrong: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which rows are wrong, where `wrong` says it of the known ones."""
    rows = np.zeros(known.size, dtype=np.bool_)
    rows[known] = wrong
    return rows


def _place(source: str, attribute: str, wrong: npt.NDArray[np.bool_]) -> str:
    return f"{source}, column {attribute!r}, row {int(np.argmax(wrong)) + 1}"


def decimals_of(value: npt.NDArray[np.float64]) -> int:
    """Count the decimals of numbers, at most nine."""
    close = 1e-12 * max(1.0, float(np.abs(value).max(initial=0.0)))
    return next((at for at in range(9) if (np.abs(value - np.round(value, at)) <= close).all()), 9)
