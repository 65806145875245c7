"""Values that were replaced by their digests: whoever knows the values computes the same ones."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.cells import are_numeric

ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")

_HEX = r"[0-9a-fA-F]{6,128}"

_FEW = 20
"""Records by which an algorithm is told."""


def digests_like(before: pd.Series, after: pd.Series) -> pd.Series:
    """The digests of a column, or their beginnings, where another one beside it has these; else the column.

    Parameters
    ----------
    before, after : Series
        Of the same records, in the same order.
    """
    if are_numeric(after):
        return before
    few = after.notna().to_numpy() & before.notna().to_numpy()
    few[np.flatnonzero(few)[_FEW:]] = False
    shown, known = after[few].astype("str"), _texts(before[few])
    size = shown.str.len()
    if not few.any() or not shown.str.fullmatch(_HEX).all() or size.nunique() > 1:
        return before
    for algorithm in ALGORITHMS:
        for spelled in (str, str.lower, str.upper):
            made = [_digest(algorithm, spelled(text), int(size.iloc[0])) for text in known]
            if made == shown.str.lower().tolist():
                texts, upper = _texts(before), (shown != shown.str.lower()).any()
                found = texts.map(
                    lambda text, algorithm=algorithm, spelled=spelled: _digest(
                        algorithm, spelled(text), int(size.iloc[0])
                    ),
                    na_action="ignore",
                )
                return found.str.upper() if upper else found
    return before


def _texts(column: pd.Series) -> pd.Series:
    """Values as they are written; whole numbers without a point."""
    if are_numeric(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return column.astype(object).map(lambda cell: str(cell).strip(), na_action="ignore")


def _digest(algorithm: str, text: str, size: int) -> str:
    return hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()[:size]
