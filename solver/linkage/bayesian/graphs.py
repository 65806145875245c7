"""Decomposable graphs: which edges can come and go, cliques, and their junction tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

Edge = tuple[int, int, frozenset[int]]
"""Two nodes and the neighbours that they have in common."""


def addable(graph: nx.Graph) -> Iterator[Edge]:
    """Edges that can be added to a decomposable graph so that it stays decomposable.

    {v, w} can be added if, and only if, v and w are in adjacent cliques of some junction tree or in different
    components (Smith 2016, section 4.2): in other words, if their common neighbours separate them. Any other
    path from v to w would, with the new edge, hold a cycle of four or more nodes without a chord.
    """
    component_of: dict[frozenset[int], dict[int, int]] = {}
    for one, other in combinations(graph, 2):
        if graph.has_edge(one, other):
            continue
        separator = _common(graph, one, other)
        if separator not in component_of:
            component_of[separator] = _components(graph, separator)
        if component_of[separator][one] != component_of[separator][other]:
            yield one, other, separator


def removable(graph: nx.Graph) -> Iterator[Edge]:
    """Edges that can be removed from a decomposable graph so that it stays decomposable.

    {v, w} can be removed if, and only if, it is in exactly one clique (Smith 2016, section 4.2): in other
    words, if all common neighbours of v and w are neighbours of each other.
    """
    for one, other in graph.edges:
        separator = _common(graph, one, other)
        if all(graph.has_edge(*pair) for pair in combinations(separator, 2)):
            yield one, other, separator


def _common(graph: nx.Graph, one: int, other: int) -> frozenset[int]:
    return frozenset(graph.adj[one].keys() & graph.adj[other].keys())


def _components(graph: nx.Graph, without: frozenset[int]) -> dict[int, int]:
    """The number of the component of each node when some nodes are taken out."""
    rest = graph.subgraph(set(graph) - without)
    return {node: at for at, nodes in enumerate(nx.connected_components(rest)) for node in nodes}


@dataclass(frozen=True)
class Clique:
    """A clique and its place in the junction tree.

    Attributes
    ----------
    nodes : tuple of int
        In ascending order.
    separator : tuple of int
        What it shares with its parent, in ascending order; empty for a root.
    parent : int
        The place of its parent in the list of cliques, -1 for a root.
    """

    nodes: tuple[int, ...]
    separator: tuple[int, ...]
    parent: int


def junction_forest(graph: nx.Graph) -> tuple[Clique, ...]:
    """The cliques of a decomposable graph as a junction tree of each component, parents first.

    A spanning tree of the cliques with the largest total size of separators has the running intersection
    property (Lauritzen and Spiegelhalter 1988; Jensen 1996): what two cliques share is in every clique
    between them.

    Parameters
    ----------
    graph : networkx Graph
        Chordal, with whole numbers as nodes.
    """
    cliques = sorted(tuple(sorted(nodes)) for nodes in nx.find_cliques(graph))
    overlaps = nx.empty_graph(len(cliques))
    for one, other in combinations(range(len(cliques)), 2):
        shared = len(set(cliques[one]) & set(cliques[other]))
        if shared:
            overlaps.add_edge(one, other, weight=shared)
    tree = nx.maximum_spanning_tree(overlaps)
    place: dict[int, int] = {}
    forest: list[Clique] = []
    for at in range(len(cliques)):
        if at in place:
            continue
        place[at] = len(forest)
        forest.append(Clique(cliques[at], (), -1))
        for parent, child in nx.bfs_edges(tree, at):
            place[child] = len(forest)
            shared_nodes = tuple(sorted(set(cliques[parent]) & set(cliques[child])))
            forest.append(Clique(cliques[child], shared_nodes, place[parent]))
    return tuple(forest)
