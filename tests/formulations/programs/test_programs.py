"""Models as arrays: names of rows and columns, rows added, and what counts as a violation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from linkrisk.formulations.programs import Cuts, MilpModel, NamedBlock, named


class AtMostOne:
    fractional = True

    def __call__(self, x: np.ndarray) -> Cuts:
        return Cuts(sparse.csr_array(np.ones((1, x.size))), np.array([-np.inf]), np.array([1.0]))


def model(**changes) -> MilpModel:
    """Two rows and three columns between zero and two, the last of them whole."""
    return MilpModel(
        objective=np.array([1.0, 2.0, 3.0]),
        matrix=sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, -1.0]])),
        row_lower=np.array([0.5, -np.inf]),
        row_upper=np.array([np.inf, 0.0]),
        column_lower=np.zeros(3),
        column_upper=np.full(3, 2.0),
        integer=np.array([False, False, True]),
        **changes,
    )


ROWS = (named("domain", ["simplex"]), NamedBlock("rivals", 1, "block_{}_rival_{}", ([3], np.array([17]))))
COLUMNS = (named("parameters", ["w(age)", "w(income)"]), NamedBlock("given_up", 1, "K_{}", ((3,),)))


def test_names_of_rows_and_columns():
    assert model().names() == (["r0", "r1"], ["x0", "x1", "x2"])
    given = model(row_blocks=ROWS, column_blocks=COLUMNS)
    assert given.names() == (["simplex", "block_3_rival_17"], ["w(age)", "w(income)", "K_3"])
    assert NamedBlock("nonnegative", 2).members() == ["nonnegative_1", "nonnegative_2"]
    assert NamedBlock("nothing", 0, "{}", ((),)).members() == []


def test_blocks_that_do_not_fit():
    with pytest.raises(ValueError, match=r"^the named blocks must have as many rows as the model, 2$"):
        model(row_blocks=ROWS[:1])
    with pytest.raises(ValueError, match=r"^the named blocks must have as many columns as the model, 3$"):
        model(column_blocks=COLUMNS[:1])
    with pytest.raises(ValueError, match=r"^the block 'K' has 2 members and as many labels of each kind$"):
        NamedBlock("K", 2, "K_{}", ([1],))


def test_rows_that_are_added():
    cuts = AtMostOne()(np.zeros(3))
    grown = model(row_blocks=ROWS).with_rows(cuts).with_rows(cuts)
    assert grown.shape == (4, 3)
    assert grown.row_upper.tolist() == [np.inf, 0.0, 1.0, 1.0]
    assert grown.names()[0][2:] == ["cut_1_1", "cut_2_1"]
    assert model().with_rows(cuts).names()[0] == ["r0", "r1", "r2"]


@pytest.mark.parametrize(
    ("x", "violation"),
    [
        ([0.5, 0.0, 0.0], 0.0),
        ([0.25, 0.0, 0.0], 0.25),  # the first row
        ([0.0, 0.75, 0.0], 0.75),  # the second
        ([-0.5, 1.0, 1.0], 0.5),  # a column
        ([0.5, 0.0, 0.25], 0.25),  # a fraction
        ([0.0, 1.0, 1.0], 1.0),  # the row that only the separator knows
    ],
)
def test_violations(x, violation):
    whole = model(separator=AtMostOne())
    assert whole.violation(np.array(x)) == pytest.approx(violation)
    if x == [0.0, 1.0, 1.0]:
        assert replace(whole, separator=None).violation(np.array(x)) == 0.0
