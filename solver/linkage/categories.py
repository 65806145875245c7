"""From the categories of two files to tables of distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.datasets.microdata.schema import Scale
from linkrisk.datasets.pairs.categorical import CategoricalAttribute
from linkrisk.formulations.linkage.comparison import Missing, with_missing
from linkrisk.formulations.linkage.distances import nominal_table, ordinal_table, restricted


def category_distances(attribute: CategoricalAttribute, missing: Missing) -> NDArray[np.float64]:
    """The distance of each category of an original record to each of a masked one.

    Parameters
    ----------
    attribute : CategoricalAttribute
    missing : Missing
        What a missing category is compared as.

    Returns
    -------
    ndarray of float64, shape (categories, categories)
        inf where masking cannot have made the second of the first. With a last row and column for the
        category that is missing, where one is.
    """
    make = ordinal_table if attribute.scale is Scale.ORDINAL else nominal_table
    table = restricted(make(len(attribute.categories)), attribute.possible)
    if attribute.frequencies is None:
        return table
    return with_missing(table, *attribute.frequencies, missing)
