"""The stratum of every block, from a column of the files."""

from __future__ import annotations

import pandas as pd

from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.draw import check_strata

_NONE = ""
"""The stratum of records whose value is missing."""


def block_strata(problem: Problem, column: str) -> list[str]:
    """The values of a column of the original file, or of the masked one where only that has it.

    UsageError when there is no such column, or a stratum has one record.
    """
    files, pair = problem.files, problem.pair
    frame = next((each for each in (files.original, files.masked) if column in each.columns), None)
    if frame is None:
        known = shown_names(sorted({*files.original.columns, *files.masked.columns}))
        raise UsageError(f"there is no column {shown_name(column)} to draw by: the files have {known}")
    blocks_are_original = Direction(problem.options.direction) is Direction.ORIGINAL_TO_MASKED
    rows = pair.query_rows if blocks_are_original == (frame is files.original) else pair.partner
    values = frame[column].iloc[rows]
    stratum = [
        _NONE if missing else str(value) for value, missing in zip(values, pd.isna(values), strict=True)
    ]
    check_strata(stratum, column)
    return stratum
