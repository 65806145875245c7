"""Codes of explanatory variables in hierarchies: read from files; one tree, or several of the same leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, Self

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.delimited import plain_rows
from linkrisk.datasets.microdata.formats.registry import DELIMITED, check_readable
from linkrisk.datasets.microdata.hierarchies import DEEPER, TOP, TREE, is_row, tree_lines
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.microdata.values import in_natural_order, spelled

TreeSource = str | Path | pd.DataFrame
"""A hierarchy as a file, or as a frame (pandas; of another library, if it has `to_pandas`)."""

_PAIRS = ("code", "parent")


def parents_in(source: TreeSource, total: str, deeper: str = DEEPER, *, name: str = "") -> dict[str, str]:
    """Read the parent of each code of a hierarchy.

    The source is a tree of ARGUS (.hrc, `deeper` stands before a code once for each level down); or a table
    with the columns `code` and `parent`; or one with a column for each level, where a code in two
    neighbouring columns is the same, and ``*`` is the total. A text file whose first line has a cell of
    another one has no header; its two columns are codes and parents where all of the second one are codes, or
    the total.
    """
    if isinstance(source, str | Path) and Path(source).suffix.lower() == TREE:
        return _of_lines(tree_lines(source, deeper), total)
    if isinstance(source, str | Path) and (bare := _without_header(Path(source))) is not None:
        parent = {*bare.iloc[:, -1]} - {*bare.iloc[:, 0], total, TOP}
        if bare.shape[1] == len(_PAIRS) and not parent:
            return _of_pairs(bare.set_axis(list(_PAIRS), axis=1), total, str(source))
        return _of_levels(bare, total, str(source))
    table = load_table(source, name, text_columns=_PAIRS)
    if "parent" in table.columns or len(table.columns) == 1:
        return _of_pairs(table.frame, total, table.source)
    table = load_table(source, name, text_columns=table.columns)
    return _of_levels(table.frame, total, table.source)


def _without_header(path: Path) -> pd.DataFrame | None:
    """Read a text file whose first line is one like the others; None where it is a header."""
    if path.suffix.lower() not in DELIMITED.suffixes or not path.is_file():
        return None
    check_readable(path)
    first, *others = plain_rows(path)
    rows = [tuple(row) for row in others]
    if set(first) & set(_PAIRS) or not rows or not is_row(first, rows, -1):
        return None
    return pd.DataFrame([tuple(first), *rows]).replace("", pd.NA)


def _of_lines(lines: Sequence[tuple[int, str]], total: str) -> dict[str, str]:
    above, parents = [total], {}
    for depth, code in lines:
        if code != total:  # some trees of ARGUS name the total, which is there in any case
            parents[code] = above[depth]
        above[depth + 1 :] = [code]
    return parents


def _of_pairs(frame: pd.DataFrame, total: str, path: str) -> dict[str, str]:
    missing = next((name for name in _PAIRS if name not in frame.columns), None)
    if missing is not None:
        raise DataError(f"{path} has no column {missing!r}; there are: {', '.join(frame.columns)}")
    parents: dict[str, str] = {}
    for row, (code, parent) in enumerate(zip(frame["code"], frame["parent"], strict=True), start=1):
        if pd.isna(code) or pd.isna(parent):
            raise DataError(f"{path}, row {row}: a code or its parent is empty")
        word = spelled(code)
        if word == TOP:
            continue
        if word in parents or word == total:
            raise DataError(f"{path}, row {row}: the code {word!r} stands twice; a code has one parent")
        parents[word] = total if spelled(parent) == TOP else spelled(parent)
    return parents


def _of_levels(frame: pd.DataFrame, total: str, path: str) -> dict[str, str]:
    """Read a column for each level, the coarsest first or last."""
    sizes = [frame[name].nunique() for name in frame.columns]
    names = list(frame.columns) if sizes == sorted(sizes) else list(frame.columns)[::-1]
    parents: dict[str, str] = {}
    for row, cells in enumerate(frame[names].itertuples(index=False), start=1):
        chain = [total]
        for cell in cells:
            if pd.isna(cell):
                raise DataError(f"{path}, row {row}: a code is empty; repeat the one above it")
            code = spelled(cell)
            if code in (chain[-1], total, TOP):
                continue
            if parents.setdefault(code, chain[-1]) != chain[-1]:
                raise DataError(
                    f"{path}, row {row}: the code {code!r} is below {parents[code]!r} and below "
                    f"{chain[-1]!r}; a code has one parent"
                )
            chain.append(code)
    return parents


TOTAL = "Total"
TOTALS = (TOTAL, "_T", "TOTAL")
"""Codes of totals where nobody says another one; the others are those of SDMX."""


class Codes(Protocol):
    """The codes of one variable, and which of them sum to which: one tree, or several."""

    @property
    def variable(self) -> str:
        """Its name."""

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes, the total first."""

    @property
    def inner(self) -> list[LongArray]:
        """For each sum: the position of a code, then of those that it is the sum of."""

    def above(self) -> BoolArray:
        """Which codes each one belongs to, itself included, shape (c, c)."""


@dataclass(frozen=True, eq=False)
class CodeTree:
    """The codes of one variable in a tree."""

    variable: str
    codes: tuple[str, ...]  # The total first; behind each code those below it.
    parent: LongArray  # (c,): Position of the parent of each; -1 for the total.

    @classmethod
    def flat(cls, variable: str, codes: Iterable[str], total: str = TOTAL) -> Self:
        """Put all codes right below the total, in natural order."""
        below = in_natural_order(set(codes) - {total})
        return cls(variable, (total, *below), np.array([-1, *[0] * len(below)], dtype=np.int64))

    @classmethod
    def read(cls, variable: str, source: TreeSource, total: str = TOTAL) -> Self:
        """Read a file or a frame of any kind of `parents_in`."""
        name = str(source) if isinstance(source, str | Path) else f"the hierarchy of {variable!r}"
        return cls.of(variable, parents_in(source, total, name=name), name, total)

    @classmethod
    def of(cls, variable: str, parents: Mapping[str, str], source: str, total: str = TOTAL) -> Self:
        """Build a tree of each code's parent; `source` is its name in messages."""
        below: dict[str, list[str]] = {}
        for code, parent in parents.items():
            named = parent in TOTALS and parent not in parents  # the total by another name than the table's
            below.setdefault(total if named else parent, []).append(code)
        codes, above, pending = [], [], [(total, -1)]
        while pending:
            code, parent_at = pending.pop()
            codes.append(code)
            above.append(parent_at)
            pending += [(one, len(codes) - 1) for one in reversed(below.get(code, ()))]
        if len(codes) <= len(parents):
            reached = set(codes)
            lost = [code for code in parents if code not in reached]
            raise DataError(f"{source}: {_why_lost(lost, parents)}; correct it")
        return cls(variable, tuple(codes), np.array(above, dtype=np.int64))

    @property
    def inner(self) -> list[LongArray]:
        """For each code that has some below: its position, then theirs."""
        below: dict[int, list[int]] = {}
        for at, parent in enumerate(self.parent.tolist()):
            below.setdefault(parent, []).append(at)
        return [np.array([at, *below[at]], dtype=np.int64) for at in range(len(self.codes)) if at in below]

    def above(self) -> BoolArray:
        """Which codes each one belongs to, itself included, shape (c, c)."""
        found = np.eye(len(self.codes), dtype=np.bool_)
        for at in range(1, len(self.codes)):
            found[at] |= found[self.parent[at]]
        return found

    @property
    def leaves(self) -> list[str]:
        """Codes without others below them."""
        inner = set(self.parent.tolist())
        return [code for at, code in enumerate(self.codes) if at not in inner]

    def depths(self) -> dict[str, int]:
        """Depth of each code below the total."""
        depth = [0] * len(self.codes)
        for at in range(1, len(self.codes)):
            depth[at] = depth[self.parent[at]] + 1
        return dict(zip(self.codes, depth, strict=True))


@dataclass(frozen=True, eq=False)
class JoinedTrees:
    """The codes of one variable in several trees with common leaves: regions by county and by centrality.

    A tree that lacks a leaf of another one is refused: its total would be of less.
    """

    variable: str
    trees: tuple[CodeTree, ...]  # All with the same total. A code that stands in several is the same one.

    def __post_init__(self) -> None:
        above, at = self.above(), self._at
        parts = {code for tree in self.trees for code in _inner_codes(tree)}
        leaves = [code for code in self.codes if code not in parts]
        for number, tree in enumerate(self.trees, start=1):
            bottom = [at[code] for code in set(tree.codes) - _inner_codes(tree)]
            for code in leaves:
                if not above[at[code], bottom].any():
                    raise DataError(
                        f"hierarchy {number} of {self.variable!r} lacks the code {code!r}, which another one "
                        "has; add it there, since all sum to the same total"
                    )

    @cached_property
    def _at(self) -> dict[str, int]:
        return {code: position for position, code in enumerate(self.codes)}

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """The total, the codes of the first tree, then those that others add."""
        return tuple(dict.fromkeys(code for tree in self.trees for code in tree.codes))

    @property
    def inner(self) -> list[LongArray]:
        """For each sum of a tree: the position of a code, then of those below it; each sum once."""
        found, seen = [], set()
        for tree in self.trees:
            place = np.array([self._at[code] for code in tree.codes], dtype=np.int64)
            for line in tree.inner:
                key = (int(place[line[0]]), frozenset(place[line[1:]].tolist()))
                if key not in seen:
                    seen.add(key)
                    found.append(place[line])
        return found

    def above(self) -> BoolArray:
        """Which codes each one belongs to by any chain of trees, itself included, shape (c, c)."""
        reach = np.eye(len(self.codes), dtype=np.bool_)
        for tree in self.trees:
            place = [self._at[code] for code in tree.codes]
            reach[np.ix_(place, place)] |= tree.above()
        while True:
            further = reach @ reach
            if (further == reach).all():
                return reach
            reach = further


def codes_of_column(column: pd.Series, hierarchies: Mapping[str, Hierarchies]) -> Codes:
    """Return the codes of a column of microdata: of its hierarchy, or all below the total."""
    name = str(column.name)
    if name in hierarchies:
        return codes_of(name, hierarchies[name])
    return CodeTree.flat(name, (spelled(code) for code in column.dropna().unique()))


def _why_lost(lost: Sequence[str], parents: Mapping[str, str]) -> str:
    """Explain why codes do not belong to the total."""
    for code in lost:
        if parents[code] not in parents:
            return f"the code {code!r} has the parent {parents[code]!r}, which is no code"
    return f"the code {lost[0]!r} is below itself, which makes a loop"


def _inner_codes(tree: CodeTree) -> set[str]:
    return {tree.codes[line[0]] for line in tree.inner}


Hierarchies = TreeSource | CodeTree | JoinedTrees | Sequence[TreeSource]
"""The hierarchy of a variable: a file or a frame, several of the same leaves, or codes."""


def renamed(codes: Codes, variable: str) -> Codes:
    """Rename the variable of codes."""
    assert isinstance(codes, CodeTree | JoinedTrees)
    return replace(codes, variable=variable)


def codes_of(variable: str, given: Hierarchies, total: str = TOTAL) -> Codes:
    """Read the hierarchy of a variable, or several of the same leaves; codes stay as they are."""
    if isinstance(given, CodeTree | JoinedTrees):
        return given
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    trees = tuple(CodeTree.read(variable, source, total) for source in listed)
    return trees[0] if len(trees) == 1 else JoinedTrees(variable, trees)
