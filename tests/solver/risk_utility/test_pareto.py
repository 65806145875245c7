"""The front with certified intervals, against all values that the risks may have."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.risk_utility.results import Place, Point, places

FRONT, DOMINATED, OPEN = Place.FRONT, Place.DOMINATED, Place.OPEN


@st.composite
def small_maps(draw):
    """A few maskings whose risks and losses are small whole numbers, so that many of them are equal."""
    ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
    found = draw(st.lists(st.tuples(ends, st.integers(0, 2)), min_size=1, max_size=4))
    return [Point(low, high, loss) for (low, high), loss in found]


def dominated(at, risks, losses):
    return any(
        risks[k] <= risks[at] and losses[k] <= losses[at] and (risks[k] < risks[at] or losses[k] < losses[at])
        for k in range(len(risks))
    )


@given(small_maps())
def test_against_all_values_of_the_risks(points):
    """The ends and whole numbers between them are enough: only the order of the risks matters."""
    losses = [point.loss for point in points]
    values = [sorted({point.low, point.high, *range(point.low, point.high + 1)}) for point in points]
    found = [{dominated(at, risks, losses) for risks in product(*values)} for at in range(len(points))]
    expected = [{True: DOMINATED, False: FRONT}[one.copy().pop()] if len(one) == 1 else OPEN for one in found]
    assert places(points) == expected


def test_by_hand():
    assert places([]) == []
    assert places([Point(0.2, 0.9, 1.0)]) == [FRONT]
    # The second costs more and links more for certain; the third is certain to link less than the first.
    assert places([Point(0.5, 0.5, 1.0), Point(0.6, 0.7, 2.0), Point(0.1, 0.2, 3.0)]) == [
        FRONT,
        DOMINATED,
        FRONT,
    ]
    # Intervals that overlap leave it open which of the two dominates.
    assert places([Point(0.4, 0.6, 1.0), Point(0.5, 0.7, 2.0)]) == [FRONT, OPEN]
    # Two that are alike dominate nobody.
    assert places([Point(0.5, 0.5, 1.0), Point(0.5, 0.5, 1.0)]) == [FRONT, FRONT]
