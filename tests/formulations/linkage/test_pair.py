"""Attribute distances, standardisation and the linkage problem of a file pair."""

from __future__ import annotations

import brute_force as plain
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.distances import Differences, Standardisation, standardise
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair

# The 3 x 3 example of the authors' script: three records, three attributes. Attributes 2 and 3 were
# microaggregated (their masked values repeat): multiples of 1 / sqrt(7) and 1 / sqrt(3) when standardised.
AUTHORS_ORIGINAL = np.array([[1.0, 2.0, 6.0], [2.0, 6.0, 1.0], [3.0, 1.0, 5.0]])
AUTHORS_MASKED = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0], [3.0, 2.0, 2.0]])
AUTHORS_ROWS = [
    [1, 0, 0],
    [4, 2.309307, -1.618615],
    [1, 0, 0],
    [1, -2.927922, 4.927922],
    [4, -3.618615, 0.309307],
    [1, -3.618615, 0.309307],
]


def random_files(seed, n=8, m=None, attributes=3):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, attributes)), random.normal(size=(m or n, attributes))


def test_the_six_rows_of_the_authors_example():
    pair = make_pair(AUTHORS_ORIGINAL, AUTHORS_MASKED)
    aggregator = make_aggregator("weighted-mean", pair.attributes)
    own = aggregator.features(pair.partner_distances(Differences.SQUARED)).toarray()
    rows = []
    for part, chunk in pair.chunks(Differences.SQUARED):
        for block in range(part.start, part.stop):
            rows.extend(aggregator.features(chunk[block][pair.rivals(block)]).toarray() - own[block])
    np.testing.assert_allclose(rows, AUTHORS_ROWS, atol=5e-7)
    # And to the last digit: r = sqrt(3 / 7).
    r = np.sqrt(3 / 7)
    np.testing.assert_allclose(np.array(rows)[1], [4, 1 + 2 * r, 1 - 4 * r], rtol=1e-14)


def test_an_attribute_constant_in_one_file_needs_no_deviation_where_others_are_used():
    original, masked = random_files(5)
    masked[:, 0] = 3.0
    standardise(original, masked, Standardisation.ORIGINAL)
    standardise(original, masked, Standardisation.POOLED)
    standardise(original, masked, Standardisation.NONE)
    with pytest.raises(FormulationError, match="attribute 1 is constant"):
        standardise(original, masked, Standardisation.OWN)


@pytest.mark.parametrize("direction", list(Direction))
def test_unequal_files_have_blocks_for_the_records_with_a_partner_only(direction):
    original, masked = random_files(7, 5, 7)
    partner = np.array([3, -1, 0, 6, -1])
    pair = make_pair(original, masked, partner, direction=direction)
    reference = plain.records(original, masked, direction.value, partner=partner.tolist())
    np.testing.assert_allclose(pair.queries, reference.queries, rtol=1e-12)
    np.testing.assert_allclose(pair.candidates, reference.candidates, rtol=1e-12)
    assert pair.partner.tolist() == reference.partner
    # A masked record without an original is a candidate all the same; rows ascend.
    forth = direction is Direction.ORIGINAL_TO_MASKED
    assert pair.query_rows.tolist() == ([0, 2, 3] if forth else [0, 3, 6])
    assert pair.partner.tolist() == ([3, 0, 6] if forth else [2, 0, 3])
    assert len(pair.candidates) == (7 if forth else 5)


def test_weights_follow_their_records_in_both_directions():
    original, masked = random_files(8, 4)
    partner, weight = np.array([2, 0, -1, 1]), np.array([1.0, 2.0, 3.0, 4.0])
    assert make_pair(original, masked, partner, weight=weight).weight.tolist() == [1.0, 2.0, 4.0]
    swapped = make_pair(original, masked, partner, weight=weight, direction=Direction.MASKED_TO_ORIGINAL)
    assert swapped.query_rows.tolist() == [0, 1, 2]
    assert swapped.weight.tolist() == [2.0, 4.0, 1.0]


def test_twins_share_the_weight_and_are_no_rivals():
    original = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0], [4.0, 1.0], [5.0, 5.0]])
    masked = np.array([[0.5, 0.5], [0.5, 0.5], [2.0, 3.0], [0.5, 0.5], [0.5, 5.0]])
    strict, share = (make_pair(original, masked, ties=ties) for ties in (Ties.STRICT, Ties.SHARE))
    assert strict.weight.tolist() == [1.0] * 5
    assert share.weight.tolist() == [1 / 3, 1 / 3, 1.0, 1 / 3, 1.0]
    assert strict.rivals(0).tolist() == [1, 2, 3, 4]
    assert share.rivals(0).tolist() == [2, 4]
    assert share.rivals(4).tolist() == [0, 1, 2, 3]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(arrays(np.int64, st.tuples(st.integers(2, 7), st.just(2)), elements=st.integers(0, 2)))
def test_twin_groups_are_the_classes_of_equal_records(values):
    masked = values.astype(float)
    pair = make_pair(
        np.random.default_rng(0).normal(size=masked.shape), masked, standardisation=Standardisation.NONE
    )
    group = pair.twin_group
    for i, first in enumerate(masked):
        for j, second in enumerate(masked):
            assert (group[i] == group[j]) == bool((first == second).all())


@pytest.mark.parametrize(
    ("shapes", "partner", "message"),
    [
        (((4, 3), (4, 2)), None, "3 attributes in the original file and 2 in the masked one: compare the"),
        (((4, 2), (4, 2)), [0, 1], "2 partners for 4 original records: give one for each, -1 for none"),
        (((4, 2), (5, 2)), None, "4 original and 5 masked records: without a partner for each, the files"),
        (((3, 2), (3, 2)), [-1, -1, -1], "no original record has a masked partner, so there is nothing to"),
        (((1, 2), (1, 2)), None, "attribute 1 is constant, so it has no standard deviation: leave it out"),
        (((4, 2), (4, 2)), [0, 1, 2, 4], "partner 4 is not a row of the 4 masked records: rows count from 0"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes, partner, message):
    random = np.random.default_rng(0)
    original, masked = (random.normal(size=shape) for shape in shapes)
    with pytest.raises(FormulationError) as error:
        make_pair(original, masked, None if partner is None else np.array(partner))
    assert str(error.value).startswith(message)
