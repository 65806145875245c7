"""Running an optimiser in a thread of its own, so that the calling thread can watch it and stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from solver.backends.base import BackendProgress, Watcher

TICK = 0.1
"""Seconds between two looks at the progress."""


def run_in_background(
    run: Callable[[], None],
    stop: Callable[[], None],
    progress: Callable[[], BackendProgress],
    watch: Watcher | None,
) -> None:
    """Call `run` in another thread and wait for it, reacting to Ctrl-C and to `watch`.

    Ctrl-C once, or `watch` answering True, calls `stop` and waits for the run to end by itself. Ctrl-C
    again raises `KeyboardInterrupt` at once and abandons the run. Exceptions of `run` are raised here;
    an exception of `watch` stops the run and is raised when it has ended.

    Parameters
    ----------
    run : callable
        Blocks until the optimiser ends; must release the interpreter's lock while it works.
    stop : callable
        Asks the optimiser to end; may be called from any thread.
    progress : callable
        The latest progress.
    watch : callable, optional
        Called on the calling thread every tenth of a second.
    """
    done = threading.Event()
    failure: list[BaseException] = []

    def body() -> None:
        try:
            run()
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=body, name="optimiser", daemon=True)
    try:
        thread.start()
        while not done.wait(TICK):
            if watch is not None and watch(progress()):
                stop()
                done.wait()
    except KeyboardInterrupt:
        stop()
        done.wait()
    except BaseException:
        stop()
        done.wait()
        raise
    thread.join()
    if failure:
        raise failure[0]
