"""The evaluator leaves out boxes of candidates, and says what looking at every pair of records says."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from box_cases import ATTRIBUTES, FEW, FILES, FORMS, MANY, check, everyone, numbers, pair_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.linkage import evaluator
from linkrisk.solver.linkage.evaluator import Evaluator

# ---------------------------------------------------------------- record for record


@pairwise(
    form=list(FORMS),
    files=list(FILES),
    absolute=[False, True],
    many=[FEW, MANY],
    ties=list(Ties),
    direction=list(Direction),
)
def test_every_record_is_what_looking_at_all_says(form, files, absolute, many, ties, direction):
    pair = pair_of(files, many, seed=many, ties=ties, direction=direction)
    distance = FORMS[form](np.random.default_rng(many), absolute)
    check(pair, distance)


@settings(max_examples=30)
@given(
    form=st.sampled_from(list(FORMS)),
    files=st.sampled_from(list(FILES)),
    seed=st.integers(0, 10_000),
    many=st.sampled_from([12, 16, 17, 18, 33, 100]),
    absolute=st.booleans(),
    ties=st.sampled_from(list(Ties)),
    own_tree=st.booleans(),
)
def test_few_records_are_what_looking_at_all_says(form, files, seed, many, absolute, ties, own_tree):
    pair = pair_of(files, many, seed, ties=ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_WORTH_A_TREE", 0 if own_tree else 10**9)
        check_loosely(pair, FORMS[form](np.random.default_rng(seed), absolute))


def check_loosely(pair, form):
    """The same where most of few blocks may be in doubt."""
    expected, table = everyone(pair, form), Evaluator(pair, 1).rank(form)
    clear = expected.clear
    for name in ("linked", "rank", "ties"):
        np.testing.assert_array_equal(getattr(table, name)[clear], getattr(expected, name)[clear])
    np.testing.assert_allclose(table.nearest_other, expected.nearest_other, rtol=1e-10, atol=1e-9)


def test_squares_beyond_all_doubles_leave_nobody_out():
    random = np.random.default_rng(1)
    original = random.normal(size=(MANY, 2))
    original[0, 0] = 1e156
    pair = make_pair(original, original + 0.1, standardisation=Standardisation.NONE)
    weights = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED, np.diag([0.0, 1.0]))
    same = pair.part(np.arange(1, FEW))
    found = [Evaluator(each, 1).rank(weights).linked for each in (pair, same)]
    np.testing.assert_array_equal(found[0][1:FEW], found[1])
    assert found[1].sum() > 0


def fields(evaluation):
    names = ("linked", "rank", "ties", "distance", "nearest_other", "rival")
    return [getattr(evaluation, name) for name in names]


def the_same(first, second, some=...):
    """What is found of some blocks is what is found of them among all."""
    for one, other in zip(fields(first), fields(second), strict=True):
        np.testing.assert_array_equal(one, other[some])


@pytest.mark.parametrize("ties", list(Ties))
@pytest.mark.parametrize("form", list(FORMS))
def test_near_ties_are_the_same_whoever_is_left_out(form, ties, monkeypatch):
    """Whole numbers far from zero, and distances that cancel: rounding decides, but no box does."""
    random = np.random.default_rng(9)
    original, masked = (np.round(3 * values) for values in numbers(random, MANY))
    whole = evaluator.bounded
    for offset, absolute in itertools.product((0.0, 1e9), (False, True)):
        pair = make_pair(original, masked + offset, ties=ties, standardisation=Standardisation.NONE)
        pair = replace(pair, queries=pair.queries + offset)
        distance, asked = FORMS[form](random, absolute), Evaluator(pair, 1)
        monkeypatch.setattr(evaluator, "bounded", whole)
        table, nearest = asked.rank(distance), asked.nearest(distance)
        linked = asked.count(distance).linked
        monkeypatch.setattr(evaluator, "bounded", lambda *those: whole(*those)._replace(blur=np.inf))
        everybody = asked.rank(distance)
        the_same(table, everybody)
        np.testing.assert_array_equal(linked, everybody.linked)
        np.testing.assert_array_equal(nearest.rival, everybody.rival)
        np.testing.assert_array_equal(nearest.nearest_other, everybody.nearest_other)


@pytest.mark.parametrize("smallest", [0.0, 1e-16, 1e-15, 1e-14])
@pytest.mark.parametrize("many", [FEW, MANY])
def test_distances_that_are_lost_in_rounding_tie_from_box_to_box(smallest, many):
    """Records along a line in which a matrix hardly measures: they are far apart, and tie all the same."""
    random = np.random.default_rng(3)
    basis = np.linalg.qr(random.normal(size=(3, 3)))[0]
    matrix = (basis * [smallest, 0.5, 0.5]) @ basis.T
    form = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED, (matrix + matrix.T) / 2.0)
    records = 1e3 * random.normal(size=(many, 1)) * basis[:, 0]
    records[1] = records[0] + 1e-9  # values so close that the grain says nothing
    pair = make_pair(records, records, standardisation=Standardisation.NONE)
    table, expected = Evaluator(pair, 1).rank(form), everyone(pair, form)
    clear = expected.clear
    np.testing.assert_array_equal(table.ties[clear], expected.ties[clear])
    np.testing.assert_array_equal(table.rank, 1)
    assert table.ties.min() > (many // 2 if smallest < 1e-14 else -1)
    assert Evaluator(pair, 1).count(form).linked.sum() == table.linked.sum()


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("files", ["numbers", "mixed"])
def test_the_order_of_records_does_not_matter(form, files):
    random = np.random.default_rng(11)
    original, masked, options = FILES[files](random, MANY)
    order, turns = random.permutation(MANY), random.permutation(MANY)
    distance = FORMS[form](random, False)
    table = Evaluator(make_pair(original, masked, **options), 1).rank(distance)
    moved = Evaluator(make_pair(original, masked[order], np.argsort(order), **options), 1).rank(distance)
    turned = Evaluator(make_pair(original[turns], masked, turns, **options), 1).rank(distance)
    for name in ("linked", "rank", "ties", "distance", "nearest_other"):
        np.testing.assert_array_equal(getattr(moved, name), getattr(table, name))
        np.testing.assert_array_equal(getattr(turned, name), getattr(table, name)[turns])
    np.testing.assert_array_equal(turned.rival, table.rival[turns])
    if files == "numbers":  # no two rivals are as near, of which the first would be taken
        np.testing.assert_array_equal(order[moved.rival], table.rival)


@pytest.mark.parametrize("files", ["groups", "mixed"])
def test_threads_tasks_and_parts_do_not_matter(files):
    random = np.random.default_rng(6)
    distances = [form(random, False) for form in FORMS.values()]
    expected = [Evaluator(pair_of(files, MANY, 6), 1).rank(distance) for distance in distances]
    pair = pair_of(files, MANY, 6)
    some = random.permutation(MANY)[:50]
    part = pair.part(some)
    assert part.by_candidate is pair.by_candidate
    for before in (True, False):
        for distance, whole in zip(distances, expected, strict=True):
            if not before:
                the_same(Evaluator(pair, 3, blocks_at_once=17).rank(distance), whole)
            the_same(Evaluator(part, 1).rank(distance), whole, some)


def test_several_threads_may_ask_for_trees_at_once():
    random = np.random.default_rng(7)
    pair = pair_of("numbers", MANY, 7)
    distances = [FORMS["singular"](random, False) for _ in range(12)]
    distances += [form(random, False) for form in FORMS.values()]
    expected = [Evaluator(pair_of("numbers", MANY, 7), 1).rank(distance) for distance in distances]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda distance: Evaluator(pair, 1).rank(distance), distances * 2))
    for one, other in zip(found, expected * 2, strict=True):
        the_same(one, other)


@pairwise(form=list(FORMS), files=list(FILES), absolute=[False, True], ties=list(Ties))
def test_a_claim_is_one_of_the_nearest_candidates(form, files, absolute, ties):
    pair = pair_of(files, FEW, seed=3, ties=ties)
    distance = FORMS[form](np.random.default_rng(3), absolute)
    asked, expected = Evaluator(pair, 2), everyone(pair, distance)
    claims, table = asked.claims(distance, 7), asked.rank(distance)
    blocks, candidates = np.arange(pair.blocks)[:, None], np.arange(len(pair.candidates))[None, :]
    c = pair.distances(blocks, candidates, distance.differences)
    all_of_them = np.where(pair.possible(blocks, candidates), distance(c), np.inf)
    nearest = all_of_them.min(axis=1)
    assert ((claims < 0) == np.isinf(nearest)).all()
    some = np.flatnonzero(claims >= 0)
    np.testing.assert_allclose(all_of_them[some, claims[some]], nearest[some], rtol=1e-9, atol=1e-9)
    sure = table.linked & expected.clear & (ties is Ties.STRICT)
    np.testing.assert_array_equal(claims[sure], pair.partner[sure])
    np.testing.assert_array_equal(Evaluator(pair, 1).claims(distance, 7), claims)


def test_claims_among_ties_are_fair_and_other_lots_for_other_blocks():
    """Four candidates at the corners of a square, all blocks in its middle."""
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    masked = np.repeat(corners, 200, axis=0)
    pair = make_pair(np.zeros((800, 2)), masked, standardisation=Standardisation.NONE)
    form = DistanceForm(FormKind.WEIGHTED_SUM, Differences.SQUARED, np.full(2, 0.5))
    claims = Evaluator(pair).claims(form, 0)
    corner = np.bincount(claims // 200, minlength=4)
    assert corner.sum() == 800
    assert (np.abs(corner - 200) < 62).all()  # five standard deviations
    assert np.unique(claims).size > 400
    assert (Evaluator(pair).claims(form, 1) != claims).mean() > 0.9
    assert (Evaluator(pair, stop=lambda: True).claims(form, 0) == -1).all()


@pytest.mark.parametrize("form", list(FORMS))
def test_no_blocks_are_no_trouble_and_hardly_any_candidates(form):
    pair = pair_of("mixed", 40, seed=1)
    asked, distance = Evaluator(pair, 1), FORMS[form](np.random.default_rng(1), False)
    assert not asked.count(distance, np.empty(0, dtype=np.intp)).settled.any()
    asked.mark_lost(np.ones(40, dtype=np.bool_))
    assert not asked.count(distance).linked.any()
    assert not asked.nearest(distance).linked.any()
    for many, absolute in itertools.product((1, 2), (False, True)):
        values = np.arange(1.0, 1.0 + many * ATTRIBUTES).reshape(many, -1) ** 2
        pair = make_pair(values, values[::-1] + 0.5, standardisation=Standardisation.NONE)
        check_loosely(pair, FORMS[form](np.random.default_rng(1), absolute))
