"""A graphical model with its probability tables: the probability of what is known of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.bayesian.graphs import Clique


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A joint distribution ``prod_C Pr(C) / prod_S Pr(S)`` (Smith 2016, section 4.1).

    Attributes
    ----------
    forest : tuple of Clique
        Parents first.
    tables : tuple of ndarray of float64
        Pr(C) of each clique, one axis per node; positive, each sums to one, and two cliques agree on what
        they share.
    """

    forest: tuple[Clique, ...]
    tables: tuple[FloatArray, ...]

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The number of categories of each node."""
        return {
            node: size
            for clique, table in zip(self.forest, self.tables, strict=True)
            for node, size in zip(clique.nodes, table.shape, strict=True)
        }

    @cached_property
    def _conditionals(self) -> tuple[FloatArray, ...]:
        """``Pr(C | S)`` of each clique given what it shares with its parent: Pr(C) for a root."""
        return tuple(
            table / table.sum(axis=_places(clique, set(clique.nodes) - {*clique.separator}), keepdims=True)
            for clique, table in zip(self.forest, self.tables, strict=True)
        )

    def log_probability(self, evidence: Mapping[int, IndexArray]) -> FloatArray:
        """Natural logarithm of the probability of what is known; all other nodes are summed out.

        Messages go from the leaves of the junction tree to its roots (Lauritzen and Spiegelhalter 1988), for
        many records at a time and scaled, so that nothing vanishes. A message that depends on the records of
        one file only is computed once for each of them, not for each pair.

        Parameters
        ----------
        evidence : mapping of int to ndarray of int, shapes (q, 1) or (1, c)
            The codes of each node that is known: of q records of one file, c of the other.

        Returns
        -------
        ndarray of float64, shape (q, c)
            With an axis of length 1 where nothing is known of the records of that file.
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
        """Whether a path of the graph leads from some nodes to others: else they are independent."""
        tree_of: list[int] = []
        for at, clique in enumerate(self.forest):
            tree_of.append(at if clique.parent < 0 else tree_of[clique.parent])
        where = {node: tree_of[at] for at, clique in enumerate(self.forest) for node in clique.nodes}
        return not {where[node] for node in some}.isdisjoint(where[node] for node in others)

    def hidden_cells(self, evidence: Sequence[int]) -> int:
        """The most combinations of unknown nodes in a clique: what `log_probability` holds for each pair."""
        known = set(evidence)
        return max(
            prod(self.sizes[node] for node in clique.nodes if node not in known) for clique in self.forest
        )

    def _given(self, at: int, hidden: list[int], evidence: Mapping[int, IndexArray]) -> FloatArray:
        """``Pr(C | S)`` where the known nodes are as they are, shape (q, c, categories of hidden nodes)."""
        clique = self.forest[at]
        known = [node for node in clique.nodes if node in evidence]
        table = self._conditionals[at].transpose(_places(clique, known) + _places(clique, hidden))
        if not known:
            return np.asarray(table[None, None])
        return np.asarray(table[tuple(evidence[node] for node in known)])


def _places(clique: Clique, nodes: set[int] | list[int]) -> tuple[int, ...]:
    """The axes of some nodes in the table of a clique."""
    return tuple(axis for axis, node in enumerate(clique.nodes) if node in nodes)


def posterior_mean(
    cells: IndexArray, counts: IndexArray, shape: tuple[int, ...], prior_weight: float
) -> FloatArray:
    """Probability table of a clique, ``(n_i + lambda / K) / (n + lambda)``.

    The posterior mean under the hyper-Dirichlet prior (Smith 2016, section 5.2): its marginals are the tables
    of the separators, whatever clique they are taken from.

    Parameters
    ----------
    cells, counts : ndarray of int, shape (occupied,)
        Places in the flattened table, and how many training records are there.
    shape : tuple of int
        Categories of each node; K is their product.
    prior_weight : float
        lambda.
    """
    table = np.full(prod(shape), prior_weight / prod(shape))
    table[cells] += counts
    return np.asarray(table / (counts.sum() + prior_weight)).reshape(shape)
