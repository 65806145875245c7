"""What a user can fix: every error that ends a command with exit code 2 and one line."""

from __future__ import annotations

from linkrisk.datasets.errors import DataError
from linkrisk.formulations.errors import FormulationError


class UsageError(ValueError):
    """A request that cannot be carried out as given; the message says what, where and how to fix it."""


class CancelledError(RuntimeError):
    """A run was cancelled that has nothing to show before its end."""


INPUT_ERRORS = (UsageError, DataError, FormulationError)
