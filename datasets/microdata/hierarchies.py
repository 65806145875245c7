"""Hierarchies of categories: from rows, from a CSV file with a column per level, or from a tree (.hrc)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import read_text
from linkrisk.datasets.microdata.formats.delimited import plain_rows
from linkrisk.datasets.microdata.formats.delimited_rows import check_header
from linkrisk.datasets.microdata.formats.registry import DELIMITED, check_readable, read_table
from linkrisk.datasets.microdata.names import parse_pair, shown_name, shown_names
from linkrisk.datasets.microdata.values import are_numbers

DEEPER = "@"
TOP = "*"
"""What everything becomes at the last level; trees do not name it."""


def tree_levels(path: str | Path) -> tuple[tuple[str, ...], ...]:
    """The leaves of a tree, and what they become level by level, up to `TOP`.

    Where a leaf is nearer to the root than others, it stays what it is until they have come as far.
    """
    branches: list[tuple[str, ...]] = []
    above: list[str] = []
    for depth, code in tree_lines(path):
        if branches and depth == len(branches[-1]):  # the line before is no leaf
            branches.pop()
        above[depth:] = [code]
        branches.append(tuple(above))
    deepest = max(map(len, branches))
    coarser = [
        tuple(branch[min(len(branch), depth) - 1] for branch in branches) for depth in range(deepest, 0, -1)
    ]
    return (*coarser, (TOP,) * len(branches))


def tree_lines(path: str | Path, deeper: str = DEEPER) -> list[tuple[int, str]]:
    """The lines of a tree: how deep each code is, from 0, and the code."""
    found: list[tuple[int, str]] = []
    above: list[str] = []
    seen: dict[str, int] = {}
    for number, text in enumerate(read_text(Path(path))[0].splitlines(), start=1):
        code, depth = text.strip(), 0
        if not code:
            continue
        while code.startswith(deeper):
            code, depth = code[len(deeper) :].lstrip(), depth + 1
        _check(f"{path}, line {number}", code, depth, above, seen, deeper)
        seen[code] = number
        above[depth:] = [code]
        found.append((depth, code))
    if not found:
        raise DataError(
            f"{path} has no code; write one on each line, with an {deeper} more for each level down"
        )
    return found


def _check(where: str, code: str, depth: int, above: list[str], seen: dict[str, int], deeper: str) -> None:
    if not code:
        raise DataError(f"{where}: there is no code behind {deeper!r}; write one")
    if depth > len(above):
        raise DataError(
            f"{where}: {code!r} is {depth - len(above) + 1} levels below the line before; go down one at a "
            "time"
        )
    if code in above[:depth]:
        raise DataError(
            f"{where}: {code!r} is below itself, which makes a loop; give one of them another name"
        )
    if code in seen:
        raise DataError(
            f"{where}: {code!r} stands in line {seen[code]} already; a code has one place in the tree"
        )


_HEADING = re.compile(r"(?:code|categor(?:y|ie)|value|level|leaf)e?s?[ _.]?\d*", re.IGNORECASE)
"""What the column of the categories is often called."""

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
    header : str
        The line of its file that was taken for a header.
    names : tuple of str
        What the levels above the categories are called, such as ``month`` and ``year``; empty where not said.

    Raises
    ------
    DataError
        If a category stands twice, a level has another length, or one splits what a finer one has joined.

    Examples
    --------
    >>> from linkrisk.data import Hierarchy
    >>> Hierarchy("town", (("A1", "A"), ("A2", "A"))).levels
    (('A1', 'A'), ('A2', 'A'))
    """

    attribute: str
    levels: tuple[tuple[str, ...], ...]
    header: str = field(default="", compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)

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

        The first line is a line like the others if it has a group that another one has in the same column,
        or a number where all others have one. It is a header if it begins with the name of the attribute or
        with "code", "category", "value" or "level", or has no number where all others have one, or another
        group where all others have the same.

        Raises
        ------
        DataError
            If the file cannot be read, a cell is missing, it is not a hierarchy, or its first line may be
            both.
        """
        if Path(path).suffix.lower() == TREE:
            return cls(attribute, tree_levels(path))
        header, rows = _rows(attribute, Path(path))
        for number, row in enumerate(rows, start=1):
            if "" in row:
                column = header[row.index("")]
                raise DataError(f"{path}, column {column!r}, row {number}: missing value")
        read_as = "" if header == _numbered(header) else shown_names(header, ",")
        return cls(attribute, tuple(zip(*rows, strict=True)), read_as)

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


def _rows(attribute: str, path: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    """What the columns of a file are called, and its rows; cells without a value are empty."""
    if path.suffix.lower() not in DELIMITED.suffixes:
        header = list(read_table(path).columns)
        table = read_table(path, text_columns=header).fillna("").astype(str)
        return header, list(table.itertuples(index=False, name=None))
    check_readable(path)
    first, *others = plain_rows(path)
    rows = [tuple(row) for row in others]
    if not _names_categories(attribute, first[0]):
        if is_row(first, rows):
            return _numbered(first), [tuple(first), *rows]
        if rows and not _is_header(first, rows):
            raise DataError(
                f"{path}, line 1: {shown_names(first, ',')} may be a header or a category with its groups; "
                f"begin the file with a header whose first name is {shown_name(attribute)}"
            )
    check_header(first, path)
    if not rows:
        raise DataError(f"{path} has no records, only column names")
    return first, rows


def _names_categories(attribute: str, cell: str) -> bool:
    """Whether a cell is the name of a column of categories."""
    return cell.lower() == attribute.lower() or _HEADING.fullmatch(cell) is not None


def is_row(first: Sequence[str], rows: Sequence[tuple[str, ...]], finest: int = 0) -> bool:
    """Whether the first line of a file has what other lines have, and so is no header."""
    if any(cell == row[at] for row in rows for at, cell in enumerate(first) if at != finest):
        return True
    return are_numbers(row[0] for row in (first, *rows))


def _is_header(first: Sequence[str], rows: Sequence[tuple[str, ...]]) -> bool:
    """Whether the first line of a file has something else where all other lines are alike."""
    for at, (cell, column) in enumerate(zip(first, zip(*rows, strict=True), strict=True)):
        if are_numbers(column) and not any(map(str.isdigit, cell)):
            return True
        if len(column) > 1 and len(set(column)) == 1 and (at > 1 or (at and column[0] == "*")):
            return True
    return False


def _numbered(cells: Sequence[str]) -> list[str]:
    """What columns without a header are called."""
    return [str(at) for at in range(1, len(cells) + 1)]
