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


def sums_of(made):
    terms = made.relations
    shape = (int(terms["relation"].max()) + 1, len(made.cells))
    return sparse.csc_array((terms["coefficient"].to_numpy(float), (terms["relation"], terms["cell"])), shape)


def ends(cell, bounds, *constraints):
    """The least and the most whole number that a cell can be."""
    found = []
    for sign in (1.0, -1.0):
        goal = np.zeros(bounds.lb.size)
        goal[cell] = sign
        solved = milp(goal, integrality=np.ones(goal.size), bounds=bounds, constraints=list(constraints))
        assert solved.status == 0
        found.append(round(sign * solved.fun))
    return found[0], found[1]


def reader(made, shown, cell, *, method=True):
    """The least and the most that a count can be for one who knows rule and method.

    Counts below the threshold were moved, so that none of these is what is published; what is shown as empty
    is; and what was always published is what it was. Without `method` he knows the empty cells only.
    """
    matrix, most = sums_of(made), 2.0 * shown.max() + 10.0
    known = (shown == 0) | (made.cells["status"] == "z").to_numpy()
    apart = np.flatnonzero(~known & (shown < LEAST) & method)
    lower = np.concatenate([np.where(known, shown, 1.0), np.zeros(apart.size)])
    upper = np.concatenate([np.where(known, shown, most), np.ones(apart.size)])
    moved = sparse.csr_array(sparse.eye_array(shown.size))[apart]
    more = most * sparse.eye_array(apart.size)  # of 1 where it was more than is published
    return ends(
        cell,
        Bounds(lower, upper),
        LinearConstraint(sparse.hstack([matrix, sparse.csc_array((matrix.shape[0], apart.size))]), 0, 0),
        LinearConstraint(sparse.hstack([moved, -more]), shown[apart] + 1.0 - most, shown[apart] - 1.0),
    )


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
    # What is guessed is counted.
    persons = pd.DataFrame({"a": ["x", *["y"] * 2, *["v"] * 9, *["w"] * 8]})
    result = adjust_table(make_table(persons, ["a"], rules=["frequency=3"]))
    shown = result.cells.set_index("a")["adjusted"]
    right = sum(
        result.cells.loc[result.cells["adjusted"] == shown[code], "value"].mode().min() == count
        for code, count in (("x", 1), ("y", 2))
    )
    assert result.to_dict()["guessed"] == right


@pytest.mark.parametrize("base", [2, 3])
def test_no_rounded_count_is_given_away_by_the_base(base):
    """A cell and all its totals can be one more than is published: docs/methods/tables-perturbation.md."""
    for seed in (1, 2, 3, 5):
        made = table_of(seed, 2)
        result = round_table(made, base=base)
        assert not result.details["relaxed"]
        shown = result.cells["rounded"].to_numpy(float)
        for cell in np.flatnonzero(made.cells["status"] == "u").tolist():
            near = Bounds(np.maximum(shown - base + 1, 0), shown + base - 1)
            low, high = ends(cell, near, LinearConstraint(sums_of(made), 0, 0))
            assert low <= made.cells["value"][cell] <= high
            assert low < high
            assert high >= shown[cell] + 1
