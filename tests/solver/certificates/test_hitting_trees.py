"""The tree of a hitting set's proof, and the whole units in which it weighs blocks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.solver.certificates.checking.simplex_kernels import LARGEST_TOTAL
from linkrisk.solver.certificates.core.claims import Claim, Problem
from linkrisk.solver.certificates.core.proofs import capped, check_inequalities, least_given_up
from linkrisk.solver.certificates.core.records import Files, Records
from linkrisk.solver.certificates.writing.hitting import Hint, HittingTree, read_hint
from linkrisk.solver.certificates.writing.simplex import weight_unit

quickly = settings(derandomize=True, max_examples=150, deadline=None)


@st.composite
def problems(draw):
    """Cores over a few named blocks, and whole weights."""
    names = draw(st.lists(st.integers(0, 99), min_size=1, max_size=8, unique=True))
    core = st.frozensets(st.sampled_from(names), min_size=1, max_size=4)
    cores = draw(st.lists(core, min_size=1, max_size=14, unique=True))
    return cores, {name: draw(st.integers(1, 3)) for name in names}


@st.composite
def splits(draw, blocks, depth=4):
    """A tree in preorder that splits on no block twice on the way down."""
    if depth == 0 or not blocks or draw(st.booleans()):
        return (-1,)
    block = draw(st.sampled_from(sorted(blocks)))
    rest = blocks - {block}
    return (block, *draw(splits(rest, depth - 1)), *draw(splits(rest, depth - 1)))


def lightest(cores, weight):
    sets = (
        {block for block, chosen in zip(weight, bits, strict=True) if chosen}
        for bits in product((False, True), repeat=len(weight))
    )
    return min(sum(weight[b] for b in chosen) for chosen in sets if all(chosen & core for core in cores))


def verified(cores, weight, proof):
    kept = [cores[at] for at in proof["cores"]]
    inequalities = check_inequalities(kept, Claim(proof["inequalities"], "inequalities"))
    return least_given_up(Claim(proof["tree"], "tree"), inequalities, kept, weight)


@given(problems(), st.data())
@quickly
def test_any_hint_leads_to_a_proof_of_the_lightest_set(made, data):
    cores, weight = made
    names = sorted(weight)
    hint = read_hint(data.draw(splits(frozenset(range(len(names))))), names)
    least = lightest(cores, weight)
    proof, proven = HittingTree(cores, weight, least, 10.0).prove(hint)
    assert proven == least
    assert verified(cores, weight, proof)[0] == least


def test_the_search_follows_the_hint():
    """Two Fano planes: 14 / 3 by linear programming, so that some block must be split."""
    lines = [{at, (at + 1) % 7, (at + 3) % 7} for at in range(7)]
    cores = [frozenset(at + plane for at in line) for plane in (0, 7) for line in lines]
    weight = dict.fromkeys(range(14), 1)
    hint = read_hint((5, 2, -1, -1, -1), range(14))
    assert hint == Hint(5, Hint(2, None, None), None)
    proof, proven = HittingTree(cores, weight, 6, 10.0).prove(hint)
    assert proven == 6
    assert proof["tree"][0] == ["split", 5]
    assert verified(cores, weight, proof)[0] == 6


@pytest.mark.parametrize("given_up", [True, False])
def test_a_hint_about_a_block_without_cores_is_left_alone(given_up):
    hint = Hint(9, Hint(0, None, None), None) if given_up else Hint(9, None, None)
    proof, proven = HittingTree([frozenset({0, 1})], {0: 1, 1: 1, 9: 1}, 1, 10.0).prove(hint)
    assert proven == 1
    assert proof["tree"] == [["leaf", *proof["tree"][0][1:]]]


# ---------------------------------------------------------------- weight units


def weighed(weights):
    """Records of which only the weights matter: doubles."""
    chosen = ("weighted-mean", "original-to-masked", "strict", "none", "absolute", "nearest")
    values = [[float(at) for at in range(len(weights))]]
    columns = {"W": (True, [float(weight) for weight in weights])}
    files = Files(values, values, range(len(weights)), columns)
    return Records(files, Problem(*chosen, ["A"], {}, weight="W"))


def in_units(weights, unit):
    records = weighed(weights)
    return {block: records.in_units(block, unit) for block in range(records.blocks)}


@pytest.mark.parametrize(
    ("weights", "unit", "whole"),
    [
        ([1, 1, 1], 1, [1, 1, 1]),
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
    assert list(in_units(weights, found).values()) == whole


@pytest.mark.parametrize("part", [1e-14, 1e-6, 0.7, 1.0])
@pytest.mark.parametrize("spread", [1.0, 12.0, 400.0])
def test_units_of_weights_that_have_none_in_common(part, spread):
    """Room for the bound is what counts: what is heavier is as good as just above it."""
    random = np.random.default_rng(3)
    weights = [Fraction(weight) for weight in (10.0 ** random.uniform(-min(spread, 300), 2, 300)).tolist()]
    bound = sum(weights) * Fraction(part)
    unit = weight_unit(weights, bound)
    whole = in_units(weights, unit)
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
    records = weighed([0.5, 3, 0.125, 0.25])
    bounds = (0, Fraction(1, 8), Fraction(37, 100), Fraction(7, 8), Fraction(31, 8), 9)
    assert [records.most_within(range(4), Fraction(bound)) for bound in bounds] == [0, 1, 1, 3, 4, 4]
    assert records.most_within((0, 1, 3), Fraction(1)) == 2


def test_light_blocks_are_not_lost_in_the_tolerance_of_a_program():
    """Beside one of 2^58 units, cores of blocks of a few thousand: HiGHS prices them at nothing."""
    weight = {0: 1 << 58, 1: 3000, 2: 5000, 3: 1 << 57, 4: 1 << 58}
    cores = [frozenset({1, 2}), frozenset({0, 3}), frozenset({3, 4})]
    least = 3000 + (1 << 57)
    proof, proven = HittingTree(cores, weight, least, 30.0).prove()
    assert proven == least
    assert [line[0] for line in proof["tree"]] == ["leaf"]
