"""The evaluator against a plain computation: links, ranks, ties, invariances; the table of records."""

from __future__ import annotations

import json

import brute_force as plain
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS, NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.formulations.linkage.tie_tolerance import TIE_TOLERANCE
from linkrisk.solver.linkage import records_table as records
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.records_table import TABLE_COLUMNS, RecordsTable
from linkrisk.solver.run.result import dump_json

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def files(seed, n=25, attributes=3, whole=False, noise=0.5):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes)) * 2
    masked = original + noise * random.normal(size=(n, attributes))
    return (np.round(original), np.round(masked)) if whole else (original, masked)


def agree(evaluation, expected):
    for name in ("linked", "rank", "ties"):
        assert getattr(evaluation, name).tolist() == getattr(expected, name)
    for name in ("distance", "nearest_other"):
        np.testing.assert_allclose(getattr(evaluation, name), getattr(expected, name), rtol=1e-9, atol=1e-13)
    finite = np.isfinite(expected.nearest_other)
    margin = evaluation.nearest_other - evaluation.distance
    np.testing.assert_array_equal(evaluation.margin[finite], margin[finite])


def settled(pair, aggregator, theta, threads=1):
    """The evaluator's table, after checking that counting alone says the same."""
    evaluator = Evaluator(pair, threads)
    form = aggregator.form(theta)
    table = evaluator.rank(form)
    np.testing.assert_array_equal(evaluator.count(form).linked, table.linked)
    assert evaluator.count(form).linked_weight == pytest.approx(table.linked_weight)
    assert table.count == int(table.linked.sum())
    return table


def plainly(case, aggregator, pair, theta):
    """The evaluator agrees with the plain computation by the definition of a family."""
    define = case.define(aggregator, aggregator.decode(theta))
    expected = plain.outcome(plain.of_pair(pair), define, aggregator.differences.value)
    agree(settled(pair, aggregator, theta), expected)


@pairwise(case=CASES, direction=list(Direction), ties=list(Ties), whole=[False, True])
def test_it_is_the_plain_computation(case, direction, ties, whole):
    pair = make_pair(*files(1, whole=whole), direction=direction, ties=ties)
    aggregator = case.make(3)
    for theta in aggregator.domain.sample(5, np.random.default_rng(2)):
        plainly(case, aggregator, pair, theta)


@everywhere
@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(3, 12),
    attributes=st.integers(1, 4),
    ties=st.sampled_from(list(Ties)),
    corner=st.booleans(),
)
def test_it_is_the_plain_computation_on_small_whole_numbers(case, seed, n, attributes, ties, corner):
    """Values of 0 to 3 tie and repeat all the time; at corners most attributes do not count."""
    random = np.random.default_rng(seed)
    original, masked = (random.integers(0, 4, size=(n, attributes)).astype(float) for _ in range(2))
    pair = make_pair(original, masked, ties=ties, standardisation=Standardisation.NONE)
    aggregator = case.make(attributes)
    theta = aggregator.domain.sample(1, random)[0]
    if corner and aggregator.simpler() is not None:
        theta = aggregator.simpler()[1](np.eye(attributes)[seed % attributes])
    plainly(case, aggregator, pair, theta)


@everywhere
def test_unequal_files(case):
    original, masked = files(3, 20)
    partner = np.random.default_rng(0).permutation(20)[:15]
    partner[::4] = -1
    aggregator = case.make(3)
    for direction in Direction:
        pair = make_pair(original[:15], masked, partner, direction=direction)
        plainly(case, aggregator, pair, aggregator.domain.sample(1, np.random.default_rng(1))[0])


def test_pairwise_forms_of_many_attributes():
    names = tuple(f"V{k}" for k in range(14))
    aggregator = make_aggregator("choquet", names, k_additive=2)
    pair = make_pair(*files(6, 30, 14, noise=2.0))
    for theta in aggregator.domain.sample(2, np.random.default_rng(1)):
        moebius = {
            frozenset(names.index(name) for name in key.split(",")): value
            for key, value in aggregator.decode(theta)["moebius"].items()
        }
        expected = plain.outcome(plain.of_pair(pair), lambda c, m=moebius: plain.choquet_of_moebius(c, m))
        agree(settled(pair, aggregator, theta), expected)


@pytest.mark.parametrize(("excess", "tied"), [(0.0, 1), (0.9, 1), (-0.9, 1), (1.1, 0), (-1.1, 0)])
def test_near_ties_are_ties(excess, tied):
    """A rival farther by a share of what a tie covers; neither side of a tie is linked."""
    own, grain = 1.0, 2.0**-19  # half of 2**-18: the spread of -1, 0 and 1 is below one
    other = np.sqrt(1.0 + excess * (TIE_TOLERANCE + grain**2))
    files = np.array([[0.0]]), np.array([[own], [-other]]), np.array([0])
    pair = make_pair(*files, standardisation=Standardisation.NONE)
    table = settled(pair, make_aggregator("weighted-mean", ("A",)), np.array([1.0]))
    assert table.ties.tolist() == [tied]
    assert table.linked.tolist() == [excess > 1.0]
    assert table.rank.tolist() == [2 if excess < -1.0 else 1]


def test_distances_that_are_zero_by_cancellation_tie():
    """A singular matrix, and differences along its null direction: both distances are zero on paper."""
    original, masked = np.array([[0.0, 0.0], [50.0, 50.0]]), np.array([[3.0, -1.0], [-36.0, 12.0]])
    pair = make_pair(original, masked, standardisation=Standardisation.NONE)
    aggregator = make_aggregator("mahalanobis", ("A", "B"))
    theta = aggregator.encode({"matrix": [[0.1, 0.3], [0.3, 0.9]]})
    table = settled(pair, aggregator, theta)
    assert abs(table.margin[0]) > 1e-14  # what is left of terms of 100: no relative tie
    assert table.ties.tolist() == [1, 1]
    assert not table.linked.any()
    system = block_system(pair, aggregator)
    assert (system.matrix @ theta <= 0.0).all()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    attributes=st.integers(2, 4),
    exponent=st.integers(-16, -4),
    ties=st.sampled_from(list(Ties)),
    signed=st.booleans(),
)
def test_nearly_singular_matrices_are_the_plain_computation(seed, attributes, exponent, ties, signed):
    """Differences near the null space of matrices, from those that leave boxes out to those that cannot."""
    random = np.random.default_rng(seed)
    basis = np.linalg.qr(random.normal(size=(attributes, attributes)))[0]
    values = np.append(10.0**exponent, random.uniform(0.1, 1.0, attributes - 1))
    differences = "signed" if signed else "absolute"
    aggregator = make_aggregator("mahalanobis", NAMES[:attributes], differences=differences)
    theta = aggregator.domain.repair(aggregator.encode({"matrix": ((basis * values) @ basis.T).tolist()}))
    original = random.integers(-3, 4, size=(12, 1)) * basis[:, 0]
    masked = random.integers(-3, 4, size=(12, 1)) * basis[:, 0]
    masked[::3] += 1e-6 * random.normal(size=(4, attributes))
    pair = make_pair(original, masked, ties=ties, standardisation=Standardisation.NONE)
    expected = plain.outcome(
        plain.of_pair(pair), plain.Bilinear(aggregator.domain.matrix(theta)), differences
    )
    table = settled(pair, aggregator, theta)
    scale = 1e-14 * max(1.0, float(table.distance.max()))
    assert np.abs(table.distance - expected.distance).max() <= 40 * scale
    # What lies within rounding of a tie's end may fall on either side of it.
    if clear(pair, plain.Bilinear(aggregator.domain.matrix(theta)), differences):
        assert table.linked.tolist() == expected.linked
        assert table.rank.tolist() == expected.rank
        assert table.ties.tolist() == expected.ties


def clear(pair, distance, kind):
    """Whether no two distances differ by a tie to within a tenth: rounding is far below that."""
    files = plain.of_pair(pair)
    for block, own in enumerate(files.partner):
        c = files.distances(block, kind)
        mine = distance(c[own])
        for j in files.rivals(block):
            other = distance(c[j])
            slack = plain.slack(files, block, distance, kind, c[j])
            if 0.9 * slack < abs(other - mine) < 1.1 * slack:
                return False
    return True


def test_counting_and_the_table_agree_on_rounding_noise_below_zero():
    """v v' with v orthogonal to all differences: zero on paper, on either side of it in floating point."""
    random = np.random.default_rng(0)
    v = np.array([0.1, 0.7, 0.3])
    plane = np.linalg.svd(v[None, :])[2][1:]
    original, masked = (random.normal(size=(60, 2)) @ plane for _ in range(2))
    pair = make_pair(original, masked, standardisation=Standardisation.NONE)
    form = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED, np.outer(v, v) / (v @ v))
    evaluator = Evaluator(pair, 1)
    table = evaluator.rank(form)
    assert (table.distance < 0.0).sum() > 5  # the case that this test is about
    np.testing.assert_array_equal(evaluator.count(form).linked, table.linked)


def test_some_blocks_alone_are_counted_and_kept_beside_what_is_counted_later():
    """What a poorer family has linked is known at once; a count that time cuts short does not undo it."""
    random = np.random.default_rng(4)
    original = random.normal(size=(40, 3)) * 2
    pair = make_pair(original, original + 0.5 * random.normal(size=original.shape))
    aggregator = BY_LABEL["choquet"].make(3)
    form = aggregator.form(aggregator.equal())
    whole = Evaluator(pair).count(form)
    blocks = np.flatnonzero(whole.linked)[3:]
    evaluator = Evaluator(pair, stop=lambda: late)
    late = False
    some = evaluator.count(form, blocks)
    assert np.flatnonzero(some.linked).tolist() == np.flatnonzero(some.settled).tolist() == blocks.tolist()
    late = True
    assert not evaluator.count(form).settled.any()
    final = evaluator.rank(form, stop=lambda: True)
    assert np.flatnonzero(final.linked).tolist() == blocks.tolist()
    late = False
    assert evaluator.count(form).linked.tolist() == whole.linked.tolist()


ROWS = (
    ("a", True, 1, 0.5, 2.0, 1.5, 0),
    ("b", False, 3, 0.25, 0.125, -0.125, 1),
    ("c", None, None, None, None, None, None),
    ("d", False, 12, None, 1e-7, None, 2),
)


def made(rows: tuple[tuple[object, ...], ...] = ROWS) -> RecordsTable:
    """A table of these rows."""
    columns = list(zip(*rows, strict=True))
    numbers = [np.array([np.nan if cell is None else cell for cell in column]) for column in columns[3:6]]
    return RecordsTable(
        np.array(columns[0], dtype=object),
        np.array([cell is True for cell in columns[1]]),
        np.array([cell is not None for cell in columns[1]]),
        np.array([cell or 0 for cell in columns[2]]),
        *numbers,
        np.array([7 if cell is None else cell for cell in columns[6]]),
    )


@pytest.mark.parametrize("rows", [ROWS, ROWS[:2]])
def test_rows_and_frame_are_what_tuples_would_be(rows):
    table = made(rows)
    assert table.rows == rows
    assert [[*map(type, row)] for row in table.rows] == [[*map(type, row)] for row in rows]
    assert table.to_dict() == {"columns": list(TABLE_COLUMNS), "rows": [list(row) for row in rows]}
    pd.testing.assert_frame_equal(table.to_frame(), pd.DataFrame(list(rows), columns=list(TABLE_COLUMNS)))


def test_tables_are_equal_when_all_that_is_known_is():
    table = made()
    assert table == made()
    for other in (ROWS[:2], (*ROWS[:3], (*ROWS[3][:6], 3)), (*ROWS[:3], ("d", None, *ROWS[3][2:]))):
        assert table != made(other)
    assert table != "rows"
    assert (table.within(1), table.within(3), table.within(3, tied=True), table.tied) == (1, 2, 1, 2)


def test_of_many_records_the_json_has_the_ranks(monkeypatch):
    monkeypatch.setattr(records, "MOST_ROWS", 3)
    table = made()
    ranks = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    told = {"columns": list(TABLE_COLUMNS), "rows": [], "left_out": 4, "ranks": ranks}
    assert json.loads(dump_json(table.to_dict())) == told
    assert (table.rows, len(table.to_frame())) == (ROWS, 4)
