"""Work that is counted instead of seconds: the clock's measure, and what depends on nothing else."""

from __future__ import annotations

import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.run.clock import Clock, Limit, Limits
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.work import UNIT


@given(parts=st.lists(st.floats(0.0, 3.0), max_size=8), limit=st.floats(0.5, 5.0))
def test_a_work_limit_is_reached_by_work_alone(parts, limit):
    clock, done = Clock(None, work_limit=limit), 0.0
    for part in parts:
        clock.spend(part * UNIT)
        done += part
        assert clock.now == pytest.approx(done)
        assert clock.remaining == pytest.approx(max(0.0, limit - done))
        assert clock.expired is (clock.now >= limit)
        assert clock.limit is (Limit.WORK if clock.expired else None)
        assert clock.share(0.5, 1.0) == pytest.approx(done + min(1.0, 0.5 * max(0.0, limit - done)))
    assert clock.time_left == math.inf
    assert clock.seconds_left is None


@pytest.mark.usefixtures("still_time")
def test_without_a_work_limit_work_is_nothing():
    clock = Clock(10.0)
    clock.spend(1e6 * UNIT)
    assert clock.now < 1.0
    assert not clock.expired
    assert clock.limit is None


def test_a_time_limit_beside_it_ends_the_run_too():
    clock = Clock(1e-9, work_limit=5.0)
    assert clock.expired
    assert clock.limit is Limit.TIME
    assert clock.remaining == 5.0  # what decides how to go on is work
    assert clock.seconds_left == 0.0


def test_what_is_counted_for_a_part_counts_for_the_whole():
    whole = Clock(None, work_limit=4.0)
    whole.spend(UNIT)
    part = whole.part(2.0)
    part.spend(2.0 * UNIT)
    assert (part.now, part.expired, whole.now, whole.expired) == (2.0, True, 3.0, False)


def test_nothing_of_the_machine_decides(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)))
    counted, timed = Clock(None, 1e9, work_limit=1.0), Clock(None, 1e9)
    assert (counted.threads, timed.threads) == (1, 64)
    before = counted.megabytes_left
    monkeypatch.setattr("linkrisk.solver.run.clock.resident_megabytes", lambda: 5e8)
    assert counted.megabytes_left == before
    assert timed.megabytes_left == 5e8


def test_threads_may_count_at_once():
    clock = Clock(None, work_limit=1e9)

    def count():
        for _ in range(1000):
            clock.spend(UNIT)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clock.now == 4000.0


def test_a_token_stops_every_clock_that_it_is_given_to():
    cancel = Cancel()
    clocks = [Limits(cancel=cancel).clock(), Clock(None, cancel=cancel), Clock(9.0, cancel=cancel).part(1.0)]
    assert not any(clock.expired for clock in clocks)
    assert repr(cancel) == "Cancel(not cancelled)"
    cancel.cancel()
    cancel.cancel()
    assert [clock.limit for clock in clocks] == [Limit.USER] * 3
    assert Clock(None).limit is None
    assert repr(cancel) == "Cancel(cancelled)"


def test_why_a_run_has_ended_in_words():
    clock = Clock(None, work_limit=2.5)
    assert clock.why == "no limit"
    clock.spend(3.0 * UNIT)
    assert clock.why == "work: the limit is 2.5 units"
    clock.run_out_of_memory()
    assert clock.why.startswith("memory: ")
    clock.stop()
    assert clock.why == "the user asked to stop"
    assert Clock(1e-9).why == "time: the limit is 1e-09 s"
