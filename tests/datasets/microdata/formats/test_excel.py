"""Excel workbooks: what their cells are, and what cannot be read."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from format_cases import described, there_and_back

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats import excel
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.excel import Excel
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.microdata.writing import write_table


def workbook(path: Path, *sheets: list[list[Any]], formats: dict[str, str] | None = None) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"S{number}")
        for row in rows:
            sheet.append(row)
        for cell, shown in (formats or {}).items():
            sheet[cell].number_format = shown
    book.save(path)
    return path


def message(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(path), path.name)


def test_text_stays_text_and_numbers_numbers(tmp_path: Path) -> None:
    rows = [
        ["code", "x", "mixed", "yes"],
        ["007", 1, 1, True],
        ["12", 2.5, "a", False],
        [None, None, None, True],
    ]
    frame = read_file(workbook(tmp_path / "x.xlsx", rows)).frame
    assert {name: described(frame[name]) for name in frame} == {
        "code": ("text", ["007", "12", None]),
        "x": ("number", [1.0, 2.5, None]),
        "mixed": ("mixed", [1, "a", None]),
        "yes": ("logical", [True, False, True]),
    }


def test_what_is_shown_decides_on_codes_and_dates(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", [["plz"], [7], [1234]], formats={"A2": "00000", "A3": "00000"})
    assert read_file(path).frame["plz"].to_list() == ["00007", "01234"]
    noon, shown = dt.datetime(2020, 2, 29, 12), {"A2": "dd/mm/yyyy", "B2": "yyyy-mm-dd hh:mm"}
    path = workbook(tmp_path / "y.xlsx", [["day", "moment"], [noon, noon]], formats=shown)
    frame = read_file(path).frame
    assert described(frame["day"]) == ("date", [dt.date(2020, 2, 29)])
    assert described(frame["moment"]) == ("moment", ["2020-02-29 12:00:00"])


def test_other_sheets_are_named_and_the_sheet_keeps_its_name(tmp_path: Path) -> None:
    stored = read_file(workbook(tmp_path / "x.xlsx", [["a"], [1]], [["b"], [2]]))
    assert stored.remarks == ("read from the sheet 'S0'; 1 more not read",)
    back = there_and_back(stored, tmp_path / "y.xlsx")
    assert (back.remarks, back.dialect) == ((), stored.dialect)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "x.xlsx: the sheet 'S0' is empty; it needs a header and records"),
        ([["a", "b"]], "x.xlsx has no records, only column names"),
        ([["a", "a"], [1, 2]], "x.xlsx: the column name 'a' is twice in the header; rename one"),
        ([["a"], [1], [None], [2]], "x.xlsx, row 3 of the sheet: empty; delete it"),
        (
            [["a", None], [1, 2]],
            "x.xlsx: column 2 has no name in the header; name it (an index written along with the table can "
            "be named and given as id) or delete it",
        ),
    ],
)
def test_sheets_that_are_no_tables(rows: list[list[Any]], said: str, tmp_path: Path) -> None:
    assert message(workbook(tmp_path / "x.xlsx", rows)) == said


def test_formulas_without_values_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", [["a", "b"], [1, "=A2+1"], [2, "=A3+1"]])
    assert message(path) == (
        "x.xlsx, row 2 of the sheet, column 'b': a formula whose value is not in the file; open the file in "
        "Excel and save it"
    )


CELL = ", row 2: an Excel cell holds at most 32767 characters and no control characters; write .parquet"
FAR = np.array(["2020-01-01", "12345-01-01"], dtype="datetime64[s]")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["x", "\x01"], CELL),
        (["x", "x" * 32_768], CELL),
        (FAR, ": Excel has no dates after the year 9999; write .parquet"),
    ],
    ids=["control", "long", "date"],
)
def test_what_excel_does_not_take(cells: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        Excel().write(StoredFile(pd.DataFrame({"a": pd.Series(cells)})), tmp_path / "x.xlsx")
    assert str(caught.value) == f"{tmp_path}/x.xlsx, column 'a'{said}"


def test_a_time_zone_is_written_as_text_and_said(tmp_path: Path) -> None:
    moments = pd.Series(pd.to_datetime(["2020-02-29 12:00", None])).dt.tz_localize("Europe/Berlin")
    stored = StoredFile(pd.DataFrame({"t": moments, "x": [1, 2]}))
    assert Excel().loses(stored) == ("dates and times of a time zone become text (column t)",)
    back = there_and_back(stored, tmp_path / "x.xlsx")
    assert described(back.frame["t"]) == ("text", ["2020-02-29 12:00:00+01:00", None])


# Workbooks with more empty cells than values: whole columns that somebody has coloured


FRAME = pd.DataFrame({"age": [20, 30], "town": ["a", None]})


@pytest.fixture
def book(tmp_path):
    """Make a workbook of the frame, with further rows as XML."""
    path = tmp_path / "book.xlsx"

    def make(more: str):
        write_table(FRAME, path)
        target = io.BytesIO()
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                content = old.read(name)
                if name == "xl/worksheets/sheet1.xml":
                    content = content.replace(b"</sheetData>", more.encode() + b"</sheetData>")
                new.writestr(name, content)
        path.write_bytes(target.getvalue())
        return path

    return make


def empty(rows: range, columns: str = "ABCDEFGH") -> str:
    """Rows of cells that have a format and no value."""
    found = []
    for row in rows:
        cells = "".join(f'<c r="{column}{row}" s="0"/>' for column in columns)
        found.append(f'<row r="{row}">{cells}</row>')
    return "".join(found)


def test_empty_cells_at_the_end_are_read_over(book):
    pd.testing.assert_frame_equal(read_file(book(empty(range(4, 40)))).frame, FRAME)


def test_too_many_are_refused_before_all_are_read(book, monkeypatch):
    """Nothing is kept of them meanwhile, and what follows is not looked at."""
    monkeypatch.setattr(excel, "_MOST_EMPTY", 1000)
    looked = []
    usual = excel._value
    monkeypatch.setattr(excel, "_value", lambda cell: looked.append(1) or usual(cell))
    message = r"book\.xlsx, sheet 'Sheet1': more than 1,000 cells below or right of the table have a format"
    with pytest.raises(DataError, match=message):
        read_file(book(empty(range(4, 3000))))
    assert len(looked) < 1100
