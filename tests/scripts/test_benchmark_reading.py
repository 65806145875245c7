"""The timing of file formats: a line for each that is written, of a table with every kind of column."""

from __future__ import annotations

import sys

import pytest
import reading

from linkrisk.datasets.microdata.values import Kind, kind_of


def test_a_line_for_each_format(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["reading.py", "--records", "50"])
    reading.main()
    first, _, *lines = capsys.readouterr().out.splitlines()
    assert first == "50 records, 20 columns; seconds"
    assert [line.split()[0] for line in lines] == [
        *(".csv", ".parquet", ".feather", ".xlsx", ".sav", ".dta", ".xpt", ".rds", ".rda")
    ]
    assert all(len(line.split()) == 5 for line in lines)


def test_the_table_has_every_kind_of_column() -> None:
    table = reading.table(100)
    kinds = {kind_of(table[name]) for name in table}
    assert kinds == {Kind.WHOLE, Kind.NUMBER, Kind.TEXT, Kind.MOMENT}
    assert table["code2"].str.startswith("0").all()
    assert table["gaps"].isna().any()


def test_numbers_alone_and_the_memory_of_reading(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--records", "50", "--numbers", "3", "--formats", ".csv", "--peak"]
    monkeypatch.setattr(sys, "argv", ["reading.py", *argv])
    reading.main()
    first, titles, line = capsys.readouterr().out.splitlines()
    assert first == "50 records, 3 columns; seconds"
    assert titles.split()[-2:] == ["peak", "table"]
    name, *numbers = line.split()
    assert (name, len(numbers)) == (".csv", 6)
    assert numbers[4] == "-" or 0 <= float(numbers[4]) < 100
