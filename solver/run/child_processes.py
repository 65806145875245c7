"""Starting processes: Ctrl-C is for the parent alone, and the user's script is not run again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
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


@contextlib.contextmanager
def children_allowed() -> Iterator[None]:
    """Let a daemon, such as a worker of Dask, start a process.

    `multiprocessing` refuses that: a daemon may be killed, and its children would be left behind. Ours end by
    `end_with_parent`.
    """
    config: dict[str, object] = getattr(multiprocessing.current_process(), "_config", {})
    daemon = config.pop("daemon", None)
    try:
        yield
    finally:
        if daemon is not None:
            config["daemon"] = daemon


def end_with_parent() -> None:
    """End this process, and those that it has started, as soon as its parent is gone."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()
