"""How the command line spells options: for commands, and for the application, which shows commands."""

from __future__ import annotations

from typing import Any

from linkrisk.errors import plain

_FLAGS = {
    "hierarchies": "--hierarchy",
    "methods": "--method",
    "passes": "--pass",
    "rules": "--rule",
    "tables": "--table",
    "totals": "--total",
}
"""Flags that are not spelled like their keywords, such as those that are given several times."""

_SWITCHED = {
    ("certificates", True): "--certificate FILE",
    ("counts", False): "--counts no",
    ("counts", True): "--counts yes",
}
"""What is said on the command line for values that are no words there."""


def flag(name: str, value: Any = None) -> str:
    """Spell an option as the command line takes it: ``--k-additive``, ``--row-by-row``, ``--id ROW``."""
    if isinstance(value, bool) and (name, value) in _SWITCHED:
        return _SWITCHED[name, value]
    said = _FLAGS.get(name, "--" + name.replace("_", "-"))
    if value is None or value is True:
        return said
    word = _word(value)
    between = "=" if word.lstrip("$'").startswith("-") else " "  # else it would be an option of its own
    return f"{said}{between}{word}"


def _word(value: Any) -> str:
    """A value as one word of a command line, which is read as it is."""
    from linkrisk.datasets.microdata.names import shell_name, shell_names, shown_pair

    value = plain(value)
    if isinstance(value, dict):
        return shell_name(",".join(shown_pair(one, other) for one, other in value.items()))
    return shell_names(value) if isinstance(value, list | tuple) else shell_name(str(value))
