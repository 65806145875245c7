"""Tables of two variables whose hierarchies do not nest: relations of a line run in circles."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.formulations.tables.cell_table import CellTable

CIRCLE = np.array([[-1, 1, 1, 0, 0, 0], [0, 0, -1, 1, 1, 0], [0, 1, 0, 1, 0, -1]])
"""A line of six codes, of which three are free: 0 = 1 + 2, 2 = 3 + 4, 5 = 1 + 3."""


def circles(generator, count, leaves):
    """Random sums over codes, each of two or three codes before it, which overlap, shape (count, n)."""
    rows = np.zeros((count, leaves + count))
    for number in range(count):
        before = leaves + number
        parts = generator.choice(before, min(before, generator.integers(2, 4)), replace=False)
        rows[number, parts], rows[number, leaves + number] = 1.0, -1.0
    return rows


def circle_table(generator, lines, *, share=0.3, zeros=0.1):
    """A table whose variables have these lines: relations of codes, of shapes (m_k, n_k)."""
    widths = [line.shape[1] for line in lines]
    kernels = [_codes(line) for line in lines]
    values = np.zeros(widths)
    inner = generator.integers(1, 60, [kernel.shape[1] for kernel in kernels]).astype(float)
    inner[generator.random(inner.shape) < zeros] = 0.0
    values = inner
    for axis, kernel in enumerate(kernels):
        values = np.moveaxis(np.tensordot(kernel, values, axes=(1, axis)), 0, axis)
    number = np.arange(values.size).reshape(widths)
    rows = []
    for axis, line in enumerate(lines):
        for along in np.moveaxis(number, axis, 0).reshape(widths[axis], -1).T:
            for relation in line:
                rows.append(np.zeros(values.size))
                rows[-1][along] = relation
    value = values.ravel()
    primary = (generator.random(value.size) < share) & (value > 0)
    level = np.where(primary, np.ceil(0.2 * value), 0.0)
    return CellTable(
        value=value,
        relations=sparse.csr_array(np.array(rows)),
        lower=np.zeros(value.size),
        upper=2.0 * value,
        primary=primary,
        fixed=value == 0,
        cost=np.maximum(value, 1.0),
        lower_level=level,
        upper_level=level,
        sliding_level=np.zeros(value.size),
    )


def _codes(line):
    """All codes of a line as sums of those that are free: the codes that no relation computes."""
    computed = [int(np.flatnonzero(relation < 0)[0]) for relation in line]
    free = [code for code in range(line.shape[1]) if code not in computed]
    parts = np.zeros((line.shape[1], len(free)))
    parts[free] = np.eye(len(free))
    for _ in line:
        for relation, code in zip(line, computed, strict=True):
            parts[code] = np.maximum(relation, 0.0) @ parts
    return parts
