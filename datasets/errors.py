"""The error that everything which reads, checks or masks data raises on bad input."""

from linkrisk.errors import LinkriskError


class DataError(LinkriskError):
    """Data that cannot be used; the message says what, where and how to fix it, in one line."""


class NotANumberError(DataError):
    """A cell that should be a number and is not."""
