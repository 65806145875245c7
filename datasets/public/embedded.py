"""Real data sets that scikit-learn carries, read without any network."""

from __future__ import annotations

import numpy as np
import pandas as pd


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
