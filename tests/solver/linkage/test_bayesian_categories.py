"""Categories of attributes: classes of numbers and text as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.microdata.schema import Scale
from linkrisk.solver.linkage.bayesian_parameters import (
    UNKNOWN,
    Intervals,
    Labels,
    equal_frequency,
    learn_categories,
    read_categories,
)
from linkrisk.solver.run.errors import UsageError

quick = settings(max_examples=100, deadline=None, derandomize=True)
numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=40).map(lambda v: np.array(v, dtype=float))


def test_classes_of_different_numbers_are_equally_large():
    values = np.random.default_rng(1).permutation(np.arange(160.0))
    cuts = equal_frequency(values, 8)
    assert cuts == (19.5, 39.5, 59.5, 79.5, 99.5, 119.5, 139.5)
    assert np.bincount(Intervals(cuts).codes(pd.Series(values))).tolist() == [20] * 8


def test_ties_stay_together_and_the_rest_is_shared_out_evenly():
    """Seven in ten are zero: they are a class, and the other three classes get ten records each."""
    values = np.concatenate([np.zeros(70), np.arange(1.0, 31.0)])
    cuts = equal_frequency(values, 4)
    assert cuts == (0.5, 10.5, 20.5)
    assert np.bincount(Intervals(cuts).codes(pd.Series(values))).tolist() == [70, 10, 10, 10]


@quick
@given(numbers, st.integers(2, 9))
def test_classes_by_their_properties(values, classes):
    cuts = equal_frequency(values, classes)
    distinct = np.unique(values)
    assert list(cuts) == sorted(set(cuts))
    codes = Intervals(cuts).codes(pd.Series(values))
    # Every class has a record, equal values share one, and the order stays.
    assert set(codes) == set(range(len(cuts) + 1))
    assert len(cuts) + 1 <= classes
    for value in distinct:
        assert len(set(codes[values == value])) == 1
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()
    if distinct.size <= classes:
        assert len(cuts) + 1 == distinct.size


@quick
@given(numbers, st.integers(2, 9), st.floats(-30, 30))
def test_an_unseen_number_falls_into_the_class_of_the_nearest(values, classes, unseen):
    made = Intervals(equal_frequency(values, classes))
    apart = np.abs(values - unseen)
    nearest = values[apart == apart.min()]
    assert made.codes(pd.Series([unseen]))[0] in made.codes(pd.Series(nearest))


def test_numbers_next_to_each_other_are_kept_apart():
    for low, high in ((1.0, np.nextafter(1.0, 2.0)), (-1e308, 1.7e308), (5e-324, 1e-323)):
        made = learn_categories(pd.Series([low, high]), Scale.NUMERIC, 8)
        assert made.codes(pd.Series([low, high])).tolist() == [0, 1]


def test_missing_numbers_are_unknown():
    made = Intervals((0.5,))
    assert made.codes(pd.Series([0.0, np.nan, 1.0])).tolist() == [0, UNKNOWN, 1]
    assert made.codes(pd.Series([0, None, 1], dtype="Int64")).tolist() == [0, UNKNOWN, 1]


@pytest.mark.parametrize("scale", [Scale.NOMINAL, Scale.ORDINAL])
def test_text_stays_as_it_is_and_unseen_text_is_unknown(scale):
    made = learn_categories(pd.Series(["b", "a", "b"]), scale, 8)
    assert made == Labels(("a", "b"))
    assert made.size == 2
    column = pd.Series(["b", None, "c", "a"], dtype=object)
    assert made.codes(column).tolist() == [1, UNKNOWN, UNKNOWN, 0]


@pytest.mark.parametrize("made", [Intervals(()), Intervals((0.25, 3.0)), Labels(("x", "y"))])
def test_back_from_json(made):
    assert read_categories(made.to_dict(), "age") == made


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"cuts": [2.0, 1.0]},
        {"cuts": ["1"]},
        {"cuts": [1.0], "categories": ["a"]},
        {"categories": []},
        {"categories": ["a", "a"]},
        {"categories": [1]},
    ],
)
def test_what_is_no_json_of_categories(entry):
    with pytest.raises(UsageError) as error:
        read_categories(entry, "age")
    assert str(error.value) == (
        'parameters of bayes: attribute \'age\' needs ascending "cuts" or different "categories"; '
        "use parameters as they were written"
    )
