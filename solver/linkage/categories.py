"""From the categories of two files to tables of distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.datasets.microdata.schema import Scale
from linkrisk.datasets.pairs.categorical import CategoricalAttribute
from linkrisk.formulations.linkage.distance_tables import nominal_table, ordinal_table, restricted


def category_distances(attribute: CategoricalAttribute) -> NDArray[np.float64]:
    """The distance of each category of an original record to each of a masked one.

    Parameters
    ----------
    attribute : CategoricalAttribute

    Returns
    -------
    ndarray of float64, shape (categories, categories)
        inf where masking cannot have made the second of the first.
    """
    make = ordinal_table if attribute.scale is Scale.ORDINAL else nominal_table
    return restricted(make(len(attribute.categories)), attribute.possible)
