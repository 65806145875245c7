"""Fuzzy measures as arrays: transforms, indices, the Choquet integral, and names of subsets.

A set function on n attributes is a float64 array of 2^n values indexed by bit mask: bit k of the index says
whether attribute k belongs to the subset, index 0 is the empty set and index 2^n - 1 the full set V. A fuzzy
measure is a set function that is monotone, 0 on the empty set and 1 on V.

Every transform runs in O(n 2^n) without a loop over subsets: viewed with shape (-1, 2, 2^k), the middle axis
of the array is bit k, so a step over attribute k is one slice operation.

References
----------
[1] M. Grabisch, "k-order additive discrete fuzzy measures and their representation", Fuzzy Sets and Systems
    92 (1997) 167-189.
[2] J.-L. Marichal, "Tolerant or intolerant character of interacting criteria in aggregation by the Choquet
    integral", European Journal of Operational Research 155 (2004) 771-791.
[3] D. Abril, G. Navarro-Arribas, V. Torra, "Choquet integral for record linkage", Annals of Operations
    Research 195 (2012) 97-110.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError


def attribute_count(measure: ArrayLike) -> int:
    """Return n for a set function of 2^n values.

    FormulationError when `measure` is not one-dimensional, its length is not a power of two of at least 2, or
    a value is not finite.
    """
    array = np.asarray(measure, dtype=np.float64)
    n = array.size.bit_length() - 1
    if array.ndim != 1 or n < 1 or array.size != 1 << n:
        raise FormulationError(
            f"a set function has shape {array.shape}: give one value per subset, that is (2^n,) with n >= 1"
        )
    if not np.isfinite(array).all():
        mask = int(np.flatnonzero(~np.isfinite(array))[0])
        raise FormulationError(
            f"a set function has the value {array[mask]} at index {mask}: every value must be a finite number"
        )
    return n


def cardinalities(n: int) -> NDArray[np.int64]:
    """Return the number of attributes in each subset, shape (2^n,), in bitmask order."""
    return np.bitwise_count(np.arange(1 << n)).astype(np.int64)


def moebius(measure: ArrayLike) -> FloatArray:
    """Return the Moebius transform m(A) = sum over B subset of A of (-1)^|A - B| mu(B), shape (2^n,) [1]."""
    n = attribute_count(measure)
    out = np.array(measure, dtype=np.float64)
    for k in range(n):
        bit = out.reshape(-1, 2, 1 << k)
        bit[:, 1] -= bit[:, 0]
    return out


def zeta(moebius: ArrayLike) -> FloatArray:
    """Return the inverse of `moebius`: mu(A) = sum over B subset of A of m(B), shape (2^n,) [1]."""
    n = attribute_count(moebius)
    out = np.array(moebius, dtype=np.float64)
    for k in range(n):
        bit = out.reshape(-1, 2, 1 << k)
        bit[:, 1] += bit[:, 0]
    return out


def shapley_values(measure: ArrayLike) -> FloatArray:
    """Return the importance of each attribute, shape (n,): sum over A containing k of m(A) / |A| [1].

    The values sum to mu(V) - mu(empty set), that is to 1 for a fuzzy measure.
    """
    n = attribute_count(measure)
    share = moebius(measure) / np.maximum(cardinalities(n), 1)
    return np.array([share.reshape(-1, 2, 1 << k)[:, 1].sum() for k in range(n)])


def interaction_indices(measure: ArrayLike) -> FloatArray:
    """Return the pairwise interaction of Murofushi and Soneda: sum over A with j, k of m(A) / (|A| - 1) [1].

    Returns
    -------
    FloatArray
        Shape (n, n), symmetric, zero on the diagonal. Positive: the two attributes complement each other;
        negative: they are redundant; each lies in [-1, 1] for a fuzzy measure.
    """
    n = attribute_count(measure)
    share = moebius(measure) / np.maximum(cardinalities(n) - 1, 1)
    out = np.zeros((n, n))
    for j, k in combinations(range(n), 2):
        both = share.reshape(-1, 2, 1 << (k - j - 1), 2, 1 << j)[:, 1, :, 1]
        out[j, k] = out[k, j] = both.sum()
    return out


def is_monotone(measure: ArrayLike, tolerance: float = 1e-9) -> bool:
    """Say whether no attribute added to any subset lowers the measure by more than `tolerance`."""
    return _largest_drop(measure)[0] <= tolerance


def check_fuzzy_measure(
    measure: ArrayLike, attributes: Sequence[str] | None = None, tolerance: float = 1e-9
) -> None:
    """Refuse what is not a fuzzy measure; `attributes` serve to name subsets in the message.

    Raises
    ------
    FormulationError
        When, by more than `tolerance`, the empty set is not 0, the whole set is not 1, or a subset weighs
        less than a part of it.
    """
    n = attribute_count(measure)
    array = np.asarray(measure, dtype=np.float64)
    for name, value, wanted in (("empty", array[0], 0), ("whole", array[-1], 1)):
        if abs(value - wanted) > tolerance:
            raise FormulationError(f"the fuzzy measure is {value:g} on the {name} set: it must be {wanted}")
    drop, part, k = _largest_drop(array)
    if drop > tolerance:
        names = [
            ",".join(attributes[i] if attributes else str(i) for i in range(n) if mask >> i & 1)
            for mask in (part | 1 << k, part)
        ]
        raise FormulationError(
            f"the fuzzy measure is not monotone: subset '{names[0]}' has {array[part | 1 << k]:g}, "
            f"less than its part '{names[1]}' with {array[part]:g}"
        )


def k_additivity(measure: ArrayLike, tolerance: float = 1e-9) -> int:
    """Return the size of the largest subset whose Moebius value exceeds `tolerance` in size [1].

    1 means additive, n that all attributes interact at once; 0 only when no subset has any weight.
    """
    n = attribute_count(measure)
    present = np.abs(moebius(measure)) > tolerance
    return int(cardinalities(n)[present].max(initial=0))


def additive_measure(weights: ArrayLike) -> FloatArray:
    """Return mu(A) = sum of the weights of A, shape (2^n,); its Choquet integral is the weighted mean.

    FormulationError when the weights are not a non-negative vector that sums to 1.
    """
    w = _checked_weights(weights)
    single = np.zeros(1 << w.size)
    single[1 << np.arange(w.size)] = w
    return zeta(single)


def symmetric_measure(owa_weights: ArrayLike) -> FloatArray:
    """Return mu(A) = sum of the first |A| weights, shape (2^n,); its Choquet integral is their OWA.

    `owa_weights[0]` multiplies the largest value.

    FormulationError when the weights are not a non-negative vector that sums to 1.
    """
    w = _checked_weights(owa_weights)
    return np.concatenate(([0.0], np.cumsum(w)))[cardinalities(w.size)]


def dual_measure(measure: ArrayLike) -> FloatArray:
    """Return mu*(A) = mu(V) - mu(V - A); its Choquet integral of c is minus that of -c by mu."""
    attribute_count(measure)
    array = np.asarray(measure, dtype=np.float64)
    return np.asarray(array[-1] - array[::-1])


def orness(measure: ArrayLike) -> float:
    """Return how close the Choquet integral is to the maximum (1) rather than to the minimum (0) [2].

    It is the mean over t = 1 .. n-1 of the mean measure of the subsets of size t; 0.5 for a weighted mean.

    FormulationError when there is only one attribute: its maximum and minimum are the same.
    """
    n = attribute_count(measure)
    if n == 1:
        raise FormulationError("orness of a measure on 1 attribute is undefined: give at least 2 attributes")
    sizes = cardinalities(n)[:-1]
    subsets_of_size = np.array([math.comb(n, t) for t in range(n)], dtype=np.float64)
    by_size = np.bincount(sizes, weights=np.asarray(measure, dtype=np.float64)[:-1]) / subsets_of_size
    return float(by_size[1:].sum() / (n - 1))


def _largest_drop(measure: ArrayLike) -> tuple[float, int, int]:
    """Return the largest fall when an attribute joins a subset, that subset and the attribute."""
    n = attribute_count(measure)
    array = np.asarray(measure, dtype=np.float64)
    worst = (-math.inf, 0, 0)
    for k in range(n):
        bit = array.reshape(-1, 2, 1 << k)
        drop = bit[:, 0] - bit[:, 1]
        high, low = divmod(int(drop.argmax()), 1 << k)
        worst = max(worst, (float(drop[high, low]), (high << (k + 1)) + low, k))
    return worst


def _checked_weights(weights: ArrayLike) -> FloatArray:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or w.size == 0:
        raise FormulationError(f"weights have shape {w.shape}: give one weight per attribute, that is (n,)")
    if not (w >= 0.0).all() or not abs(w.sum() - 1.0) <= 1e-6:
        raise FormulationError(
            f"weights have minimum {w.min():g} and sum {w.sum():g}: they must be non-negative and sum to 1"
        )
    return w


# Subset minima held at once: about 32 MB, whatever the number of attributes.
_MINIMA_AT_ONCE = 1 << 22


def choquet_integral(values: ArrayLike, measure: ArrayLike) -> FloatArray:
    """Aggregate along the last axis: sum over i of (c_s(i) - c_s(i-1)) mu({s(i), ..., s(n)}) [3].

    Parameters
    ----------
    values
        Shape (..., n). With values below zero this is the asymmetric integral.
    measure
        Shape (2^n,).

    Returns
    -------
    FloatArray
        Shape (...).

    FormulationError when the last axis of `values` is not the number of attributes of `measure`.
    """
    c = _checked_values(values, attribute_count(measure))
    order = np.argsort(c, axis=-1, kind="stable")
    rises = np.diff(np.take_along_axis(c, order, axis=-1), axis=-1, prepend=0.0)
    # The subset of the values still to come, as a bitmask: the running union from the right.
    coming = np.cumsum((np.int64(1) << order)[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((rises * np.asarray(measure, dtype=np.float64)[coming]).sum(axis=-1))


def subset_minima(values: ArrayLike) -> FloatArray:
    """Return the minimum of the values over each subset, shape (..., 2^n); 0 for the empty set.

    These are the features in which the Choquet integral is linear in the Moebius transform [1].
    """
    c = np.asarray(values, dtype=np.float64)
    n = c.shape[-1]
    out = np.empty((*c.shape[:-1], 1 << n))
    out[..., 0] = np.inf
    for k in range(n):
        half = 1 << k
        np.minimum(out[..., :half], c[..., k, None], out=out[..., half : 2 * half])
    out[..., 0] = 0.0
    return out


def choquet_from_moebius(values: ArrayLike, moebius: ArrayLike) -> FloatArray:
    """Aggregate along the last axis: sum over non-empty A of m(A) min over A of c_k, shape (...) [1].

    FormulationError when the last axis of `values` is not the number of attributes of `moebius`.
    """
    n = attribute_count(moebius)
    c = _checked_values(values, n)
    rows = c.reshape(-1, n)
    m = np.asarray(moebius, dtype=np.float64)
    step = max(1, _MINIMA_AT_ONCE >> n)
    parts = [subset_minima(rows[start : start + step]) @ m for start in range(0, len(rows), step)]
    return np.concatenate([np.empty(0), *parts]).reshape(c.shape[:-1])


def _checked_values(values: ArrayLike, n: int) -> FloatArray:
    c = np.asarray(values, dtype=np.float64)
    if c.ndim == 0 or c.shape[-1] != n:
        raise FormulationError(
            f"values of shape {c.shape} cannot be aggregated by a measure on {n} attributes: "
            f"the last axis must have length {n}"
        )
    return c


def subset_names(attributes: Sequence[str]) -> list[str]:
    """Return the names of the 2^n - 1 non-empty subsets in bitmask order: attribute names joined by commas.

    FormulationError when there is no attribute, or two subsets get the same name.
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

    FormulationError when two subsets have the same name.
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

    FormulationError when a subset is missing or unknown, or a value is not a finite number.
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

    FormulationError when the measure is not on as many attributes as named.
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
