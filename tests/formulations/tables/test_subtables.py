"""Subtables found from relations alone: those that the codes of a table say, whatever the dimensions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from random_tables import random_table, tree
from scipy import sparse

from linkrisk.formulations.tables.subtables import subtables, totals


def by_codes(dimensions):
    """Cells of every subtable: for each variable a code with those right below it."""
    trees = [tree(*one) for one in dimensions]
    number = np.arange(int(np.prod([count for count, _ in trees]))).reshape([count for count, _ in trees])
    choices = product(*([[total, *parts] for total, parts in relations] for _, relations in trees))
    return {frozenset(number[np.ix_(*one)].ravel().tolist()) for one in choices}


@pytest.mark.parametrize(
    "dimensions", [[(5, 5)], [(4, 4), (3, 3)], [(9, 3), (4, 2)], [(4, 2), (4, 2), (3, 3)], [(2, 2)] * 4]
)
def test_they_are_those_of_the_codes(dimensions):
    table = random_table(np.random.default_rng(0), dimensions)
    found = subtables(table.relations, most_cells=100_000)
    assert {frozenset(one.cells.tolist()) for one in found} == by_codes(dimensions)
    depths = [one.depth for one in found]
    assert depths == sorted(depths)
    assert found[0].depth == 0
    every = np.concatenate([one.relations for one in found])
    assert np.unique(every).size == table.relations.shape[0]
    for one in found:
        inside = np.unique(sparse.csr_array(table.relations)[one.relations].indices)
        assert inside.tolist() == one.cells.tolist()


def test_a_large_one_of_three_variables_is_split():
    table = random_table(np.random.default_rng(0), [(4, 4)] * 3)
    whole = subtables(table.relations)
    assert [one.cells.size for one in whole] == [125]
    parts = subtables(table.relations, most_cells=60)
    assert {one.cells.size for one in parts} == {25}
    assert len(parts) == 15
    assert np.unique(np.concatenate([one.relations for one in parts])).size == table.relations.shape[0]


def test_relations_that_fit_no_other_are_alone():
    """A linked table: a cell has two ways of being split that have no parts in common."""
    relations = sparse.csr_array([[-1.0, 1, 1, 0, 0], [-1, 0, 0, 1, 1], [0, 1, -1, 0, 0]])
    assert [one.relations.tolist() for one in subtables(relations)] == [[0], [1], [2]]


def test_totals():
    """The cell with a sign of its own, whichever it is; of two cells that with the sign that is usual."""
    relations = sparse.csr_array([[1.0, -1, -1, 0], [0, 0, -1, 1], [1, 1, -1, -1], [0, 3, 2, 1]])
    assert totals(relations).tolist() == [0, 3, 0, 1]
