"""Numbers of files about tables, whose columns cannot be chosen otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.microdata.numeric import numeric_matrix


def numbers_of(
    frame: pd.DataFrame, columns: Sequence[str], source: str, *, allow_missing: bool = False
) -> npt.NDArray[np.float64]:
    """Columns of numbers, shape (n, a); see `datasets.microdata.numeric.numeric_matrix`.

    Raises
    ------
    DataError
        If one is missing or none; the message names column and row.
    """
    return numeric_matrix(frame, columns, source, allow_missing=allow_missing, otherwise="")
