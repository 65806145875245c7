"""Multipliers of a measure's inequalities, as fine as what rows leave when they cancel."""

from __future__ import annotations

import numpy as np
import pytest

from linkrisk.solver.certificates.core.families import Choquet, KAdditive
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.writing.cores import best_total, finer_steps, inequalities, remaining

FAMILIES = [Choquet("ABC"), Choquet("ABCD"), KAdditive("ABCD", 3), KAdditive("ABC", 3)]


@pytest.mark.parametrize("family", FAMILIES, ids=["choquet-3", "choquet-4", "3-of-4", "3-of-3"])
@pytest.mark.parametrize("seed", range(5))
def test_what_inequalities_can_cover_is_covered(family, seed):
    """A row that is minus some inequalities and a trifle, beside entries 10^12 times as large."""
    random, steps = np.random.default_rng(seed), inequalities(family)
    everyone = 2**family.n - 1  # what is beside it counts whatever else there is
    smaller = [step for step in steps if step[0] | 1 << step[1] != everyone]
    covered = [(*smaller[at], -int(random.integers(1, 10**6))) for at in random.choice(len(smaller), 3)]
    row = [value - 1 for value in remaining(family, [0] * family.dimension, covered)]
    untouched = [at for at, value in enumerate(row[:-1]) if value == -1]
    for at in untouched[:1]:
        row[at] -= 10**18
    rows = Linkage(None, family)
    assert not family.nowhere_positive(row, (), best_total(rows, row, []))
    found: list[tuple[int, int, int]] = []
    for _ in range(3):
        found += finer_steps(family, remaining(family, row, found), steps)
    assert family.nowhere_positive(row, found, best_total(rows, row, found))


def test_nothing_is_added_where_nothing_helps():
    """All attributes together always count one: a row that is positive there is positive."""
    family = Choquet("AB")
    assert finer_steps(family, [0, 0, 5], inequalities(family)) == []
    assert not family.nowhere_positive([0, 0, 5], (), 0)
