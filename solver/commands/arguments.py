"""Arguments that commands share whose options are not declared yet, and how they are read."""

from __future__ import annotations

import math

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import parse_names
from linkrisk.solver.run.errors import UsageError


def names(text: str | None, option: str) -> list[str] | None:
    """Column names separated by commas, where one that has a comma stands in double quotes."""
    try:
        return None if text is None else list(parse_names(text))
    except DataError as error:
        raise UsageError(f"{option}: {error}") from None


def words(text: str | None) -> list[str] | None:
    """A list separated by commas."""
    return None if text is None else [word.strip() for word in text.split(",")]


def limit(text: str, option: str) -> float | None:
    """A finite number, or 'none'."""
    return None if text == "none" else number(text, option)


def number(text: str, option: str) -> float:
    """A finite number; UsageError otherwise."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{option} must be a finite number, not '{text}'")
    return value


def whole_number(text: str | None, option: str) -> int | None:
    """A whole number; UsageError otherwise."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{option} must be a whole number, not '{text}'") from None
