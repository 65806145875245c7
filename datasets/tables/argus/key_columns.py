"""Columns of tables with noise by cell keys as tau-ARGUS writes them; for the house also what was before."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.tables.argus.described import Column, in_full
from linkrisk.datasets.tables.argus.safe_files import decimals_of

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
    return [value, *(Column(name, in_full(one)) for name, one in house.items())]
