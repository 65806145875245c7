"""An optimiser that says of an attacker's program that there is no point, where to stay is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_tables import random_table
from scipy import sparse

from linkrisk.solver.backends.linear.base import LinearStatus
from linkrisk.solver.tables.attackers import attacks as attack_programs
from linkrisk.solver.tables.attackers.attacks import Asked, Large, Part


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
