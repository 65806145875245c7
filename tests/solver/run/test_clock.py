"""The clock of a run: time, memory, work, and the wish to stop; work within limits; Ctrl-C."""

from __future__ import annotations

import math
import os
import pickle
import signal
import threading
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.run import limits
from linkrisk.solver.run.clock import Beside, Clock, Limit, Limits, resident_megabytes, usable_megabytes
from linkrisk.solver.run.interruption import Cancel, hold_interrupt, interruptible
from linkrisk.solver.run.limits import in_time, last_call, memory_errors, still_working
from linkrisk.solver.run.work import UNIT


def test_time_and_the_wish_to_stop():
    clock = Clock(None)
    assert clock.remaining is None
    assert (clock.expired, clock.limit) == (False, None)
    assert clock.share(0.5, 3.0) == pytest.approx(clock.seconds + 3.0, abs=0.1)
    clock.stop()
    assert (clock.expired, clock.limit) == (True, Limit.USER)
    late = Clock(1e-9)
    assert (late.expired, late.remaining, late.limit) == (True, 0.0, Limit.TIME)
    assert Clock(10.0).share(0.2, 20.0) == pytest.approx(2.0, abs=0.1)


def test_the_clock_looks_at_the_memory_of_the_process(monkeypatch):
    held = resident_megabytes()
    assert 20.0 < held < 100_000.0
    assert not Clock(None, 1e9).expired
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


# ---------------------------------------------------------------- work


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


# ---------------------------------------------------------------- limits of work


class Work:
    def __init__(self, do):
        self.do = do

    def so_far(self):
        return "what there is"


def test_work_that_ends_gives_its_answer_or_what_went_wrong():
    assert in_time(Work(lambda: "all of it"), Clock(None)) == "all of it"
    assert in_time(Work(lambda: None), Clock(None)) is None
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


# ---------------------------------------------------------------- interruption


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_ctrl_c_asks_and_the_second_is_not_caught():
    clock = Clock(None)

    def press_twice():
        with interruptible(clock):
            assert not clock.stopped
            press()
            assert clock.stopped
            press()

    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_within_another_stops_both():
    outer, inner, other = Clock(None), Clock(None), Clock(None)
    with interruptible(outer):
        with interruptible(inner):
            press()
        assert (outer.stopped, inner.stopped) == (True, True)
        with interruptible(other):
            pass
        assert not other.stopped
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_caller_has_the_second_ctrl_c():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        clock = Clock(None)
        with interruptible(clock):
            press()
            assert (clock.stopped, pressed) == (True, [])
            press()
        assert pressed == [True]
        press()
        assert pressed == [True, True]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def held():
    hold_interrupt()
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.usefixtures("held")
def test_what_was_pressed_before_the_run_stops_it_at_once_and_a_second_time_ends_the_program():
    clock = Clock(None)
    press()
    with interruptible(clock):
        assert clock.stopped
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    hold_interrupt()
    press()
    with pytest.raises(KeyboardInterrupt):
        press()
