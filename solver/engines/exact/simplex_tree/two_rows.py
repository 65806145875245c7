"""Two rows that exclude each other on a simplex: compiled code for the tree and for pairs of blocks."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.compiled import kernel

_ROUNDED = 4e-16
"""The ends of the interval are rounded quotients, so it must be wider than this share of them."""


@kernel
def excluding_multiplier(first: FloatArray, second: FloatArray, error: float) -> float:
    """Some x > 0 with ``first + x * second`` not positive at any vertex; zero without one.

    Then the two rows are nowhere positive together on the simplex.

    `first`, `second` (vertices,): values of the rows at the vertices. `error`: by how much these may be too
    small.
    """
    low, high = 0.0, np.inf
    for vertex in range(first.size):
        a, b = first[vertex] + error, second[vertex] + error
        if b < 0.0:
            if a > 0.0:
                low = max(low, a / -b)
        elif a >= 0.0:
            return 0.0
        elif b > 0.0:
            high = min(high, -a / b)
        if low >= high:
            return 0.0
    if low * (1.0 + _ROUNDED) >= high:
        return 0.0
    return 2.0 * low + 1.0 if np.isinf(high) else 0.5 * (low + high)
