"""Match weights of pairs of records: Bayes factors, where values may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.bayesian.categorising import UNKNOWN
from linkrisk.solver.linkage.bayesian.model import GraphicalModel

_DECIMALS = 9
"""Digits of a match weight: what is smaller is rounding."""


class BayesFactors:
    """Bayes factors ``Pr(a, b) / (Pr(a) Pr(b))`` between two files (Smith 2016, Eq. 4).

    A value that is missing, or that no training record had, is summed out: it is no evidence.

    Parameters
    ----------
    model : GraphicalModel
        Of all nodes of both files, perhaps of others that neither file has.
    queries, candidates : ndarray of int, shapes (n, a) and (m, b)
        Codes; `UNKNOWN` where there is no evidence.
    query_nodes, candidate_nodes : sequence of int, lengths a and b
        The nodes that their columns are; none in both.
    cells_at_once : int
        Numbers that a clique may hold at a time.
    """

    def __init__(
        self,
        model: GraphicalModel,
        queries: IndexArray,
        candidates: IndexArray,
        query_nodes: Sequence[int],
        candidate_nodes: Sequence[int],
        cells_at_once: int = 2_000_000,
    ) -> None:
        self._model, self._cells_at_once = model, cells_at_once
        self._queries = queries
        self._candidates = candidates
        self._query_nodes = tuple(query_nodes)
        self._candidate_nodes = tuple(candidate_nodes)
        self._query_kinds = list(_kinds(queries))
        self._candidate_kinds = list(_kinds(candidates))
        self._query_logs = self._own(queries, self._query_nodes, self._query_kinds)
        self._candidate_logs = self._own(candidates, self._candidate_nodes, self._candidate_kinds)

    @property
    def connected(self) -> bool:
        """Whether any node of one file depends on any of the other."""
        return self._model.connected(self._query_nodes, self._candidate_nodes)

    def weights(self, rows: IndexArray) -> FloatArray:
        """Match weights ``log2 BF`` of some queries with every candidate, shape (any, m), no -0."""
        weights = np.empty((rows.size, len(self._candidates)))
        for query_rows, known in self._query_kinds:
            places = np.flatnonzero(np.isin(rows, query_rows))
            for candidate_rows, also_known in self._candidate_kinds:
                for part in self._parts(places, candidate_rows.size, known, also_known):
                    logs = self._joint(rows[part], candidate_rows, known, also_known)
                    logs = logs - self._query_logs[rows[part], None] - self._candidate_logs[candidate_rows]
                    weights[np.ix_(part, candidate_rows)] = logs
        return np.asarray(np.round(weights / np.log(2.0), _DECIMALS) + 0.0)

    def _own(
        self, codes: IndexArray, nodes: tuple[int, ...], kinds: list[tuple[IndexArray, IndexArray]]
    ) -> FloatArray:
        """``log Pr(a)`` of each record of a file, the attributes of the other file summed out, shape (n,)."""
        logs = np.empty(len(codes))
        for rows, known in kinds:
            size = max(1, self._cells_at_once // self._model.hidden_cells([nodes[k] for k in known]))
            for first in range(0, rows.size, size):
                part = rows[first : first + size]
                logs[part] = self._model.log_probability({nodes[k]: codes[part, k, None] for k in known})[
                    :, 0
                ]
        return logs

    def _joint(
        self, queries: IndexArray, candidates: IndexArray, known: IndexArray, also_known: IndexArray
    ) -> FloatArray:
        """``log Pr(a, b)`` of queries and candidates of one kind each."""
        evidence = {self._query_nodes[k]: self._queries[queries, k][:, None] for k in known}
        evidence |= {self._candidate_nodes[k]: self._candidates[candidates, k][None, :] for k in also_known}
        return self._model.log_probability(evidence)

    def _parts(
        self, places: IndexArray, candidates: int, known: IndexArray, also_known: IndexArray
    ) -> Iterator[IndexArray]:
        """Some of the queries at a time."""
        nodes = [self._query_nodes[k] for k in known] + [self._candidate_nodes[k] for k in also_known]
        size = max(1, self._cells_at_once // (candidates * self._model.hidden_cells(nodes)))
        for first in range(0, places.size, size):
            yield places[first : first + size]


def _kinds(codes: IndexArray) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Records of which the same columns are known: their rows, and these columns."""
    patterns, kind = np.unique(codes != UNKNOWN, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        yield np.flatnonzero(kind == at), np.flatnonzero(pattern)
