"""The nearest record by the Euclidean distance, of values as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.kinds import Kinds
from linkrisk.solver.linkage.linker import (
    LearnedLinker,
    LinkageTask,
    Linker,
    ScoredByKind,
    in_small_blocks,
)
from linkrisk.solver.linkage.representatives.normalising import attribute_values
from linkrisk.solver.linkage.representatives.sorted_places import standing_on_a_line
from linkrisk.solver.linkage.standing import Part, Standing
from linkrisk.solver.run.errors import UsageError


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


class _Distances(ScoredByKind):
    def __init__(self, queries: FloatArray, candidates: FloatArray) -> None:
        self.parameters: dict[str, Any] = {}
        sides = (queries, candidates)
        self._both = tuple(Kinds.where_worth(side.T, len(side)) for side in sides)
        self._queries, self._candidates = (
            side[kinds.first] for side, kinds in zip(sides, self._both, strict=True)
        )

    @property
    def both(self) -> tuple[Kinds, Kinds]:
        """Records with equal values."""
        return self._both[0], self._both[1]

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """The distances to every candidate, with their sign changed."""
        return _scores(self._queries[rows], self._candidates)

    def pair_scores(self, queries: IndexArray, candidates: IndexArray) -> FloatArray:
        """The distances of these pairs, with their sign changed."""
        return in_small_blocks(
            lambda rows, columns: _scores(self._queries[rows], self._candidates[columns]),
            self._both[0].kind[queries],
            self._both[1].kind[candidates],
        )

    def standing(self, part: Part) -> Standing | None:
        """By search among sorted values where there is one, and none is missing."""
        line = self._queries.shape[1] == 1 and _roots_are_sizes(self._queries, self._candidates)
        return standing_on_a_line(self._queries[:, 0], self._candidates[:, 0], part) if line else None


def _roots_are_sizes(queries: FloatArray, candidates: FloatArray) -> bool:
    """Whether the root of a difference's square is its size: none vanishes, overflows or is missing."""
    values = np.unique(np.concatenate([queries, candidates]))
    return bool((np.abs(values) < 1e150).all() and (np.diff(values) > 1e-150).all())


def _scores(queries: FloatArray, candidates: FloatArray) -> FloatArray:
    distances = cdist(queries, candidates)
    return np.asarray(-np.where(np.isnan(distances), np.inf, distances))
