"""A mixed-integer linear model as plain arrays: what every backend takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.programs.naming import NamedBlock, numbered, slice_of
from linkrisk.formulations.programs.separation import Cuts, Separator


@dataclass(frozen=True, kw_only=True)
class MilpModel(LinearModel):
    """A `LinearModel` some of whose columns are whole numbers, and which may have more rows than are written.

    Attributes
    ----------
    integer : ndarray of bool, shape (n,)
        Which columns are integer.
    row_blocks, column_blocks : tuple of NamedBlock
        What rows and columns are called, in their order; all of them or none.
    separator : Separator or None
        Knows the rows that are not written down. A solution keeps them too.
    """

    integer: NDArray[np.bool_]
    row_blocks: tuple[NamedBlock, ...] = field(default=(), repr=False)
    column_blocks: tuple[NamedBlock, ...] = field(default=(), repr=False)
    separator: Separator | None = None

    def __post_init__(self) -> None:
        both = zip((self.row_blocks, self.column_blocks), self.shape, ("rows", "columns"), strict=True)
        for blocks, count, what in both:
            if blocks and sum(block.count for block in blocks) != count:
                raise ValueError(f"the named blocks must have as many {what} as the model, {count}")

    def names(self) -> tuple[list[str], list[str]]:
        """Row names and column names, for files that people read."""
        rows, columns = numbered(*self.shape)
        return _members(self.row_blocks) or rows, _members(self.column_blocks) or columns

    def rows_of(self, name: str) -> slice:
        """Where the rows of a named block are; `KeyError` when there is no such block."""
        return slice_of(self.row_blocks, name)

    def columns_of(self, name: str) -> slice:
        """Where the columns of a named block are; `KeyError` when there is no such block."""
        return slice_of(self.column_blocks, name)

    def violation(self, x: FloatArray) -> float:
        """Largest violation of a row, a column bound or integrality at the point `x` of shape (n,).

        The rows that only the separator knows count too.
        """
        fraction = np.abs(x - np.round(x))[self.integer]
        hidden = 0.0 if self.separator is None else self.separator(x).violation(x)
        return max(super().violation(x), float(fraction.max(initial=0.0)), hidden)

    def with_rows(self, cuts: Cuts) -> Self:
        """The same model with more rows written down, called ``cut_1`` and so on where rows have names."""
        blocks = self.row_blocks
        if blocks and cuts.count:
            name = f"cut_{1 + sum(block.name.startswith('cut_') for block in blocks)}"
            blocks = (*blocks, NamedBlock(name, cuts.count))
        return replace(
            self,
            matrix=sparse.csr_array(sparse.vstack([self.matrix, cuts.matrix], format="csr")),
            row_lower=np.concatenate([self.row_lower, cuts.lower]),
            row_upper=np.concatenate([self.row_upper, cuts.upper]),
            row_blocks=blocks,
        )


def _members(blocks: Sequence[NamedBlock]) -> list[str]:
    return [name for block in blocks for name in block.members()]
