"""Compiled searches of microaggregation: of MDAV among the points still left, and the optimal partition.

Three searches take nearly all the time of MDAV, and each compares few points:

- nearest to a point, and farthest from a point: a k-d tree whose boxes shrink as points leave;
- farthest from the centroid: points listed by descending distance from an earlier centroid. No point is now
  farther than that by more than the centroid has drifted, so the first few of the list settle it.

Each decides by the same rounded numbers as a search of all points would, so ties fall alike. A box bounds
distances exactly: rounding is monotone, and box and points are summed in the same order. The list has slack
for rounding. The centroid is that of exactly rounded sums, which do not depend on the order of points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel

PARTIALS = 64
"""A sum of doubles never needs more than 40 doubles without overlap: they span 2,100 bits of 53 each."""


class Tree(NamedTuple):
    """A k-d tree in heap order: node i has the children 2i and 2i + 1; the last half are leaves."""

    cells: FloatArray  # (leaves, a, size of a leaf): the points of each leaf, attribute by attribute
    rows: IndexArray  # (leaves, size of a leaf): their rows
    low: FloatArray  # (2 * leaves, a): the box of the points left in each node
    high: FloatArray  # (2 * leaves, a): the box of the points left in each node
    held: IndexArray  # (2 * leaves,): how many points are left in each node
    leaf_of: IndexArray  # (n,): the node of each row's leaf


class Outer(NamedTuple):
    """Rows by descending distance from an earlier centroid."""

    rows: IndexArray  # (m,): all rows that were left then
    reach: FloatArray  # (m,): their distances
    anchor: FloatArray  # (a,): the centroid then


class Progress(NamedTuple):
    """What has been done; changed in place."""

    group_of: IndexArray  # (n,): the group of each row, -1 while it is left
    # (a, PARTIALS): the exact sum of each attribute over the points left, as doubles without overlap
    partials: FloatArray
    used: IndexArray  # (a,): how many of them there are
    counts: IndexArray  # (2,): how many rows are left, and how many groups there are


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


DEPTH = 64
"""More than any tree is deep."""


@kernel
def _add(partials: FloatArray, used: int, value: float) -> int:
    """Add to an exact sum (Shewchuk 1997, as in `math.fsum`); how many partial sums there are now."""
    kept = 0
    for i in range(used):
        other = partials[i]
        if abs(value) < abs(other):
            value, other = other, value
        total = value + other
        lost = other - (total - value)
        if lost != 0.0:
            partials[kept] = lost
            kept += 1
        value = total
    partials[kept] = value
    return kept + 1


@kernel
def _rounded(partials: FloatArray, used: int) -> float:
    """Round an exact sum to the nearest double, halves to even, as `math.fsum` does."""
    at = used - 1
    total: float = partials[at]
    lost = 0.0
    while at > 0 and lost == 0.0:
        at -= 1
        before = total
        total = before + partials[at]
        lost = partials[at] - (total - before)
    if at > 0 and lost * partials[at - 1] > 0.0:
        # Half a unit is lost, and what follows has the same sign: more than half, so round away.
        double = lost * 2.0
        further = total + double
        if double == further - total:
            total = further
    return total


@kernel
def start_sums(points: FloatArray, partials: FloatArray, used: IndexArray) -> None:
    """Sum every attribute exactly."""
    for j in range(points.shape[1]):
        for i in range(points.shape[0]):
            used[j] = _add(partials[j], used[j], points[i, j])


@kernel
def centroid(partials: FloatArray, used: IndexArray, left: int) -> FloatArray:
    """The mean of the points left."""
    centre = np.empty(len(used))
    for j in range(len(used)):
        centre[j] = _rounded(partials[j], used[j]) / left
    return centre


@kernel
def _fit_leaf(tree: Tree, node: int) -> None:
    """Shrink the box of a leaf to its points; an empty one is inside out."""
    leaf = node - len(tree.rows)
    for j in range(tree.cells.shape[1]):
        low, high = np.inf, -np.inf
        for t in range(tree.held[node]):
            low = min(low, tree.cells[leaf, j, t])
            high = max(high, tree.cells[leaf, j, t])
        tree.low[node, j], tree.high[node, j] = low, high


@kernel
def _fit_parent(tree: Tree, node: int) -> bool:
    """Shrink the box of an inner node to those of its children; whether it changed."""
    changed = False
    for j in range(tree.low.shape[1]):
        low = min(tree.low[2 * node, j], tree.low[2 * node + 1, j])
        high = max(tree.high[2 * node, j], tree.high[2 * node + 1, j])
        changed |= low != tree.low[node, j] or high != tree.high[node, j]
        tree.low[node, j], tree.high[node, j] = low, high
    return changed


@kernel
def _uproot(tree: Tree, row: int) -> None:
    """Take a row out of the tree."""
    node = tree.leaf_of[row]
    leaf, last, at = node - len(tree.rows), tree.held[node] - 1, 0
    while tree.rows[leaf, at] != row:
        at += 1
    tree.rows[leaf, at] = tree.rows[leaf, last]
    for j in range(tree.cells.shape[1]):
        tree.cells[leaf, j, at] = tree.cells[leaf, j, last]
    tree.held[node] = last
    _fit_leaf(tree, node)
    changed = True
    node //= 2
    while node > 0:
        tree.held[node] -= 1
        if changed:
            changed = _fit_parent(tree, node)
        node //= 2


@kernel
def _most(tree: Tree, node: int, point: FloatArray) -> float:
    """No point of the node is farther, squared; -1 where it has none."""
    if tree.held[node] == 0:
        return -1.0
    total = 0.0
    for j in range(len(point)):
        difference = max(abs(tree.low[node, j] - point[j]), abs(tree.high[node, j] - point[j]))
        total += difference * difference
    return total


@kernel
def _least(tree: Tree, node: int, point: FloatArray) -> float:
    """No point of the node is nearer, squared; infinite where it has none."""
    if tree.held[node] == 0:
        return np.inf
    total = 0.0
    for j in range(len(point)):
        difference = max(0.0, tree.low[node, j] - point[j], point[j] - tree.high[node, j])
        total += difference * difference
    return total


@kernel
def _distances(tree: Tree, node: int, point: FloatArray, out: FloatArray) -> None:
    """Squared distances of the points of a leaf."""
    leaf, size = node - len(tree.rows), tree.held[node]
    for t in range(size):
        out[t] = 0.0
    for j in range(len(point)):
        for t in range(size):
            difference = tree.cells[leaf, j, t] - point[j]
            out[t] += difference * difference


@kernel
def _farthest(tree: Tree, point: FloatArray) -> tuple[int, int]:
    """The row most distant from a point, the lowest among equals; the number of points compared."""
    leaves = len(tree.rows)
    distances = np.empty(tree.rows.shape[1])
    nodes, bounds = np.empty(DEPTH, dtype=np.intp), np.empty(DEPTH)
    nodes[0], bounds[0], waiting = 1, np.inf, 1
    best, best_row, seen = -1.0, -1, 0
    while waiting > 0:
        waiting -= 1
        node = nodes[waiting]
        if bounds[waiting] < best or tree.held[node] == 0:
            continue
        if node < leaves:
            first, second = 2 * node, 2 * node + 1
            near, far = _most(tree, first, point), _most(tree, second, point)
            if near > far:
                first, second, near, far = second, first, far, near
            nodes[waiting], bounds[waiting] = first, near
            nodes[waiting + 1], bounds[waiting + 1] = second, far
            waiting += 2
            continue
        _distances(tree, node, point, distances)
        seen += tree.held[node]
        for t in range(tree.held[node]):
            row = tree.rows[node - leaves, t]
            if distances[t] > best or (distances[t] == best and row < best_row):
                best, best_row = distances[t], row
    return best_row, seen


@kernel
def _insert(rows: IndexArray, squared: FloatArray, found: int, row: int, distance: float) -> int:
    """Keep the k nearest by distance, then row; how many there are."""
    k = len(rows)
    if found == k and (distance > squared[-1] or (distance == squared[-1] and row > rows[-1])):
        return found
    at = min(found, k - 1)
    while at > 0 and (squared[at - 1] > distance or (squared[at - 1] == distance and rows[at - 1] > row)):
        squared[at], rows[at] = squared[at - 1], rows[at - 1]
        at -= 1
    squared[at], rows[at] = distance, row
    return min(found + 1, k)


@kernel
def _nearest(tree: Tree, point: FloatArray, rows: IndexArray) -> int:
    """Fill `rows` with the nearest ones, the lowest among equals; the number of points compared."""
    leaves, squared, distances = len(tree.rows), np.empty(len(rows)), np.empty(tree.rows.shape[1])
    for t in range(len(rows)):
        squared[t] = np.inf
    nodes, bounds = np.empty(DEPTH, dtype=np.intp), np.empty(DEPTH)
    nodes[0], bounds[0], waiting = 1, 0.0, 1
    found, seen = 0, 0
    while waiting > 0:
        waiting -= 1
        node = nodes[waiting]
        if bounds[waiting] > squared[-1] or tree.held[node] == 0:
            continue
        if node < leaves:
            first, second = 2 * node, 2 * node + 1
            far, near = _least(tree, first, point), _least(tree, second, point)
            if far < near:
                first, second, far, near = second, first, near, far
            nodes[waiting], bounds[waiting] = first, far
            nodes[waiting + 1], bounds[waiting + 1] = second, near
            waiting += 2
            continue
        _distances(tree, node, point, distances)
        seen += tree.held[node]
        for t in range(tree.held[node]):
            found = _insert(rows, squared, found, tree.rows[node - leaves, t], distances[t])
    return seen


@kernel
def _squared(point: FloatArray, other: FloatArray) -> float:
    """Squared distance."""
    total = 0.0
    for j in range(len(point)):
        difference = point[j] - other[j]
        total += difference * difference
    return total


@kernel
def _outermost(
    points: FloatArray, outer: Outer, group_of: IndexArray, head: int, centre: FloatArray
) -> tuple[int, int]:
    """The row most distant from the centroid, the lowest among equals; where in the list the search ended."""
    drift = np.sqrt(_squared(centre, outer.anchor))
    best, best_row, root, at = -1.0, -1, -1.0, head
    # The slack is far more than rounding, and squares that vanish, can make up.
    while at < len(outer.rows) and (outer.reach[at] + drift) * (1.0 + 1e-9) + 1e-150 >= root:
        row = outer.rows[at]
        at += 1
        if group_of[row] >= 0:
            continue
        squared = _squared(points[row], centre)
        if squared > best or (squared == best and row < best_row):
            best, best_row, root = squared, row, np.sqrt(squared)
    return best_row, at


@kernel
def _take(points: FloatArray, tree: Tree, progress: Progress, rows: IndexArray) -> None:
    """Make a group of rows."""
    for row in rows:
        progress.group_of[row] = progress.counts[1]
        _uproot(tree, row)
        for j in range(points.shape[1]):
            progress.used[j] = _add(progress.partials[j], progress.used[j], -points[row, j])
    progress.counts[0] -= len(rows)
    progress.counts[1] += 1


@kernel
def form_groups(
    points: FloatArray, k: int, tree: Tree, outer: Outer, progress: Progress, fewest: int, work: int
) -> None:
    """Form groups until fewer than `fewest` rows are left, or about `work` points have been compared.

    Stops as well when the list by distance has been searched for as long as it takes to sort it again.
    """
    rows, head, searched = np.empty(k, dtype=np.intp), 0, 0
    while progress.counts[0] >= fewest and work > 0 and searched <= 10 * len(outer.rows):
        left = progress.counts[0]
        while progress.group_of[outer.rows[head]] >= 0:
            head += 1
        centre = centroid(progress.partials, progress.used, left)
        start, end = _outermost(points, outer, progress.group_of, head, centre)
        searched += end - head
        work -= _nearest(tree, points[start], rows)
        _take(points, tree, progress, rows)
        if left >= 3 * k:
            opposite, seen = _farthest(tree, points[start])
            work -= seen + _nearest(tree, points[opposite], rows)
            _take(points, tree, progress, rows)


@kernel
def shortest_path(ordered: FloatArray, k: int) -> IndexArray:
    """How many the first group has in the best partition of ascending values from each position on.

    From each start a window grows by one value at a time and updates mean and error as Welford (1962) does,
    which does not cancel as the difference of two sums of squares would.
    """
    n = len(ordered)
    # The error of the best partition from each position on, infinite where there is none.
    least = np.full(n + 1, np.inf)
    least[n] = 0.0
    best = np.full(n, k)
    for start in range(n - k, -1, -1):
        mean, error = 0.0, 0.0
        for size in range(1, min(2 * k - 1, n - start) + 1):
            added = ordered[start + size - 1]
            step = added - mean
            # The first value is its own mean, without rounding.
            mean = added if size == 1 else mean + step / size
            error += 0.0 if size == 1 else step * (added - mean)
            if size >= k and error + least[start + size] < least[start]:
                least[start], best[start] = error + least[start + size], size
    return best
