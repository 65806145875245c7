"""Settings that meet in pairs instead of all with all: what the quick suite takes of a large product."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

Row = tuple[int, ...]


def pairwise(**levels: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrise a test so that every two values of two parameters meet; the other combinations are slow.

    Most faults need no more than two settings to show, and those of a family or an engine one.
    """
    names, values = tuple(levels), [list(each) for each in levels.values()]
    chosen = covering([len(each) for each in values])
    rows = []
    for row in product(*(range(len(each)) for each in values)):
        settings = [each[at] for each, at in zip(values, row, strict=True)]
        marks = () if row in chosen else (pytest.mark.slow,)
        rows.append(pytest.param(*settings, marks=marks, id="-".join(map(_label, settings))))
    return pytest.mark.parametrize(names, rows)


def covering(sizes: Sequence[int]) -> set[Row]:
    """Rows of a product in which every pair of values occurs: the row with most new pairs, again and again.

    Among equally good rows one is taken whose values were taken least, so that they are mixed.
    """
    rows = np.array(list(product(*(range(size) for size in sizes))))
    values = rows + np.cumsum([0, *sizes[:-1]])  # each value of each parameter by a number of its own
    together = list(combinations(range(len(sizes)), min(2, len(sizes))))
    many = sum(sizes)
    pairs = np.stack([values[:, at[0]] * many + values[:, at[-1]] for at in together], axis=1)
    missing, taken = np.zeros(many * many, dtype=np.int64), np.zeros(many, dtype=np.int64)
    missing[pairs] = 1
    chosen: set[Row] = set()
    while missing.any():
        used = taken[values].sum(axis=1)
        best = int(np.argmax(missing[pairs].sum(axis=1) * (used.max() + 1) - used))
        chosen.add(tuple(rows[best].tolist()))
        missing[pairs[best]] = 0
        taken[values[best]] += 1
    return chosen


def _label(value: Any) -> str:
    return str(getattr(value, "label", value))
