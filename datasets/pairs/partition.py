"""Attributes of one table divided between two files that then have none in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import csgraph

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import random_generator
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates

Partition = tuple[tuple[str, ...], tuple[str, ...]]


def correlations(frame: pd.DataFrame, attributes: Sequence[str]) -> FloatArray:
    """Pearson correlations of numeric attributes, of the records that have both values.

    Returns (a, a).
    """
    check_no_duplicates(attributes)
    check_known(attributes, [str(column) for column in frame.columns], "the table")
    for name in attributes:
        if not pd.api.types.is_numeric_dtype(frame[name].dtype):
            raise DataError(f"attribute {name!r} is not numeric and has no correlations; leave it out")
    return frame[list(attributes)].corr().to_numpy(dtype=np.float64)


def spanning_tree(matrix: FloatArray, threshold: float) -> tuple[tuple[int, int], ...]:
    """A maximum spanning forest of attributes whose edges weigh their correlation (Kruskal 1956).

    Edges are taken from the largest correlation down, those that close a cycle are left out, and the rest
    below the threshold is not looked at (Smith 2016, section 5.1.1). Among equal correlations, the attributes
    that come first in the table are taken first.

    `matrix` (a, a): symmetric; NaN means no edge.
    """
    first, second = np.triu_indices(len(matrix), 1)
    weight = matrix[first, second]
    tree_of = np.arange(len(matrix))
    edges = []
    for at in np.argsort(-weight, kind="stable").tolist():
        a, b = int(first[at]), int(second[at])
        # Everything behind the first edge that is too weak is weaker, or NaN.
        if not weight[at] >= threshold:
            break
        if tree_of[a] != tree_of[b]:
            tree_of[tree_of == tree_of[b]] = tree_of[a]
            edges.append((a, b))
    return tuple(edges)


def spanning_tree_partition(
    frame: pd.DataFrame, attributes: Sequence[str], threshold: float = 0.7
) -> Partition:
    """Divide attributes so that the most correlated ones are in different files (Smith 2016, section 5.1.1).

    The two-colouring of the spanning forest: attributes joined by an edge are never in the same file. In each
    tree the attribute that comes first goes to the file that has fewer attributes so far, the first file when
    both have as many. Attributes without an edge are in neither file.

    Parameters
    ----------
    frame : DataFrame
        The table.
    attributes : sequence of str
        Numeric columns to divide.
    threshold : float
        The smallest correlation, with its sign, that keeps two attributes together in the forest.

    Returns
    -------
    pair of tuples of str
        The attributes of both files, each in the order of `attributes`.

    Raises
    ------
    DataError
        If no correlation reaches the threshold, or an attribute cannot be used.

    Examples
    --------
    >>> from linkrisk.data import load, spanning_tree_partition
    >>> spanning_tree_partition(load("iris"), ["sepal_length", "petal_length", "petal_width"])
    (('sepal_length', 'petal_width'), ('petal_length',))
    """
    edges = spanning_tree(correlations(frame, attributes), threshold)
    if not edges:
        raise DataError(f"no correlation reaches the threshold {threshold:g}; lower it or add attributes")
    joined = np.zeros((len(attributes), len(attributes)))
    joined[tuple(zip(*edges, strict=True))] = 1.0
    steps = csgraph.shortest_path(joined, directed=False, unweighted=True)
    sides: tuple[list[int], list[int]] = ([], [])
    for root, reached in enumerate(steps):
        tree = np.flatnonzero(np.isfinite(reached))
        if root == tree[0] and tree.size > 1:
            smaller = int(len(sides[1]) < len(sides[0]))
            for node in tree.tolist():
                sides[(smaller + int(reached[node])) % 2].append(node)
    first, second = (tuple(attributes[node] for node in sorted(side)) for side in sides)
    return first, second


def random_partition(attributes: Sequence[str], seed: int) -> Partition:
    """Divide attributes at random into two files of sizes that differ by at most one (Smith 2016, 6.1)."""
    check_no_duplicates(attributes)
    if len(attributes) < 2:
        raise DataError("a partition needs at least two attributes; give one for each file")
    generator = random_generator(seed)
    order = generator.permutation(len(attributes))
    half = len(attributes) // 2 + (len(attributes) % 2) * int(generator.integers(2))
    first, second = (
        tuple(attributes[at] for at in sorted(part.tolist())) for part in (order[:half], order[half:])
    )
    return first, second


def related_attributes(
    frame: pd.DataFrame, known: Sequence[str], target: Sequence[str], threshold: float = 0.7
) -> tuple[str, ...]:
    """Attributes of the target file that correlate with at least one that the intruder knows.

    An intruder who links by representatives leaves the others out (Smith 2016, section 6.1).
    """
    matrix = correlations(frame, [*known, *target])[: len(known), len(known) :]
    strong = np.flatnonzero((matrix >= threshold).any(axis=0)).tolist()
    return tuple(target[at] for at in strong)
