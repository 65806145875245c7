"""Small parts of kernels, of which numba has versions that take seconds to compile.

An assignment to a slice brings the words of its errors with it, a sort seven functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import IndexArray
from linkrisk.formulations.compiled import kernel


@kernel
def put(values: NDArray[Any], into: NDArray[Any]) -> None:
    """Copy a vector to the beginning of another: ``into[: values.size] = values``."""
    for k in range(values.size):
        into[k] = values[k]


@kernel
def put_rows(values: NDArray[Any], into: NDArray[Any]) -> None:
    """Copy a matrix to the first rows of another of as many columns: ``into[: len(values)] = values``."""
    for row in range(values.shape[0]):
        for k in range(values.shape[1]):
            into[row, k] = values[row, k]


@kernel
def ascending(keys: NDArray[Any]) -> IndexArray:
    """Places of the keys in ascending order, equal ones in the order they have (merging from below)."""
    many = keys.size
    order, other = np.empty(many, dtype=np.intp), np.empty(many, dtype=np.intp)
    for at in range(many):
        order[at] = at
    width = 1
    while width < many:
        for first in range(0, many, 2 * width):
            middle, last = min(first + width, many), min(first + 2 * width, many)
            left, right = first, middle
            for at in range(first, last):
                if right == last or (left < middle and keys[order[left]] <= keys[order[right]]):
                    other[at] = order[left]
                    left += 1
                else:
                    other[at] = order[right]
                    right += 1
        order, other = other, order
        width *= 2
    return order
