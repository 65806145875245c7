"""Adjusted counts against readers who know whole numbers, shown empty cells, the rule and the method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from whole_attacker import random_persons

from linkrisk import adjust_table, make_table, open_table, round_table

LEAST = 3


def table_of(seed, ways=3):
    generator = np.random.default_rng(seed)
    persons, trees = random_persons(generator, ways)
    return make_table(persons, list(persons.columns), rules=[f"frequency={LEAST}"], hierarchies=trees)


def reader(made, shown, cell, *, method=True):
    """The least and the most that a count can be for one who knows rule and method.

    Counts below the threshold were moved, so that none of these is what is published; what is shown as empty
    is; and what was always published is what it was. Without `method` he knows the empty cells only.
    """
    cells, count = made.cells, len(shown)
    matrix = sparse.csc_array(
        (made.relations["coefficient"].to_numpy(float), (made.relations["relation"], made.relations["cell"])),
        shape=(int(made.relations["relation"].max()) + 1, count),
    )
    most = 2.0 * shown.max() + 10.0
    known = (shown == 0) | (cells["status"] == "z").to_numpy()
    apart = np.flatnonzero(~known & (shown < LEAST) & method)
    lower = np.concatenate([np.where(known, shown, 1.0), np.zeros(apart.size)])
    upper = np.concatenate([np.where(known, shown, most), np.ones(apart.size)])
    rows, one = np.arange(apart.size), np.ones(apart.size)
    moved = sparse.csc_array((one, (rows, apart)), shape=(apart.size, count))
    way = sparse.diags_array(most * one)  # 1 where it was more than is published
    system = sparse.block_array([[matrix, sparse.csc_array((matrix.shape[0], apart.size))], [moved, -way]])
    other = sparse.block_array(
        [[sparse.csc_array(matrix.shape), sparse.csc_array((matrix.shape[0], apart.size))], [moved, -way]]
    )
    ends = []
    for sign in (1.0, -1.0):
        goal = np.zeros(count + apart.size)
        goal[cell] = sign
        found = milp(
            goal,
            integrality=np.ones(goal.size),
            bounds=Bounds(lower, upper),
            constraints=[
                LinearConstraint(
                    system,
                    np.concatenate([np.zeros(matrix.shape[0]), -np.inf * one]),
                    np.concatenate([np.zeros(matrix.shape[0]), shown[apart] - 1.0]),
                ),
                LinearConstraint(
                    other,
                    np.concatenate([np.zeros(matrix.shape[0]), shown[apart] + 1.0 - most]),
                    np.inf,
                ),
            ],
        )
        assert found.status == 0
        ends.append(round(sign * found.fun))
    return ends[0], ends[1]


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_counts_are_not_known_more_closely_than_their_levels(seed):
    made = table_of(seed)
    if not made.sensitive:
        return
    result = adjust_table(made)
    shown, value = result.cells["adjusted"].to_numpy(float), made.cells["value"].to_numpy(float)
    sensitive = np.flatnonzero(made.cells["status"] == "u")
    for cell in sensitive[:: 1 + sensitive.size // 8].tolist():
        low, high = reader(made, shown, cell)
        assert low <= max(value[cell] - 1.0, reader(made, shown, cell, method=False)[0])
        assert high >= LEAST
    assert result.cells["adjusted"].dtype == "int64"
    assert ((shown == 0) == (value == 0)).all()
    assert (shown[sensitive] > 1).all()


def test_a_two_that_became_one_would_be_known():
    """Whoever is 1 and sensitive goes up: a published 1 beside shown empty cells was 2 or more."""
    persons = pd.DataFrame({"a": [*["x"] * 2, *["y"] * 2, *["v"] * 9, *["w"] * 8]})
    made = make_table(persons, ["a"], rules=["frequency=3"])
    result = adjust_table(made)
    assert result.cells.query("status == 'u'")["adjusted"].tolist() == [3, 3]
    ready = made.cells.assign(lower_protection=[0, 0, 0, 0.4, 0.4], upper_protection=[0, 0, 0, 0.4, 0.4])
    again = adjust_table(open_table(ready, made.relations))
    assert again.cells["adjusted"].tolist() == result.cells["adjusted"].tolist()


def test_what_is_guessed_is_counted():
    persons = pd.DataFrame({"a": ["x", *["y"] * 2, *["v"] * 9, *["w"] * 8]})
    result = adjust_table(make_table(persons, ["a"], rules=["frequency=3"]))
    shown = result.cells.set_index("a")["adjusted"]
    right = sum(
        result.cells.loc[result.cells["adjusted"] == shown[code], "value"].mode().min() == count
        for code, count in (("x", 1), ("y", 2))
    )
    assert result.to_dict()["guessed"] == right


def rounded_interval(made, shown, cell, base):
    """The least and the most that a count can be for one who knows the base."""
    cells = made.cells
    matrix = sparse.csc_array(
        (made.relations["coefficient"].to_numpy(float), (made.relations["relation"], made.relations["cell"])),
        shape=(int(made.relations["relation"].max()) + 1, len(cells)),
    )
    ends = []
    for sign in (1.0, -1.0):
        found = milp(
            np.where(np.arange(len(cells)) == cell, sign, 0.0),
            integrality=np.ones(len(cells)),
            bounds=Bounds(np.maximum(shown - base + 1, 0), shown + base - 1),
            constraints=LinearConstraint(matrix, 0, 0),
        )
        assert found.status == 0
        ends.append(round(sign * found.fun))
    return ends[0], ends[1]


@pytest.mark.parametrize("base", [2, 3])
def test_no_rounded_count_is_given_away_by_the_base(base):
    """A cell and all totals that it is in can be one more than is published: docs/tables-rounding.md."""
    for seed in (1, 2, 3, 5):
        made = table_of(seed, 2)
        result = round_table(made, base=base)
        assert not result.details["relaxed"]
        shown = result.cells["rounded"].to_numpy(float)
        for cell in np.flatnonzero(made.cells["status"] == "u").tolist():
            low, high = rounded_interval(made, shown, cell, base)
            assert low <= made.cells["value"][cell] <= high
            assert low < high
            assert high >= shown[cell] + 1
