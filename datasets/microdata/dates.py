"""Columns of dates: the form in which they are written, days as numbers, and the same form again."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.errors import called

NATIVE = "dates"
"""The form of columns whose values are dates for the file, not text."""

MIDNIGHT = " 00:00:00"
"""How the text of a date ends that pandas takes for a moment."""

_EPOCH = dt.date(1970, 1, 1).toordinal()
_SECONDS = 86_400.0
_TIME = r"(?:[T ](?P<h>\d{1,2}):(?P<min>\d\d)(?::(?P<s>\d\d(?:\.\d+)?))?(?:Z|[+-]\d\d:?\d\d)?)?"
_YEAR, _MONTH, _DAY = r"(?P<y>\d{4})", r"(?P<m>\d{1,2})", r"(?P<d>\d{1,2})"

_PATTERNS: dict[str, str] = {
    "YYYY-MM-DD": f"{_YEAR}-{_MONTH}-{_DAY}{_TIME}",
    "DD.MM.YYYY": rf"{_DAY}\.{_MONTH}\.{_YEAR}{_TIME}",
    "DD/MM/YYYY": f"{_DAY}/{_MONTH}/{_YEAR}{_TIME}",
    "MM/DD/YYYY": f"{_MONTH}/{_DAY}/{_YEAR}{_TIME}",
    "DD-MM-YYYY": f"{_DAY}-{_MONTH}-{_YEAR}{_TIME}",
    "MM-DD-YYYY": f"{_MONTH}-{_DAY}-{_YEAR}{_TIME}",
    "YYYY/MM/DD": f"{_YEAR}/{_MONTH}/{_DAY}{_TIME}",
    "YYYY.MM.DD": rf"{_YEAR}\.{_MONTH}\.{_DAY}{_TIME}",
    "YYYY-MM": f"{_YEAR}-(?P<m>\\d\\d)",
    "YYYY-Q": f"{_YEAR}-Q(?P<q>[1-4])",
    "YYYYMMDD": r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)",
    "YYYY": _YEAR,
}
_FORMS = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}

DATE_FORMS = tuple(_FORMS)
"""Forms that can be declared."""

_DECLARED_ONLY = ("YYYYMMDD", "YYYY")
"""Forms that numbers have as well."""

_MOST = 0.5
"""A column of which more cells than this share are dates is meant to hold dates."""

_MOST_YEARS = 2000
"""So many values tell whether numbers are years."""

LEVELS = ("year", "quarter", "month")
"""Coarser than days, coarsest first."""

_LEVEL_FORMS = {"year": "YYYY", "quarter": "YYYY-Q", "month": "YYYY-MM"}


@dataclass(frozen=True, eq=False)
class Dates:
    """A column of dates as numbers."""

    form: str  # how they are written
    # (n,) Since 1970-01-01, with the time of the day as a fraction; the middle of months, quarters and years.
    # NaN where a date is missing
    days: FloatArray
    column: pd.Series  # the column itself

    @property
    def timed(self) -> bool:
        """Whether some date has a time of the day."""
        known = self.days[~np.isnan(self.days)]
        return self.form not in _LEVEL_FORMS.values() and bool((known != np.floor(known)).any())

    def written(self, days: FloatArray) -> pd.Series:
        """Write other days as this column is written, to the day where it has no times; None if missing."""
        timed = self.timed
        moments = [None if np.isnan(day) else _moment(day, timed=timed) for day in days.tolist()]
        cells: list[Any]
        if self.form == NATIVE:
            if isinstance(self.column.dtype, pd.CategoricalDtype) or self.column.dtype == object:
                kind = dt.datetime if _has_times(self.column) else dt.date
                cells = [one and (one if kind is dt.datetime else one.date()) for one in moments]
                return pd.Series(cells, self.column.index, dtype=object, name=self.column.name)
            naive = pd.Series(pd.to_datetime(pd.Series(moments, dtype="datetime64[us]")).to_numpy())
            zone = getattr(self.column.dtype, "tz", None)
            made = naive.dt.tz_localize("UTC").dt.tz_convert(zone) if zone is not None else naive
            kind_of_column = self.column.dtype
            return pd.Series(made.astype(kind_of_column).array, self.column.index, name=self.column.name)
        style = _Style.of(_texts(self.column), timed=timed)
        cells = [None if one is None else _text(one, self.form, style) for one in moments]
        return pd.Series(cells, self.column.index, dtype=object, name=self.column.name)


@dataclass(frozen=True)
class _Style:
    """How dates of a form are written: with zeros before days and months, and with which time."""

    padded: bool = True
    time: str = ""

    @classmethod
    def of(cls, texts: Sequence[str], *, timed: bool) -> _Style:
        days = [re.split("[T ]", text)[0] for text in texts]
        padded = not any(re.search(r"(?<!\d)\d(?!\d)", day) for day in days)
        clock = max((text[len(day) :] for text, day in zip(texts, days, strict=True)), key=len, default="")
        if not (timed or clock):
            return cls(padded)
        shown = "%H:%M" if clock.count(":") == 1 else "%H:%M:%S"
        return cls(padded, ("T" if clock.startswith("T") else " ") + shown)


def is_native(column: pd.Series) -> bool:
    """Whether the values of a column are dates for the file that it is from."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return True
    if isinstance(column.dtype, pd.CategoricalDtype):
        return is_native(pd.Series(column.dtype.categories))
    if column.dtype != object and not isinstance(column.dtype, pd.ArrowDtype):
        return False
    return pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime", "datetime64")


def forms_of(column: pd.Series) -> tuple[str, ...]:
    """Name the forms in which all cells of a column are dates; none of a column of numbers."""
    if is_native(column):
        return (NATIVE,)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return ()
    texts = _texts(column)
    if not texts:
        return ()
    names = [name for name in _FORMS if name not in _DECLARED_ONLY]
    for part in (texts[:20], texts):  # most columns of text are none of dates from the first cell on
        names = [name for name in names if all(_day(text, name) is not None for text in part)]
    return tuple(names)


def looks_dated(column: pd.Series) -> bool:
    """Whether a column is meant to hold dates, be their form clear or not."""
    if forms_of(column):
        return True
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    texts = _texts(column)
    if not texts or not any(_is_date(text) for text in texts[:20]):
        return False
    return sum(map(_is_date, texts)) > _MOST * len(texts)


def goes_with_dates(column: pd.Series) -> bool:
    """Whether a column may hold the dates that another file has there: also years alone, or nothing."""
    if looks_dated(column):
        return True
    values = column.dropna().unique()[:_MOST_YEARS]
    return all(_day(_cell(value), "YYYY") is not None for value in values.tolist())


def only_form(column: pd.Series) -> str | None:
    """The one form of a column of dates; None where it holds none, or it is not clear."""
    forms = forms_of(column)
    return forms[0] if len(forms) == 1 else None


def read_dates(columns: Sequence[tuple[pd.Series, str]], declared: str | None = None) -> list[Dates]:
    """Read a column of several tables as dates, all in one form where that is possible."""
    found = [_forms_with(column, declared) for column, _ in columns]
    common = [name for name in found[0] if all(name in forms for forms in found[1:])]
    made = []
    if declared is not None and found[0] not in ((declared,), (NATIVE,)):
        raise DataError(_unclear(*columns[0], (), declared))
    for (column, source), forms in zip(columns, found, strict=True):
        chosen = common or list(forms)
        if len(chosen) != 1:
            raise DataError(_unclear(column, source, chosen, declared))
        made.append(Dates(chosen[0], _days(column, chosen[0]), column))
    return made


def days_of_names(names: Sequence[str], where: str, form: str | None = None) -> FloatArray:
    """The days of dates that are names of categories; a DataError as of `read_dates`."""
    texts = [name.removesuffix(MIDNIGHT) for name in names]
    return read_dates([(pd.Series(texts, dtype=object), where)], form)[0].days


def at_level(day: float, level: str) -> str:
    """The year, quarter or month of a day: 2026, 2026-Q1, 2026-03."""
    return _text(_moment(day, timed=True), _LEVEL_FORMS[level], _Style())


def _forms_with(column: pd.Series, declared: str | None) -> tuple[str, ...]:
    """All forms that a column may have; a declared one, and years in numbers, are among them."""
    forms = forms_of(column)
    texts = _texts(column)
    more = [name for name in _DECLARED_ONLY if name in (declared, "YYYY")]
    more = [name for name in more if texts and all(_day(text, name) is not None for text in texts)]
    if declared is not None and declared in (*forms, *more):
        return (declared,)
    return (*forms, *more) if texts or forms else (declared or "YYYY-MM-DD",)


def _unclear(column: pd.Series, source: str, forms: Sequence[str], declared: str | None) -> str:
    place = f"{source}, column {str(column.name)!r}" if column.name is not None else source
    texts = _texts(column)
    if forms:
        shown = next((text for text in texts if len(text) < 40), "")
        return f"{place}: dates such as {shown!r} may be {' or '.join(forms)}; {_declare()}"
    best = declared or max(_FORMS, key=lambda name: sum(_day(text, name) is not None for text in texts))
    wrong = next(text for text in texts if _day(text, best) is None)
    cells = column.astype(object).map(lambda cell: None if pd.isna(cell) else _cell(cell))
    row = f", row {int(np.argmax((cells == wrong).to_numpy())) + 1}" if column.name is not None else ""
    shown = wrong if len(wrong) <= 40 else wrong[:37] + "..."
    return f"{place}{row}: {shown!r} is no date of the form {best}; write all alike, or {_declare()}"


def _declare() -> str:
    return (
        f'declare it in {called("schema")}: scale = "date" and, where the form does not tell itself, form = '
        '"DD/MM/YYYY" (or another one), or another scale'
    )


def _cell(value: Any) -> str:
    """A cell as it would be written: a whole number without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _texts(column: pd.Series) -> list[str]:
    """The different cells, none of them a date for the file."""
    return [_cell(value) for value in column.dropna().unique().tolist()]


def _is_date(text: str) -> bool:
    return any(_day(text, name) is not None for name in _FORMS if name not in _DECLARED_ONLY)


def _day(text: str, form: str) -> float | None:
    """A date as days; None where it is none of this form."""
    match = _FORMS[form].fullmatch(text)
    if match is None:
        return None
    part = match.groupdict()
    try:
        if part.get("q") is not None:
            return _middle(int(part["y"]), 3 * int(part["q"]) - 2, 3)
        if part.get("m") is None:
            return _middle(int(part["y"]), 1, 12)
        if part.get("d") is None:
            return _middle(int(part["y"]), int(part["m"]), 1)
        day = dt.date(int(part["y"]), int(part["m"]), int(part["d"])).toordinal() - _EPOCH
    except ValueError:
        return None
    hours, minutes, seconds = (float(part.get(key) or 0.0) for key in ("h", "min", "s"))
    if hours >= 24 or minutes >= 60 or seconds >= 60:
        return None
    return day + (3600.0 * hours + 60.0 * minutes + seconds) / _SECONDS


def _middle(year: int, month: int, months: int) -> float:
    """The middle day of some months."""
    first = dt.date(year, month, 1).toordinal()
    end = month + months - 1
    last = dt.date(year + end // 12, end % 12 + 1, 1).toordinal() - 1
    return (first + last) // 2 - _EPOCH


def _days(column: pd.Series, form: str) -> FloatArray:
    codes, values = pd.factorize(column)
    if form == NATIVE:
        moments = pd.to_datetime(pd.Series(list(values), dtype=object), utc=True)
        days = (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        found = days.to_numpy(dtype=np.float64)
    else:
        found = np.array([_day(_cell(value), form) for value in values], dtype=np.float64)
    return np.append(found, np.nan)[codes]


def _moment(day: float, *, timed: bool) -> dt.datetime:
    """A moment, to the second, or the nearest day where there are no times."""
    seconds = round(day * _SECONDS) if timed else round(day) * int(_SECONDS)
    first, last = -62_135_596_800, 253_402_300_799  # of the years 1 and 9999
    return dt.datetime(1970, 1, 1) + dt.timedelta(seconds=min(max(seconds, first), last))


def _has_times(column: pd.Series) -> bool:
    return any(isinstance(value, dt.datetime) for value in column.dropna())


def _text(moment: dt.datetime, form: str, style: _Style) -> str:
    """A moment in a form."""
    if form == "YYYY-Q":
        return f"{moment.year:04d}-Q{(moment.month + 2) // 3}"
    width = 2 if style.padded else 1
    text = form.replace("YYYY", f"{moment.year:04d}")
    text = text.replace("MM", f"{moment.month:0{width}d}").replace("DD", f"{moment.day:0{width}d}")
    return text + (moment.strftime(style.time) if style.time else "")
