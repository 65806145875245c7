"""The best point of the lattice when whole records are taken out, as ARX does it: every point, in order.

Prasser, Kohlmayer, Lautenschlaeger and Kuhn (2014) search the lattice so. Here it is where the joint problem
starts from: its answers are at least as good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import LongArray
from linkrisk.formulations.suppression.key_table import RowTypes, numbered_rows
from linkrisk.formulations.suppression.recodings import Levels, Recodings

MOST_POINTS = 2_000_000
"""Points that are put in order."""


@dataclass(frozen=True, eq=False)
class WholeRecords:
    """A point, and the row types whose records go.

    Attributes
    ----------
    levels : tuple of int
    cost : int
        What is lost in all.
    gone : ndarray of bool, shape (T,)
    """

    levels: Levels
    cost: int
    gone: np.ndarray[tuple[int], np.dtype[np.bool_]]


def best_with_whole_records(
    recodings: Recodings, types: RowTypes, k: int, stop: Callable[[], bool]
) -> WholeRecords | None:
    """Find the point at which least is lost when all records go that are alike with fewer than k.

    Parameters
    ----------
    recodings : Recodings
    types : RowTypes
        Of the file, as it is.
    k : int
    stop : callable
        Asked after each point whether to end with the best one so far.

    Returns
    -------
    WholeRecords or None
        None where none has been found, or there are more than `MOST_POINTS`. Records without any value are
        alike, so that it is none or k of them that go.
    """
    best: WholeRecords | None = None
    there = types.codes >= 0
    for base, levels in _in_order(recodings, types):
        if (best is not None and base >= best.cost) or stop():
            break
        group, firsts = numbered_rows(recodings.recoded(types.codes, levels))
        alike = np.bincount(group, types.count, len(firsts))[group]
        gone = alike < k
        if 0 < types.count[gone].sum() < k:
            continue
        more = np.where(there[gone], recodings.whole - recodings.lost(types.codes[gone], levels), 0)
        cost = base + int(more.sum(axis=1) @ types.count[gone])
        if best is None or cost < best.cost:
            best = WholeRecords(levels, cost, gone)
    return best


def _in_order(recodings: Recodings, types: RowTypes) -> Iterator[tuple[int, Levels]]:
    """Points by what is lost at them when nothing is taken out."""
    shape = tuple(level + 1 for level in recodings.top)
    if np.prod([float(size) for size in shape]) > MOST_POINTS:
        return
    total = np.zeros(1, dtype=np.int64)
    for at, loss in enumerate(recodings.losses):
        total = np.add.outer(total, _by_level(loss, types.codes[:, at], types.count)).ravel()
    for place in np.argsort(total, kind="stable"):
        yield int(total[place]), tuple(int(level) for level in np.unravel_index(place, shape))


def _by_level(
    loss: LongArray, codes: np.ndarray[tuple[int], np.dtype[np.int32]], count: LongArray
) -> LongArray:
    there = codes >= 0
    return np.asarray(loss[:, codes[there]] @ count[there], dtype=np.int64)
