"""The Choquet integral, from a fuzzy measure or from its Moebius transform.

References
----------
[1] D. Abril, G. Navarro-Arribas, V. Torra, "Choquet integral for record linkage", Annals of Operations
    Research 195 (2012) 97-110.
[2] M. Grabisch, "k-order additive discrete fuzzy measures and their representation", Fuzzy Sets and Systems
    92 (1997) 167-189.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.fuzzy_measures.set_functions import attribute_count

# Subset minima held at once: about 32 MB, whatever the number of attributes.
_MINIMA_AT_ONCE = 1 << 22


def choquet_integral(values: ArrayLike, measure: ArrayLike) -> FloatArray:
    """Aggregate along the last axis: sum over i of (c_s(i) - c_s(i-1)) mu({s(i), ..., s(n)}) [1].

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

    Raises
    ------
    FormulationError
        When the last axis of `values` is not the number of attributes of `measure`.
    """
    c = _checked_values(values, attribute_count(measure))
    order = np.argsort(c, axis=-1, kind="stable")
    rises = np.diff(np.take_along_axis(c, order, axis=-1), axis=-1, prepend=0.0)
    # The subset of the values still to come, as a bitmask: the running union from the right.
    coming = np.cumsum((np.int64(1) << order)[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((rises * np.asarray(measure, dtype=np.float64)[coming]).sum(axis=-1))


def subset_minima(values: ArrayLike) -> FloatArray:
    """Return the minimum of the values over each subset, shape (..., 2^n); 0 for the empty set.

    These are the features in which the Choquet integral is linear in the Moebius transform [2].
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
    """Aggregate along the last axis: sum over non-empty A of m(A) min over A of c_k, shape (...) [2].

    Raises
    ------
    FormulationError
        When the last axis of `values` is not the number of attributes of `moebius`.
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
