"""Doing work in a thread within its limits: its answer, its failure, or what it has when it does not end."""

from __future__ import annotations

import math
import threading

import pytest

from linkrisk.solver.run import limits
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.limits import in_time, last_call, memory_errors, still_working


class Work:
    """Work of any kind: `do` calls what it is given."""

    def __init__(self, do):
        self.do = do

    def so_far(self):
        return "what there is"


def test_work_that_ends_gives_its_answer():
    assert in_time(Work(lambda: "all of it"), Clock(None)) == "all of it"
    assert in_time(Work(lambda: None), Clock(None)) is None


def test_what_goes_wrong_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        in_time(Work(lambda: 1 / 0), Clock(None))


def test_work_that_does_not_notice_the_user_is_left_behind(monkeypatch):
    monkeypatch.setattr(limits, "GRACE", 0.0)
    monkeypatch.setattr(limits, "_LONGER", 0.0)
    clock, release = Clock(None), threading.Event()

    def deaf():
        clock.stop()
        release.wait()

    try:
        assert in_time(Work(deaf), clock) == "what there is"
        assert still_working()
    finally:
        release.set()
    limits._unfinished[-1].join()
    assert not limits._unfinished[-1].is_alive()


def test_memory_that_cannot_be_had_is_a_limit():
    clock = Clock(None)
    with memory_errors(clock):
        raise MemoryError
    assert clock.limit.value == "memory"


def test_the_last_look_ends_soon_after_a_limit_and_never_without_one():
    assert last_call(Clock(None)) == math.inf
    assert 10.0 < last_call(Clock(10.0)) < 11.0
    assert 1000.0 < last_call(Clock(1000.0)) < 1003.0
    stopped = Clock(1000.0)
    stopped.stop()
    assert stopped.seconds < last_call(stopped) < 10.0
