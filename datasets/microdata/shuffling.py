"""Records in another order, with numbers of their own: what the order of a file and its ids give away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError


def shuffled(
    frame: pd.DataFrame, generator: np.random.Generator, household: str | None = None
) -> pd.DataFrame:
    """The records in random order; those of a household stay together, in the order in which they were.

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
    return frame.iloc[np.argsort(place[groups], kind="stable")]


def renumbered(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The values of columns as 1, 2, 3, ... in the order in which they come; equal ones stay equal.

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
        found[name] = numbers + 1
    return found
