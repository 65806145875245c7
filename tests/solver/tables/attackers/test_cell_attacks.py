"""Attacks by the simplex method of our own, against plain programs; what was seen never promises too much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_table
from scipy.optimize import linprog

from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.attacks import Attacker, Seen


def a_point(seed):
    """A table with cells that are suppressed wholly, in part, or not at all."""
    generator = np.random.default_rng(seed)
    table = random_table(generator, [(4, 2), (3, 3), (2, 2)], share=0.3)
    suppressed = np.where(generator.random(len(table)) < 0.5, generator.random(len(table)), 0.0)
    suppressed[table.primary] = 1.0
    return table, suppressed


def plain(table, suppressed, cell, sign):
    goal = np.zeros(len(table))
    goal[cell] = -sign
    bounds = np.column_stack([-table.below * suppressed, table.above * suppressed])
    rows = table.relations.toarray()
    return -linprog(goal, A_eq=rows, b_eq=np.zeros(len(rows)), bounds=bounds).fun


@pytest.mark.parametrize("small", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_attacks_are_those_of_plain_programs(small, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering, "OWN_SIMPLEX_RELATIONS", 1000 if small else -1)
        table, suppressed = a_point(seed)
        attacker, seen = Attacker(table), Seen(table)
        attacker.knows(suppressed)
        for cell in np.flatnonzero(table.primary)[:6]:
            for sign in (1.0, -1.0):
                most = plain(table, suppressed, cell, sign)
                found = attacker.attack(int(cell), sign)
                assert found.found == pytest.approx(most, abs=1e-6)
                assert attacker.most(found) @ suppressed == pytest.approx(most, abs=1e-5)
                moves = np.zeros(len(table))
                moves[found.cells] = found.deviations
                assert np.abs(table.relations @ moves).max() <= 1e-6
                assert (moves <= table.above * suppressed + 1e-9).all()
                assert (-moves <= table.below * suppressed + 1e-9).all()
                part = attacker.attack(int(cell), sign, most / 2.0)
                assert most / 2.0 - 1e-6 <= part.found <= most + 1e-6
                seen.add((cell, sign), part.cells, part.deviations)
        less = suppressed * np.random.default_rng(seed).random(len(table))
        up, down = seen.reach(less)
        for cell in np.flatnonzero(table.primary)[:6]:
            assert up[cell] <= plain(table, less, cell, 1.0) + 1e-6
            assert down[cell] <= plain(table, less, cell, -1.0) + 1e-6


def test_a_deviation_promises_what_its_multiples_reach():
    table, _ = a_point(3)
    suppressed = (~table.fixed).astype(float)
    attacker, seen = Attacker(table), Seen(table)
    attacker.knows(suppressed)
    cell = int(np.flatnonzero(table.primary)[0])
    found = attacker.attack(cell, 1.0)
    seen.add("up", found.cells, found.deviations)
    assert seen.reach(suppressed)[0][cell] == pytest.approx(found.found)
    assert seen.reach(0.5 * suppressed)[0][cell] == pytest.approx(0.5 * found.found)
    assert seen.reach(np.zeros(len(table)))[0][cell] == 0.0
