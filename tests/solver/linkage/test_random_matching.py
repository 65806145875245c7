"""Random matching: Table IV of Torra and Nin (2008), every permutation of few records, and what is drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.matching import (
    RandomMatching,
    hungarian,
    probability_of_at_least,
    probability_of_links,
    score_matrix,
)
from linkrisk.solver.run.errors import UsageError

TABLE_4 = """0 0.36787944 1
1 0.36787944 0.63212056
2 0.18393972 0.26424112
3 0.06131324 0.08030140
5 0.00306566 0.00365985
10 1.0138E-7 1.1143E-7
15 2.8132E-13 3.0000E-13
20 1.5121E-19 1.5875E-19
26 9.1219E-28 9.4723E-28
28 1.2066E-30 1.2496E-30
30 1.3869E-33 1.4331E-33
50 1.2096E-65 1.2338E-65"""


def as_printed(value, text):
    """The number with as many digits, written as the paper does."""
    mantissa, letter, _ = text.partition("E")
    digits = len(mantissa.partition(".")[2])
    if not letter:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}E}".replace("E-0", "E-")


@pytest.mark.parametrize("line", TABLE_4.splitlines())
def test_table_4_to_the_printed_digits(line):
    links, exactly, at_least = line.split()
    assert as_printed(probability_of_links(int(links), 100), exactly) == exactly
    assert as_printed(probability_of_at_least(int(links), 100), at_least) == at_least


def test_the_last_row_of_table_4():
    """1/100! = 1.07151E-158, which the paper cuts off as 1.071E-158."""
    for probability in (probability_of_links(100, 100), probability_of_at_least(100, 100)):
        assert f"{probability:.5E}" == "1.07151E-158"


@pytest.mark.parametrize("records", range(1, 8))
def test_against_all_permutations(records):
    fixed = [sum(at == to for at, to in enumerate(order)) for order in permutations(range(records))]
    for links in range(records + 1):
        assert probability_of_links(links, records) == fixed.count(links) / len(fixed)
        expected = sum(count >= links for count in fixed) / len(fixed)
        assert probability_of_at_least(links, records) == pytest.approx(expected, rel=1e-15)


def test_against_fractions():
    for records in (30, 31, 60):
        for links in (0, 1, 17, 29, records):
            series = sum(Fraction((-1) ** v, math.factorial(v)) for v in range(records - links + 1))
            expected = float(series / math.factorial(links))
            assert probability_of_links(links, records) == pytest.approx(expected, rel=1e-15)


def test_many_records():
    assert probability_of_at_least(3, 1_000_000) == pytest.approx(1 - 2.5 / math.e, rel=1e-14)
    assert probability_of_at_least(5000, 10_000) == 0.0


@pytest.mark.parametrize(
    ("links", "records", "message"),
    [
        (0, 0, "a random matching of 0 records has no probabilities; give at least one"),
        (-1, 4, "-1 links of 4 records are impossible; give 0 to 4"),
        (5, 4, "5 links of 4 records are impossible; give 0 to 4"),
    ],
)
def test_what_has_no_probability(links, records, message):
    for probability in (probability_of_links, probability_of_at_least):
        with pytest.raises(UsageError) as caught:
            probability(links, records)
        assert str(caught.value) == message


def task(queries, candidates, seed=0):
    return LinkageTask(
        pd.DataFrame({"a": np.zeros(queries)}),
        pd.DataFrame({"b": np.zeros(candidates)}),
        ("a",),
        ("b",),
        Schema((Attribute("a", scale=Scale.NUMERIC), Attribute("b", scale=Scale.NUMERIC))),
        seed=seed,
    )


@pytest.mark.parametrize(("queries", "candidates"), [(6, 6), (4, 9), (9, 4)])
def test_everybody_gets_one_and_nobody_two_before_all_are_taken(queries, candidates):
    matrix = score_matrix(RandomMatching().learn(task(queries, candidates)), queries, candidates)
    assert (matrix.sum(axis=1) == 1.0).all()
    taken = matrix.sum(axis=0)
    assert taken.max() - taken.min() <= 1.0


def test_links_follow_the_exact_probabilities():
    truth = Truth.of(np.arange(5), 5)
    counts = np.zeros(6)
    for seed in range(2000):
        linker = RandomMatching().learn(task(5, 5, seed))
        linked = judge(linker, truth).count
        assert linked == (hungarian(score_matrix(linker, 5, 5)) == np.arange(5)).sum()
        counts[linked] += 1
    expected = [2000 * probability_of_links(links, 5) for links in range(6)]
    spread = [math.sqrt(max(count, 1.0)) for count in expected]
    assert (np.abs(counts - expected) <= 4 * np.array(spread)).all()


def test_the_seed_decides():
    first, again, other = (RandomMatching().learn(task(50, 50, seed)) for seed in (3, 3, 4))
    everyone = np.arange(50)
    assert (first.scores(everyone) == again.scores(everyone)).all()
    assert (first.scores(everyone) != other.scores(everyone)).any()
    restored = RandomMatching.restored(first.parameters, task(50, 50, 9))
    assert (restored.scores(everyone[7:9]) == first.scores(everyone)[7:9]).all()
    with pytest.raises(UsageError, match="not parameters of random: they need a seed"):
        RandomMatching.restored({}, task(50, 50))


def test_no_candidates():
    with pytest.raises(UsageError, match="no candidate to draw"):
        RandomMatching().learn(task(3, 0))
