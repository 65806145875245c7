"""Signal handlers of the program's start, which defer Ctrl-C and SIGTERM until an import is done."""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False  # that of `typing` takes milliseconds to import
if TYPE_CHECKING:
    from types import FrameType

_IMPORT = "<frozen importlib"


def hear_between_imports() -> None:
    """Raise `KeyboardInterrupt` of Ctrl-C and of SIGTERM where the program can catch it.

    Compiled modules that import others make errors of their own of it, or print it and go on.
    """
    raising = _BetweenImports()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else nobody is to hear it
        signal.signal(signal.SIGINT, raising)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _Terminated(raising))


class _Terminated:
    """What SIGTERM does, as batch queues, `timeout` and systemd send it: whatever Ctrl-C would do just now.

    Once: `timeout` sends it to the process and again to its group, and a second Ctrl-C would end a run
    without its answer.
    """

    def __init__(self, raising: _BetweenImports) -> None:
        self._raising, self._heard = raising, False

    def __call__(self, _: int, frame: FrameType | None) -> None:
        """Do it, also where Ctrl-C is not to be heard, as in the background of a script."""
        if not self._heard:
            self._heard = True
            handler = signal.getsignal(signal.SIGINT)
            (handler if callable(handler) else self._raising)(signal.SIGINT, frame)


class _BetweenImports:
    """What Ctrl-C does: at once, or when the import in hand is done; a second one does not wait."""

    def __init__(self) -> None:
        self._waiting = False

    def __call__(self, _: int, frame: FrameType | None) -> None:
        """Raise it, or wait."""
        if self._waiting or not _importing(frame):
            self._raise()
        self._waiting = True
        sys.setprofile(self._returned)  # is told of all that returns, and so of the import

    def _returned(self, frame: FrameType, event: str, _: object) -> None:
        if event == "return" and _of_import(frame) and not _importing(frame.f_back):
            self._raise()

    def _raise(self) -> None:
        sys.setprofile(None)
        self._waiting = False
        raise KeyboardInterrupt


def _of_import(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_IMPORT)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if _of_import(frame):
            return True
        frame = frame.f_back
    return False
