"""A statistical table as a block of a report: every cell with what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar


class CellState(StrEnum):
    """What became of a cell of a statistical table."""

    PUBLISHED = "published"
    FIXED = "fixed"
    SENSITIVE = "sensitive"
    SECONDARY = "secondary"
    SHORT = "short"
    GONE = "gone"
    UP = "up"
    DOWN = "down"
    ABSENT = "absent"


LETTERS = {
    CellState.SHORT: "!",
    CellState.SENSITIVE: "u",
    CellState.SECONDARY: "m",
    CellState.GONE: "x",
    CellState.FIXED: "z",
    CellState.UP: "\N{UPWARDS ARROW}",
    CellState.DOWN: "\N{DOWNWARDS ARROW}",
}
"""Marks beside the value, so that nothing hangs on colour alone; those of statuses are letters of ARGUS."""

SUPPRESSED = frozenset((CellState.SENSITIVE, CellState.SECONDARY, CellState.SHORT, CellState.GONE))
"""Of cells whose value is not published; of the last one nothing else is said."""

STATES = {
    CellState.PUBLISHED: "published",
    CellState.FIXED: "always published",
    CellState.SENSITIVE: "sensitive",
    CellState.SECONDARY: "suppressed with them",
    CellState.SHORT: "sensitive, not protected",
    CellState.GONE: "suppressed",
    CellState.UP: "changed, up",
    CellState.DOWN: "changed, down",
    CellState.ABSENT: "no such cell",
}
"""What became of a cell, in words."""


@dataclass(frozen=True)
class GridCell:
    """One cell of `CellGrid`.

    Attributes
    ----------
    state : CellState
    text : str
        Its value, as it is written.
    note : str
        What else is known of it, or empty.
    """

    state: CellState
    text: str
    note: str = ""


@dataclass(frozen=True)
class CellGrid:
    """A statistical table in which every cell shows what became of it; the one under the cursor says more.

    Attributes
    ----------
    caption : str
    row_variable, column_variable : str
        The second is empty where there is one variable only.
    rows, columns : tuple of str
        Codes.
    cells : sequence of sequences of GridCell
        A list for each row.
    """

    kind: ClassVar[str] = "cells"
    caption: str
    row_variable: str
    column_variable: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Sequence[Sequence[GridCell]]

    @property
    def states(self) -> list[CellState]:
        """Those that there are and that have a mark: what a legend explains."""
        found = {one.state for line in self.cells for one in line}
        return [state for state in LETTERS if state in found]

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON."""
        lines = [[[one.state.value, one.text, one.note] for one in line] for line in self.cells]
        return {
            **{name: getattr(self, name) for name in ("caption", "row_variable", "column_variable")},
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": lines,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> CellGrid:
        """The grid of a JSON; KeyError, TypeError or ValueError when it is none."""
        lines = [
            [GridCell(CellState(state), text, note) for state, text, note in line] for line in given["cells"]
        ]
        names = (given["caption"], given["row_variable"], given["column_variable"])
        return cls(*names, tuple(given["rows"]), tuple(given["columns"]), lines)
