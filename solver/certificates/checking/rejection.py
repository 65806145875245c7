"""What the verifier raises when a claim does not hold."""

from __future__ import annotations


class RejectedError(Exception):
    """A certificate with a false claim; the message says which check failed and where."""


def demand(holds: bool, message: str) -> None:
    """Reject the certificate with `message` unless the condition holds."""
    if not holds:
        raise RejectedError(message)
