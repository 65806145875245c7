"""Records in another order, with numbers of their own: what the order of a file and its ids give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError

NOTHING: Mapping[str, int] = MappingProxyType({})


def shuffled(
    frame: pd.DataFrame, generator: np.random.Generator, household: str | None = None
) -> pd.DataFrame:
    """The records in random order; those of a household stay together.

    Parameters
    ----------
    frame : DataFrame
        n rows.
    generator : numpy.random.Generator
    household : str, optional
        Column of household numbers; a record without one is by itself.
    """
    if household is None:
        return frame.iloc[generator.permutation(len(frame))]
    groups = pd.factorize(frame[household])[0]
    alone = groups < 0
    groups[alone] = groups.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    place = generator.permutation(int(groups.max(initial=-1)) + 1)
    return frame.iloc[np.lexsort((generator.permutation(len(frame)), place[groups]))]


def renumbered(
    frame: pd.DataFrame, columns: Sequence[str], after: Mapping[str, int] = NOTHING
) -> pd.DataFrame:
    """The values of columns as 1, 2, 3, ... in the order in which they come; equal ones stay equal.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of str
    after : mapping of str to int
        For a column the number after which its numbers begin, 0 by default.

    Raises
    ------
    DataError
        If there is no such column, or one has a missing value.
    """
    found = frame.copy()
    for name in columns:
        if name not in frame.columns:
            raise DataError(
                f"renumber: there is no column {name!r}; there are {', '.join(map(str, frame.columns))}"
            )
        numbers = pd.factorize(frame[name])[0]
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0)) + 1
            raise DataError(
                f"renumber: column {name!r} has no value in row {row}: number it, or leave it out"
            )
        found[name] = numbers + 1 + after.get(name, 0)
    return found
