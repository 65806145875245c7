"""From whom the sensitive cells of a table are protected, in words that are true of what was looked at."""

from __future__ import annotations

AS_FAR = "as far as they can be kept from them"
"""What holds against insiders where no pattern reaches all levels."""


def known_on_grid(cells: str, step: float) -> str:
    """Say that so many cells are known to whoever knows in which steps values come."""
    return f"{cells} known exactly to whoever knows that all values are multiples of {step:.10g}"


def not_looked_at(why: str) -> str:
    """Say that respondents who are alone in a cell were not looked at, and why."""
    return f"respondents of single cells were not looked at, because {why}"
