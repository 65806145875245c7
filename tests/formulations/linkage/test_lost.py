"""Blocks that one rival alone keeps from being linked, found without a row: those that all rows lose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CASES, LABELS, POLYTOPES
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
monotone = pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])


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


@everywhere
def test_a_partner_with_a_twin_is_lost_unless_ties_are_shared(case):
    strict, shared = (
        lost_blocks(drawn(1, ties=ties), case.make(2), lambda: False) for ties in (Ties.STRICT, Ties.SHARE)
    )
    assert strict[:2].all()
    assert (strict >= shared).all()
    assert strict.sum() > shared.sum()


@monotone
def test_what_was_not_looked_at_is_not_lost(case):
    pair = drawn(2, ties=Ties.SHARE)
    assert not lost_blocks(pair, case.make(2), lambda: True).any()


def agreeing(records=600):
    """Two nominal attributes of few categories: every masked record has many twins."""
    random = np.random.default_rng(3)
    original = pd.DataFrame(
        {"job": random.choice(list("abcde"), records), "town": random.choice(list("xyz"), records)}
    )
    return original, original.assign(town=random.choice(list("xyz"), records))


@pytest.mark.parametrize("aggregator", ["weighted-mean", "owa", "choquet", "mahalanobis"])
def test_two_nominal_attributes_are_proven_before_any_search(aggregator):
    """Once "at most 7,328, could not narrow further" after two seconds, where the truth was none."""
    options = {"nominal": ["job", "town"], "aggregator": aggregator}
    problem = make_problem(*agreeing(), ProblemOptions(**options))
    assert lost_blocks(problem.pair, problem.aggregator, lambda: False).all()
    result = fit(*agreeing(), time_limit=None, **options)
    assert (result.linked, result.linked_upper_bound, result.proven, result.limit) == (0, 0, True, None)
