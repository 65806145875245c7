"""The rows of the blocks: what is left out is implied, what is lost is lost, what is sure is sure."""

from __future__ import annotations

import brute_force as plain
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS, POLYTOPES
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
monotone = pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])


def files(seed, n=12, attributes=3, whole=False, twins=False, noise=0.6):
    """An original and a masked file; whole numbers tie often, twins repeat masked records."""
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes)) * 2
    masked = original + noise * random.normal(size=(n, attributes))
    if whole:
        original, masked = np.round(original), np.round(masked)
    if twins:
        masked[1] = masked[0]
        masked[n // 2] = masked[0]
    return original, masked


def linked_by(system, theta):
    """Which blocks all rows of a system link, the sure ones among them."""
    linked = ~system.lost
    activity = system.matrix @ theta
    linked[system.open_blocks[system.row_open[activity <= 0.0]]] = False
    return linked


@everywhere
@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    whole=st.booleans(),
    twins=st.booleans(),
    ties=st.sampled_from(list(Ties)),
    direction=st.sampled_from(list(Direction)),
)
def test_the_rows_left_out_are_implied_by_those_kept(case, seed, whole, twins, ties, direction):
    pair = make_pair(*files(seed, whole=whole, twins=twins), ties=ties, direction=direction)
    aggregator = case.make(3)
    reduced, full = block_system(pair, aggregator), block_system(pair, aggregator, reduce=False)
    assert reduced.rows <= full.rows
    np.testing.assert_array_equal(reduced.lost, full.lost)
    weight = reduced.lost_weight + reduced.sure_weight + reduced.open_weight.sum()
    assert weight == pytest.approx(pair.weight.sum())
    reference = plain.of_pair(pair)
    for theta in aggregator.domain.sample(8, np.random.default_rng(seed)):
        # Rows within rounding of zero are ties that either side may see.
        clear = (np.abs(full.matrix @ theta) > 1e-11).all()
        define = case.define(aggregator, aggregator.decode(theta))
        expected = plain.outcome(reference, define, aggregator.differences.value).linked
        if clear:
            assert linked_by(full, theta).tolist() == expected
            assert linked_by(reduced, theta).tolist() == expected


@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_lost_blocks_are_linked_by_no_parameters_and_sure_ones_by_all(case, seed):
    pair = make_pair(*files(seed, n=14, attributes=2, whole=True, noise=0.8))
    aggregator = case.make(2)
    system = block_system(pair, aggregator)
    sure = ~system.lost
    sure[system.open_blocks] = False
    reference = plain.of_pair(pair)
    kind = aggregator.differences.value
    rows = np.array([reference.distances(block, kind) for block in range(pair.blocks)])
    partner = rows[np.arange(pair.blocks), pair.partner]
    features = np.stack([aggregator.features(row).toarray() for row in rows])
    own = aggregator.features(partner).toarray()
    linked = np.ones((pair.blocks, 1500), dtype=bool)
    points = aggregator.domain.sample(1500, np.random.default_rng(seed))
    for block in range(pair.blocks):
        difference = np.delete(features[block] - own[block], pair.partner[block], axis=0)
        linked[block] = (difference @ points.T > 1e-12).all(axis=0)
    assert system.lost.any()
    assert not linked[system.lost].any()
    assert linked[sure].all()
    # Nothing else is called open without reason, as far as thousands of points can tell.
    assert linked[system.open_blocks].any(axis=1).mean() > 0.5


@everywhere
@pytest.mark.parametrize("reduce", [True, False])
def test_rows_are_of_unit_length_and_say_what_they_are(case, reduce):
    pair = make_pair(*files(3))
    aggregator = case.make(3)
    system = block_system(pair, aggregator, reduce=reduce)
    dense = system.matrix.toarray()
    np.testing.assert_allclose((dense**2).sum(axis=1), 1.0)
    assert (np.diff(system.row_open) >= 0).all()
    assert np.unique(system.row_open).tolist() == list(range(system.open_blocks.size))
    assert (np.diff(system.open_blocks) > 0).all()
    assert not system.lost[system.open_blocks].any()
    for at in range(system.rows):
        block = system.open_blocks[system.row_open[at]]
        own, rival = (
            np.array([plain.compare(pair.queries[block], pair.candidates[one], aggregator.differences.value)])
            for one in (pair.partner[block], system.rival[at])
        )
        row = (aggregator.features(rival) - aggregator.features(own)).toarray()[0]
        # Ties are in the last digits: see the tests of what rows take of a tie.
        np.testing.assert_allclose(dense[at] * system.length[at], row, atol=1e-9)
        partners = aggregator.partners(pair)[[block]]
        assert system.excess[at] == -aggregator.least(partners, rival)[0] / system.length[at]


@monotone
def test_each_pair_of_kept_rows_is_needed(case):
    pair = make_pair(*files(5, n=30))
    aggregator = case.make(3)
    system = block_system(pair, aggregator)
    c = aggregator.comparable(
        (pair.queries[system.open_blocks[system.row_open]] - pair.candidates[system.rival]) ** 2
    )
    for position in range(system.open_blocks.size):
        block = c[system.row_open == position]
        below = (block[:, None, :] <= block[None, :, :]).all(axis=2)
        assert below.sum() == len(block)


@everywhere
def test_pieces_do_not_matter(case, monkeypatch):
    pair = make_pair(*files(13, n=20))
    aggregator = case.make(3)
    expected = block_system(pair, aggregator)
    monkeypatch.setattr("linkrisk.formulations.linkage.block_system._ROWS_AT_ONCE", 7)
    monkeypatch.setattr("linkrisk.formulations.linkage.rows._BLOCKS_PER_TASK", 3)
    system = block_system(pair, aggregator)
    np.testing.assert_array_equal(system.matrix.toarray(), expected.matrix.toarray())
    np.testing.assert_array_equal(system.part(np.array([4, 1])).toarray(), expected.matrix[[4, 1]].toarray())
    for name in ("rival", "length", "excess", "lost"):
        np.testing.assert_array_equal(getattr(system, name), getattr(expected, name))


@everywhere
def test_building_stops_when_time_is_up_and_what_is_there_says_nothing_false(case):
    pair = make_pair(*files(17, n=200))
    aggregator = case.make(3)
    whole = block_system(pair, aggregator)
    asked = iter(range(10**6))
    system = block_system(pair, aggregator, expired=lambda: next(asked) >= 40)
    assert whole.complete
    assert not system.complete
    assert 0 < system.rows < whole.rows
    assert not (system.lost & ~whole.lost).any()
    for theta in aggregator.domain.sample(5, np.random.default_rng(0)):
        assert (linked_by(system, theta) | whole.lost >= linked_by(whole, theta)).all()
    empty = block_system(pair, aggregator, expired=lambda: True)
    assert empty.rows == 0
    assert empty.sure_weight == empty.total_weight == 200.0


def test_mirrored_records_lose_a_bilinear_block():
    """A rival whose signed differences are the partner's with the other sign ties under every form."""
    queries = np.array([[0.0, 0.0], [9.0, 7.0], [3.0, 8.0]])
    candidates = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 8.0]])
    pair = make_pair(queries, candidates, np.array([0, -1, 2]), standardisation=Standardisation.NONE)
    system = block_system(pair, BY_LABEL["mahalanobis"].make(2))
    assert system.lost.tolist() == [True, False]


@everywhere
@pytest.mark.parametrize("power", [-460, 300])
def test_rows_are_the_same_in_any_unit(case, power):
    """Squares of squared distances leave the range of doubles long before the distances do."""
    original, masked = files(5)
    as_they_are = {"standardisation": Standardisation.NONE}
    usual, scaled = (
        block_system(make_pair(unit * original, unit * masked, **as_they_are), case.make(3))
        for unit in (1.0, 2.0**power)
    )
    np.testing.assert_array_equal(scaled.open_blocks, usual.open_blocks)
    np.testing.assert_array_equal(scaled.lost, usual.lost)
    np.testing.assert_allclose(scaled.excess, usual.excess, rtol=0, atol=1e-12)
    for one, other in ((scaled.matrix, usual.matrix), (scaled.data_rows, usual.data_rows)):
        if other is not None:
            np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=0, atol=1e-12)


# ---------------------------------------------------------------- lost to one rival alone, without a row


def drawn(seed, records=30, attributes=2, **options):
    """Whole numbers, so that many candidates are as near as the partner; two masked records are twins."""
    random = np.random.default_rng(seed)
    original = np.round(3 * random.normal(size=(records, attributes)))
    masked = np.round(original + 1.5 * random.normal(size=original.shape))
    masked[1] = masked[0]
    return make_pair(original, masked, **options)


@monotone
@pytest.mark.parametrize("ties", list(Ties))
@settings(derandomize=True, max_examples=12)
@given(seed=st.integers(0, 10_000), attributes=st.integers(1, 4), direction=st.sampled_from(list(Direction)))
def test_they_are_those_of_all_rows(case, ties, seed, attributes, direction):
    pair = drawn(seed, attributes=attributes, ties=ties, direction=direction)
    aggregator = case.make(attributes)
    rows = block_system(pair, aggregator, reduce=False).lost
    found = lost_blocks(pair, aggregator, lambda: False)
    assert not (found & ~rows).any()
    if case.name in ("weighted-mean", "owa", "choquet") and not case.options:
        np.testing.assert_array_equal(found, rows)


@monotone
def test_what_was_not_looked_at_is_not_lost(case):
    pair = drawn(2, ties=Ties.SHARE)
    assert not lost_blocks(pair, case.make(2), lambda: True).any()


def agreeing(records=600):
    """Two nominal attributes of few categories: every masked record has many twins."""
    random = np.random.default_rng(3)
    job, town, other = (random.choice(list(codes), records) for codes in ("abcde", "xyz", "xyz"))
    original = pd.DataFrame({"job": job, "town": town})
    return original, original.assign(town=other)


@pytest.mark.parametrize("aggregator", ["weighted-mean", "owa", "choquet", "mahalanobis"])
def test_two_nominal_attributes_are_proven_before_any_search(aggregator):
    """Once "at most 7,328, could not narrow further" after two seconds, where the truth was none."""
    options = {"nominal": ["job", "town"], "aggregator": aggregator}
    problem = make_problem(*agreeing(), ProblemOptions(**options))
    assert lost_blocks(problem.pair, problem.aggregator, lambda: False).all()
    result = fit(*agreeing(), time_limit=None, **options)
    assert (result.linked, result.linked_upper_bound, result.proven, result.limit) == (0, 0, True, None)
