"""A statistical table as a block of a report: every cell with what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self


class CellState(StrEnum):
    """What became of a cell of a statistical table, in the order of legends."""

    words: str
    letter: str  # the mark beside its value, as on colour alone nothing hangs; of statuses those of ARGUS

    def __new__(cls, name: str, words: str = "", letter: str = "") -> Self:
        """Take the name with what is said of it."""
        made = str.__new__(cls, name)
        made._value_, made.words, made.letter = name, words, letter
        return made

    PUBLISHED = "published", "published"
    SHORT = "short", "sensitive, not protected", "!"
    SENSITIVE = "sensitive", "sensitive", "u"
    SECONDARY = "secondary", "suppressed with them", "m"
    GONE = "gone", "suppressed", "x"
    FIXED = "fixed", "always published", "z"
    UP = "up", "changed, up", "\N{UPWARDS ARROW}"
    DOWN = "down", "changed, down", "\N{DOWNWARDS ARROW}"
    ABSENT = "absent", "no such cell"


SUPPRESSED = frozenset((CellState.SENSITIVE, CellState.SECONDARY, CellState.SHORT, CellState.GONE))
"""Of cells whose value is not published; of the last one nothing else is said."""


@dataclass(frozen=True)
class GridCell:
    """One cell of `CellGrid`."""

    state: CellState
    text: str  # its value, as it is written
    note: str = ""  # what else is known of it


@dataclass(frozen=True)
class CellGrid:
    """A statistical table in which every cell shows what became of it; the one under the cursor says more."""

    kind: ClassVar[str] = "cells"
    caption: str
    row_variable: str
    column_variable: str  # empty where there is one variable only
    rows: tuple[str, ...]  # codes
    columns: tuple[str, ...]
    cells: Sequence[Sequence[GridCell]]  # a list for each row

    @property
    def states(self) -> list[CellState]:
        """Those that there are and that have a mark: what a legend explains."""
        found = {one.state for line in self.cells for one in line}
        return [state for state in CellState if state.letter and state in found]

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON."""
        lines = [[[one.state.value, one.text, one.note] for one in line] for line in self.cells]
        return {**vars(self), "rows": list(self.rows), "columns": list(self.columns), "cells": lines}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> CellGrid:
        """The grid of a JSON; KeyError, TypeError or ValueError when it is none."""
        cells = [
            [GridCell(CellState(state), text, note) for state, text, note in line] for line in given["cells"]
        ]
        rows, columns = tuple(given["rows"]), tuple(given["columns"])
        return cls(**{**given, "rows": rows, "columns": columns, "cells": cells})
