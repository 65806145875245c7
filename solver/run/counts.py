"""Counts as a reader wants them."""

from __future__ import annotations

MINUS = "\N{MINUS SIGN}"


def persons(value: float) -> str:
    """Write a sum of sampling weights: whole persons, as nobody is a part of one."""
    return count(round(value))


def count(value: float) -> str:
    """Write a count: ``12,345``; with one or two decimals when it is not whole, as expected links may be."""
    text = f"{int(value):,}" if value == int(value) else f"{value:,.2f}".rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def several(many: int, what: str, plural: str | None = None) -> str:
    """A number with its noun, whose `plural` may be another than with an s."""
    return f"{count(many)} {what if many == 1 else plural or what + 's'}"
