"""The proof of a bound by a simplex tree: search the tree again in whole numbers, with the bound known."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.simplex_tree import MOST_ENTRIES, packed, tree_rows
from linkrisk.solver.certificates.writing.simplex_search import TreeSearch

MOST_NODES = 40_000_000
"""Longest tree: its certificate has some ten megabytes, and is checked in minutes."""

_NODES_AT_ONCE = 1 << 12
_SHARE = 0.7


def simplex_proof(
    rows: Rows, rivals: Mapping[int, Sequence[int]], weight: Mapping[int, int], most: int, seconds: float
) -> tuple[dict[str, Any], int] | None:
    """A tree that proves `most`, or the smallest larger bound that the time allows.

    Parameters
    ----------
    rows : Rows
        Of a family whose domain is the simplex.
    rivals : mapping of int to sequence of int
        For each block, the rivals that matter; blocks without rivals count as linked.
    weight : mapping of int to int
        Weight of each block that is not lost, in units.
    most : int
        The bound to prove, in units.
    seconds : float

    Returns
    -------
    proof : dict
        ``method``, ``rivals`` and ``tree`` of the certificate.
    bound : int
        What it proves.
    """
    until = time.perf_counter() + seconds
    used = {block: list(own) for block, own in sorted(rivals.items()) if block in weight and own}
    if sum(map(len, used.values())) * rows.family.dimension > MOST_ENTRIES:
        return None
    values, owner = tree_rows(rows, used)
    own = np.array([weight[block] for block in used], dtype=np.int64)
    total = sum(weight.values())
    others = total - int(own.sum())
    slack, step = 0, max(1, max(weight.values(), default=1))
    while most + slack < total:
        # Most of what is left for this bound, so that a weaker one gets its turn.
        share = time.perf_counter() + _SHARE * (until - time.perf_counter())
        codes = _search(TreeSearch(values, owner, own, most + slack - others), share)
        if codes is not None:
            listed = [[block, of_block] for block, of_block in used.items()]
            return {"method": "simplex-tree", "rivals": listed, "tree": packed(codes)}, most + slack
        if time.perf_counter() > until:
            return None
        slack = step if slack == 0 else 2 * slack
    return None


def _search(search: TreeSearch, until: float) -> NDArray[np.uint8] | None:
    """The whole tree, if it is found by then."""
    parts: list[NDArray[np.uint8]] = []
    while not search.complete:
        if search.stuck or len(parts) * _NODES_AT_ONCE >= MOST_NODES:
            return None
        if parts and time.perf_counter() > until:
            return None
        parts.append(search.run(_NODES_AT_ONCE))
    return np.concatenate(parts)
