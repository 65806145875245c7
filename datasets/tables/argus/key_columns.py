"""Columns of tables with noise by cell keys as tau-ARGUS writes them; for the house also what was before."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.tables.argus.described import Column, in_full
from linkrisk.datasets.tables.argus.safe_files import decimals_of

_DIGITS = 9
FloatArray = npt.NDArray[np.float64]


def key_columns(shown: FloatArray, house: dict[str, FloatArray]) -> list[Column]:
    """Values with noise, and what is never published.

    Parameters
    ----------
    shown : ndarray of float64, shape (n,)
        Values with noise.
    house : dict of str to ndarray of float64, shape (n,)
        Further columns: ``original``, ``difference``, ``cell_key``.
    """
    digits = decimals_of(shown)
    value = Column(
        "value", [f"{one + 0.0:.{digits}f}" for one in shown], {"numeric": "", "decimals": str(digits)}
    )
    # Without the rounding errors of differences and of sums of keys, such as 0.9202729999998875.
    return [value, *(Column(name, in_full(one.round(_DIGITS))) for name, one in house.items())]
