"""Interrupt a run with what it has: by Ctrl-C, or by a token that other threads hold."""

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
    >>> from linkrisk import Cancel, fit
    >>> cancel = Cancel()
    >>> button.on_click(cancel.cancel)  # doctest: +SKIP
    >>> result = fit("original.csv", "masked.csv", cancel=cancel)  # doctest: +SKIP
    >>> result.status, result.limit  # doctest: +SKIP
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
    """A token that Ctrl-C cancels, or the token of the caller."""

    def __init__(self, outer: Cancel | None) -> None:
        super().__init__()
        self._outer = outer

    def stop(self) -> None:
        """What Ctrl-C does."""
        self.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether either was used."""
        return super().cancelled or (self._outer is not None and self._outer.cancelled)


class Stoppable(Protocol):
    """What can be asked to stop, such as a clock."""

    def stop(self) -> None:
        """Stop soon."""


Handler = Callable[[int, FrameType | None], Any] | int | None
"""What Python calls when a signal comes, as `signal.getsignal` gives it."""


@contextmanager
def interruptible(run: Stoppable) -> Iterator[None]:
    """Let the first Ctrl-C ask the run to stop with what it has; a second one is not caught.

    One that `hold_interrupt` has held back for it stops it at once. A run that is a part of another stops
    both. Where no signal can be caught, as in another thread,
    a run goes on until its limits or `Cancel` end it.
    """
    outer = signal.getsignal(signal.SIGINT)
    if outer is None:  # a handler of another language, that cannot be put back
        yield
        return
    held = outer if isinstance(outer, _Held) else None
    stop = _Stop(run, outer if held is None else held.before)
    try:
        signal.signal(signal.SIGINT, stop)
    except ValueError:  # this is not the main thread, which alone is told of signals
        yield
        return
    outer = stop.outer  # what was held back is handed on, once
    if held is not None and held.heard:
        stop(signal.SIGINT, None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, outer)


class _Stop:
    """What the first Ctrl-C does."""

    def __init__(self, run: Stoppable, outer: Handler) -> None:
        self._run, self.outer = run, outer

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Stop the run, and those that it is a part of."""
        self._run.stop()
        if isinstance(self.outer, _Stop):
            self.outer(signum, frame)
        else:
            signal.signal(signal.SIGINT, self.outer)


def hold_interrupt() -> None:
    """Keep the first Ctrl-C of a program for its search, which has not begun; a second one ends it.

    Without it, a stop that comes while libraries are imported and files are read would end the program
    without an interval. The next `interruptible` takes over.
    """
    before = signal.getsignal(signal.SIGINT)
    if callable(before):  # and not where a program is to pass over Ctrl-C
        signal.signal(signal.SIGINT, _Held(before))


class _Held:
    """What Ctrl-C does before there is a search."""

    def __init__(self, before: Handler) -> None:
        self.before, self.heard = before, False

    def __call__(self, *_: object) -> None:
        """Remember the first one."""
        if self.heard:
            raise KeyboardInterrupt
        self.heard = True


def end_with(code: int) -> None:
    """Let Ctrl-C end the process at once from now on, with this exit code: all is written, and nothing runs.

    Otherwise it would be a traceback from whatever Python does at its end.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, lambda *_: os._exit(code))
        # Python forgets handlers before its modules go.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def block_interrupt() -> None:
    """Let Ctrl-C wait, in this thread and in the processes that it starts, until `unblock_interrupt`."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def interrupt_blocked() -> bool:
    """Whether Ctrl-C waits: the process was started by `block_interrupt`."""
    return hasattr(signal, "pthread_sigmask") and signal.SIGINT in signal.pthread_sigmask(
        signal.SIG_BLOCK, ()
    )


def unblock_interrupt() -> None:
    """Hear Ctrl-C from now on, and one that has waited."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
