"""Greedy search for a decomposable graph of high posterior probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import networkx as nx

from linkrisk.solver.linkage.bayesian.graphs import Edge, addable, removable
from linkrisk.solver.linkage.bayesian.likelihood import MarginalLikelihood

MOST_CELLS = 2**18
"""Most cells of the table of a clique: six attributes of eight categories; larger ones are not considered."""

_ROUNDING = 1e-9
"""A smaller gain counts as none, so that no edge is added and removed for ever."""


class Move(NamedTuple):
    """An edge that was added or removed, and what the log likelihood gained by it."""

    one: int
    other: int
    gain: float


def learn_graph(likelihood: MarginalLikelihood) -> nx.Graph:
    """The graph where the search ends that begins with full independence.

    Parameters
    ----------
    likelihood : MarginalLikelihood
        Of the training records. All graphs have the same prior probability, so it decides.

    Returns
    -------
    networkx Graph
        Chordal; its nodes are the numbers of the attributes.
    """
    graph = nx.empty_graph(len(likelihood.sizes))
    for _ in improvements(graph, likelihood):
        pass
    return graph


def improvements(graph: nx.Graph, likelihood: MarginalLikelihood) -> Iterator[Move]:
    """Improve a graph in place, one edge after the other (Smith 2016, section 5.2).

    Upwards, the edge whose addition gains most is added until none gains anything; downwards, the edge whose
    removal gains most is removed likewise; both in turn until neither helps. The graph stays decomposable
    throughout. Of equal gains the first edge in the order of the nodes counts.

    Yields
    ------
    Move
        Once it is made.
    """

    def addition(edge: Edge) -> float:
        one, other, separator = edge
        fits = likelihood.cells(separator | {one, other}) <= MOST_CELLS
        return likelihood.gain(one, other, separator) if fits else 0.0

    def removal(edge: Edge) -> float:
        return -likelihood.gain(*edge)

    idle = 0
    while idle < 2:
        idle += 1
        for move in _climb(lambda: addable(graph), addition):
            graph.add_edge(move.one, move.other)
            idle = 0
            yield move
        idle += 1
        for move in _climb(lambda: removable(graph), removal):
            graph.remove_edge(move.one, move.other)
            idle = 0
            yield move


def _climb(edges: Callable[[], Iterable[Edge]], gain: Callable[[Edge], float]) -> Iterator[Move]:
    """The best move again and again, until none gains anything."""
    while True:
        best = max(((gain(edge), edge) for edge in edges()), key=lambda found: found[0], default=None)
        if best is None or best[0] <= _ROUNDING:
            return
        yield Move(*best[1][:2], best[0])
