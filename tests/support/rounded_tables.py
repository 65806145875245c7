"""Tables with margins in every dimension, to be rounded."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.formulations.tables.controlled_rounding import ControlledRounding


def with_margins(inner, base=5, weight=None):
    """A table with a margin in every dimension, its cells in the order of places where 0 is the total."""
    cells = np.zeros([size + 1 for size in inner.shape])
    cells[tuple(slice(1, None) for _ in inner.shape)] = inner
    for axis in range(inner.ndim):
        first = tuple(slice(0, 1) if at == axis else slice(None) for at in range(inner.ndim))
        cells[first] = cells.sum(axis=axis, keepdims=True)
    number, rows = np.arange(cells.size).reshape(cells.shape), []
    for axis in range(inner.ndim):
        lines = np.moveaxis(number, axis, 0).reshape(cells.shape[axis], -1).T
        rows += [(line, [-1.0] + [1.0] * (line.size - 1)) for line in lines]
    relations = sparse.lil_array((len(rows), cells.size))
    for at, (line, coefficients) in enumerate(rows):
        relations[at, line] = coefficients
    value = cells.ravel()
    return ControlledRounding(
        value=value,
        relations=sparse.csr_array(relations),
        weight=np.ones(value.size) if weight is None else weight,
        base=base,
        zero_restricted=True,
    )


def drawn(shape, seed=0, base=5):
    return with_margins(np.random.default_rng(seed).integers(0, 60, shape).astype(float), base)
