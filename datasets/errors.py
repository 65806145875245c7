"""The error that everything which reads, checks or masks data raises on bad input."""

from pathlib import Path

from linkrisk.errors import LinkriskError


class DataError(LinkriskError):
    """Data that cannot be used; the message says what, where and how to fix it, in one line.

    Examples
    --------
    >>> import linkrisk
    >>> try:
    ...     linkrisk.describe("no such file.csv")
    ... except linkrisk.DataError as error:
    ...     print(error)
    no such file.csv cannot be read: there is no such file
    """


class NotANumberError(DataError):
    """A cell that should be a number and is not."""


def read_bytes(path: str | Path, called: str = "", option: str | None = None) -> bytes:
    """Read a file, `called` in messages what it is there if not its path; a DataError where that fails."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{called or path} cannot be read: {reason}", option=option) from error
