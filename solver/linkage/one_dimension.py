"""The linkers `pca` and `zscore`: each file is put in an order, and records are linked by their places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.numeric import LARGEST
from linkrisk.datasets.options.option import check_choices, options_of
from linkrisk.solver.linkage.kinds import Kinds
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker, ScoredByKind
from linkrisk.solver.linkage.parameters import OneDimensionParameters
from linkrisk.solver.linkage.quantifiers import attribute_values, standardised
from linkrisk.solver.linkage.score_ranks import Part, PartnerRanks, ranks_on_a_line
from linkrisk.solver.run.errors import UsageError

Loadings = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class OneDimension(OneDimensionParameters, Linker):
    """Link by one number per record, a weighted sum of its standardised values in its own file.

    Attributes
    ----------
    compare_by : str
        ``rank`` compares relative ranks (ties share their mean rank), ``score`` the standardised sums.

    Raises
    ------
    UsageError
        If `compare_by` is neither.
    """

    common_attributes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choices(options_of(type(self)), vars(self), UsageError)

    @staticmethod
    @abstractmethod
    def loadings(values: FloatArray) -> FloatArray:
        """Weights (attributes,) of the standardised values (n, attributes) of one file."""

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Find the loadings of both files."""
        queries, candidates = (self._learned(side) for side in _sides(task))
        return self._placed(task, queries, candidates)

    def _learned(self, side: _Side) -> Loadings:
        return dict(zip(side.attributes, self.loadings(side.values).tolist(), strict=True))

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """The same loadings, applied to these files."""
        try:
            by = parameters["by"]
            queries, candidates = (_read(parameters["loadings"][name]) for name in ("queries", "candidates"))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(
                f"these are not parameters of {cls.name}: they need by, and the loadings of both files"
            ) from None
        return cls(compare_by=by)._placed(task, queries, candidates)

    def _placed(self, task: LinkageTask, queries: Loadings, candidates: Loadings) -> LearnedLinker:
        first, second = _sides(task)
        parameters = {"by": self.compare_by, "loadings": {"queries": queries, "candidates": candidates}}
        return _Placed(self._places(first, queries), self._places(second, candidates), parameters)

    def _places(self, side: _Side, loadings: Loadings) -> FloatArray:
        if tuple(loadings) != side.attributes:
            raise UsageError(
                f"the loadings are of {', '.join(loadings)}, but the file has {', '.join(side.attributes)}; "
                "choose the same attributes as when they were learned"
            )
        sums = (side.values * np.array(list(loadings.values()))).sum(axis=1)
        if self.compare_by == "rank":
            return np.asarray((pd.Series(sums).rank().to_numpy() - 0.5) / sums.size)
        return standardised(sums[:, None])[:, 0]


@dataclass(frozen=True, eq=False)
class _Side:
    """One file: its attributes, and their standardised values, 0 where missing."""

    attributes: tuple[str, ...]
    values: FloatArray


def _sides(task: LinkageTask) -> tuple[_Side, _Side]:
    def side(frame: pd.DataFrame, attributes: tuple[str, ...]) -> _Side:
        values = standardised(attribute_values(frame, attributes, task.schema))
        return _Side(attributes, np.nan_to_num(values, nan=0.0))

    return side(task.queries, task.query_attributes), side(task.candidates, task.candidate_attributes)


def _read(loadings: Mapping[str, Any]) -> Loadings:
    read = {str(name): float(value) for name, value in loadings.items()}
    if not all(abs(value) <= LARGEST for value in read.values()):
        raise ValueError("a loading is too large, or not a number")
    return read


class _Placed(ScoredByKind):
    def __init__(self, queries: FloatArray, candidates: FloatArray, parameters: dict[str, Any]) -> None:
        self.parameters = parameters
        first, second = (Kinds.where_worth((side,), side.size) for side in (queries, candidates))
        self.both = first, second
        self._queries, self._candidates = queries[first.first], candidates[second.first]

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Minus the distances of places."""
        return np.asarray(-np.abs(self._queries[rows][:, None] - self._candidates))

    def pair_scores(self, queries: IndexArray, candidates: IndexArray) -> FloatArray:
        """The same of single pairs."""
        first, second = self.both[0].kind[queries], self.both[1].kind[candidates]
        return np.asarray(-np.abs(self._queries[first] - self._candidates[second]))

    def partner_ranks(self, part: Part) -> PartnerRanks | None:
        """Rank by binary search among sorted places."""
        return ranks_on_a_line(self._queries, self._candidates, part)


class PrincipalComponent(OneDimension):
    """By the first principal component of each file (Domingo-Ferrer and Torra 2003).

    That of the correlation matrix, with the sign that makes the sum of its loadings positive: components have
    no direction of their own, and attributes of both files are taken to grow together.
    """

    name: ClassVar[str] = "pca"

    @staticmethod
    def loadings(values: FloatArray) -> FloatArray:
        """The eigenvector of the largest eigenvalue."""
        first = np.linalg.eigh(values.T @ values)[1][:, -1]
        return np.asarray(first if first.sum() >= 0.0 else -first)


class SumOfStandardised(OneDimension):
    """By the sum of z-scores of each file (Domingo-Ferrer and Torra 2003)."""

    name: ClassVar[str] = "zscore"

    @staticmethod
    def loadings(values: FloatArray) -> FloatArray:
        """All equal to 1."""
        return np.ones(values.shape[1])
