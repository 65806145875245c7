"""A basis of all movements: each keeps the relations, and there are as many as there can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import linked_table, random_table
from scipy import sparse

from linkrisk.formulations.tables.kernel import kernel

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


def test_of_any_coefficients():
    generator = np.random.default_rng(1)
    agrees(sparse.csr_array(generator.integers(-3, 4, (6, 10)).astype(float)))


def test_of_no_relations():
    basis = kernel(sparse.csr_array((0, 3)))
    assert (basis.toarray() == np.eye(3)).all()


def test_of_cells_that_cannot_move():
    assert kernel(sparse.csr_array(np.eye(3))).shape == (3, 0)
