"""Weights in whole units: exact where they can be, never below, never more than 64 bits hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from linkrisk.solver.certificates.checking.hitting import (
    Inequality,
    clique_inequality,
    core_inequality,
    dual_value,
)
from linkrisk.solver.certificates.checking.simplex_kernels import LARGEST_TOTAL
from linkrisk.solver.certificates.checking.simplex_tree import capped
from linkrisk.solver.certificates.checking.units import most_blocks, whole_weights
from linkrisk.solver.certificates.checking.weights import weights_of
from linkrisk.solver.certificates.writing.hitting import HittingTree
from linkrisk.solver.certificates.writing.multipliers import mended
from linkrisk.solver.certificates.writing.simplex import weight_unit


class Weighed:
    """Records of which only the weights matter."""

    def __init__(self, weights):
        self._weights = [Fraction(weight) for weight in weights]
        self.blocks = len(self._weights)
        self.weights = weights_of(self._weights, np.ones(self.blocks, dtype=np.intp))

    def weight(self, block):
        return self._weights[block]


@pytest.mark.parametrize(
    ("weights", "unit", "whole"),
    [
        ([1, 1, 1], 1, [1, 1, 1]),
        ([Fraction(1, 2), Fraction(1, 3)], 6, [3, 2]),
        ([37.5, 37.5], Fraction(2, 75), [1, 1]),
        ([20, 30, 50], Fraction(1, 10), [2, 3, 5]),
        ([0.25, 1.5], 4, [1, 6]),
        ([0.1, 0.1], Fraction(1) / Fraction(0.1), [1, 1]),
        ([2.0**1000, 2.0**1001], Fraction(1, 2**1000), [1, 2]),
        ([5e-324, 1e-323], 2**1074, [1, 2]),
    ],
)
def test_units_of_which_all_weights_are_whole(weights, unit, whole):
    exact = [Fraction(weight) for weight in weights]
    found = weight_unit(exact, sum(exact))
    assert found == unit
    assert list(whole_weights(Weighed(weights), found, range(len(weights))).values()) == whole


@pytest.mark.parametrize("part", [1e-14, 1e-6, 0.7, 1.0])
@pytest.mark.parametrize("spread", [1.0, 12.0, 400.0])
@pytest.mark.parametrize("share", [1, 7])
def test_units_of_weights_that_have_none_in_common(part, spread, share):
    """Room for the bound is what counts: what is heavier is as good as just above it."""
    random = np.random.default_rng(3)
    weights = [Fraction(weight) / share for weight in (10.0 ** random.uniform(-spread, 2, 300)).tolist()]
    bound = sum(weights) * Fraction(part)
    unit = weight_unit(weights, bound)
    whole = whole_weights(Weighed(weights), unit, range(len(weights)))
    light = sum(capped(whole, int(bound * unit)).values())
    rounded = [units / unit - weights[block] for block, units in whole.items()]
    assert light <= LARGEST_TOTAL
    if any(rounded):
        assert light >= LARGEST_TOTAL / 8
    for more in rounded:
        assert 0 <= more < min(1 / unit, bound * Fraction(1, 10**14))


def test_a_unit_of_nothing():
    assert weight_unit([], Fraction(0)) == 1
    assert weight_unit([Fraction(1, 3), Fraction(1, 2)], Fraction(0)) == 6


def test_how_many_blocks_a_bound_allows():
    records = Weighed([Fraction(1, 2), 3, Fraction(1, 10), Fraction(1, 5)])
    bounds = (0, Fraction(1, 10), Fraction(29, 100), Fraction(8, 10), Fraction(38, 10), 9)
    assert [most_blocks(records, Fraction(bound), ()) for bound in bounds] == [0, 1, 1, 3, 4, 4]
    assert most_blocks(records, Fraction(1), (2,)) == 2


def test_light_blocks_are_not_lost_in_the_tolerance_of_a_program():
    """Beside one of 2^58 units, cores of blocks of a few thousand: HiGHS prices them at nothing."""
    weight = {0: 1 << 58, 1: 3000, 2: 5000, 3: 1 << 57, 4: 1 << 58}
    cores = [frozenset({1, 2}), frozenset({0, 3}), frozenset({3, 4})]
    least = 3000 + (1 << 57)
    proof, proven = HittingTree(cores, weight, least, 30.0).prove()
    assert proven == least
    assert [line[0] for line in proof["tree"]] == ["leaf"]


@pytest.mark.parametrize("seed", range(20))
def test_mended_multipliers_overload_no_block_and_leave_nothing_to_gain(seed):
    random = np.random.default_rng(seed)
    weight = {block: int(10 ** random.uniform(0, 17)) for block in range(8)}
    cores = [
        frozenset(random.choice(8, size=int(random.integers(2, 4)), replace=False).tolist()) for _ in range(9)
    ]
    inequalities: list[Inequality] = [core_inequality(core) for core in cores] + [
        clique_inequality([0, 1, 2])
    ]
    fixed = {3: True, 4: False} if seed % 2 else {}
    unit = 1 if seed % 3 else 1 << 20
    packing = {at: int(unit * 10 ** random.uniform(0, 17)) for at in range(0, 10, 2)}
    found = mended(packing, inequalities, fixed, weight, unit)
    load = dict.fromkeys(weight, 0)
    for at, y in found.items():
        assert y > 0
        for block, coefficient in inequalities[at].coefficients.items():
            load[block] += y * coefficient
    rest = {block: unit * weight[block] - load[block] for block in weight if block not in fixed}
    assert min(rest.values()) >= 0
    for inequality in inequalities:
        given_up = sum(c for block, c in inequality.coefficients.items() if fixed.get(block))
        free = [rest[block] for block in inequality.coefficients if block in rest]
        assert inequality.least <= given_up or not free or min(free) == 0
    total = sum(y * inequalities[at].least for at, y in found.items())
    value = dual_value(unit, total, load, fixed, weight)
    best = min(
        sum(weight[block] for block in range(8) if chosen >> block & 1)
        for chosen in range(256)
        if all((chosen >> block & 1) == gone for block, gone in fixed.items())
        and all(
            sum(c * (chosen >> block & 1) for block, c in inequality.coefficients.items()) >= inequality.least
            for inequality in inequalities
        )
    )
    assert value <= best
