"""Tables with noise by cell keys as tau-ARGUS writes them; for the house also what was before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.tables.argus.described import Column, described_files, in_full
from linkrisk.datasets.tables.argus.safe_files import decimals_of
from linkrisk.datasets.tables.cells_and_relations import StoredTable

FloatArray = npt.NDArray[np.float64]


def key_files(
    table: StoredTable,
    path: str | Path,
    shown: FloatArray,
    house: dict[str, FloatArray],
    *,
    left_out: npt.NDArray[np.bool_] | None = None,
    quotes: bool = True,
) -> dict[Path, str]:
    """Cells with noise, what the columns are, and the hierarchies.

    Parameters
    ----------
    table : StoredTable
        Whose relations follow from codes.
    path : path
        Of the cells; the others lie beside them.
    shown : ndarray of float64, shape (n,)
        Values with noise.
    house : dict of str to ndarray of float64, shape (n,)
        Further columns, which are never published: ``original``, ``difference``, ``cell_key``.
    left_out : ndarray of bool, shape (n,), optional
        Cells that are not written.
    quotes : bool
        Whether codes stand in quotes.

    Raises
    ------
    DataError
        If its relations do not follow from codes, each variable in one tree.
    """
    digits = decimals_of(shown)
    value = Column(
        "value", [f"{one + 0.0:.{digits}f}" for one in shown], {"numeric": "", "decimals": str(digits)}
    )
    columns = [value, *(Column(name, in_full(one)) for name, one in house.items())]
    return described_files(table, path, columns, left_out=left_out, quotes=quotes)
