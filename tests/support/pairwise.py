"""Settings that meet in pairs instead of all with all: what the quick suite takes of a large product."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest

Row = tuple[int, ...]


def pairwise(**levels: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrise a test so that every two values of two parameters meet; the other combinations are slow.

    Most faults need no more than two settings to show, and those of a family or an engine one.

    Parameters
    ----------
    **levels : sequence
        The values of each parameter by its name.
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
    rows = list(product(*(range(size) for size in sizes)))
    taken: dict[tuple[int, int], int] = {}
    missing = {pair for row in rows for pair in _pairs(row)}
    chosen: set[Row] = set()
    while missing:
        best = max(
            rows,
            key=lambda row: (len(missing & _pairs(row)), -sum(taken.get(each, 0) for each in enumerate(row))),
        )
        chosen.add(best)
        missing -= _pairs(best)
        for each in enumerate(best):
            taken[each] = taken.get(each, 0) + 1
    return chosen


def _pairs(row: Row) -> set[tuple[tuple[int, int], ...]]:
    return set(combinations(enumerate(row), min(2, len(row))))


def _label(value: Any) -> str:
    return str(getattr(value, "label", value))
