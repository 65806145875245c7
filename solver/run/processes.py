"""Start processes, measure their memory, and end them with their parent."""

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
from pathlib import Path

import psutil


@contextlib.contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while a process is started, which inherits the mask; deliver it here afterwards.

    The mask alone does not protect this process: the system delivers the signal to any thread that does not
    block it, and the main thread then handles it.
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
    """Block Ctrl-C in this thread and the processes that it starts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # The resource tracker starts with the first process, and unblocks Ctrl-C.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def main_module_hidden() -> Iterator[None]:
    """Keep a child process from running the user's script again, as `multiprocessing` would.

    The child does not need it; and a script without ``if __name__ == "__main__"`` would solve again in the
    child.
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

    `multiprocessing` refuses that, because children of a killed daemon would survive. Ours end by
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
    """End this process and its children as soon as its parent is gone."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()


TICK = 0.05
"""Seconds between two measurements of child programs: fewer cost less, and miss short peaks."""

PROCESSES = Path("/proc")


class MemoryWatch:
    """Tracks the peak memory of a process from outside, for when it cannot report any more.

    On Linux ``/proc`` has the peak since the process image began, elsewhere psutil the current size; child
    programs are measured only while `look` is called.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._own = self._started = 0

    def look(self) -> int:
        """Return the peak so far in bytes: the process plus its largest child program; 0 if unknown."""
        name = str(self._process)
        if _in_proc(name):
            own, started = peak_of(name), [peak_of(each) for each in started_programs(name)]
        else:
            own, started = _held_now(self._process)
        self._own, self._started = max(self._own, own), max([self._started, *started])
        return self._own + self._started


class MemoryMeter(MemoryWatch):
    """Tracks the peak memory of this process and its child programs until `peak` is called.

    The figure of `resource.getrusage` is used only where there is no ``/proc``: on Linux it survives `exec`,
    so that a small child of a large parent looks large.
    """

    def __init__(self) -> None:
        super().__init__(os.getpid())
        self._stop = threading.Event()
        threading.Thread(target=self._watch, name="memory meter", daemon=True).start()

    def peak(self) -> int:
        """Return the peak in bytes: this process plus its largest child program; 0 if unknown."""
        self._stop.set()
        return self.look() if _in_proc("self") else _peak_from_usage()

    def _watch(self) -> None:
        while not self._stop.wait(TICK):
            self.look()


def peak_of(process: str) -> int:
    """Read the peak resident memory of a process in bytes; 0 where ``/proc`` does not have it."""
    with contextlib.suppress(OSError):
        for line in (PROCESSES / process / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def started_programs(process: str) -> list[str]:
    """List the running child processes of this one."""
    found: list[str] = []
    with contextlib.suppress(OSError):  # the process, or one of its threads, may have ended
        for thread in (PROCESSES / process / "task").iterdir():
            with contextlib.suppress(OSError):
                found += (thread / "children").read_text().split()
    return found


def _in_proc(process: str) -> bool:
    return (PROCESSES / process / "status").exists()


def _held_now(process: int) -> tuple[int, list[int]]:
    """Measure the resident bytes of a process and of each of its child programs, on any system."""
    with contextlib.suppress(psutil.Error):
        asked = psutil.Process(process)
        children = asked.children(recursive=True)
        return int(asked.memory_info().rss), [int(child.memory_info().rss) for child in children]
    return 0, []


def _peak_from_usage() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return int(own + started) * unit
