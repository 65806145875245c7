"""Fuzzy measures: transforms and indices, the Choquet integral, names for subsets.

Imports numpy and `formulations.errors` only.
"""

from linkrisk.formulations.linkage.fuzzy_measures.integral import (
    choquet_from_moebius,
    choquet_integral,
    subset_minima,
)
from linkrisk.formulations.linkage.fuzzy_measures.names import (
    check_names,
    measure_from_names,
    measure_to_names,
    subset_names,
)
from linkrisk.formulations.linkage.fuzzy_measures.set_functions import (
    additive_measure,
    attribute_count,
    cardinalities,
    check_fuzzy_measure,
    dual_measure,
    interaction_indices,
    is_monotone,
    k_additivity,
    moebius,
    orness,
    shapley_values,
    symmetric_measure,
    zeta,
)

__all__ = [
    "additive_measure",
    "attribute_count",
    "cardinalities",
    "check_fuzzy_measure",
    "check_names",
    "choquet_from_moebius",
    "choquet_integral",
    "dual_measure",
    "interaction_indices",
    "is_monotone",
    "k_additivity",
    "measure_from_names",
    "measure_to_names",
    "moebius",
    "orness",
    "shapley_values",
    "subset_minima",
    "subset_names",
    "symmetric_measure",
    "zeta",
]
