"""Hold the parameters of the linker bayes: categories and clique counts, in memory and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.solver.linkage.graphical_model import (
    MOST_CELLS,
    Clique,
    GraphicalModel,
    cell_counts,
    junction_forest,
    posterior_mean,
)
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    import networkx as nx

UNKNOWN = -1
"""Code of a missing value, or of a category without training records: no evidence."""


@dataclass(frozen=True)
class Intervals:
    """Classes of numbers."""

    cuts: tuple[float, ...]  # ascending; class k holds the values above ``cuts[k - 1]`` and up to ``cuts[k]``

    @property
    def size(self) -> int:
        """One more than there are cuts."""
        return len(self.cuts) + 1

    def codes(self, column: pd.Series) -> IndexArray:
        """Assign numbers to classes, also numbers outside the training data."""
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        codes = np.searchsorted(np.array(self.cuts, dtype=np.float64), values)
        return np.where(np.isnan(values), UNKNOWN, codes).astype(np.intp)

    def to_dict(self) -> dict[str, list[Any]]:
        """``{"cuts": [...]}``."""
        return {"cuts": list(self.cuts)}


@dataclass(frozen=True)
class Labels:
    """Categories that are values themselves."""

    labels: tuple[str, ...]  # the values, all different

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.labels)

    def codes(self, column: pd.Series) -> IndexArray:
        """Code values by their position among the labels."""
        labels = pd.Index(self.labels, dtype=object)
        return np.asarray(labels.get_indexer(_text(column)), dtype=np.intp)

    def to_dict(self) -> dict[str, list[Any]]:
        """``{"categories": [...]}``."""
        return {"categories": list(self.labels)}


Categories = Intervals | Labels
"""Coding of an attribute's values as 0, 1, ..., `size` - 1; `UNKNOWN` for values without evidence."""


def learn_categories(column: pd.Series, scale: Scale, classes: int) -> Categories:
    """Learn the categories of an attribute from its values in the training records."""
    if scale is Scale.NUMERIC:
        return Intervals(equal_frequency(column.to_numpy(dtype=np.float64), classes))
    return Labels(tuple(sorted(_text(column).unique())))


def equal_frequency(values: FloatArray, classes: int) -> tuple[float, ...]:
    """Cut numbers into classes of nearly equal frequency (Smith 2016, section 5.2).

    Equal values stay together. With no more different values than classes, each value is a class. Otherwise
    the records above the last cut are shared out evenly among the classes that are left, and the next cut
    is made where it comes nearest to that share. A cut lies half way between two values, so that a value
    that was not seen falls into the class of the nearest one that was.
    """
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1]
    few = distinct.size <= classes
    chosen = np.arange(distinct.size - 1) if few else _even(below, values.size, classes)
    lower, upper = distinct[chosen], distinct[chosen + 1]
    middle = lower / 2 + upper / 2
    return tuple(np.where((lower <= middle) & (middle < upper), middle, lower).tolist())


def _even(below: IndexArray, records: int, classes: int) -> IndexArray:
    """Choose the gaps between values to cut at; `below` counts the records below each gap."""
    chosen: list[int] = []
    first, done = 0, 0
    for left in range(classes, 1, -1):
        if first == below.size:
            break
        target = done + (records - done) / left
        at = first + int(np.abs(below[first:] - target).argmin())
        chosen.append(at)
        first, done = at + 1, int(below[at])
    return np.array(chosen, dtype=np.intp)


def read_categories(entry: Any, name: str) -> Categories:
    """Read what `to_dict` wrote."""
    if isinstance(entry, Mapping) and set(entry) == {"cuts"} and _list_of(entry["cuts"], int | float):
        cuts = tuple(float(cut) for cut in entry["cuts"])
        if all(lower < upper for lower, upper in pairwise(cuts)):
            return Intervals(cuts)
    if isinstance(entry, Mapping) and set(entry) == {"categories"} and _list_of(entry["categories"], str):
        labels = tuple(entry["categories"])
        if 0 < len(labels) == len(set(labels)):
            return Labels(labels)
    raise UsageError(
        f'parameters of bayes: attribute {name!r} needs ascending "cuts" or different "categories"; '
        "use parameters as they were written"
    )


def _list_of(value: object, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _text(column: pd.Series) -> pd.Index:
    """Convert values to text; None where one is missing."""
    values = zip(column, column.isna(), strict=True)
    return pd.Index([None if missing else str(value) for value, missing in values], dtype=object)


_FIX = "use parameters as they were written"


@dataclass(frozen=True, eq=False)
class Learned:
    """A graph and its counts."""

    categories: dict[str, Categories]  # of each attribute, in the order of the nodes
    prior_weight: float  # lambda of the hyper-Dirichlet prior
    forest: tuple[Clique, ...]  # the junction tree of each component, parents first
    # of each clique the cells of its flattened table that are not empty, and the records there
    counts: tuple[tuple[IndexArray, IndexArray], ...]

    @cached_property
    def model(self) -> GraphicalModel:
        """Build the model with posterior means as probability tables."""
        sizes = [categories.size for categories in self.categories.values()]
        tables = tuple(
            posterior_mean(*counts, tuple(sizes[node] for node in clique.nodes), self.prior_weight)
            for clique, counts in zip(self.forest, self.counts, strict=True)
        )
        return GraphicalModel(self.forest, tables)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dictionaries and numbers, ready for JSON."""
        names = list(self.categories)
        cliques = [
            {
                "attributes": [names[node] for node in clique.nodes],
                "cells": cells.tolist(),
                "counts": counts.tolist(),
            }
            for clique, (cells, counts) in zip(self.forest, self.counts, strict=True)
        ]
        return {
            "attributes": {name: categories.to_dict() for name, categories in self.categories.items()},
            "prior_weight": self.prior_weight,
            "cliques": cliques,
        }


def counted(
    graph: nx.Graph, codes: IndexArray, categories: dict[str, Categories], prior_weight: float
) -> Learned:
    """Count the training records in the table of each clique."""
    sizes = tuple(each.size for each in categories.values())
    forest = junction_forest(graph)
    counts = tuple(cell_counts(codes, clique.nodes, sizes) for clique in forest)
    return Learned(categories, prior_weight, forest, counts)


def read_parameters(parameters: Mapping[str, Any]) -> tuple[Learned, float]:
    """Read what `Learned.to_dict` wrote, and p."""
    for key, kind in _KINDS.items():
        if not isinstance(parameters.get(key), kind) or isinstance(parameters[key], bool):
            raise UsageError(f'parameters of bayes: "{key}" is missing or of the wrong type; {_FIX}')
    match_share, prior_weight = float(parameters["p"]), float(parameters["prior_weight"])
    if not 0.0 <= match_share <= 1.0:
        raise UsageError(f'parameters of bayes: "p" is {match_share:g}, which is not a probability; {_FIX}')
    if not (isfinite(prior_weight) and prior_weight > 0.0):
        raise UsageError(
            f'parameters of bayes: "prior_weight" is {prior_weight:g}, but must be above 0; {_FIX}'
        )
    categories = {str(name): read_categories(entry, name) for name, entry in parameters["attributes"].items()}
    counts = dict(_read_clique(entry, categories) for entry in parameters["cliques"])
    forest = _forest(set(counts), len(categories))
    learned = Learned(categories, prior_weight, forest, tuple(counts[clique.nodes] for clique in forest))
    _check_agreement(learned)
    return learned, match_share


_KINDS: dict[str, Any] = {
    "attributes": Mapping,
    "prior_weight": int | float,
    "cliques": list,
    "p": int | float,
}


def _read_clique(
    entry: Any, categories: dict[str, Categories]
) -> tuple[tuple[int, ...], tuple[IndexArray, IndexArray]]:
    """Read the nodes of a clique and its counts."""
    names = list(categories)
    try:
        nodes = tuple(names.index(name) for name in entry["attributes"])
        cells, counts = (np.array(entry[key]) for key in ("cells", "counts"))
        size = prod(categories[name].size for name in entry["attributes"])
        sound = (
            nodes == tuple(sorted(set(nodes)))
            and 0 < size <= max(MOST_CELLS, *(each.size for each in categories.values()))
            and cells.shape == counts.shape == (cells.size,)
            and all(part.dtype.kind == "i" for part in (cells, counts))
            and bool((counts > 0).all() and (cells >= 0).all() and (cells < size).all())
            and np.unique(cells).size == cells.size
        )
    except (KeyError, TypeError, ValueError):
        sound = False
    if not sound:
        raise UsageError(f"parameters of bayes: a clique has no valid table of counts; {_FIX}")
    return nodes, (cells.astype(np.intp), counts.astype(np.intp))


def _forest(cliques: set[tuple[int, ...]], nodes: int) -> tuple[Clique, ...]:
    """Build the junction trees of the graph with these cliques."""
    import networkx as nx

    graph = nx.empty_graph(nodes)
    for clique in cliques:
        graph.add_edges_from(combinations(clique, 2))
    forest = junction_forest(graph) if nx.is_chordal(graph) else ()
    if {clique.nodes for clique in forest} != cliques:
        raise UsageError(f"parameters of bayes: the cliques are not those of a decomposable graph; {_FIX}")
    return forest


def _check_agreement(learned: Learned) -> None:
    """Check that neighbours in the junction tree agree on their separator."""
    tables = learned.model.tables
    for clique, table in zip(learned.forest, tables, strict=True):
        parent = learned.forest[max(clique.parent, 0)]
        own, other = (
            part.sum(axis=tuple(k for k, node in enumerate(where.nodes) if node not in clique.separator))
            for where, part in ((clique, table), (parent, tables[max(clique.parent, 0)]))
        )
        if not np.allclose(own, other, rtol=1e-9, atol=0.0):
            raise UsageError(f"parameters of bayes: two cliques do not agree on what they share; {_FIX}")
