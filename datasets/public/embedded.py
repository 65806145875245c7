"""Data that is installed with linkrisk: breast cancer in Wisconsin, Iris, and the default pair.

The files beside this one have the digits of UCI's and of Fisher's publication, as scikit-learn carries
them, with names of columns.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair


def embedded_file(name: str) -> Path:
    """Say where the CSV file of an embedded data set is."""
    return Path(__file__).with_name(f"{name}.csv")


def load_wdbc() -> pd.DataFrame:
    """Load Breast Cancer Wisconsin (Diagnostic): 569 rows, the diagnosis (M or B) and 30 features.

    Columns are named and ordered as in the UCI documentation, for example radius_mean, radius_se and
    radius_worst; the record id is left out.

    Examples
    --------
    >>> from linkrisk.data import load_wdbc
    >>> load_wdbc().shape
    (569, 31)
    """
    return _read("wdbc", "diagnosis")


def load_iris() -> pd.DataFrame:
    """Load Iris: 150 rows, four lengths in cm and the class.

    The values are those of Fisher (1936). The file at UCI differs from them in rows 35 and 38.
    """
    return _read("iris", "class")


def _read(name: str, label: str) -> pd.DataFrame:
    """Read a file of ours, numbers but for one column, to the last digit, as not every parser does."""
    names, *rows = (line.split(",") for line in embedded_file(name).read_text("ascii").splitlines())
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pd.DataFrame(
        {at: list(text) if at == label else np.array(text, np.float64) for at, text in columns}
    )


RECORDS = 400

GROUPS = (
    AttributeGroup(("radius_mean", "texture_mean"), 3),
    AttributeGroup(("smoothness_mean", "symmetry_mean"), 8),
)
"""Four attributes that measure different things.

Size, grey-scale texture, smoothness of the outline and symmetry each take over 300 different values in 400
records, and no two of them correlate above 0.6 (perimeter and area, for example, repeat the radius).
"""


def default_pair() -> FilePair:
    """Make the default pair: the first 400 records of WDBC, four attributes, microaggregated by MDAV.

    radius_mean and texture_mean are masked together with k = 3, smoothness_mean and symmetry_mean with
    k = 8, as deliverable D11.2 masks its Census files (compare its M4-28). Records are aligned row by row.

    Examples
    --------
    >>> from linkrisk.data import default_pair
    >>> pair = default_pair()
    >>> pair.attributes
    ('radius_mean', 'texture_mean', 'smoothness_mean', 'symmetry_mean')
    >>> len(pair.masked)
    400
    """
    from linkrisk.datasets.masking.microaggregation import Microaggregation

    attributes = [attribute for group in GROUPS for attribute in group.attributes]
    original = load_wdbc().loc[: RECORDS - 1, attributes]
    masked = Microaggregation(groups=GROUPS).apply(original)
    return replace(make_file_pair(original, masked), name="wdbc, first 400 records, microaggregated")
