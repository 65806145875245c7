"""Fuzzy measures by name, as they are written to JSON: a key per non-empty subset, names joined by commas."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.fuzzy_measures.set_functions import attribute_count


def subset_names(attributes: Sequence[str]) -> list[str]:
    """Return the names of the 2^n - 1 non-empty subsets in bitmask order: attribute names joined by commas.

    Raises
    ------
    FormulationError
        When there is no attribute, or two subsets get the same name.
    """
    if not attributes:
        raise FormulationError("a fuzzy measure has no attributes: give at least one attribute name")
    names = [""]
    for attribute in attributes:
        names += [f"{name},{attribute}" if i else attribute for i, name in enumerate(names)]
    check_names(names[1:])
    return names[1:]


def check_names(names: Sequence[str]) -> None:
    """Refuse names of subsets that do not tell them apart.

    Raises
    ------
    FormulationError
        When two subsets have the same name.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FormulationError(
                f"two subsets of attributes are both named '{name}': rename attributes that are the same "
                "or contain a comma"
            )
        seen.add(name)


def measure_from_names(named: Mapping[str, object], attributes: Sequence[str]) -> FloatArray:
    """Return the measure, shape (2^n,), from its values by subset name; the empty set is 0.

    Raises
    ------
    FormulationError
        When a subset is missing or unknown, or a value is not a finite number.
    """
    names = subset_names(attributes)
    for name in names:
        if name not in named:
            raise FormulationError(
                f"the fuzzy measure has no value for subset '{name}': give all {len(names)} subsets"
            )
    if len(named) > len(names):
        unknown = next(name for name in named if name not in set(names))
        raise FormulationError(
            f"the fuzzy measure names subset '{unknown}': use the attributes {', '.join(attributes)} "
            "in this order, joined by commas"
        )
    return np.array([0.0, *(_number(name, named[name]) for name in names)])


def measure_to_names(measure: ArrayLike, attributes: Sequence[str]) -> dict[str, float]:
    """Return the values of all non-empty subsets by name, in bitmask order.

    Raises
    ------
    FormulationError
        When the measure is not on as many attributes as named.
    """
    n = attribute_count(measure)
    if n != len(attributes):
        raise FormulationError(f"a measure on {n} attributes cannot take {len(attributes)} attribute names")
    values = np.asarray(measure, dtype=np.float64)[1:]
    return dict(zip(subset_names(attributes), values.tolist(), strict=True))


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise FormulationError(f"the fuzzy measure of subset '{name}' is {value!r}: give a finite number")
    return float(value)
