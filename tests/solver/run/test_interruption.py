"""Asking a run to stop: Ctrl-C once, nested runs, and the token of another thread."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import hold_interrupt, interruptible


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
def test_what_was_pressed_before_the_run_stops_it_at_once():
    clock = Clock(None)
    press()
    with interruptible(clock):
        assert clock.stopped
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("held")
def test_what_was_not_pressed_stops_nothing():
    clock = Clock(None)
    with interruptible(clock):
        assert not clock.stopped
        press()
        assert clock.stopped
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("held")
def test_a_second_ctrl_c_before_the_run_ends_the_program():
    press()
    with pytest.raises(KeyboardInterrupt):
        press()


def test_other_threads_leave_signals_alone():
    done = []

    def run():
        with interruptible(Clock(None)):
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]
