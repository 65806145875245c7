"""Names of consecutive rows or columns: data, not code, so that they go with the model wherever it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Labels = Sequence[str] | Sequence[int] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class NamedBlock:
    """Rows or columns that follow each other and are of one kind.

    Attributes
    ----------
    name : str
        What the kind is called, such as ``links``.
    count : int
        How many there are.
    pattern : str
        What each of them is called: a text with a pair of braces for each of `labels`, such as
        ``block_{}_rival_{}``; `name` and a number, from 1, when there are none.
    labels : tuple of sequences of length `count`
        What stands in the braces.
    """

    name: str
    count: int
    pattern: str = ""
    labels: tuple[Labels, ...] = ()

    def __post_init__(self) -> None:
        if any(len(label) != self.count for label in self.labels):
            raise ValueError(
                f"the block {self.name!r} has {self.count} members and as many labels of each kind"
            )

    def members(self) -> list[str]:
        """The name of each row or column."""
        if not self.labels:
            return [f"{self.name}_{at + 1}" for at in range(self.count)]
        return [self.pattern.format(*each) for each in zip(*self.labels, strict=True)]


def named(name: str, members: Sequence[str]) -> NamedBlock:
    """A block whose members have names of their own."""
    return NamedBlock(name, len(members), "{}", (tuple(members),))


def numbered(rows: int, columns: int) -> tuple[list[str], list[str]]:
    """Names for a model that gives none."""
    return [f"r{row}" for row in range(rows)], [f"x{column}" for column in range(columns)]


def slice_of(blocks: Sequence[NamedBlock], name: str) -> slice:
    """Where the members of a block are; `KeyError` when there is none of that name."""
    first = 0
    for block in blocks:
        if block.name == name:
            return slice(first, first + block.count)
        first += block.count
    raise KeyError(f"no block {name!r}: there are {', '.join(block.name for block in blocks) or 'none'}")
