"""Workbooks with more empty cells than values: whole columns that somebody has coloured."""

from __future__ import annotations

import io
import zipfile

import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats import excel
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.microdata.writing import write_table

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


def test_missing_values_inside_the_table_are_none_of_them(book, monkeypatch):
    """Half of a long table may be missing."""
    monkeypatch.setattr(excel, "_MOST_EMPTY", 10)
    rows = "".join(
        f'<row r="{row}"><c r="A{row}"><v>{row}</v></c><c r="B{row}" s="0"/></row>' for row in range(4, 90)
    )
    assert len(read_file(book(rows)).frame) == 88


def test_an_empty_row_between_others_is_named(book):
    with pytest.raises(DataError, match="row 4 of the sheet: empty; delete it"):
        read_file(book('<row r="5000"><c r="A5000"><v>3</v></c></row>'))


def test_a_formula_without_a_value_at_the_end_of_a_row_is_refused(book):
    with pytest.raises(DataError, match="row 4 of the sheet, column 'town': a formula whose value"):
        read_file(book('<row r="4"><c r="A4"><v>3</v></c><c r="B4"><f>A4*2</f></c></row>'))
