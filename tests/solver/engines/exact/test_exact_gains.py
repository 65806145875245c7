"""Which block is branched on: what promises most, tried where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.branching import Gains
from linkrisk.solver.engines.exact.hitting_set import CoveringProgram, HittingSet

NO_PROOF = CoreProof(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))


@pytest.fixture
def program():
    """A cycle of five pairs, and one of seven that hangs on block 5."""
    master = HittingSet(np.ones(12))
    five = [{at, (at + 1) % 5} for at in range(5)]
    seven = [{5 + at, 5 + (at + 1) % 7} for at in range(7)]
    for core in five + seven:
        master.add(frozenset(core), NO_PROOF)
    return CoveringProgram(master)


def test_unknown_blocks_are_tried(program):
    """Half of every block; giving one up or keeping it makes its cycle whole, a gain of one half each."""
    point, value = program.solve()
    assert value == pytest.approx(6.0)
    gains = Gains(12)
    block = gains.best(point, np.arange(12), {}, value, program)
    assert 0 <= block < 12
    program.fix({block: True})
    up = program.solve()[1]
    program.fix({block: False})
    kept = program.solve()[1]
    assert up - value == pytest.approx(0.5)
    assert kept - value == pytest.approx(0.5)


def test_what_gained_most_is_branched_on_again(program):
    point, value = program.solve()
    gains = Gains(12)
    for block in range(12):
        for _ in range(4):  # enough to be believed without a try
            gains.learn(block, True, 0.5, 1.0 if block == 8 else 0.1)
            gains.learn(block, False, 0.5, 1.0)
    assert gains.best(point, np.arange(12), {}, value, program) == 8
    assert gains.best(point, np.array([1, 2]), {}, value, program) == 1


def test_both_children_must_gain(program):
    point, value = program.solve()
    gains = Gains(12)
    for _ in range(4):
        gains.learn(3, True, 0.5, 4.0)
        gains.learn(3, False, 0.5, 0.0)
        gains.learn(4, True, 0.5, 1.0)
        gains.learn(4, False, 0.5, 1.0)
    assert gains.best(point, np.array([3, 4]), {}, value, program) == 4


def test_a_gain_without_end_counts_as_a_large_one():
    gains = Gains(2)
    master = HittingSet(np.ones(2))
    master.add(frozenset({0, 1}), NO_PROOF)
    for _ in range(4):
        gains.learn(0, True, 0.5, np.inf)  # nothing is left in the child
        gains.learn(0, False, 0.5, 1.0)
    assert gains.best(np.array([0.5, 0.5]), np.arange(2), {}, 1.0, CoveringProgram(master)) == 0
