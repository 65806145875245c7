"""Running an optimiser in a thread of its own, so that the calling thread can watch it and stop it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from linkrisk.solver.backends.base import BackendProgress, Watcher

TICK = 0.1
"""Seconds between two looks at the progress."""

NOTHING_KNOWN = BackendProgress(math.inf, -math.inf)
"""Progress before the first solution and the first bound."""


def run_in_background(
    run: Callable[[], None],
    *,
    stop: Callable[[], None] | None = None,
    progress: Callable[[], BackendProgress] = lambda: NOTHING_KNOWN,
    watch: Watcher | None = None,
) -> None:
    """Call `run` in another thread and wait for it, reacting to Ctrl-C and to `watch`.

    Ctrl-C once, or `watch` answering True, calls `stop` and waits for the run to end by itself. Ctrl-C
    again, or once when there is no `stop`, raises `KeyboardInterrupt` and abandons the run. Exceptions
    of `run` are raised here; an exception of `watch` stops the run and is raised when it has ended.

    Parameters
    ----------
    run : callable
        Blocks until the optimiser ends; must release the interpreter's lock while it works.
    stop : callable, optional
        Asks the optimiser to end; called on the calling thread.
    progress : callable, optional
        The latest progress.
    watch : callable, optional
        Called on the calling thread every tenth of a second; has an effect only with a `stop`.
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
            if stop is not None and watch is not None and watch(progress()):
                stop()
                done.wait()
    except BaseException as error:
        if stop is None:
            raise
        stop()
        done.wait()
        if not isinstance(error, KeyboardInterrupt):
            raise
    thread.join()
    if failure:
        raise failure[0]
