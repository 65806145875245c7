"""What is known of some blocks alone, and what becomes of it when time cuts a later count short."""

from __future__ import annotations

import numpy as np
import pytest
from aggregator_cases import BY_LABEL

from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.linkage.evaluator import Evaluator


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


@pytest.mark.parametrize("label", BY_LABEL)
def test_of_no_blocks_none_is_counted(label):
    random = np.random.default_rng(4)
    original = random.normal(size=(5, 3))
    aggregator = BY_LABEL[label].make(3)
    evaluator = Evaluator(make_pair(original, original))
    found = evaluator.count(aggregator.form(aggregator.equal()), np.empty(0, dtype=np.intp))
    assert not found.settled.any()
    assert not found.linked.any()
