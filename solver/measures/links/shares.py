"""What an attack is right about as shares: of what records stand for, and of the records themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.pair import LinkagePair, Ties


class Shares(NamedTuple):
    """Shares of right links."""

    share: float  # of the records; of what they stand for, where they have sampling weights
    # of the records; None where they have no sampling weights, or all the same one
    unweighted: float | None = None


def shares_of(right: NDArray[Any], weight: FloatArray | None) -> Shares:
    """Of links that are right, or with a probability, and the weights of the records; shapes (records,)."""
    found = float(np.mean(right))
    if weight is None or (weight == weight[0]).all():
        return Shares(found)
    return Shares(float(right @ weight) / float(weight.sum()), found)


def linked_parts(linked: NDArray[np.bool_], pair: LinkagePair) -> FloatArray:
    """What each linked block counts: with shared ties one of several that are equal a part of one."""
    return linked / pair.equals if pair.ties is Ties.SHARE else linked.astype(np.float64)
