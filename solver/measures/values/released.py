"""What a release holds of every attribute, original beside masked: numbers, or categories as positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError, NotANumberError
from linkrisk.datasets.microdata.categories import coded, occurring
from linkrisk.datasets.microdata.category_names import in_order
from linkrisk.datasets.microdata.dated import date_columns, in_days
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.scales import Scale
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.spelling import spelled_alike
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.measures.task import RiskTask


@dataclass(frozen=True, eq=False)
class ReleasedAttribute:
    """One attribute of both files."""

    name: str
    scale: Scale  # numeric, ordinal or nominal
    original: FloatArray  # (n,): of all original records: numbers, or positions in `categories`;
    masked: FloatArray  # (m,): of all masked records
    partner: NDArray[np.intp]  # (n,): the masked row of each original record; -1 where it has none
    categories: tuple[str, ...] = ()  # of an ordinal attribute in ascending order; none of a numeric one

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.scale is Scale.NUMERIC

    @property
    def ranked(self) -> bool:
        """Whether its values have an order."""
        return self.scale is not Scale.NOMINAL

    @cached_property
    def paired(self) -> tuple[FloatArray, FloatArray]:
        """Values of the records that have a partner, and of these partners."""
        known = self.partner >= 0
        return self.original[known], self.masked[self.partner[known]]

    @cached_property
    def is_masked(self) -> bool:
        """Whether the masked file says something else of any record that it has."""
        before, after = self.paired
        return not np.array_equal(before, after, equal_nan=True)

    @cached_property
    def differs(self) -> bool:
        """Whether its distribution may differ: it is masked, or the files have other records."""
        known = int((self.partner >= 0).sum())
        return self.is_masked or not known == len(self.original) == len(self.masked)


def released(task: RiskTask) -> tuple[ReleasedAttribute, ...]:
    """The attributes that measures of disclosure and loss look at: all compared, then all confidential ones.

    A confidential attribute that the masked file lacks is left out, since nothing of it is released, and one
    without any value.
    """
    files, compared = task.files, set(task.files.attributes)
    found = [_compared(files, at) for at in range(len(files.attributes))]
    others = [name for name in task.confidential if name not in compared and name in files.masked.columns]
    found += [_other(files, name, task.schema) for name in others]
    return tuple(each for each in found if not np.isnan(each.original).all())


def unreadable(task: RiskTask) -> str | None:
    """What is wrong with a confidential attribute, which nobody has looked at before; None if nothing is.

    So a measure is left out, with the reason, instead of the whole run.
    """
    try:
        released(task)
    except DataError as error:
        return str(error)
    return None


def released_attribute(task: RiskTask, name: str) -> ReleasedAttribute:
    """One attribute of both files, by its name."""
    if name in task.files.attributes:
        return _compared(task.files, task.files.attributes.index(name))
    return _other(task.files, name, task.schema)


def _compared(files: FilePair, at: int) -> ReleasedAttribute:
    """An attribute that is compared, as the comparison has read it."""
    name = files.attributes[at]
    before, after = files.original_values[:, at], files.masked_values[:, at]
    attribute = files.categorical.get(name)
    if attribute is None:
        return ReleasedAttribute(name, Scale.NUMERIC, before, after, files.partner)
    size = len(attribute.categories)
    before, after = (np.where(codes == size, np.nan, codes) for codes in (before, after))
    return ReleasedAttribute(name, attribute.scale, before, after, files.partner, attribute.categories)


def _other(files: FilePair, name: str, schema: Schema | None) -> ReleasedAttribute:
    """An attribute that is not compared, by the scale of the schema; without one by its values."""
    declared = None if schema is None else schema.get(name).scale
    dated = _days(files, name, schema)
    if dated is not None:
        return ReleasedAttribute(name, Scale.NUMERIC, *dated, files.partner)
    if declared in (None, Scale.NUMERIC):
        try:
            before, after = _numbers(files.original, name, "original"), _numbers(files.masked, name, "masked")
        except NotANumberError:
            if declared is Scale.NUMERIC:
                raise
        else:
            return ReleasedAttribute(name, Scale.NUMERIC, before, after, files.partner)
    scale = declared if declared is Scale.ORDINAL else Scale.NOMINAL
    listed = () if schema is None else schema.get(name).categories or ()
    tables = [Table(files.original, "original"), Table(files.masked, "masked")]
    columns = [table.frame[name] for table in spelled_alike(tables, {name: listed})]
    names = listed or in_order({each for column in columns for each in occurring(column).names})
    before, after = (
        _positions(column, names, table.source) for column, table in zip(columns, tables, strict=True)
    )
    return ReleasedAttribute(name, scale, before, after, files.partner, tuple(names))


def _days(files: FilePair, name: str, schema: Schema | None) -> tuple[FloatArray, FloatArray] | None:
    """Both columns as days; None where they are no dates, or it is not clear which."""
    tables = (Table(files.original, "original"), Table(files.masked, "masked"))
    dates = date_columns([name], tables, schema)
    if not dates:
        return None
    try:
        first, second = in_days(tables, dates)
    except DataError:
        if schema is not None and schema.get(name).scale is Scale.DATE:
            raise
        return None
    return _numbers(first.frame, name, "original"), _numbers(second.frame, name, "masked")


def _numbers(frame: pd.DataFrame, name: str, source: str) -> FloatArray:
    return numeric_matrix(frame, [name], source, allow_missing=True)[:, 0]


def _positions(column: pd.Series, names: Sequence[str], source: str) -> FloatArray:
    """Categories as positions; NaN where one is missing."""
    codes = coded(column, names, source).codes
    return np.where(codes < 0, np.nan, codes).astype(np.float64)
