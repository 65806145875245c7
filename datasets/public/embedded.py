"""Data that is installed: the breast cancer data of Wisconsin, and the default pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair


def load_wdbc() -> pd.DataFrame:
    """Load Breast Cancer Wisconsin (Diagnostic): 569 rows, the diagnosis (M or B) and 30 features.

    Columns are named and ordered as in the UCI documentation, for example radius_mean, radius_se and
    radius_worst; scikit-learn leaves out the record id.
    """
    # Imported here because scikit-learn takes about a second to import.
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    names = [_uci_name(str(name)) for name in bunch.feature_names]
    frame = pd.DataFrame(bunch.data, columns=pd.Index(names))
    frame.insert(0, "diagnosis", np.where(bunch.target == 0, "M", "B"))
    return frame


def load_iris() -> pd.DataFrame:
    """Load Iris: 150 rows, four lengths in cm and the class.

    The values are those of Fisher (1936). The file at UCI differs from them in rows 35 and 38.
    """
    from sklearn.datasets import load_iris as load_bunch

    bunch = load_bunch()
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame = pd.DataFrame(bunch.data, columns=pd.Index(names))
    frame["class"] = [f"Iris-{bunch.target_names[target]}" for target in bunch.target]
    return frame


def _uci_name(name: str) -> str:
    """Turn "mean radius", "radius error" and "worst radius" into radius_mean, radius_se, radius_worst."""
    words = name.split()
    return "_".join([*words[:-1], "se"] if words[-1] == "error" else [*words[1:], words[0]])


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
    """
    attributes = [attribute for group in GROUPS for attribute in group.attributes]
    original = load_wdbc().loc[: RECORDS - 1, attributes]
    masked = Microaggregation(groups=GROUPS).apply(original)
    return replace(make_file_pair(original, masked), name="wdbc, first 400 records, microaggregated")
