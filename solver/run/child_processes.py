"""Starting processes: Ctrl-C is for the parent alone, and the user's script is not run again."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import types
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Hold Ctrl-C back: a process started meanwhile never sees it, this one sees it afterwards.

    The mask is for the child, which inherits it. Here it is not enough: the system hands the signal to any
    thread that does not block it, and the main thread then handles it.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        with _interrupt_blocked():
            yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        with _interrupt_blocked():
            yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread and in the processes that it starts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # Starts with the first process, and then unblocks Ctrl-C, whatever it was before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def main_module_hidden() -> Iterator[None]:
    """Keep a process started meanwhile from running the user's script again, as `multiprocessing` has it do.

    The child needs nothing of it; and a script without ``if __name__ == "__main__"`` would solve in the
    child once more.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
