"""How a sample was drawn, as far as a schema names columns for it: sampling weights and strata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.roles import ROLE_WORDS, Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import in_order, spelled

UNKNOWN = "(missing)"
"""What records without a stratum are called."""


@dataclass(frozen=True, eq=False)
class SurveyDesign:
    """Weight and stratum of every original record."""

    weight_column: str | None = None  # its column; None where the schema or the files have none
    # (n,) How many of the population each original record stands for; NaN where that is not known, which is
    # for records without a partner only
    weight: npt.NDArray[np.float64] | None = None
    stratum_column: str | None = None  # its column, likewise
    stratum: tuple[str, ...] | None = None  # the stratum of each original record
    notes: tuple[str, ...] = ()  # what a user should know, in sentences


def survey_design(
    original: Table, masked: Table, partner: npt.NDArray[np.intp], schema: Schema | None
) -> SurveyDesign:
    """Weights and strata, from the original file or, where it does not have the column, from the masked one.

    `partner` (n,): the masked row of each original record, -1 where it has none.
    """
    if schema is None:
        return SurveyDesign()
    notes: list[str] = []
    weight = stratum = None
    found = _column(schema, Role.WEIGHT, (original, masked), "all records count alike", notes)
    if found is not None:
        values, rows = _weights(found, schema.only(Role.WEIGHT) or ""), _rows(found is original, partner)
        weight = np.where(rows >= 0, values[rows], np.nan)
    held = _column(schema, Role.STRATUM, (original, masked), "nothing is counted by stratum", notes)
    if held is not None:
        names = _names(held.frame[schema.only(Role.STRATUM)])
        rows = _rows(held is original, partner)
        stratum = tuple(names[row] if row >= 0 else UNKNOWN for row in rows.tolist())
    return SurveyDesign(
        weight_column=None if weight is None else schema.only(Role.WEIGHT),
        weight=weight,
        stratum_column=None if stratum is None else schema.only(Role.STRATUM),
        stratum=stratum,
        notes=tuple(notes),
    )


def by_stratum(stratum: Sequence[str], linked: npt.NDArray[np.bool_]) -> dict[str, dict[str, int]]:
    """Records and linked records of every stratum, in their order.

    `linked` (blocks,): whether it is linked.
    """
    records = Counter(stratum)
    found = Counter(name for name, is_linked in zip(stratum, linked.tolist(), strict=True) if is_linked)
    return {name: {"records": records[name], "linked": found[name]} for name in in_order(records)}


def _column(
    schema: Schema, role: Role, tables: tuple[Table, Table], without: str, notes: list[str]
) -> Table | None:
    """The first table with the column of a role; where there is none though the schema has one, a note."""
    column = schema.only(role)
    if column is None:
        return None
    found = next((table for table in tables if column in table.columns), None)
    if found is None:
        notes.append(
            f"neither file has column {shown_name(column)}, {ROLE_WORDS[role]} of the schema: {without}"
        )
    return found


def _rows(own: bool, partner: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The row that speaks for each original record: its own, or that of its partner."""
    return np.arange(partner.size, dtype=np.intp) if own else partner


def _weights(table: Table, column: str) -> npt.NDArray[np.float64]:
    series = table.frame[column]
    wrong = series.isna().to_numpy(dtype=bool)
    values = np.ones(len(series))
    if not wrong.any():
        values = numeric_matrix(table.frame, [column], table.source)[:, 0]
        wrong = values <= 0.0
    if wrong.any():
        row = int(np.argmax(wrong))
        found = "missing" if pd.isna(series.iloc[row]) else f"{values[row]:g}"
        raise DataError(
            f"{table.source}, column {column!r}, row {row + 1}: the sampling weight is {found}; weights must "
            "be finite numbers above 0"
        )
    return values


def _names(column: pd.Series) -> list[str]:
    return [
        UNKNOWN if missing else spelled(value) for value, missing in zip(column, column.isna(), strict=True)
    ]
