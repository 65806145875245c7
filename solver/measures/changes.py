"""What was masked how: for every column of the two files, how many values differ, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.roles import NAMES_RECORDS
from linkrisk.solver.measures.base import Finding, Measure, MeasureResult, Unit, Worse
from linkrisk.solver.measures.released import ReleasedAttribute, released_attribute, spread
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

_ROUNDING = 1e-12
"""A mean change of no more standard deviations is what rounding makes of none."""


@dataclass(frozen=True)
class Change:
    """One column. All shares are of the records that have a partner."""

    column: str
    role: str | None  # as a schema says it
    compared: bool  # whether records are linked by it
    changed: float | None = None  # share of values that differ, or are missing in one file only
    missing: float | None = None  # share of values that the original has and the masked file has not
    shift: float | None = None  # mean change of numbers, in standard deviations of the original
    most_frequent: str | None = None  # of categories, the most frequent change, as ``a to b (12 records)``
    note: str | None = None  # why there is nothing to compare


@dataclass(frozen=True, eq=False, repr=False)
class Changes(MeasureResult):
    """How the masked file differs from the original one, column by column."""

    measure: ClassVar[str] = "changes"
    records: int  # records with a partner
    columns: tuple[Change, ...]  # of both files, in the order of the original

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Compared columns that were left exactly as they are."""
        return tuple(one.column for one in self.columns if one.compared and one.changed == 0.0)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Over compared columns: the share of values changed, and of columns left alone."""
        compared = [one.changed for one in self.columns if one.compared and one.changed is not None]
        if not compared:
            return ()
        mean = float(np.mean(compared))
        alone = Finding(
            "left_alone", "compared columns left exactly as they are", float(len(self.unchanged)), Unit.NUMBER
        )
        return (Finding("values_changed", "values changed", mean, worse=Worse.NEITHER), alone)

    @property
    def paragraph(self) -> str:
        """How many columns were changed, and which were not."""
        known = [one for one in self.columns if one.changed is not None]
        if not known:
            return "no column of the two files can be compared."
        changed = [one for one in known if one.changed]
        if not changed:
            return f"nothing was changed in any of {len(known)} columns."
        most = max(changed, key=lambda one: one.changed or 0.0)
        text = (
            f"{len(changed)} of {len(known)} columns were changed, most of all {most.column} "
            f"({percent(most.changed or 0.0)} of the values)."
        )
        if self.unchanged:
            text += f" Compared, and left exactly as they are: {', '.join(self.unchanged)}."
        return text

    def to_frame(self) -> pd.DataFrame:
        """One row per column, as `Change` describes them."""
        return pd.DataFrame([vars(one) for one in self.columns], columns=list(Change.__annotations__))


class ChangesOfColumns(Measure):
    """Values changed, taken out and shifted."""

    name: ClassVar[str] = "changes"
    title: ClassVar[str] = "What was changed"
    cost: ClassVar[float] = 0.2
    growth: ClassVar[float] = 1.5

    def take(self, task: RiskTask, clock: Clock) -> Changes:
        """Compare column by column."""
        del clock
        known = int((task.files.partner >= 0).sum())
        return Changes(known, tuple(_columns(task)))


def _columns(task: RiskTask) -> Iterator[Change]:
    files = task.files
    theirs = [str(name) for name in files.masked.columns]
    ours = [str(name) for name in files.original.columns]
    for name in dict.fromkeys([*ours, *theirs]):
        role = None if task.schema is None else task.schema.get(name).role
        change = Change(name, None if role is None else role.value, name in files.attributes)
        if name not in ours or name not in theirs:
            where = "masked" if name in theirs else "original"
            yield replace(change, note=f"in the {where} file only")
        elif role in NAMES_RECORDS or name == task.first.options.id:
            yield replace(change, note="names records")
        else:
            yield _compared(task, change)


def _compared(task: RiskTask, change: Change) -> Change:
    try:
        attribute = released_attribute(task, change.column)
    except DataError as error:
        return replace(change, note=str(error))
    before, after = attribute.paired
    if not before.size:
        return replace(change, note="no record has a partner")
    gone, both = ~np.isnan(before) & np.isnan(after), ~np.isnan(before) & ~np.isnan(after)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    return replace(
        change,
        changed=float(np.mean(~same)),
        missing=float(np.mean(gone)),
        shift=_shift(before[both], after[both]) if attribute.numeric else None,
        most_frequent=None if attribute.numeric else _most_frequent(attribute, before[both], after[both]),
    )


def _shift(before: FloatArray, after: FloatArray) -> float | None:
    """Mean change in standard deviations (with n - 1); None without two values that differ."""
    deviation = float(np.nan_to_num(spread(before[:, None]))[0])
    if deviation == 0.0:
        return None
    shift = float((after - before).mean()) / deviation
    return shift if abs(shift) > _ROUNDING else 0.0


def _most_frequent(attribute: ReleasedAttribute, before: FloatArray, after: FloatArray) -> str | None:
    """The change that most records have; of equally frequent ones the first by its categories."""
    differs = before != after
    if not differs.any():
        return None
    pairs, counts = np.unique(np.stack([before, after])[:, differs], axis=1, return_counts=True)
    at = int(counts.argmax())
    first, second = (attribute.categories[int(position)] for position in pairs[:, at])
    many = int(counts[at])
    return f"{first} to {second} ({many:,} {'record' if many == 1 else 'records'})"
