"""The errors that bad input raises, and what options are called in them: by whoever is asked, a caller's name.

A message names an option by `option`: to who calls a function it is a keyword, to who types a command a flag, to
who fills in a form the label of a field. Which of them is a matter of the process, said once by its face.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spelling = Callable[[str, Any], str]
"""Spells an option by its keyword, and its value where the message has one (None: no value)."""


class LinkriskError(ValueError):
    """Something that a user can mend; the message says what, where and how, in one line."""


def keyword(name: str, value: Any = None) -> str:
    """Spell an option as functions take it: ``k_additive``, ``row_by_row=True``, ``id='ROW'``."""
    return name if value is None else f"{name}={value!r}"


def flag(name: str, value: Any = None) -> str:
    """Spell an option as the command line takes it: ``--k-additive``, ``--row-by-row``, ``--id ROW``."""
    said = "--" + name.replace("_", "-")
    return said if value is None or value is True else f"{said} {value}"


class _Face:
    """How options are spelled in this process."""

    spelling: Spelling = staticmethod(keyword)


def option(name: str, value: Any = None) -> str:
    """Spell an option, with a value or without, as whoever runs this process knows it."""
    return _Face.spelling(name, value)
