"""What the compiled searches of MDAV work on: a tree, a list of rows by distance, the groups so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray

PARTIALS = 64
"""A sum of doubles never needs more than 40 doubles without overlap: they span 2,100 bits of 53 each."""


class Tree(NamedTuple):
    """A k-d tree in heap order: node i has the children 2i and 2i + 1, the last half of the nodes are leaves.

    Attributes
    ----------
    cells : float64 array (leaves, a, size of a leaf)
        The points of each leaf, attribute by attribute.
    rows : intp array (leaves, size of a leaf)
        Their rows.
    low, high : float64 arrays (2 * leaves, a)
        The box of the points left in each node.
    held : intp array (2 * leaves,)
        How many points are left in each node.
    leaf_of : intp array (n,)
        The node of each row's leaf.
    """

    cells: FloatArray
    rows: IndexArray
    low: FloatArray
    high: FloatArray
    held: IndexArray
    leaf_of: IndexArray


class Outer(NamedTuple):
    """Rows by descending distance from an earlier centroid.

    Attributes
    ----------
    rows : intp array (m,)
        All rows that were left then.
    reach : float64 array (m,)
        Their distances.
    anchor : float64 array (a,)
        The centroid then.
    """

    rows: IndexArray
    reach: FloatArray
    anchor: FloatArray


class Progress(NamedTuple):
    """What has been done; changed in place.

    Attributes
    ----------
    group_of : intp array (n,)
        The group of each row, -1 while it is left.
    partials : float64 array (a, PARTIALS)
        The exact sum of each attribute over the points left, as doubles without overlap.
    used : intp array (a,)
        How many of them there are.
    counts : intp array (2,)
        How many rows are left, and how many groups there are.
    """

    group_of: IndexArray
    partials: FloatArray
    used: IndexArray
    counts: IndexArray


def plant(points: FloatArray, left: IndexArray, leaf_size: int) -> Tree:
    """Put the rows that are left into a tree, with at most `leaf_size` in a leaf.

    Level by level, each node is halved by the attribute in which its points are widest apart.
    """
    leaves = 1
    while leaves * leaf_size < len(left):
        leaves *= 2
    tree = _bare(points, len(left), leaves)
    order, nodes = left, 1
    while True:
        edges = len(left) * np.arange(nodes + 1) // nodes
        node = np.repeat(np.arange(nodes), np.diff(edges))
        tree.held[nodes : 2 * nodes] = np.diff(edges)
        tree.low[nodes : 2 * nodes] = np.minimum.reduceat(points[order], edges[:-1])
        tree.high[nodes : 2 * nodes] = np.maximum.reduceat(points[order], edges[:-1])
        if nodes == leaves:
            break
        widest = np.argmax((tree.high - tree.low)[nodes : 2 * nodes], axis=1)
        order = order[np.lexsort((points[order, widest[node]], node))]
        nodes *= 2
    slot = np.arange(len(left)) - edges[node]
    tree.cells[node, :, slot], tree.rows[node, slot] = points[order], order
    tree.leaf_of[order] = leaves + node
    return tree


def _bare(points: FloatArray, left: int, leaves: int) -> Tree:
    records, attributes = points.shape
    size = -(-left // leaves)
    return Tree(
        np.zeros((leaves, attributes, size)),
        np.zeros((leaves, size), dtype=np.intp),
        np.zeros((2 * leaves, attributes)),
        np.zeros((2 * leaves, attributes)),
        np.zeros(2 * leaves, dtype=np.intp),
        np.zeros(records, dtype=np.intp),
    )


def no_progress(records: int, attributes: int) -> Progress:
    """All rows are left; their sums are yet to be added up."""
    return Progress(
        np.full(records, -1, dtype=np.intp),
        np.zeros((attributes, PARTIALS)),
        np.zeros(attributes, dtype=np.intp),
        np.array([records, 0], dtype=np.intp),
    )
