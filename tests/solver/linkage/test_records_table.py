"""The table of records as arrays: its rows, its frame, its JSON, and what is left out of many."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from linkrisk.solver.linkage import records_table as records
from linkrisk.solver.linkage.records_table import TABLE_COLUMNS, RecordsTable
from linkrisk.solver.run.result import dump_json

ROWS = (
    ("a", True, 1, 0.5, 2.0, 1.5, 0),
    ("b", False, 3, 0.25, 0.125, -0.125, 1),
    ("c", None, None, None, None, None, None),
    ("d", False, 12, None, 1e-7, None, 2),
)


def made(rows: tuple[tuple[object, ...], ...] = ROWS) -> RecordsTable:
    """A table of these rows."""
    columns = list(zip(*rows, strict=True))
    numbers = [np.array([np.nan if cell is None else cell for cell in column]) for column in columns[3:6]]
    return RecordsTable(
        np.array(columns[0], dtype=object),
        np.array([cell is True for cell in columns[1]]),
        np.array([cell is not None for cell in columns[1]]),
        np.array([cell or 0 for cell in columns[2]]),
        *numbers,
        np.array([7 if cell is None else cell for cell in columns[6]]),
    )


@pytest.mark.parametrize("rows", [ROWS, ROWS[:2]])
def test_rows_and_frame_are_what_tuples_would_be(rows):
    table = made(rows)
    assert table.rows == rows
    assert [[type(cell) for cell in row] for row in table.rows] == [
        [type(cell) for cell in row] for row in rows
    ]
    assert table.to_dict() == {"columns": list(TABLE_COLUMNS), "rows": [list(row) for row in rows]}
    pd.testing.assert_frame_equal(table.to_frame(), pd.DataFrame(list(rows), columns=list(TABLE_COLUMNS)))


def test_tables_are_equal_when_all_that_is_known_is():
    assert made() == made()
    assert made() != made(ROWS[:2])
    assert made() != made((*ROWS[:3], ("d", False, 12, None, 1e-7, None, 3)))
    assert made() != made((*ROWS[:3], ("d", None, 12, None, 1e-7, None, 2)))
    assert made() != "rows"


def test_counts_of_partners():
    table = made()
    assert (table.within(1), table.within(3), table.within(3, tied=True), table.tied) == (1, 2, 1, 2)


def test_of_many_records_the_json_has_the_ranks(monkeypatch):
    monkeypatch.setattr(records, "MOST_ROWS", 3)
    table = made()
    content = json.loads(dump_json(table.to_dict()))
    assert content == {
        "columns": list(TABLE_COLUMNS),
        "rows": [],
        "left_out": 4,
        "ranks": [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1],
    }
    assert table.rows == ROWS
    assert len(table.to_frame()) == 4
