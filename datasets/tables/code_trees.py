"""Codes of explanatory variables: a total, and below it codes in one tree or in several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import in_natural_order
from linkrisk.datasets.tables.tree_files import TreeSource, parents_in

TOTAL = "Total"


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
    """The codes of one variable in a tree.

    Attributes
    ----------
    variable : str
    codes : tuple of str
        The total first; behind each code those below it.
    parent : ndarray of int64, shape (c,)
        Position of the parent of each; -1 for the total.
    """

    variable: str
    codes: tuple[str, ...]
    parent: LongArray

    @classmethod
    def flat(cls, variable: str, codes: Iterable[str], total: str = TOTAL) -> Self:
        """All codes right below the total, in natural order."""
        below = in_natural_order(set(codes) - {total})
        return cls(variable, (total, *below), np.array([-1, *[0] * len(below)], dtype=np.int64))

    @classmethod
    def read(cls, variable: str, source: TreeSource, total: str = TOTAL) -> Self:
        """Read a file or a frame of any of the kinds of `parents_in`; those at the top are below `total`.

        Raises
        ------
        DataError
            If it cannot be read, a code stands twice, or has a parent that is none or below itself.
        """
        name = str(source) if isinstance(source, str | Path) else f"the hierarchy of {variable!r}"
        return cls.of(variable, parents_in(source, total, name=name), name, total)

    @classmethod
    def of(cls, variable: str, parents: Mapping[str, str], source: str, total: str = TOTAL) -> Self:
        """A tree of each code's parent; `source` is what to call it in messages.

        Raises
        ------
        DataError
            If a parent is none, or a code is below itself.
        """
        below: dict[str, list[str]] = {}
        for code, parent in parents.items():
            below.setdefault(parent, []).append(code)
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

    def depths(self) -> dict[str, int]:
        """How far each code is below the total."""
        depth = [0] * len(self.codes)
        for at in range(1, len(self.codes)):
            depth[at] = depth[self.parent[at]] + 1
        return dict(zip(self.codes, depth, strict=True))


@dataclass(frozen=True, eq=False)
class JoinedTrees:
    """The codes of one variable in several trees with common leaves: regions by county and by centrality.

    Attributes
    ----------
    variable : str
    trees : tuple of CodeTree
        All with the same total. A code that stands in several is the same one.

    Raises
    ------
    DataError
        If a code is a leaf of every tree that has it, but some tree lacks it: that tree's total would be of
        less.
    """

    variable: str
    trees: tuple[CodeTree, ...]

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


def _why_lost(lost: Sequence[str], parents: Mapping[str, str]) -> str:
    """Why codes do not belong to the total."""
    for code in lost:
        if parents[code] not in parents:
            return f"the code {code!r} has the parent {parents[code]!r}, which is no code"
    return f"the code {lost[0]!r} is below itself, which makes a loop"


def _inner_codes(tree: CodeTree) -> set[str]:
    return {tree.codes[line[0]] for line in tree.inner}


Hierarchies = TreeSource | CodeTree | JoinedTrees | Sequence[TreeSource]
"""The hierarchy of a variable: a file or a frame, several of the same leaves, or codes."""


def renamed(codes: Codes, variable: str) -> Codes:
    """The same codes of a variable of another name."""
    assert isinstance(codes, CodeTree | JoinedTrees)
    return replace(codes, variable=variable)


def codes_of(variable: str, given: Hierarchies, total: str = TOTAL) -> Codes:
    """Read the hierarchy of a variable, or several of the same leaves; codes stay as they are.

    Raises
    ------
    DataError
        See `CodeTree.read` and `JoinedTrees`.
    """
    if isinstance(given, CodeTree | JoinedTrees):
        return given
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    trees = tuple(CodeTree.read(variable, source, total) for source in listed)
    return trees[0] if len(trees) == 1 else JoinedTrees(variable, trees)
