"""Points to partition into groups of at least k, drawn so that ties are common."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

SMALL_GRID = st.integers(-3, 3).map(float)  # few different values, so that ties are common


@st.composite
def points_and_k(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    rows, columns = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    elements = draw(st.sampled_from([SMALL_GRID, st.floats(-1e6, 1e6)]))
    points = draw(arrays(np.float64, (rows, columns), elements=elements))
    return points, draw(st.integers(2, min(rows, 8)))
