"""Chances in floating point against whole numbers: what they tell is true, what is level is not told."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.worst_case.sampled.confidence import Design, upper_limit, upper_limit_of_sum


def exact(design: Design, having: int) -> dict[int, Fraction]:
    """The probability of each number in the sample."""
    terms, whole = design.terms(having)
    return {number: Fraction(ways) / Fraction(whole) for number, ways in terms}


@st.composite
def drawn(draw):
    records = draw(st.integers(1, 60))
    sample = draw(st.integers(1, records))
    share = draw(st.sampled_from([None, Fraction(sample, records), Fraction(sample, 2 * records)]))
    having = draw(st.integers(0, records))
    return Design(records, sample, share), having, draw(st.integers(0, sample))


@given(drawn(), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_what_is_told_of_a_count_is_true(case, alpha):
    design, having, found = case
    below = sum(chance for number, chance in exact(design, having).items() if number <= found)
    assert design.chances(having).few(found, alpha) in (None, below < alpha)


@given(drawn(), st.fractions(Fraction(1, 1000), Fraction(999, 1000)), st.fractions(0, 1))
def test_what_is_told_of_a_sum_is_true(case, alpha, part):
    design, having, found = case
    total = found + part
    chances = exact(design, having)
    contradicted = any(
        sum(chance * max(0, t - number) for number, chance in chances.items()) < alpha * (t - total)
        for t in range(design.chances(having).first + 1, max(chances) + 2)
        if t > total
    )
    assert design.chances(having).small(total, alpha) in (None, contradicted)


@given(drawn())
def test_what_is_level_is_not_told(case):
    design, having, found = case
    below = sum((chance for number, chance in exact(design, having).items() if number <= found), Fraction(0))
    if 0 < below < 1:
        assert design.chances(having).few(found, below) is None


@pytest.mark.parametrize("share", [None, Fraction(1, 2)])
def test_a_level_chance_is_decided_in_whole_numbers(share):
    """At the very chance of so few nothing is contradicted, a hair above it is."""
    design, having, found = Design(20, 10, share), 12, 3
    below = sum(chance for number, chance in exact(design, having).items() if number <= found)
    hair = Fraction(1, 10**30)
    assert upper_limit(design, found, below) >= having
    assert upper_limit(design, found, below + hair) < having


def test_large_samples_take_no_large_numbers():
    """Of a sample of a third of a million, whole numbers would take hours."""
    assert upper_limit(Design(1_000_000, 368_438), 0, Fraction(1, 20)) == 6  # (1 - 0.368)^7 is below 0.05
    half = upper_limit(Design(1_000_000, 500_000), 250_000, Fraction(1, 20))
    assert 500_500 < half < 501_000  # one standard error is 500, and 1.64 of them are allowed
    assert upper_limit_of_sum(Design(1_000_000, 500_000), Fraction(250_000), Fraction(1, 20)) > half
