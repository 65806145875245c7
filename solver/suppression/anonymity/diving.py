"""Diving: open the nodes that the relaxation nearly opens, place records there, relax what is left, again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.suppression.node_prices import Volume
from linkrisk.formulations.suppression.nodes import Nodes
from linkrisk.solver.suppression.anonymity.assignment import Assignment, completed

_NEARLY = 0.8
"""Nodes of which so much is open are opened, or else those of which most is."""

_LEAST = 0.05
_STEPS = 40
"""Of the volume algorithm between two rounds."""

_AT_ONCE, _SHARE_AT_ONCE = 50, 10


def dive(nodes: Nodes, volume: Volume, most: int, stop: Callable[[], bool]) -> Assignment:
    """Find an answer near an optimum of the relaxation.

    Parameters
    ----------
    nodes : Nodes
    volume : Volume
        Near its largest bound.
    most : int
        See `Volume`.
    stop : callable
        Asked between rounds whether to place the rest somehow.
    """
    part = Volume(nodes, most)
    part.prices = volume.prices.copy()
    average = volume.average
    records = np.zeros(nodes.entries, dtype=np.int64)
    while part.left.any() and not stop():
        if not _round(nodes, part, average, records):
            break
        part.restart()
        for _ in range(_STEPS):
            part.advance()
        average = part.average
    return completed(nodes, records, part.left)


def _round(nodes: Nodes, part: Volume, average: NDArray[np.float32], records: LongArray) -> bool:
    """Open some nodes and place what belongs there; whether any record was placed."""
    left = part.left[nodes.row_type]
    share = np.where(left > 0, average / np.maximum(left, 1), 0.0).astype(np.float32)
    largest = np.maximum.reduceat(share, nodes.start[:-1])
    likely = np.flatnonzero((largest > _LEAST) & ~part.opened)
    order = likely[np.argsort(-largest[likely], kind="stable")]
    if order.size:
        order = order[largest[order] >= min(_NEARLY, float(largest[order[0]]))]
        order = order[: max(_AT_ONCE, likely.size // _SHARE_AT_ONCE)]
    chosen = np.concatenate([order, np.flatnonzero(part.opened)])
    before = int(part.left.sum())
    _place((nodes.start, nodes.row_type, nodes.k), chosen, share, largest, part.opened, part.left, records)
    return int(part.left.sum()) < before


@kernel
def _place(
    nodes: tuple[LongArray, IntArray, int],
    chosen: LongArray,
    share: NDArray[np.float32],
    largest: NDArray[np.float32],
    opened: BoolArray,
    left: LongArray,
    records: LongArray,
) -> None:
    """Place records in nodes one after the other: those with half a share, and k at least in a new one."""
    start, row_type, k = nodes
    for node in chosen:
        begin, end = start[node], start[node + 1]
        least = np.float32(0.5) if opened[node] else np.float32(0.5) * largest[node]
        room, sure = 0, 0
        for at in range(begin, end):
            room += left[row_type[at]]
            if share[at] >= least:
                sure += left[row_type[at]]
        if not opened[node] and room < k:
            continue
        if opened[node] or sure >= k:
            for at in range(begin, end):
                if share[at] >= least:
                    records[at] += left[row_type[at]]
                    left[row_type[at]] = 0
        else:
            wanted = k
            for at in begin + np.argsort(-share[begin:end], kind="mergesort"):
                many = min(wanted, left[row_type[at]])
                records[at] += many
                left[row_type[at]] -= many
                wanted -= many
                if wanted == 0:
                    break
        opened[node] = True
