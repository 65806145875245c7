"""Adjusted values are on the grid of all values: none shows that it was changed, and none is rounded back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import adjust_table, make_table
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.units import Grid


def persons(counts):
    """A record for each person of a table of counts."""
    return pd.DataFrame(
        [cell for cell, many in counts.items() for _ in range(many)], columns=["region", "sex"]
    )


FIRMS = {
    ("North", "big"): (9001, 20),
    ("North", "mid"): (533, 612, 433),
    ("North", "small"): (5, 7),
    ("South", "big"): (7703,),
    ("South", "mid"): (399, 455, 388),
    ("South", "small"): (111, 222, 303),
    ("East", "big"): (5107, 4207, 4309),
    ("East", "mid"): (311, 267, 299),
    ("East", "small"): (81, 92, 73, 64),
}


def firms(scale=Fraction(1)):
    """Firms with turnovers; all amounts times the scale."""
    lines = [(*cell, float(one * scale)) for cell, amounts in FIRMS.items() for one in amounts]
    return pd.DataFrame(lines, columns=["region", "size", "turnover"])


def test_counts_are_not_rounded_back():
    counts = {
        ("N", "f"): 2,
        ("N", "m"): 7,
        ("N", "x"): 5,
        ("S", "f"): 9,
        ("S", "m"): 1,
        ("S", "x"): 6,
        ("E", "f"): 11,
        ("E", "m"): 12,
        ("E", "x"): 2,
    }
    made = make_table(persons(counts), ["region", "sex"], rules=["frequency=3"])
    found = adjust_table(made)
    sensitive = found.cells["status"] == "u"
    assert sensitive.sum() == 3
    assert found.cells["adjusted"].dtype == "int64"
    moved = (found.cells["adjusted"] - found.cells["value"]).abs()
    assert (moved[sensitive] >= 1).all()


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 100), Fraction(1, 4), Fraction(1000)])
@pytest.mark.parametrize("squares", [False, True])
def test_no_value_shows_that_it_was_changed(scale, squares):
    made = make_table(firms(scale), ["region", "size"], response="turnover", rules=["p=10"])
    found = adjust_table(made, squares=squares)
    assert found.details["step"] == float(scale)
    for one in found.cells["adjusted"]:
        assert (Fraction(repr(float(one))) / scale).denominator == 1
    sensitive = (found.cells["status"] == "u").to_numpy()
    moved = (found.cells["adjusted"] - found.cells["value"]).abs().to_numpy()
    level = made.cells["upper_protection"].to_numpy()[sensitive]
    assert (moved[sensitive] >= level - 1e-9).all()
    assert (moved[sensitive] > level).any()  # rounded up


def test_levels_of_totals_are_rounded_up_beyond_the_usual_bounds():
    """A sensitive total can be as much more as its level says, in whole numbers, too."""
    cells = pd.DataFrame({"value": [3, 1, 2], "status": ["u", "s", "s"], "upper_protection": [0.6, 0, 0]})
    relations = pd.DataFrame({"relation": 0, "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})
    assert adjust_table(cells, relations).cells["adjusted"].iloc[0] == 4
    narrow = cells.assign(upper_bound=[3.7, 3, 3])
    message = (
        "cell 0: no multiple of 1 within its bounds is as far from its value as its level asks for; lower "
        "it, or widen the bounds"
    )
    with pytest.raises(FormulationError, match=message):
        adjust_table(narrow, relations)
    down = narrow.assign(lower_protection=[0.5, 0, 0])
    assert adjust_table(down, relations).cells["adjusted"].iloc[0] == 2


@pytest.mark.parametrize(
    ("values", "grid"),
    [
        ([0, 7, 12], Grid(1, 0)),
        ([0, 0], Grid(1, 0)),
        ([1000, -3000, 24000], Grid(1000, 0)),
        ([0.5, 12.0], Grid(5, 1)),
        ([0.25, -1.5], Grid(25, 2)),
        ([0.1 + 0.2, 0.7], Grid(1, 1)),
        ([7, 14, 21], Grid(1, 0)),
        ([1 / 3], None),
        ([1e16 + 2], None),
    ],
)
def test_the_grid_of_values(values, grid):
    assert Grid.of(np.array(values, dtype=float)) == grid


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6),
    factor=st.sampled_from([1, 2, 5, 25, 100, 1000]),
    decimals=st.integers(0, 9),
)
def test_values_on_a_grid_are_the_floats_of_their_decimals(steps, factor, decimals):
    exact = [Fraction(one * factor, 10**decimals) for one in steps]
    values = np.array([float(one) for one in exact])
    grid = Grid.of(values)
    assert grid is not None
    step = Fraction(grid.factor, 10**grid.decimals)
    assert all((one / step).denominator == 1 for one in exact)
    assert grid.nearest(values).tolist() == values.tolist()
    up = [Fraction(repr(one)) for one in grid.above(np.abs(values) * 0.3).tolist()]
    assert all((one / step).denominator == 1 for one in up)
    for one, asked in zip(up, exact, strict=True):
        assert -step / 10**6 < one - abs(asked) * Fraction(3, 10) < step
