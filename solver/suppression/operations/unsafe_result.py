"""What `unsafe` returns: unsafe combinations by variable and category, before and after a trial recoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import pandas as pd

from linkrisk.solver.run.result import Result
from linkrisk.solver.suppression.operations.result import TableSummary


@dataclass(frozen=True)
class UnsafeCount:
    """Unsafe combinations of a table.

    Attributes
    ----------
    combinations : int
        Different unsafe ones of all checked tables.
    minimal : int
        Minimal unsafe combinations of records.
    records : int
        That have one.
    by_variable : mapping of str to int
        Minimal unsafe combinations of records that each key variable is in.
    by_category : mapping of str to mapping of str to int
        The same by category, those without any left out; a missing value is called ``missing``, or
        ``(missing)`` beside a category of that name.
    """

    combinations: int
    minimal: int
    records: int
    by_variable: Mapping[str, int] = field(repr=False)
    by_category: Mapping[str, Mapping[str, int]] = field(repr=False)


@dataclass(frozen=True)
class LevelCount:
    """What recoding one key variable to a level of its hierarchy gains and loses, all else being as it was.

    Attributes
    ----------
    variable : str
    level : int
    categories : int
        That are left.
    lost : float
        Of what the variable said, from 0 to 1: a value that stands for l of L leaves has lost
        (l - 1) / (L - 1).
    minimal, records : int
        As in `UnsafeCount`.
    """

    variable: str
    level: int
    categories: int
    lost: float
    minimal: int
    records: int


@dataclass(frozen=True, eq=False)
class UnsafeResult(Result):
    """Unsafe combinations of a table.

    Attributes
    ----------
    before : UnsafeCount
        Of the table as it is.
    after : UnsafeCount or None
        Of the table with the trial recodings.
    recoded : tuple of str
        What these are, a line each.
    checked : tuple of TableSummary
        The tables, as the input has them.
    levels : tuple of LevelCount
        Each level of each hierarchy by itself.
    details : dict
        Everything else of the JSON.
    """

    kind: ClassVar[str] = "unsafe"

    before: UnsafeCount
    after: UnsafeCount | None
    recoded: tuple[str, ...]
    checked: tuple[TableSummary, ...] = field(repr=False)
    levels: tuple[LevelCount, ...] = field(repr=False)
    details: dict[str, Any] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """A row for each category: variable, category, minimal unsafe combinations before and after."""
        counts = {"before": self.before, **({} if self.after is None else {"after": self.after})}
        columns = {
            when: pd.Series(
                {
                    (name, category): many
                    for name, by in count.by_category.items()
                    for category, many in by.items()
                },
                dtype="int64",
            )
            for when, count in counts.items()
        }
        found = pd.DataFrame(columns).fillna(0).astype("int64")
        found.index = pd.MultiIndex.from_tuples(list(found.index), names=["variable", "category"])
        return found.reset_index()

    def content(self) -> dict[str, Any]:
        """The JSON of `unsafe --json` as a dictionary."""
        return {
            "before": asdict(self.before),
            "after": None if self.after is None else asdict(self.after),
            "recoded": list(self.recoded),
            "levels": [asdict(one) for one in self.levels],
            "tables": [{**vars(one), "variables": list(one.variables)} for one in self.checked],
            **self.details,
        }
