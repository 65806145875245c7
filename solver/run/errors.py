"""Define the errors that a user can fix: exit code 2 and one line."""

from __future__ import annotations

import logging

from linkrisk.errors import LinkriskError


class UsageError(LinkriskError):
    """A request that cannot be carried out as given; the message says what, where and how to fix it.

    Examples
    --------
    >>> import linkrisk
    >>> try:
    ...     linkrisk.fit(threads=0)
    ... except linkrisk.UsageError as error:
    ...     print(error)
    threads must be a whole number of at least 1, not 0
    """


class CancelledError(RuntimeError):
    """A run was cancelled that has nothing to show before its end.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> cancel = linkrisk.Cancel()
    >>> cancel.cancel()
    >>> try:
    ...     linkrisk.link(iris, masked, method="prl", cancel=cancel)
    ... except linkrisk.CancelledError as error:
    ...     print(error)
    the run was cancelled before there was a result
    """


_log = logging.getLogger(__name__)


def noted(error: Exception) -> str:
    """Describe why one part of a run, such as a measure or an optimiser, has failed; others continue.

    Cancellation, and warnings turned into errors, are raised again.
    """
    if isinstance(error, CancelledError | Warning):
        raise error
    if isinstance(error, LinkriskError):
        return str(error)
    if isinstance(error, MemoryError):
        return "memory ran out"
    _log.info("this part has failed, and the others go on", exc_info=error)
    said = " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").split())
    return f"it failed, which is a fault of linkrisk and not of the files ({said})"
