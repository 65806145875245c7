"""The clock of a run or a solve: time, memory, and the wish to stop."""

from __future__ import annotations

import math
import pickle
from types import SimpleNamespace

import pytest

from linkrisk.solver.run.clock import Beside, Clock, Limit, resident_megabytes, usable_megabytes
from linkrisk.solver.run.interruption import Cancel


def test_time_and_the_wish_to_stop():
    clock = Clock(None)
    assert clock.remaining is None
    assert not clock.expired
    assert clock.limit is None
    assert clock.share(0.5, 3.0) == pytest.approx(clock.seconds + 3.0, abs=0.1)
    clock.stop()
    assert clock.expired
    assert clock.limit is Limit.USER
    late = Clock(1e-9)
    assert late.expired
    assert late.remaining == 0.0
    assert late.limit is Limit.TIME
    assert Clock(10.0).share(0.2, 20.0) == pytest.approx(2.0, abs=0.1)


def test_a_clock_without_limit_never_ends():
    assert Clock(None).time_left == math.inf
    assert Clock(0.0).time_left == 0.0
    assert 0 < Clock(10.0).time_left <= 10.0


def test_the_clock_looks_at_the_memory_of_the_process(monkeypatch):
    held = resident_megabytes()
    assert 20.0 < held < 100_000.0
    assert not Clock(None, 1e9).expired
    assert Clock(None, held / 2).expired
    assert Clock(None, held / 2).limit.value == "memory"
    monkeypatch.setattr("linkrisk.solver.run.clock._LOOK_AT_MEMORY", 0.0)
    clock = Clock(None, 500.0)
    for megabytes, expired in ((100.0, False), (501.0, True), (100.0, True)):
        monkeypatch.setattr(
            "linkrisk.solver.run.clock.resident_megabytes", lambda megabytes=megabytes: megabytes
        )
        assert clock.expired is expired  # for good: freed memory would be taken again
    clock.stop()
    assert clock.limit.value == "user"


@pytest.mark.parametrize(
    ("most", "held", "expected"),
    [
        (None, None, 800.0),  # no container
        ("max", "5000000", 800.0),  # one without a limit
        ("600000000", "100000000", 400.0),
        ("600000000", "700000000", 0.0),
    ],
)
def test_who_names_no_memory_limit_gets_most_of_what_is_free(most, held, expected, tmp_path, monkeypatch):
    """What is free is what the system has, or the container if that has less."""
    free = SimpleNamespace(available=1_000_000_000)
    monkeypatch.setattr("linkrisk.solver.run.clock.psutil.virtual_memory", lambda: free)
    monkeypatch.setattr("linkrisk.solver.run.clock._CGROUP", tmp_path)
    if most is not None:
        (tmp_path / "memory.max").write_text(most)
        (tmp_path / "memory.current").write_text(held)
    assert usable_megabytes() - resident_megabytes() == pytest.approx(expected, abs=20.0)


def test_what_is_left_to_others_ends_a_run_sooner(virtual_time):
    del virtual_time
    clock = Clock(10.0)
    clock.leave(4.0)
    clock.reserve(1.0)
    assert (clock.ends, clock.latest, clock.deadline) == (6.0, 5.0, 5.0)
    assert Beside(clock).ends == 6.0
    while not clock.expired:
        pass
    assert 5.0 <= clock.seconds < 5.5


def test_a_clock_goes_along_to_another_process():
    clock = Clock(60.0, spent=5.0, work_limit=2.0, cancel=Cancel())
    clock.spend(7.0)
    clock.stop()
    copy = pickle.loads(pickle.dumps(clock))
    assert copy.seconds >= 5.0
    assert (copy.time_limit, copy.work_limit, copy.operations) == (60.0, 2.0, 7.0)
    assert not copy.stopped
    copy.spend(1.0)
    assert copy.operations == 8.0
