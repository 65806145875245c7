"""Ctrl-C that waits until an import is done, from the first moment of the program on."""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False  # that of `typing` takes milliseconds to import
if TYPE_CHECKING:
    from types import FrameType

_IMPORT = "<frozen importlib"


def hear_between_imports() -> None:
    """Raise `KeyboardInterrupt` of Ctrl-C where the program can catch it.

    Compiled modules that import others make errors of their own of it, or print it and go on.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else nobody is to hear it
        signal.signal(signal.SIGINT, _BetweenImports())


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
