"""Keys changed by masking: all outcomes of a small population, known and estimated probabilities."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.measures.misclassification import (
    Source,
    correct_match_probability,
    key_changes,
)


def by_all_outcomes(population, into, own, fraction):
    """Given that one record is released as j: the probability that it is a certain unit of category j."""
    units = np.repeat(np.arange(len(population)), population)
    released_as_j = fraction * np.asarray(into)[units]
    target = int(np.flatnonzero(units == own)[0])
    alone = target_alone = 0.0
    for outcome in itertools.product((False, True), repeat=units.size):
        if sum(outcome) == 1:
            probability = float(np.prod(np.where(outcome, released_as_j, 1.0 - released_as_j)))
            alone += probability
            target_alone += probability * outcome[target]
    return target_alone / alone


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.floats(0.05, 0.95), min_size=3, max_size=3),
    st.floats(0.05, 0.95),
    st.integers(0, 2),
)
def test_the_formula_of_shlomo_and_skinner_is_the_sum_over_all_outcomes(population, into, fraction, own):
    into, own = into[: len(population)], own % len(population)
    expected = by_all_outcomes(population, into, own, fraction)
    assert correct_match_probability(population, into, own, fraction) == pytest.approx(expected)


def test_without_misclassification_it_is_one_in_the_population():
    assert correct_match_probability([4, 9], [1.0, 0.0], 0, 0.3) == pytest.approx(1 / 4)


def test_for_a_small_fraction_it_is_that_of_the_misclassified_population():
    population, into = [5, 40, 7], [0.8, 0.05, 0.1]
    approximate = 0.8 / float(np.dot(population, into))
    assert correct_match_probability(population, into, 0, 1e-6) == pytest.approx(approximate, rel=1e-5)


def pair(before, after, masking=()):
    frames = [pd.DataFrame({"town": town, "x": range(len(before))}) for town in (before, after)]
    return make_file_pair(*frames, nominal=["town"], masking=masking, row_by_row=True)


BEFORE = ["a"] * 4 + ["b"] * 2 + ["c"] * 2
AFTER = ["a", "a", "a", "b", "b", "a", "c", "c"]


def test_unknown_masking_is_estimated_for_each_category():
    (change,) = key_changes(pair(BEFORE, AFTER), ["town"], ())
    assert change.source is Source.ESTIMATED
    assert change.stays == 6 / 8
    by_category = {"a": 3 / 4, "b": 1 / 2, "c": 1.0}
    assert change.of_record.tolist() == [by_category[town] for town in AFTER]


def test_known_masking_says_it():
    masking = ("pram change=0.3 attributes=town",)
    (change,) = key_changes(pair(BEFORE, AFTER, masking), ["town"], masking)
    assert change.source is Source.KNOWN
    assert change.of_record.tolist() == pytest.approx([0.7] * 8)


def test_a_recoding_is_done_by_the_intruder_too():
    (change,) = key_changes(pair(BEFORE, ["ab"] * 6 + ["c"] * 2), ["town"], ())
    assert change.source is Source.RECODED
    assert (change.of_record == 1.0).all()


def test_keys_that_are_the_same_are_certain():
    (change,) = key_changes(pair(BEFORE, BEFORE), ["town"], ())
    assert change.source is Source.UNCHANGED
    assert (change.of_record == 1.0).all()


def test_a_category_that_only_masking_makes_is_never_the_true_one():
    (change,) = key_changes(pair(BEFORE, ["d", "a", *AFTER[2:]]), ["town"], ())
    assert change.of_record[0] == 0.0
