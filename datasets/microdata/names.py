"""Lists of column names as one text, read and written like one row of a CSV file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from linkrisk.datasets.errors import DataError

_NAME = re.compile(r'\s*+(?:"(?P<quoted>(?:[^"]|"")*)"\s*|(?P<plain>[^,"][^,]*)?)(?P<end>,|$)')
"""A name in double quotes, inside which a double quote is written twice, or one without; and what ends it."""


def parse_names(text: str) -> tuple[str, ...]:
    """Read column names separated by commas; one that has a comma itself stands in double quotes.

    Parameters
    ----------
    text : str
        Such as ``age,"income, gross"``. Blanks around names do not count, except inside quotes, where
        a double quote is written twice.

    Returns
    -------
    tuple of str

    Raises
    ------
    DataError
        If a name is empty or a quote is not closed.
    """
    names, at = [], 0
    while True:
        found = _NAME.match(text, at)
        if found is None:
            raise DataError(
                f"{text!r} is not a list of names; write names separated by commas, one with a comma in "
                "double quotes"
            )
        quoted, plain = found.group("quoted"), found.group("plain")
        name = quoted.replace('""', '"') if quoted is not None else (plain or "").strip()
        if not name:
            raise DataError(f"{text!r} has an empty attribute name; write names separated by single commas")
        names.append(name)
        if not found.group("end"):
            return tuple(names)
        at = found.end()


def shown_name(name: str) -> str:
    """A column name as `parse_names` reads it: in double quotes where it needs them."""
    if "," in name or name.startswith('"') or name != name.strip() or not name:
        return '"' + name.replace('"', '""') + '"'
    return name


def shown_names(names: Iterable[str], separator: str = ", ", most: int | None = None) -> str:
    """Column names as `parse_names` reads them; of more than `most` the first ones and how many there are."""
    listed = [shown_name(name) for name in names]
    if most is None or len(listed) <= most:
        return separator.join(listed)
    return f"{separator.join(listed[:most])}{separator}... ({len(listed)} in all)"
