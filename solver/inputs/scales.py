"""Attributes whose values are far too close together for a search to weigh them against the others."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.formulations.linkage.pair import LinkagePair

_FAR_CLOSER = 1e-3
"""Spread relative to the largest of all attributes; below, squares are a millionth, which searches miss."""

_MOST = 0.6
"""Share of the values in the shortest stretch that is taken for the spread: those far out must not count."""


def scale_notes(files: FilePair, pair: LinkagePair) -> tuple[str, ...]:
    """Name the numeric attributes whose differences are tiny beside those of another one.

    A value far out, such as 99999999 for a missing one, does that to its attribute when it is standardised;
    without standardising, units do. Bounds still hold.

    Parameters
    ----------
    files : FilePair
    pair : LinkagePair
        Made of them: its values are standardised.

    Returns
    -------
    tuple of str
    """
    numeric = [k for k, name in enumerate(files.attributes) if name not in files.categorical]
    spread = np.array([_spread(np.concatenate([pair.queries[:, k], pair.candidates[:, k]])) for k in numeric])
    largest = spread.max(initial=1.0 if files.categorical else 0.0)
    notes = []
    for at, k in enumerate(numeric):
        if 0.0 < spread[at] < _FAR_CLOSER * largest:
            notes.append(
                f"column {shown_name(files.attributes[k])} is hard to weight against the others, so the "
                f"bounds may stay wide: most of its values lie within {spread[at]:.1g} standardised units, "
                f"those of another column within {largest:.1g}; look for outliers (such as 99999999 for a "
                "missing value), and for unsuitable units where nothing is standardised"
            )
    return tuple(notes)


def _spread(values: FloatArray) -> float:
    """Width of the shortest stretch that holds `_MOST` of the known values."""
    ascending = np.sort(values[~np.isnan(values)])
    many = int(_MOST * len(ascending))
    return float((ascending[many:] - ascending[: len(ascending) - many]).min())
