"""What `bayes` learns: categories and the counts of the cliques, in memory and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite, prod
from typing import Any

import networkx as nx
import numpy as np

from linkrisk.arrays import IndexArray
from linkrisk.solver.linkage.bayesian.categorising import Categories, read_categories
from linkrisk.solver.linkage.bayesian.graphs import Clique, junction_forest
from linkrisk.solver.linkage.bayesian.likelihood import cell_counts
from linkrisk.solver.linkage.bayesian.model import GraphicalModel, posterior_mean
from linkrisk.solver.linkage.bayesian.search import MOST_CELLS
from linkrisk.solver.run.errors import UsageError

_FIX = "use parameters as they were written"


@dataclass(frozen=True, eq=False)
class Learned:
    """A graph and its counts.

    Attributes
    ----------
    categories : dict of str to Categories
        Of each attribute, in the order of the nodes.
    prior_weight : float
        lambda of the hyper-Dirichlet prior.
    forest : tuple of Clique
        The junction tree of each component, parents first.
    counts : tuple of (ndarray of int, ndarray of int)
        Of each clique the cells of its flattened table that are not empty, and the records there.
    """

    categories: dict[str, Categories]
    prior_weight: float
    forest: tuple[Clique, ...]
    counts: tuple[tuple[IndexArray, IndexArray], ...]

    @cached_property
    def model(self) -> GraphicalModel:
        """The model with posterior means as probability tables."""
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
    """Read what `Learned.to_dict` wrote, and p.

    Raises
    ------
    UsageError
        If a part is missing or does not fit the others.
    """
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
    """The nodes of a clique and its counts."""
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
    """The junction trees of the graph with these cliques."""
    graph = nx.empty_graph(nodes)
    for clique in cliques:
        graph.add_edges_from(combinations(clique, 2))
    forest = junction_forest(graph) if nx.is_chordal(graph) else ()
    if {clique.nodes for clique in forest} != cliques:
        raise UsageError(f"parameters of bayes: the cliques are not those of a decomposable graph; {_FIX}")
    return forest


def _check_agreement(learned: Learned) -> None:
    """Neighbours in the junction tree must agree on what they share."""
    tables = learned.model.tables
    for clique, table in zip(learned.forest, tables, strict=True):
        parent = learned.forest[max(clique.parent, 0)]
        own, other = (
            part.sum(axis=tuple(k for k, node in enumerate(where.nodes) if node not in clique.separator))
            for where, part in ((clique, table), (parent, tables[max(clique.parent, 0)]))
        )
        if not np.allclose(own, other, rtol=1e-9, atol=0.0):
            raise UsageError(f"parameters of bayes: two cliques do not agree on what they share; {_FIX}")
