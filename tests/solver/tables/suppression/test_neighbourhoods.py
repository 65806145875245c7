"""Neighbourhoods of the best pattern: what they decide, and that a search with many of them stays right."""

from __future__ import annotations

import numpy as np
import pytest
from random_tables import random_table
from scipy import sparse
from small_tables import plain_short

from linkrisk.formulations.programs import Cuts
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.suppression.branch_and_cut import Neighbourhoods
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.relaxation import Relaxation


def test_the_best_pattern_is_in_all_of_them():
    generator, near = np.random.default_rng(3), Neighbourhoods()
    for _ in range(12):
        best, point = generator.random(400) < 0.1, np.round(generator.random(400) ** 3, 1)
        zeros, ones = near.choose(best, point, generator.random(400))
        assert not (zeros & best).any()
        assert not (ones & ~best).any()
        assert not (zeros & (point > 0)).any() or (point > 0).sum() > 120


def test_they_take_no_more_than_their_share():
    near = Neighbourhoods()
    assert not near.affordable(10, 1000)
    assert near.affordable(60, 0)
    near.searched(200, better=False, whole=True)
    assert not near.affordable(60, 200)
    assert near.affordable(60, 300)


def test_what_was_decided_before_stays():
    rows = Cuts(sparse.csr_array(np.ones((1, 5))), np.array([2.0]), np.array([np.inf]))
    whole = Relaxation(rows, np.arange(1.0, 6.0), np.zeros(5), np.ones(5))
    whole.decide(np.array([True, *[False] * 4]), np.array([False, True, *[False] * 3]))
    assert whole.open_ones().tolist() == [False, False, True, True, True]
    part = whole.where(
        np.array([False, True, True, False, False]),
        np.array([True, False, False, True, False]),
        whole.objective,
    )
    assert part.cells.tolist() == [4]
    assert part.whole_point(np.zeros(1)).tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("seed", [1, 4])
def test_with_many_of_them_the_optimum_is_the_same(monkeypatch, seed):
    table = random_table(np.random.default_rng(seed), [(6, 6), (6, 6)], share=0.3, level=0.3)
    plain = suppress_cells(table, None, Clock(None))
    monkeypatch.setattr(steering, "NODES_BEFORE_NEIGHBOURHOODS", 0)
    monkeypatch.setattr(steering, "NEIGHBOURHOOD_CELLS", (6, 8))
    monkeypatch.setattr(steering, "NEIGHBOURHOOD_SHARE", 2.0)
    monkeypatch.setattr(steering, "THINNED_FIRST_NODES", 0)
    monkeypatch.setattr(steering, "ROOT_HEURISTIC_ROUNDS", ())
    found = suppress_cells(table, None, Clock(None))
    assert found.proven
    assert found.cost == plain.cost == plain.bound
    assert not plain_short(table, found.suppressed)
