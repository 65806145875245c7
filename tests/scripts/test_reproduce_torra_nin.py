"""The script of Torra and Nin's Tables V to VIII: every row of the paper has one of ours."""

from __future__ import annotations

import os
import re

import pytest
import torra_nin as script

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)


def test_published_rows():
    published = script.rows(script.TABLE_6)
    assert published["N1", "PRL"] == (12.9, 22.2, 3.9, 10.8, 20.7, 3.9)
    assert list(published) == [("N1", "DBRL"), ("N1", "PRL"), ("N2", "DBRL"), ("N2", "PRL")]


@with_data
def test_a_table(capsys):
    example = next(script.examples())
    tasks = script.draws(example, count=2, records=20)
    assert [len(task.queries) for task in tasks] == [20, 20]
    script.print_table(example, tasks)
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split("|")[1:-1] for line in lines if re.match(r"\| (N1|N2|normal) ", line)]
    assert [row[0].strip() for row in rows] == [
        f"{scale} {how}" for scale in ("N1", "N2", "normal") for how in ("DBRL", "PRL")
    ]
    for row in rows:
        cells = [re.fullmatch(r" ([\d.]+) \(([\d.]+)\)( \[[\d.]+\])? ", cell) for cell in row[1:]]
        assert len(cells) == 6
        assert all(cell is not None and 0 <= float(cell[1]) <= 20 for cell in cells)
        assert all((cell[3] is None) == row[0].startswith(" normal") for cell in cells)
    # Values of [0, 1]: an OWA and a Sugeno integral by a threshold are the same value of the record.
    assert rows[0][3] == rows[0][6]
