"""Relations of a table: bridges that they imply, a basis of all movements, subtables."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import linked_table, random_table, tree
from scipy import sparse
from small_tables import CIRCLE, circle_table, circles

from linkrisk.formulations.tables.implied_relations import ImpliedBridges
from linkrisk.formulations.tables.kernel import kernel
from linkrisk.formulations.tables.lines import in_circles
from linkrisk.formulations.tables.subtables import subtables, totals
from linkrisk.formulations.tables.suppression_model import BridgeRows


def implied(relations, cell, others):
    """Whether a cell cannot move when none of the others does: they and the relations span it."""
    still = np.zeros((len(others), relations.shape[1]))
    still[np.arange(len(others)), others] = 1.0
    known = np.vstack([relations, still])
    alone = np.zeros((1, relations.shape[1]))
    alone[0, cell] = 1.0
    return np.linalg.matrix_rank(np.vstack([known, alone])) == np.linalg.matrix_rank(known)


def tables(seed):
    generator = np.random.default_rng(seed)
    lines = [
        circles(generator, int(generator.integers(2, 5)), 3) for _ in range(int(generator.integers(1, 3)))
    ]
    return generator, circle_table(generator, lines)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_every_row_is_violated_and_says_what_relations_imply(seed):
    generator, table = tables(seed)
    relations, rows = table.relations.toarray(), ImpliedBridges(table)
    relations = np.vstack([relations, np.diag(table.fixed.astype(float))])
    for power in (1, 3):
        point = np.where(table.primary, 1.0, generator.random(len(table)) ** power) * ~table.fixed
        cuts = rows(point, 1e-3)
        assert (cuts.matrix @ point < -1e-3).all()
        for row in cuts.matrix.toarray()[:40]:
            (cell,) = np.flatnonzero(row < 0)
            assert set(np.unique(row)) <= {-1.0, 0.0, 1.0}
            assert table.free[cell] or table.primary[cell]
            assert implied(relations, cell, np.flatnonzero(row > 0))


def test_a_circle_says_more_than_its_relations():
    """0 = 1 + 2, 2 = 3 + 4 and 5 = 1 + 3 imply 0 = 4 + 5, and 4 and 5 are suppressed by a quarter each."""
    table = circle_table(np.random.default_rng(3), [CIRCLE], share=0.0, zeros=0.0)
    table = replace(table, primary=np.arange(6) == 0, upper_level=np.where(np.arange(6) == 0, 1.0, 0.0))
    point = np.array([1.0, 0.5, 0.5, 0.25, 0.25, 0.25])
    assert not BridgeRows(table)(point, 1e-3).count
    cuts = ImpliedBridges(table)(point, 1e-3)
    rows = {tuple(row) for row in cuts.matrix.toarray().tolist()}
    assert (-1.0, 0.0, 0.0, 0.0, 1.0, 1.0) in rows


@pytest.mark.parametrize("shape", [[(9, 3)], [(4, 2), (6, 3)], [(4, 2), (3, 3), (2, 2)]])
def test_hierarchies_that_nest_have_no_circles(shape):
    table = random_table(np.random.default_rng(0), shape, zeros=0.0)
    rows = ImpliedBridges(table)
    assert not rows.any
    assert not rows(np.random.default_rng(1).random(len(table)), 1e-3).count


def test_relations_of_different_variables_are_of_no_line():
    lines = [CIRCLE, np.array([[-1, 1, 1, 0, 0], [0, 1, 0, 1, -1]])]
    table = circle_table(np.random.default_rng(0), lines, zeros=0.0)
    starts, others = in_circles(sparse.csr_array(table.relations))
    variable = np.repeat([0, 1], [3 * 5, 2 * 6])
    assert others.size
    assert (np.repeat(variable, np.diff(starts)) == variable[others]).all()


def test_odd_coefficients_and_tables_without_relations_are_left_alone():
    table = circle_table(np.random.default_rng(3), [CIRCLE], share=0.0, zeros=0.0)
    for relations in (0.5 * table.relations, sparse.csr_array(table.relations[:0])):
        assert not ImpliedBridges(replace(table, relations=sparse.csr_array(relations))).any


# A basis of all movements: each keeps the relations, and there are as many as there can be


SHAPES = [[(9, 3)], [(4, 2), (3, 3)], [(6, 3), (3, 3)], [(3, 3), (2, 2), (2, 2)]]


def agrees(relations):
    basis = kernel(relations).toarray()
    cells = relations.shape[1]
    assert np.abs(relations @ basis).max(initial=0.0) < 1e-9
    assert basis.shape == (cells, cells - np.linalg.matrix_rank(relations.toarray()))
    assert np.linalg.matrix_rank(basis) == basis.shape[1]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from(SHAPES), part=st.booleans())
def test_of_a_table_and_of_a_part_of_it(seed, shape, part):
    generator = np.random.default_rng(seed)
    relations = random_table(generator, shape).relations
    chosen = generator.random(relations.shape[1]) < (0.7 if part else 1.0)
    agrees(sparse.csr_array(relations[:, np.flatnonzero(chosen)]))


@pytest.mark.parametrize("common", [1.0, 0.5])
def test_of_linked_tables_whose_relations_follow_from_each_other(common):
    agrees(linked_table(np.random.default_rng(0), 6, [(3, 3)], common=common).relations)


def test_of_any_coefficients_of_none_and_of_cells_that_cannot_move():
    agrees(sparse.csr_array(np.random.default_rng(1).integers(-3, 4, (6, 10)).astype(float)))
    assert (kernel(sparse.csr_array((0, 3))).toarray() == np.eye(3)).all()
    assert kernel(sparse.csr_array(np.eye(3))).shape == (3, 0)


# Subtables found from relations alone: those that the codes of a table say, whatever the dimensions


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
