"""The nearest record by the Euclidean distance, of values as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker
from linkrisk.solver.linkage.representatives.normalising import attribute_values
from linkrisk.solver.run.errors import UsageError

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class Nearest(Linker):
    """Scores are Euclidean distances with their sign changed; nothing is learned or normalised.

    Normalising representatives once more would blow up those that hardly vary. A record with a missing value
    has no distance to anything and cannot be linked (-inf).
    """

    name: ClassVar[str] = "nearest"

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Take the values of both files."""
        if task.query_attributes != task.candidate_attributes:
            raise UsageError(f"{self.name} compares attributes that both files have; these differ")
        return _Distances(
            attribute_values(task.queries, task.query_attributes, task.schema),
            attribute_values(task.candidates, task.candidate_attributes, task.schema),
        )

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """The same as `learn`: there are no parameters."""
        del parameters
        return cls().learn(task)


class _Distances(LearnedLinker):
    def __init__(self, queries: FloatArray, candidates: FloatArray) -> None:
        self.parameters: dict[str, Any] = {}
        self._queries, self._candidates = queries, candidates

    def scores(self, rows: IndexArray) -> FloatArray:
        """The distances of these queries to every candidate, with their sign changed."""
        distances = cdist(self._queries[rows], self._candidates)
        return np.asarray(-np.where(np.isnan(distances), np.inf, distances))
