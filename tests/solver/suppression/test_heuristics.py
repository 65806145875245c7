"""Heuristics that proven answers are compared with: they do what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from linkrisk.formulations.suppression.key_table import KeyTable, MissingMeaning
from linkrisk.formulations.suppression.unsafe_combinations import k_anonymity, minimal_unsafe
from linkrisk.solver.suppression.heuristics import each_by_itself, greedily, sdcmicro_suppression

codes_of = st.tuples(st.integers(3, 15), st.integers(1, 4)).flatmap(
    lambda shape: arrays.arrays(np.int32, shape, elements=st.integers(-1, 2))
)


def agreeing(codes):
    """How many records agree with each, wherever both have a value."""
    return [int(((codes == row) | (codes < 0) | (row < 0)).all(axis=1).sum()) for row in codes]


def as_in_r(codes, k, importance):
    """The R code of `suppSubset` line by line, where no group has more than k records."""
    x = codes.astype(float)
    order = sorted(range(codes.shape[1]), key=lambda at: -importance[at])
    while min(frequency := agreeing(np.where(np.isnan(x), -1, x))) < k:
        problems = [at for at, many in enumerate(frequency) if many < k]
        problems.sort(key=lambda at: -1 / frequency[at])
        for problem in problems:
            distances = [
                int(((x[problem] != row) & ~np.isnan(x[problem]) & ~np.isnan(row)).sum()) for row in x
            ]
            least = min((one for one in distances if one > 0), default=0)
            nearest = [at for at, one in enumerate(distances) if one == least > 0]
            for at in order if nearest else ():
                if any(
                    not np.isnan(x[[problem, other], at]).any() and x[problem, at] != x[other, at]
                    for other in nearest
                ):
                    x[problem, at] = np.nan
                    break
    return np.isnan(x)


@given(
    codes=st.tuples(st.integers(3, 10), st.integers(1, 4)).flatmap(
        lambda shape: arrays.arrays(np.int32, shape, elements=st.integers(0, 2))
    ),
    chance=st.randoms(use_true_random=False),
)
def test_sdcmicro_does_what_its_source_says(codes, chance):
    codes = np.unique(codes, axis=0)  # groups of one
    chance.shuffle(rows := list(range(len(codes))))
    codes, k = codes[rows], min(3, len(codes))
    importance = np.array(chance.sample(range(1, codes.shape[1] + 1), codes.shape[1]))
    assert (sdcmicro_suppression(codes, k, importance) == as_in_r(codes, k, importance)).all()


@given(codes=codes_of, k=st.integers(2, 3))
def test_all_agree_with_k_afterwards(codes, k):
    taken = sdcmicro_suppression(codes, k)
    assert not (taken & (codes < 0)).any()
    assert min(agreeing(np.where(taken, -1, codes))) >= k


@given(codes=codes_of, k=st.integers(2, 3), chance=st.randoms(use_true_random=False))
@pytest.mark.parametrize("choose", [each_by_itself, greedily])
def test_no_minimal_unsafe_combination_stays_whole(choose, codes, k, chance):
    keys = codes.shape[1]
    types = KeyTable(tuple("abcd"[:keys]), np.abs(codes)).types
    minimal = minimal_unsafe(types, k_anonymity(keys, k), MissingMeaning())
    cost = np.array([chance.randint(1, 5) for _ in range(keys)], dtype=np.int64)
    taken = choose(types, minimal, cost) @ (1 << np.arange(keys))
    for record, row_type in enumerate(types.of):
        assert all(taken[record] & one for one in minimal.of(int(row_type)))
