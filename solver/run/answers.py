"""Whether a comparison has an answer at all: what is said where no row of it came back with anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from linkrisk.solver.run.status import Status

FAILED = "failed"
"""The status of a row that raised an error; its version says which."""


class Row(Protocol):
    """A line of a comparison."""

    @property
    def name(self) -> str:
        """What `--backends` calls it."""

    @property
    def status(self) -> str:
        """Its own claim."""

    @property
    def version(self) -> str:
        """Of the optimiser, or why it failed."""


def answered(status: str, *found: float | None) -> bool:
    """Whether one came back with a solution, a bound or an opinion; one that the user stopped need not."""
    if status == FAILED:
        return False
    return status != Status.NO_SOLUTION or any(one is not None for one in found)


def no_answer(rows: Sequence[Row], answers: Sequence[bool]) -> str | None:
    """Why there is no answer, in words; None where there is one."""
    if any(answers):
        return None
    if not rows:
        return "stopped before any of them was done"
    each = [
        f"{row.name} {f'failed ({row.version})' if row.status == FAILED else 'found nothing in its time'}"
        for row in rows
    ]
    return f"none of {len(rows)} answered: {', '.join(each)}"
