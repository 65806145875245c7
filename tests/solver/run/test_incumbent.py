"""The incumbent, whoever brings what is better; what runs say to the logger."""

from __future__ import annotations

import logging
import threading
from itertools import pairwise

import numpy as np
import pytest
from fit_runs import frames
from hypothesis import given
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import PROVEN, Incumbent, Sense
from linkrisk.solver.run.progress import Progress

both = pytest.mark.parametrize("sense", Sense)
numbers = st.integers(-50, 50).map(float)


def incumbent(sense=Sense.MAXIMISE, *, report=None):
    worst = -100.0 * sense.value
    return Incumbent(Clock(None), "none", worst, -worst, report, sense=sense)


@both
@given(values=st.lists(numbers), bounds=st.lists(numbers))
def test_the_best_value_and_the_sharpest_bound_are_kept(sense, values, bounds):
    made = incumbent(sense)
    for at, value in enumerate(values):
        best = made.value
        improved = made.improve(at, value)
        assert improved == (sense.value * value > sense.value * best)
    for bound in bounds:
        made.tighten(bound)
    best, sharpest = (max, min) if sense is Sense.MAXIMISE else (min, max)
    assert made.value == best([-100.0 * sense.value, *values])
    assert made.bound == sharpest([100.0 * sense.value, *bounds])
    assert made.solution == (values.index(made.value) if values else "none")
    assert made.gap == sense.value * (made.bound - made.value)
    assert made.proven == (made.gap <= PROVEN)
    assert made.refuted == (made.gap < -PROVEN)
    # Every line of the trace is better than the one before, in one of the two.
    lines = [(-100.0 * sense.value, 100.0 * sense.value), *(line[1:] for line in made.trace)]
    for before, after in pairwise(lines):
        gained = sense.value * (after[0] - before[0]), sense.value * (before[1] - after[1])
        assert min(gained) == 0.0 < max(gained)


def test_the_tolerance_says_when_value_and_bound_meet():
    for gap, proven in ((0.4, True), (0.5, True), (0.6, False), (-3.0, True)):
        made = Incumbent(Clock(None), None, 1.0, 1.0 + gap, tolerance=0.5)
        assert made.proven is proven
        assert made.refuted is (gap < -0.5)


def test_an_equal_solution_is_taken_where_asked_and_is_no_improvement():
    made = incumbent()
    assert made.improve("first", 1.0)
    assert not made.improve("second", 1.0)
    assert made.solution == "first"
    assert not made.improve("third", 1.0, even=True)
    assert made.solution == "third"
    assert not made.improve("worse", 0.5, even=True)
    assert (made.solution, len(made.trace)) == ("third", 1)


def test_what_is_handed_in_may_change_afterwards_and_a_frozen_copy_stays_as_it_is():
    made, given_in = incumbent(), np.zeros(1)
    made.improve(given_in, 1.0)
    given_in[0] = 7.0
    assert made.solution[0] == 0.0
    copied = made.frozen()
    made.improve(np.ones(1), 2.0)
    made.tighten(3.0)
    made.solution[0] = 9.0
    assert (copied.value, copied.bound, copied.solution[0], len(copied.trace)) == (1.0, 100.0, 0.0, 1)


def test_the_reporter_is_told_every_improvement_and_the_phase():
    seen: list[Progress] = []
    made = incumbent(report=seen.append)
    made.phase = "attack"
    made.improve("a", 1.0)
    made.improve("b", 0.0)
    made.phase, made.work = "prove", "12 nodes"
    made.tighten(200.0)
    made.tighten(5.0)
    assert [(p.value, p.bound, p.phase, p.work) for p in seen] == [
        (1.0, 100.0, "attack", ""),
        (1.0, 5.0, "prove", "12 nodes"),
    ]
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)


def test_threads_may_write_at_once():
    made, ready = incumbent(), threading.Barrier(4)

    def write(thread):
        ready.wait()
        for step in range(500):
            value = (step * 7919 + thread * 104729) % 5000 / 100.0
            made.improve(value, value)
            made.tighten(100.0 - value)

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [
        (step * 7919 + thread * 104729) % 5000 / 100.0 for thread in range(4) for step in range(500)
    ]
    assert made.solution == made.value == max(everything)
    assert made.bound == 100.0 - max(everything)
    assert [line[1] for line in made.trace] == sorted(line[1] for line in made.trace)
    assert [line[2] for line in made.trace] == sorted((line[2] for line in made.trace), reverse=True)


# ---------------------------------------------------------------- logging


def said(caplog, level):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_phases_improvements_and_the_end(caplog):
    # A search that an earlier test has not waited for may still have something to say, and start threads:
    # what is said before the first phase of this one does not count. The threads themselves, not their
    # numbers: a new one may get the number of one that has ended meanwhile.
    others = set(threading.enumerate()) - {threading.current_thread()}
    with (
        caplog.at_level(logging.DEBUG, logger="linkrisk"),
        caplog.filtering(lambda _: threading.current_thread() not in others),
    ):
        result = fit(*frames(0, 60, noise=0.8), aggregator="choquet", work_limit=0.02)
    assert result.limit == "work"
    informed = said(caplog, logging.INFO)
    first = next(at for at, text in enumerate(informed) if text.endswith(" s: compare"))
    assert any(text.endswith(" s: branch and cut") for text in informed[first:])
    assert any(text.endswith("work: the limit is 0.02 units") for text in informed[first:])
    improvements = [text.partition(": value ")[2] for text in said(caplog, logging.DEBUG)]
    trace = [f"{linked:g}, bound {bound:g}" for _, linked, bound in result.details["trace"]]
    assert len(trace) > 2
    assert set(trace) <= set(improvements)
    assert all(record.name.startswith("linkrisk.") for record in caplog.records)
