"""Dates: their forms, days and back again, what is not clear, what `describe` and schemas make of them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.column_descriptions import guesses
from linkrisk.datasets.microdata.dates import DATE_FORMS, at_level, forms_of, looks_dated, read_dates
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.schema import Attribute, Role, Schema

DAYS = st.dates(dt.date(1000, 1, 1), dt.date(2999, 12, 31))
WRITTEN = {
    "YYYY-MM-DD": "%Y-%m-%d",
    "DD.MM.YYYY": "%d.%m.%Y",
    "DD/MM/YYYY": "%d/%m/%Y",
    "MM/DD/YYYY": "%m/%d/%Y",
    "DD-MM-YYYY": "%d-%m-%Y",
    "MM-DD-YYYY": "%m-%d-%Y",
    "YYYY/MM/DD": "%Y/%m/%d",
    "YYYY.MM.DD": "%Y.%m.%d",
    "YYYYMMDD": "%Y%m%d",
}


def column(*cells: object) -> pd.Series:
    return pd.Series(list(cells), name="born")


def read(cells: pd.Series, form: str | None = None, *others: pd.Series):
    return read_dates([(cells, "a.csv"), *((other, "b.csv") for other in others)], form)


@pytest.mark.parametrize("form", WRITTEN)
@given(days=st.lists(DAYS, min_size=1, max_size=8))
def test_days_and_back_again(form, days):
    cells = pd.Series([day.strftime(WRITTEN[form]) for day in days], name="born")
    (dates,) = read(cells, form)
    assert dates.days.tolist() == [day.toordinal() - dt.date(1970, 1, 1).toordinal() for day in days]
    assert dates.written(dates.days).tolist() == cells.tolist()


@pytest.mark.parametrize(
    ("cells", "forms"),
    [
        (column("1959-04-28", None, "2026-02-28"), ("YYYY-MM-DD",)),
        (column("31.12.2026"), ("DD.MM.YYYY",)),
        (column("31/12/2026", "01/02/2026"), ("DD/MM/YYYY",)),
        (column("12/31/2026", "01/02/2026"), ("MM/DD/YYYY",)),
        (column("11/12/2026", "01/02/2026"), ("DD/MM/YYYY", "MM/DD/YYYY")),
        (column("2026-03-04T10:20", "2026-03-04 23:59:59"), ("YYYY-MM-DD",)),
        (column("2026-03-04T10:20:30.5Z"), ("YYYY-MM-DD",)),
        (column("2026-03", "2026-12"), ("YYYY-MM",)),
        (column("2026-Q1", "2026-Q4"), ("YYYY-Q",)),
        (column(pd.Timestamp(2026, 1, 1), None), ("dates",)),
        (column(dt.date(2026, 1, 1), None), ("dates",)),
        (column(pd.Timestamp(2026, 1, 1), None).astype("category"), ("dates",)),
        (column("20261231"), ()),
        (column(20261231), ()),
        (column("2026"), ()),
        (column("2026-02-29"), ()),
        (column("2026-13-01"), ()),
        (column("1.2.26"), ()),
        (column(None), ()),
        (column("2026-01-01", "soon"), ()),
    ],
)
def test_which_forms_a_column_may_have(cells, forms):
    assert forms_of(cells) == forms


def test_times_count_as_parts_of_days_and_are_written_as_they_were():
    cells = column("04.03.2026 06:00", None, "05.03.2026 18:00")
    (dates,) = read(cells)
    assert dates.days[[0, 2]].tolist() == [20516.25, 20517.75]
    assert dates.written(dates.days + 0.25).tolist() == ["04.03.2026 12:00", None, "06.03.2026 00:00"]


def test_masked_days_are_written_in_the_form_in_which_they_came():
    day = dt.date(2026, 3, 31).toordinal() - dt.date(1970, 1, 1).toordinal()
    masked = np.array([day + 1.4])
    assert read(column("1.12.2026"))[0].written(masked).tolist() == ["1.4.2026"]
    assert read(column("31/12/2026"))[0].written(masked).tolist() == ["01/04/2026"]
    assert read(column("2026-11"))[0].written(masked).tolist() == ["2026-04"]
    assert read(column("2026-Q4"))[0].written(masked).tolist() == ["2026-Q2"]
    (moments,) = read(column(pd.Timestamp(2026, 1, 1)))
    assert moments.written(masked).dtype == moments.column.dtype
    assert moments.written(masked)[0] == pd.Timestamp(2026, 4, 1)
    assert read(column(dt.date(2026, 1, 1)))[0].written(masked)[0] == dt.date(2026, 4, 1)
    zone = pd.Series(pd.to_datetime(["2026-01-01"]).tz_localize("Europe/Madrid"), name="born")
    assert read(zone)[0].written(read(zone)[0].days)[0] == zone[0]
    far = read(column("2026-01-01", "2026-01-02"))[0].written(np.array([1e9, -1e9]))
    assert far.tolist() == ["9999-12-31", "0001-01-01"]


def test_the_other_file_settles_what_is_not_clear():
    first, second = read(column("01/02/2026"), None, column("31/12/2026"))
    assert (first.form, second.form) == ("DD/MM/YYYY", "DD/MM/YYYY")
    first, second = read(column("31.12.2026", "01.02.2026"), None, column("2026", "2025"))
    assert (first.form, second.form) == ("DD.MM.YYYY", "YYYY")
    assert second.days[0] == dt.date(2026, 7, 2).toordinal() - dt.date(1970, 1, 1).toordinal()


HINT = (
    'declare it in schema: scale = "date" and, where the form does not tell itself, form = "DD/MM/YYYY" '
    "(or another one), or another scale"
)
NONE, ALIKE = "is no date of the form", "; write all alike, or"


@pytest.mark.parametrize(
    ("cells", "form", "message"),
    [
        (("01/02/2026", "03/04/2026"), None, ": dates such as '01/02/2026' may be DD/MM/YYYY or MM/DD/YYYY;"),
        (("2026-01-01", "2026-01-02", "01.02.2026"), None, f", row 3: '01.02.2026' {NONE} YYYY-MM-DD{ALIKE}"),
        (("20261231", "20261301"), "YYYYMMDD", f", row 2: '20261301' {NONE} YYYYMMDD{ALIKE}"),
    ],
)
def test_one_line_says_how_to_declare_what_is_not_clear(cells, form, message):
    assert looks_dated(column(*cells)) == (form is None)
    with pytest.raises(DataError) as error:
        read(column(*cells), form)
    assert str(error.value) == f"a.csv, column 'born'{message} {HINT}"


@given(DAYS)
def test_levels(day):
    days = day.toordinal() - dt.date(1970, 1, 1).toordinal()
    assert at_level(days, "year") == f"{day.year}"
    assert at_level(days, "quarter") == f"{day.year}-Q{(day.month - 1) // 3 + 1}"
    assert at_level(days, "month") == f"{day.year}-{day.month:02d}"


def test_guesses():
    frame = pd.DataFrame(
        {
            "born": [f"{1950 + row}-01-{row % 28 + 1:02d}" for row in range(30)],
            "seen": [pd.Timestamp(2026, 1, row % 28 + 1) for row in range(30)],
            "unclear": ["01/02/2026", "03/04/2026"] * 15,
            "mixed": ["2026-01-01", "2026-01-02", "01.02.2026"] * 10,
            "code": ["2026-1", "x"] * 15,
        }
    )
    found = {guess.attribute.name: guess for guess in guesses(frame)}
    for name in ("born", "seen"):
        assert (found[name].attribute.role, found[name].attribute.scale) == (Role.KEY, Scale.DATE)
    assert found["born"].why_scale == "holds dates written as YYYY-MM-DD"
    assert [found[name].attribute.scale for name in ("unclear", "mixed")] == [Scale.TEXT] * 2
    assert found["unclear"].why_scale == (
        "holds dates, but DD/MM/YYYY or MM/DD/YYYY: to compare them, say scale and form"
    )
    assert found["mixed"].why_scale == "holds dates of several forms, or mistakes among them"
    assert found["code"].attribute.scale is Scale.NOMINAL
    inferred = Schema.from_frame(frame)
    assert [inferred[name].scale for name in ("born", "seen")] == [Scale.DATE] * 2
    assert inferred["born"].role is Role.KEY


def test_forms_in_schemas():
    schema = Schema((Attribute("born", Role.KEY, Scale.DATE, form="DD/MM/YYYY"),))
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.to_dict()["attributes"] == [
        {"name": "born", "role": "key", "scale": "date", "form": "DD/MM/YYYY"}
    ]
    with pytest.raises(DataError, match='has the form of dates and another scale; say scale = "date"'):
        Attribute("born", scale=Scale.NOMINAL, form="DD/MM/YYYY")
    with pytest.raises(DataError, match=f"unknown form of dates 'D.M.Y'; use one of {DATE_FORMS[0]}"):
        Attribute("born", scale=Scale.DATE, form="D.M.Y")
    with pytest.raises(DataError, match="form must be text such as"):
        Schema.from_dict({"attributes": [{"name": "born", "scale": "date", "form": 3}]})
