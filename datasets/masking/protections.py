"""The six protections of deliverable D11.2: microaggregated Census files with a name each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Self

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.choosing import TABLE, choose_attributes, chosen_by_default
from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.parameters import AttributeGroup, NumericParameters
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.errors import called


@dataclass(frozen=True)
class Protection(NumericParameters):
    """Microaggregation of the first few key variables in consecutive groups with a k each.

    D11.2 (Torra 2013), section 3.2. M5-38, for example, is five attributes: the first three with k = 3, the
    last two with k = 8.

    Attributes
    ----------
    name : str
        What the protection is called.
    sizes : tuple of (int, int)
        For each group of attributes how many there are and their k.
    attributes : tuple of str, optional
        The key variables, of which the first are masked; by default all numeric ones of the table.
    schema : Schema, optional
        Roles, scales and missing codes of the columns.
    """

    name: str
    sizes: tuple[tuple[int, int], ...]

    chance: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """How many attributes it masks."""
        return sum(count for count, _ in self.sizes)

    def method(self, frame: pd.DataFrame, *, source: str = TABLE) -> Microaggregation:
        """Spell the protection out for a table.

        Raises
        ------
        DataError
            If there are fewer attributes than it masks.
        """
        names = choose_attributes(frame, self.attributes, source, self.schema)
        if len(names) < self.width:
            raise DataError(
                f"{source}: {self.name} masks {self.width} attributes but there are {len(names)} "
                f"({shown_names(names)}); name more with {called('attributes')} or choose another protection",
                option="attributes",
            )
        groups, start = [], 0
        for count, k in self.sizes:
            groups.append(AttributeGroup(names[start : start + count], k))
            start += count
        return Microaggregation(groups=tuple(groups), schema=self.schema)

    @property
    def named(self) -> tuple[str, ...] | None:
        """See `MaskingMethod.named`."""
        return self.attributes

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name every numeric key variable: the first of them are masked."""
        return chosen_by_default(frame, source, self.schema, numeric=True)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        return self.method(frame, source=source).masked_attributes(frame, source=source)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """The same protection of these attributes."""
        return replace(self, attributes=attributes)

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        return f"{self.name}, {self.method(frame).describe(frame)}"

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """Mask a table (see `MaskingMethod.apply`); nothing is left to chance."""
        return self.method(frame, source=source).apply(frame, seed, source=source)


PROTECTIONS: Mapping[str, Protection] = MappingProxyType(
    {
        protection.name: protection
        for protection in (
            Protection("M4-33", ((2, 3), (2, 3))),
            Protection("M4-28", ((2, 2), (2, 8))),
            Protection("M4-82", ((2, 8), (2, 2))),
            Protection("M5-38", ((3, 3), (2, 8))),
            Protection("M6-385", ((2, 3), (2, 8), (2, 5))),
            Protection("M6-853", ((2, 8), (2, 5), (2, 3))),
        )
    }
)
"""The protections of D11.2 by name: digits after the dash are the k of each group of attributes."""
