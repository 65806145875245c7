"""From whom the sensitive cells of a table are protected, in words that are true of what was looked at."""

from __future__ import annotations

AS_FAR = "as far as they can be kept from them"
"""What holds against insiders where no pattern reaches all levels."""


def not_looked_at(why: str) -> str:
    """Say that respondents who are alone in a cell were not looked at, and why."""
    return f"respondents of single cells were not looked at, because {why}"
