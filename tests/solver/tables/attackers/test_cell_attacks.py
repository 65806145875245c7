"""Attacks by the simplex method of our own, against plain programs; what is done where a program fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_table
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.solver.backends.linear.base import LinearStatus
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers import attacks as attack_programs
from linkrisk.solver.tables.attackers.attacks import Asked, Attacker, Large, Part, Seen


def a_point(seed):
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


# An optimiser that says of an attacker's program that there is no point, where to stay is one


class Failing:
    """The first programs that are handed over say that they have no point."""

    def __init__(self, made, many):
        self._made, self.left = made, many

    def __call__(self, model, options):
        program = self._made(model, options)
        if self.left:
            self.left -= 1
            solve = program.solve
            program.solve = lambda **how: replace(solve(**how), status=LinearStatus.INFEASIBLE)
        return program


def attacked(monkeypatch, failing):
    monkeypatch.setattr(attack_programs, "linear_program", Failing(attack_programs.linear_program, failing))
    table = random_table(np.random.default_rng(3), [(4, 2), (3, 3)], zeros=0.0)
    by_cell, everything = sparse.csc_array(table.relations), np.ones(len(table))
    places = (by_cell.indptr.astype(np.int64), by_cell.indices.astype(np.int64), by_cell.data)
    part = Part(*places, table.below, table.above, everything, table.free, by_cell.shape[0])
    asked = Asked(np.array([0]), np.ones(1), np.full(1, np.inf), np.full(1, np.inf))
    return Large(part).one(asked, 0)[0][0]


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_it_is_handed_over_anew(monkeypatch, failing):
    expected = attacked(monkeypatch, 0)
    monkeypatch.undo()
    assert expected > 0
    assert attacked(monkeypatch, failing) == pytest.approx(expected)


def test_it_fails_aloud_where_no_way_works(monkeypatch):
    with pytest.raises(RuntimeError, match="ended infeasible"):
        attacked(monkeypatch, 4)


def test_who_goes_round_for_long_is_asked_in_another_way_and_at_last_without_a_limit(monkeypatch):
    expected = attacked(monkeypatch, 0)
    monkeypatch.undo()
    limits = []

    class Endless(Failing):
        """Every program that has a limit of iterations comes to it."""

        def __call__(self, model, options):
            program = self._made(model, options)
            solve = program.solve

            def ended(iterations):
                limits.append(iterations)
                found = solve(iterations=iterations)
                return found if iterations is None else replace(found, status=LinearStatus.ITERATIONS)

            program.solve = ended
            return program

    monkeypatch.setitem(globals(), "Failing", Endless)
    assert attacked(monkeypatch, 0) == pytest.approx(expected)
    assert len(limits) == 4
    assert None not in limits[:-1]
    assert limits[-1] is None
