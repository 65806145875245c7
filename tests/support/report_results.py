"""Results as `fit --json` writes them, one for each form of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.formulations.linkage import fuzzy_measures as measures

ATTRIBUTES = ["AFNLWGT", "AGI", "EMCONTRB"]
MEASURE = {
    "AFNLWGT": 0.3,
    "AGI": 0.45,
    "AFNLWGT,AGI": 0.5,
    "EMCONTRB": 0.0,
    "AFNLWGT,EMCONTRB": 0.9,
    "AGI,EMCONTRB": 0.625,
    "AFNLWGT,AGI,EMCONTRB": 1.0,
}
COLUMNS = ["record", "linked", "rank", "distance", "nearest_other", "margin", "ties"]
ROWS: list[list[Any]] = [
    ["1", True, 1, 0.0125, 0.51, 0.4975, 0],
    ["2", True, 1, 0.0, 1.25, 1.25, 0],
    ["3", False, 2, 0.75, 0.5, -0.25, 0],
    ["4", False, 1, 0.25, 0.25, 0.0, 1],
    ["5", True, 1, 3.1e-7, 12345.678, 12345.678, 0],
    ["6", False, 12, 2.5, 0.003, -2.497, 0],
    ["7", True, 1, 0.1, None, None, 0],
]


def choquet_result(**changes: Any) -> dict[str, Any]:
    """A result of the Choquet integral, stopped by the time limit."""
    mu = measures.measure_from_names(MEASURE, ATTRIBUTES)
    result: dict[str, Any] = {
        "linkrisk": "0.1.0",
        "command": "python -m solver fit --original o.csv --masked m.csv --aggregator choquet",
        "name": "o.csv -> m.csv",
        "aggregator": "choquet",
        "aggregator_options": {"k_additive": None},
        "direction": "original-to-masked",
        "engine": "milp",
        "backend": "highs",
        "attributes": ATTRIBUTES,
        "records": 7,
        "candidates": 8,
        "ties": "strict",
        "standardisation": "own",
        "differences": "squared",
        "linked": 4,
        "linked_upper_bound": 5,
        "lost": 1,
        "status": "feasible",
        "limit": "time",
        "margin": 1e-6,
        "parameters": {"measure": MEASURE},
        "importance": dict(zip(ATTRIBUTES, np.round(measures.shapley_values(mu), 12).tolist(), strict=True)),
        "interaction": np.round(measures.interaction_indices(mu), 12).tolist(),
        "baselines": {"euclid": 2, "mahalanobis": 3},
        "seconds": 121.53,
        "phases": {"attack": 1.2, "build": 0.04, "solve": 120.1},
        "model": {"rows": 15960, "columns": 14, "nonzeros": 123456},
        "trace": [[0.1, 2, 7], [1.2, 3, 7], [40.0, 4, 6], [121.53, 4, 5]],
        "seed": 0,
        "threads": 1,
        "time_limit": 120.0,
        "versions": {"python": "3.12.4", "numpy": "2.1.0", "highspy": "1.15.1"},
        "records_table": {"columns": COLUMNS, "rows": ROWS},
    }
    return {**result, **changes}


def weighted_mean_result(**changes: Any) -> dict[str, Any]:
    """A proven result of the weighted mean."""
    weights = {"AFNLWGT": 0.5, "AGI": 0.5, "EMCONTRB": 0.0}
    proven = {"status": "optimal", "limit": None, "linked_upper_bound": 4, "time_limit": None, "trace": []}
    form = {"aggregator": "weighted-mean", "aggregator_options": {}, "parameters": {"weights": weights}}
    return choquet_result(**proven, **form, importance=weights, interaction=None) | changes


def owa_result(**changes: Any) -> dict[str, Any]:
    """A result of the OWA with shared ties."""
    form = {"aggregator": "owa", "parameters": {"weights": {"1": 0.625, "2": 0.25, "3": 0.125}}}
    shared = {"ties": "share", "expected_links": 2.5, "expected_links_upper_bound": 3.25}
    return choquet_result(**form, **shared, importance=None, interaction=None) | changes


def mahalanobis_result(**changes: Any) -> dict[str, Any]:
    """A result of the Mahalanobis-type distance, without a model."""
    matrix = [[12.5, -0.3, 0.002], [-0.3, 1.0, 0.1], [0.002, 0.1, 3.0]]
    importance = dict(zip(ATTRIBUTES, [0.7575757576, 0.0606060606, 0.1818181818], strict=True))
    form = {"aggregator": "mahalanobis", "parameters": {"matrix": matrix}, "differences": "signed"}
    return choquet_result(**form, importance=importance, interaction=None, model=None) | changes


RESULTS = {
    "choquet": choquet_result,
    "weighted-mean": weighted_mean_result,
    "owa": owa_result,
    "mahalanobis": mahalanobis_result,
}
