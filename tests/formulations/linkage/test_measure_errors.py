"""What fuzzy measures refuse, with the exact line a user reads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage import fuzzy_measures as measures

GOOD = [0, 0.5, 0.5, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: measures.moebius([0, 1, 1]),
            "a set function has shape (3,): give one value per subset, that is (2^n,) with n >= 1",
        ),
        (
            lambda: measures.zeta([[0, 1]]),
            "a set function has shape (1, 2): give one value per subset, that is (2^n,) with n >= 1",
        ),
        (
            lambda: measures.shapley_values([1.0]),
            "a set function has shape (1,): give one value per subset, that is (2^n,) with n >= 1",
        ),
        (
            lambda: measures.interaction_indices([0, np.nan, 0, 1]),
            "a set function has the value nan at index 1: every value must be a finite number",
        ),
        (
            lambda: measures.check_fuzzy_measure([0.1, 1]),
            "the fuzzy measure is 0.1 on the empty set: it must be 0",
        ),
        (
            lambda: measures.check_fuzzy_measure([0, 0.9]),
            "the fuzzy measure is 0.9 on the whole set: it must be 1",
        ),
        (
            lambda: measures.check_fuzzy_measure([0, 0.2, 0.3, 0.4, 0.1, 0.15, 0.6, 1]),
            "the fuzzy measure is not monotone: subset '0,2' has 0.15, less than its part '0' with 0.2",
        ),
        (
            lambda: measures.check_fuzzy_measure([0, 0.7, 0.8, 0.6, 1, 1, 1, 1], ["a", "b", "c"]),
            "the fuzzy measure is not monotone: subset 'a,b' has 0.6, less than its part 'b' with 0.8",
        ),
        (
            lambda: measures.additive_measure([0.5, 0.6]),
            "weights have minimum 0.5 and sum 1.1: they must be non-negative and sum to 1",
        ),
        (
            lambda: measures.symmetric_measure([1.5, -0.5]),
            "weights have minimum -0.5 and sum 1: they must be non-negative and sum to 1",
        ),
        (
            lambda: measures.additive_measure([np.nan, 1]),
            "weights have minimum nan and sum nan: they must be non-negative and sum to 1",
        ),
        (
            lambda: measures.symmetric_measure([]),
            "weights have shape (0,): give one weight per attribute, that is (n,)",
        ),
        (
            lambda: measures.choquet_integral([[1, 2, 3]], GOOD),
            "values of shape (1, 3) cannot be aggregated by a measure on 2 attributes: "
            "the last axis must have length 2",
        ),
        (
            lambda: measures.choquet_from_moebius(1.0, GOOD),
            "values of shape () cannot be aggregated by a measure on 2 attributes: "
            "the last axis must have length 2",
        ),
        (
            lambda: measures.orness([0, 1]),
            "orness of a measure on 1 attribute is undefined: give at least 2 attributes",
        ),
        (
            lambda: measures.subset_names([]),
            "a fuzzy measure has no attributes: give at least one attribute name",
        ),
        (
            lambda: measures.subset_names(["a", "b", "a,b"]),
            "two subsets of attributes are both named 'a,b': rename attributes that are the same "
            "or contain a comma",
        ),
        (
            lambda: measures.subset_names(["a", "a"]),
            "two subsets of attributes are both named 'a': rename attributes that are the same "
            "or contain a comma",
        ),
        (
            lambda: measures.measure_from_names({"a": 0.5, "b": 0.5}, ["a", "b"]),
            "the fuzzy measure has no value for subset 'a,b': give all 3 subsets",
        ),
        (
            lambda: measures.measure_from_names({"a": 0.5, "b": 0.5, "a,b": 1, "b,a": 1}, ["a", "b"]),
            "the fuzzy measure names subset 'b,a': use the attributes a, b in this order, joined by commas",
        ),
        (
            lambda: measures.measure_from_names({"a": "half", "b": 0.5, "a,b": 1}, ["a", "b"]),
            "the fuzzy measure of subset 'a' is 'half': give a finite number",
        ),
        (
            lambda: measures.measure_from_names({"a": 0.5, "b": True, "a,b": 1}, ["a", "b"]),
            "the fuzzy measure of subset 'b' is True: give a finite number",
        ),
        (
            lambda: measures.measure_from_names({"a": 0.5, "b": math.inf, "a,b": 1}, ["a", "b"]),
            "the fuzzy measure of subset 'b' is inf: give a finite number",
        ),
        (
            lambda: measures.measure_to_names(GOOD, ["a"]),
            "a measure on 2 attributes cannot take 1 attribute names",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(FormulationError) as caught:
        call()
    assert str(caught.value) == message
