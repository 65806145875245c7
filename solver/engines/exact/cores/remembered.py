"""Rows of a block that were violated before: the next question begins with them."""

from __future__ import annotations

from linkrisk.arrays import IndexArray
from linkrisk.formulations.compiled import kernel


@kernel
def put_first(kept: IndexArray, row: int) -> None:
    """Put a row first among those of its block, and forget the last one if there are too many.

    `kept` (any,): the last one first; -1 where there are fewer. Written to.
    """
    place = 0
    while place < kept.size - 1 and kept[place] != row and kept[place] >= 0:
        place += 1
    for at in range(place, 0, -1):
        kept[at] = kept[at - 1]
    kept[0] = row
