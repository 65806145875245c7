"""What the application calls options in messages: by the labels of its fields."""

from __future__ import annotations

from typing import Any

from linkrisk.errors import plain
from linkrisk.solver.run.flags import flag

LABELS = {
    "decimal": "Before decimals",
    "thousands": "Between thousands",
    "drop": "Columns left out",
    "renumber": "Ids that get new numbers",
    "seed": "Seed",
}
"""Labels of fields that are called otherwise than the option."""


def label(name: str, value: Any = None) -> str:
    """Spell an option as the form shows it; one without a field as a command does, as commands are shown."""
    shown = LABELS.get(name) or (name if name in _of_methods() else None)
    if shown is None:
        return flag(name, value)
    return f"'{shown}'" if value is None or value is True else f"'{shown}' set to {plain(value)!r}"


def _of_methods() -> set[str]:
    """Parameters of masking methods, whose fields have their names; a schema is not asked for there."""
    from linkrisk.datasets.masking.registry import METHODS

    return {key for method in METHODS.values() for key in method.parameters} - {"schema"}
