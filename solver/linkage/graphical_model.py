"""Learn decomposable graphical models of categorical attributes, and compute probabilities by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from linkrisk.arrays import FloatArray, IndexArray

if TYPE_CHECKING:
    import networkx as nx

Edge = tuple[int, int, frozenset[int]]
"""Two nodes and their common neighbours."""


def addable(graph: nx.Graph) -> Iterator[Edge]:
    """List edges whose addition keeps a decomposable graph decomposable.

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
    """List edges whose removal keeps a decomposable graph decomposable.

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
    """Label the connected component of each node when some nodes are removed."""
    import networkx as nx

    rest = graph.subgraph(set(graph) - without)
    return {node: at for at, nodes in enumerate(nx.connected_components(rest)) for node in nodes}


@dataclass(frozen=True)
class Clique:
    """A clique and its place in the junction tree."""

    nodes: tuple[int, ...]  # separator shared with its parent, in ascending order; empty for a root
    separator: tuple[int, ...]  # what it shares with its parent, in ascending order; empty for a root
    parent: int  # index of its parent in the list of cliques, -1 for a root


def junction_forest(graph: nx.Graph) -> tuple[Clique, ...]:
    """Build a junction tree of each component of a decomposable graph, parents first.

    A spanning tree of the cliques with the largest total size of separators has the running intersection
    property (Lauritzen and Spiegelhalter 1988; Jensen 1996): what two cliques share is in every clique
    between them.
    """
    import networkx as nx

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


class MarginalLikelihood:
    """The log marginal likelihood of any set of attributes, each computed once.

    All parameters of the prior are equal and sum to `prior_weight` (Smith 2016, section 5.2). For a set A of
    attributes with K combinations of categories, lambda_i = prior_weight / K and (Dawid and Lauritzen 1993;
    Smith 2016, section 4.2)

        p(x_A) = Gamma(lambda) / Gamma(lambda + n) prod_i Gamma(lambda_i + n_i) / Gamma(lambda_i).
    """

    def __init__(self, codes: IndexArray, sizes: Iterable[int], prior_weight: float = 1.0) -> None:
        self.codes = codes
        self.sizes = tuple(sizes)
        self.prior_weight = prior_weight
        self._known: dict[frozenset[int], float] = {frozenset(): 0.0}

    def cells(self, attributes: Iterable[int]) -> int:
        """Count the combinations of categories of these attributes (K)."""
        return prod(self.sizes[attribute] for attribute in attributes)

    def of(self, attributes: frozenset[int]) -> float:
        """Compute ``log p(x_A)``, natural logarithm; 0 without attributes."""
        if attributes not in self._known:
            self._known[attributes] = self._compute(attributes)
        return self._known[attributes]

    def gain(self, one: int, other: int, separator: frozenset[int]) -> float:
        """Compute the gain in log likelihood from an edge whose ends have the common neighbours `separator`.

        ``log p(S, v, w) + log p(S) - log p(S, v) - log p(S, w)`` (Dawid and Lauritzen 1993); with the
        opposite sign, what its removal gains.
        """
        return (
            self.of(separator | {one, other})
            + self.of(separator)
            - self.of(separator | {one})
            - self.of(separator | {other})
        )

    def score(self, cliques: Iterable[frozenset[int]], separators: Iterable[frozenset[int]]) -> float:
        """Compute ``log p(x_V | graph)``: the sum over cliques minus the sum over separators."""
        return sum(map(self.of, cliques)) - sum(map(self.of, separators))

    def _compute(self, attributes: frozenset[int]) -> float:
        columns = sorted(attributes)
        counts = cell_counts(self.codes, columns, self.sizes)[1]
        total, each = self.prior_weight, self.prior_weight / self.cells(columns)
        return float(
            gammaln(total)
            - gammaln(total + len(self.codes))
            + gammaln(each + counts).sum()
            - counts.size * gammaln(each)
        )


def cell_counts(
    codes: IndexArray, columns: Iterable[int], sizes: tuple[int, ...]
) -> tuple[IndexArray, IndexArray]:
    """List the occupied cells of the flattened table of some attributes, ascending, with their counts."""
    place = np.zeros(len(codes), dtype=np.intp)
    for column in columns:
        place = place * sizes[column] + codes[:, column]
    cells, counts = np.unique(place, return_counts=True)
    return cells, counts


MOST_CELLS = 2**18
"""Most cells of a clique's table: six attributes of eight categories; larger cliques are not considered."""

_ROUNDING = 1e-9
"""Gain below which a move is rejected, so that rounding causes no cycles."""


class Move(NamedTuple):
    """An edge that was added or removed, and its gain in log likelihood."""

    one: int
    other: int
    gain: float


def learn_graph(likelihood: MarginalLikelihood) -> nx.Graph:
    """Learn a graph by local search from full independence."""
    import networkx as nx

    graph = nx.empty_graph(len(likelihood.sizes))
    for _ in improvements(graph, likelihood):
        pass
    return graph


def improvements(graph: nx.Graph, likelihood: MarginalLikelihood) -> Iterator[Move]:
    """Improve a graph in place, one edge after the other (Smith 2016, section 5.2).

    Upwards, the edge whose addition gains most is added until none gains anything; downwards, the edge whose
    removal gains most is removed likewise; both in turn until neither helps. The graph stays decomposable
    throughout. Of equal gains the first edge in the order of the nodes counts.
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
    """Apply the best move until none gains anything (hill climbing)."""
    while True:
        best = max(((gain(edge), edge) for edge in edges()), key=lambda found: found[0], default=None)
        if best is None or best[0] <= _ROUNDING:
            return
        yield Move(*best[1][:2], best[0])


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A joint distribution ``prod_C Pr(C) / prod_S Pr(S)`` (Smith 2016, section 4.1)."""

    forest: tuple[Clique, ...]  # parents first
    # pr(C) of each clique, one axis per node; positive, each sums to one, and two cliques agree on what
    # they share
    tables: tuple[FloatArray, ...]

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Numbers of categories of the nodes."""
        return {
            node: size
            for clique, table in zip(self.forest, self.tables, strict=True)
            for node, size in zip(clique.nodes, table.shape, strict=True)
        }

    @cached_property
    def _conditionals(self) -> tuple[FloatArray, ...]:
        """Compute ``Pr(C | S)`` of each clique given its separator: Pr(C) for a root."""
        return tuple(
            table / table.sum(axis=_places(clique, set(clique.nodes) - {*clique.separator}), keepdims=True)
            for clique, table in zip(self.forest, self.tables, strict=True)
        )

    def log_probability(self, evidence: Mapping[int, IndexArray]) -> FloatArray:
        """Compute the log probability of the evidence, all other nodes summed out.

        Messages go from the leaves of the junction tree to its roots (Lauritzen and Spiegelhalter 1988), for
        many records at a time and scaled, so that nothing vanishes. A message that depends on the records of
        one file only is computed once for each of them, not for each pair. The evidence is the codes of known
        nodes, shape (q, 1) for q records of one file, (1, c) for c of the other; the result has shape (q, c).
        """
        total: FloatArray = np.zeros((1, 1))
        messages: list[list[tuple[set[int], FloatArray]]] = [[] for _ in self.forest]
        for at in range(len(self.forest) - 1, -1, -1):
            clique = self.forest[at]
            hidden = [node for node in clique.nodes if node not in evidence]
            values = self._given(at, hidden, evidence)
            for nodes, message in messages[at]:
                axes = tuple(self.sizes[node] if node in nodes else 1 for node in hidden)
                values = values * message.reshape(message.shape[:2] + axes)
            left = set(hidden) & set(clique.separator)
            values = values.sum(axis=tuple(2 + k for k, node in enumerate(hidden) if node not in left))
            peak = values.max(axis=tuple(range(2, values.ndim)))
            total = total + np.log(peak)
            if left:
                messages[clique.parent].append((left, values / peak[(..., *[None] * len(left))]))
        return total

    def connected(self, some: Iterable[int], others: Iterable[int]) -> bool:
        """Whether a path connects some nodes to others: else they are independent."""
        tree_of: list[int] = []
        for at, clique in enumerate(self.forest):
            tree_of.append(at if clique.parent < 0 else tree_of[clique.parent])
        where = {node: tree_of[at] for at, clique in enumerate(self.forest) for node in clique.nodes}
        return not {where[node] for node in some}.isdisjoint(where[node] for node in others)

    def hidden_cells(self, evidence: Sequence[int]) -> int:
        """Count the unknown combinations of a clique at most: the memory of `log_probability` per pair."""
        known = set(evidence)
        return max(
            prod(self.sizes[node] for node in clique.nodes if node not in known) for clique in self.forest
        )

    def _given(self, at: int, hidden: list[int], evidence: Mapping[int, IndexArray]) -> FloatArray:
        """Condition ``Pr(C | S)`` on the known nodes, shape (q, c, categories of hidden nodes)."""
        clique = self.forest[at]
        known = [node for node in clique.nodes if node in evidence]
        table = self._conditionals[at].transpose(_places(clique, known) + _places(clique, hidden))
        if not known:
            return np.asarray(table[None, None])
        return np.asarray(table[tuple(evidence[node] for node in known)])


def _places(clique: Clique, nodes: set[int] | list[int]) -> tuple[int, ...]:
    """Find the axes of some nodes in the table of a clique."""
    return tuple(axis for axis, node in enumerate(clique.nodes) if node in nodes)


def posterior_mean(
    cells: IndexArray, counts: IndexArray, shape: tuple[int, ...], prior_weight: float
) -> FloatArray:
    """Compute the probability table of a clique, ``(n_i + lambda / K) / (n + lambda)``.

    The posterior mean under the hyper-Dirichlet prior (Smith 2016, section 5.2): its marginals are the tables
    of the separators, whatever clique they are taken from. K is the number of cells.
    """
    table = np.full(prod(shape), prior_weight / prod(shape))
    table[cells] += counts
    return np.asarray(table / (counts.sum() + prior_weight)).reshape(shape)
