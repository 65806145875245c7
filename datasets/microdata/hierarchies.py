"""Hierarchies of categories: ever coarser groups, inline or from a CSV file with one column per level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.hierarchy_trees import tree_levels
from linkrisk.datasets.microdata.names import parse_pair

TREE = ".hrc"
"""The suffix of trees of ARGUS."""


@dataclass(frozen=True)
class Hierarchy:
    """Ever coarser categories of one attribute.

    Attributes
    ----------
    attribute : str
        Whose categories they are.
    levels : tuple of tuple of str
        Level 0 holds the categories, each once; every further level says, in the same order, what they
        become.

    Raises
    ------
    DataError
        If a category stands twice, a level has another length, or one splits what a finer one has joined.
    """

    attribute: str
    levels: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        what = f"the hierarchy of {self.attribute!r}"
        if len(self.levels) < 2:
            raise DataError(f"{what} has no level above the categories; give one column per level")
        finest = self.levels[0]
        twins = sorted(name for name in set(finest) if finest.count(name) > 1)
        if twins:
            raise DataError(f"{what} lists the category {twins[0]!r} twice; list each once")
        for number, (fine, coarse) in enumerate(zip(self.levels, self.levels[1:], strict=False), start=1):
            if len(coarse) != len(finest):
                raise DataError(
                    f"{what}: level {number} has {len(coarse)} entries for {len(finest)} categories"
                )
            joined: dict[str, str] = {}
            for below, above in zip(fine, coarse, strict=True):
                if joined.setdefault(below, above) != above:
                    raise DataError(
                        f"{what}: level {number} puts {below!r} into {joined[below]!r} and into {above!r}; "
                        "each group of a level must belong to one group of the next level"
                    )

    @classmethod
    def from_rows(cls, attribute: str, rows: Mapping[str, tuple[str, ...]]) -> Self:
        """Make it of each category with what it becomes, level by level.

        Raises
        ------
        DataError
            If there is no category, or they do not all have as many levels.
        """
        lengths = {len(row) for row in rows.values()}
        if len(lengths) != 1:
            raise DataError(
                f"the hierarchy of {attribute!r} has no category; list each with its levels"
                if not rows
                else f"the hierarchy of {attribute!r} has categories of {min(lengths)} and of {max(lengths)} "
                "levels; give each the same number"
            )
        coarser = zip(*rows.values(), strict=True)
        return cls(attribute, (tuple(rows), *coarser))

    @classmethod
    def read(cls, attribute: str, path: str | Path) -> Self:
        """Read a CSV file with one column per level, the categories first; or a tree (.hrc).

        Raises
        ------
        DataError
            If the file cannot be read, a cell is missing, or it is not a hierarchy.
        """
        if Path(path).suffix.lower() == TREE:
            return cls(attribute, tree_levels(path))
        header = list(read_table(path).columns)
        table = read_table(path, text_columns=header)
        for name in header:
            missing = table[name].isna().to_numpy(dtype=bool)
            if missing.any():
                raise DataError(f"{path}, column {name!r}, row {int(np.argmax(missing)) + 1}: missing value")
        return cls(attribute, tuple(tuple(table[name].astype(str)) for name in header))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "ATTRIBUTE=FILE" (`read`)."""
        attribute, path = parse_pair(text)
        if not path:
            raise DataError(f"{text!r} is not a hierarchy; write ATTRIBUTE=FILE")
        return cls.read(attribute, path)

    def rows(self) -> dict[str, tuple[str, ...]]:
        """Each category with what it becomes, level by level."""
        return {row[0]: row[1:] for row in zip(*self.levels, strict=True)}
