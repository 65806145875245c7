"""The tree of a hitting set's proof, found alone or along the splits of an engine."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.solver.certificates.core.claims import Claim
from linkrisk.solver.certificates.core.proofs import check_inequalities, least_given_up
from linkrisk.solver.certificates.writing.hitting import Hint, HittingTree, read_hint

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
