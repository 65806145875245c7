"""Codes of explanatory variables: a total, and below it codes in a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.numeric import check_known

TOTAL = "Total"


@dataclass(frozen=True, eq=False)
class CodeTree:
    """The codes of one variable.

    Attributes
    ----------
    variable : str
    codes : tuple of str
        The total first; every code stands behind its parent.
    parent : ndarray of int64, shape (c,)
        Position of the parent of each; -1 for the total.
    """

    variable: str
    codes: tuple[str, ...]
    parent: npt.NDArray[np.int64]

    @classmethod
    def flat(cls, variable: str, codes: Iterable[str]) -> Self:
        """All codes right below the total, sorted."""
        below = sorted(set(codes))
        return cls(variable, (TOTAL, *below), np.array([-1, *[0] * len(below)], dtype=np.int64))

    @classmethod
    def read(cls, variable: str, path: str | Path) -> Self:
        """Read a file with a line for each code: `code` and `parent`, ``Total`` for those at the top.

        Raises
        ------
        DataError
            If it cannot be read, a code stands twice, or has a parent that is none or below itself.
        """
        frame = read_table(path, text_columns=["code", "parent"])
        check_known(["code", "parent"], list(frame.columns), str(path), what="column")
        parents: dict[str, str] = {}
        for row, (code, parent) in enumerate(zip(frame["code"], frame["parent"], strict=True), start=1):
            if not isinstance(code, str) or not isinstance(parent, str):
                raise DataError(f"{path}, row {row}: a code or its parent is empty")
            if code in parents or code == TOTAL:
                raise DataError(f"{path}, row {row}: the code {code!r} stands twice; a code has one parent")
            parents[code] = parent
        return cls._of(variable, parents, str(path))

    @classmethod
    def _of(cls, variable: str, parents: dict[str, str], path: str) -> Self:
        codes, at = [TOTAL], {TOTAL: 0}
        left = dict(parents)
        while left:
            ready = [code for code, parent in left.items() if parent in at]
            if not ready:
                code, parent = next(iter(left.items()))
                known = parent in parents
                why = (
                    "is below itself, which makes a loop"
                    if known
                    else f"has the parent {parent!r}, which is no code"
                )
                raise DataError(f"{path}: the code {code!r} {why}; correct it")
            for code in ready:
                at[code] = len(codes)
                codes.append(code)
                del left[code]
        above = [-1, *(at[parents[code]] for code in codes[1:])]
        return cls(variable, tuple(codes), np.array(above, dtype=np.int64))

    @property
    def inner(self) -> list[npt.NDArray[np.int64]]:
        """For each code that has some below: its position, then theirs."""
        found = []
        for at in range(len(self.codes)):
            below = np.flatnonzero(self.parent == at)
            if below.size:
                found.append(np.concatenate([[at], below]).astype(np.int64))
        return found

    def above(self) -> npt.NDArray[np.bool_]:
        """Which codes each one belongs to, itself included, shape (c, c)."""
        found = np.eye(len(self.codes), dtype=np.bool_)
        for at in range(1, len(self.codes)):
            found[at] |= found[self.parent[at]]
        return found
