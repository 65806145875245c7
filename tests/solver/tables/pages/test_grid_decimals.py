"""Values of a grid have as many decimals each."""

from __future__ import annotations

import pytest

from linkrisk.solver.documents.cell_grid import CellState, GridCell
from linkrisk.solver.tables.pages.shown import grids


def drawn(texts):
    codes = [f"c{number}" for number in range(len(texts))]
    given = {"cells": len(texts), "table": {"variables": ["region"], "all": {"codes": [codes]}}}
    (grid,) = grids(given, lambda at: GridCell(CellState.PUBLISHED, texts[at]))
    return [line[0].text for line in grid.cells]


@pytest.mark.parametrize(
    ("texts", "same"),
    [
        (["1,250", "3.5", "0.25"], ["1,250.00", "3.50", "0.25"]),
        (["12", "7"], ["12", "7"]),
        (["1.5", "0.3333333333"], ["1.5", "0.3333333333"]),
        (["1.5", "2e+20"], ["1.5", "2e+20"]),
    ],
)
def test_values_have_the_decimals_of_the_finest(texts, same):
    assert drawn(texts) == same
