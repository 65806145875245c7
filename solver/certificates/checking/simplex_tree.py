"""The bound of a simplex tree: the domain is halved until few enough blocks are left everywhere."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.families.base import Row
from linkrisk.solver.certificates.checking.fields import Fields, listed, whole, wholes
from linkrisk.solver.certificates.checking.simplex_kernels import BITS, LARGEST_TOTAL, MOST_VALUES, replay
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

_PROBLEMS = (
    "",
    "a leaf may link more than the bound",
    "there is no such edge",
    "the tree is too deep",
    "the tree is incomplete, or goes on after its end",
    "too many rows are left to keep in memory",
)
MOST_CODES = 1 << 26
"""Nodes of a tree, a byte each."""

MOST_ENTRIES = MOST_VALUES // 4
"""Values of all rows at the corners of the simplex."""


def rounded_up(row: Row) -> list[int]:
    """The row in units of its largest entry times ``2**-BITS``, rounded against the claim: up."""
    largest = max(max(map(abs, row)), 1)
    return [-((-value << BITS) // largest) for value in row]


def tree_rows(rows: Rows, rivals: Mapping[int, Sequence[int]]) -> tuple[LongArray, LongArray]:
    """Rows at the corners of the simplex, and for each the place of its block among those of `rivals`."""
    many = sum(map(len, rivals.values()))
    values = np.empty((many, rows.family.dimension), dtype=np.int64)
    owner = np.empty(many, dtype=np.int64)
    at = 0
    for place, (block, listed_rivals) in enumerate(rivals.items()):
        for rival in listed_rivals:
            values[at], owner[at] = rounded_up(rows.row(block, rival)), place
            at += 1
    return values, owner


def packed(codes: NDArray[np.uint8]) -> str:
    """The tree as text: one byte a node, compressed, in base 64."""
    return base64.b64encode(zlib.compress(codes.tobytes(), 9)).decode("ascii")


def unpacked(content: str, where: str) -> NDArray[np.uint8]:
    """The tree that `packed` wrote; UsageError when it is not one."""
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b64decode(content, validate=True), MOST_CODES)
    except (binascii.Error, ValueError, zlib.error):
        raise UsageError(f"{where} is not a compressed tree in base 64") from None
    if not stream.eof or stream.unused_data:
        raise UsageError(f"{where} is damaged or too long")
    return np.frombuffer(data, dtype=np.uint8)


def read_rivals(rows: Rows, content: Sequence[object], where: str) -> dict[int, list[int]]:
    """The rivals that the tree uses, by block: any of them may be left out, none may be invented."""
    rivals: dict[int, list[int]] = {}
    for at, item in enumerate(content):
        place = f"{where}[{at}]"
        entry = listed(item, place)
        if len(entry) != 2:
            raise UsageError(f"{place} must hold a block and its rivals")
        block, own = whole(entry[0], place), wholes(entry[1], place)
        demand(block not in rivals, f"{place}: block {block} is listed twice")
        demand(bool(own), f"{place}: block {block} has no rivals here")
        for rival in own:
            rows.check_rival(block, rival, place)
        rivals[block] = own
    return rivals


def capped(weight: Mapping[int, int], most: int) -> dict[int, int]:
    """The weights, those above a bound taken for just above it: such a block is linked nowhere within it."""
    return {block: min(own, most + 1) for block, own in weight.items()}


def check_simplex_tree(rows: Rows, fields: Fields, weight: Mapping[int, int], most: int) -> int:
    """Check that no parameters link blocks that weigh more than `most`; the number of leaves.

    Parameters
    ----------
    rows : Rows
        Of a family whose domain is the simplex.
    fields : Fields
        The proof, with ``rivals`` and ``tree``.
    weight : mapping of int to int
        Weight of each block that may be linked.
    most : int
    """
    demand(rows.family.simplex, f"{fields.where}: the parameters of this family are not a simplex")
    rivals = read_rivals(rows, fields.listed("rivals"), f"{fields.where}, rivals")
    for block in rivals:
        demand(block in weight, f"{fields.where}, rivals: block {block} is lost already")
    many = sum(map(len, rivals.values()))
    demand(many * rows.family.dimension <= MOST_ENTRIES, f"{fields.where}, rivals: there are too many")
    values, owner = tree_rows(rows, rivals)
    codes = unpacked(fields.text("tree"), f"{fields.where}, tree")
    weight = capped(weight, most)
    total = sum(weight.values())
    demand(
        total <= LARGEST_TOTAL, f"{fields.where}: the weights of the blocks are too large for a simplex tree"
    )
    demand(0 <= most <= LARGEST_TOTAL, f"{fields.where}: a bound of {most} units is out of range")
    own = np.array([weight[block] for block in rivals], dtype=np.int64)
    others = total - sum(
        weight[block] for block in rivals
    )  # blocks without rivals count as linked everywhere
    problem, at, leaves = replay(values, owner, own, most - others, codes)
    demand(problem == 0, f"{fields.where}, tree: at node {at}, {_PROBLEMS[problem]}")
    return int(leaves)
