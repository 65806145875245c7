"""Interrupt a run, which then returns its incumbent: by Ctrl-C, or by a token from another thread."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol


class Cancel:
    """A token to end a run with, from another thread or from a function that the run calls.

    The run then ends as after Ctrl-C: with status ``interrupted``, limit ``user``, and an interval that
    holds. A token that has been used ends every run that it is given to.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> cancel = linkrisk.Cancel()
    >>> cancel.cancel()  # as a button would, while it runs
    >>> result = linkrisk.fit(iris, masked, cancel=cancel)
    >>> result.status, result.limit
    ('interrupted', 'user')
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """End the run, or the next one; what has been cancelled stays so."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` has been called."""
        return self._event.is_set()

    def __deepcopy__(self, memo: object) -> Cancel:
        """The token itself: a copy, such as that in the clone of an estimator, must be cancelled with it."""
        return self

    def __repr__(self) -> str:
        return f"Cancel({'cancelled' if self.cancelled else 'not cancelled'})"


class Halt(Cancel):
    """A token cancelled by Ctrl-C or by the caller's token."""

    def __init__(self, outer: Cancel | None) -> None:
        super().__init__()
        self._outer = outer

    def stop(self) -> None:
        """Cancel on Ctrl-C."""
        self.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether Ctrl-C or the caller cancelled."""
        return super().cancelled or (self._outer is not None and self._outer.cancelled)


class Stoppable(Protocol):
    """Interface of objects that can be stopped, such as a clock."""

    def stop(self) -> None:
        """Request to stop soon."""


Handler = Callable[[int, FrameType | None], Any] | int | None
"""Type of a Python signal handler, as returned by `signal.getsignal`."""


@contextmanager
def interruptible(run: Stoppable) -> Iterator[None]:
    """Turn the first Ctrl-C into a request to stop; a second one interrupts as usual.

    A Ctrl-C held by `hold_interrupt` stops the run at once. A nested run stops its parent as well. In threads
    other than the main one, which receive no signals, the run continues until its limits or `Cancel` end it.
    """
    outer = signal.getsignal(signal.SIGINT)
    if outer is None:  # a handler that was not installed from Python cannot be restored
        yield
        return
    held = outer if isinstance(outer, _Held) else None
    stop = _Stop(run, outer if held is None else held.before)
    try:
        signal.signal(signal.SIGINT, stop)
    except ValueError:  # only the main thread may install signal handlers
        yield
        return
    outer = stop.outer  # a held interrupt is delivered once
    if held is not None and held.heard:
        stop(signal.SIGINT, None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, outer)


class _Stop:
    """Handler of the first Ctrl-C."""

    def __init__(self, run: Stoppable, outer: Handler) -> None:
        self._run, self.outer = run, outer

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Stop the run and the runs around it."""
        self._run.stop()
        if isinstance(self.outer, _Stop):
            self.outer(signum, frame)
        else:
            signal.signal(signal.SIGINT, self.outer)


def hold_interrupt() -> None:
    """Hold the first Ctrl-C until the search begins; a second one ends the program.

    Otherwise an interrupt during imports or reading would end the program without an interval. The next
    `interruptible` takes over.
    """
    before = signal.getsignal(signal.SIGINT)
    if callable(before):  # not where the program ignores Ctrl-C
        signal.signal(signal.SIGINT, _Held(before))


class _Held:
    """Handler of Ctrl-C before the search."""

    def __init__(self, before: Handler) -> None:
        self.before, self.heard = before, False

    def __call__(self, *_: object) -> None:
        """Remember the first interrupt, and end the program on the second."""
        if self.heard:
            raise KeyboardInterrupt
        self.heard = True


def end_with(code: int) -> None:
    """Let Ctrl-C end the process with this exit code from now on, when all output is written.

    Otherwise Python would print a traceback at shutdown.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, lambda *_: os._exit(code))
        # Python resets handlers before it unloads modules
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def block_interrupt() -> None:
    """Block Ctrl-C in this thread and the processes that it starts, until `unblock_interrupt`."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def interrupt_blocked() -> bool:
    """Whether Ctrl-C is blocked, because the process was started under `block_interrupt`."""
    return hasattr(signal, "pthread_sigmask") and signal.SIGINT in signal.pthread_sigmask(
        signal.SIG_BLOCK, ()
    )


def unblock_interrupt() -> None:
    """Deliver Ctrl-C from now on, including a pending one."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
