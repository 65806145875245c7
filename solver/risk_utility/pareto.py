"""Which maskings are not dominated, as far as the certified intervals of their risks tell."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray


class Place(StrEnum):
    """Where a masking stands on the map."""

    FRONT = "on the front"
    DOMINATED = "dominated"
    OPEN = "open"


class Point(NamedTuple):
    """A masking on the map; less of either is better.

    Attributes
    ----------
    low, high : float
        Certified ends of its risk.
    loss : float
        What it costs.
    """

    low: float
    high: float
    loss: float


def places(points: Sequence[Point]) -> list[Place]:
    """The place of every masking on the Pareto front of risk and loss.

    A masking dominates another one where it has neither more risk nor more loss, and less of one of them. The
    risks are somewhere in their intervals. ``dominated``: wherever they are, some other masking dominates it;
    then one does that for all values, since at the best for the masking (its own risk at the lower end, all
    others at the upper end) somebody still has to dominate it. ``on the front``: wherever they are, no other
    one dominates it. ``open``: that depends on where they are; narrower intervals may tell.
    """
    if not points:
        return []
    low, high, loss = np.array(points, dtype=np.float64).T
    found = []
    for at, own in enumerate(points):
        possibly = _dominating(low, loss, own.high, own.loss)
        possibly[at] = False  # a masking is no rival of itself, however wide its interval is
        if _dominating(high, loss, own.low, own.loss).any():
            found.append(Place.DOMINATED)
        else:
            found.append(Place.OPEN if possibly.any() else Place.FRONT)
    return found


def _dominating(risk: FloatArray, loss: FloatArray, own_risk: float, own_loss: float) -> BoolArray:
    """Which of some maskings dominate one."""
    less = (risk < own_risk) | (loss < own_loss)
    return np.asarray((risk <= own_risk) & (loss <= own_loss) & less)
