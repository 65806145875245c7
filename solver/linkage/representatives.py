"""Link files without common attributes by numbers computed from the values of each record.

`pca` and `zscore` link by one weighted sum, `owa` and `sugeno` by representatives: aggregated values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import index
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.numeric import LARGEST
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.options.option import check_choices, options_of
from linkrisk.errors import called
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker, ScoredByKind, in_small_blocks
from linkrisk.solver.linkage.parameters import (
    OneDimensionParameters,
    RepresentativeLinkerParameters,
    SugenoIntegralsParameters,
)
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison, Measure
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.quantifiers import (
    Quantifier,
    attribute_values,
    normalised,
    owa,
    parse_family,
    standardised,
    sugeno,
)
from linkrisk.solver.linkage.score_ranks import Kinds, Part, PartnerRanks, ranks_on_a_line
from linkrisk.solver.run.errors import UsageError

Loadings = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class OneDimension(OneDimensionParameters, Linker):
    """Link by one number per record, a weighted sum of its standardised values in its own file."""

    common_attributes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choices(options_of(type(self)), vars(self), UsageError)

    @staticmethod
    @abstractmethod
    def loadings(values: FloatArray) -> FloatArray:
        """Compute the weights (attributes,) of the standardised values (n, attributes) of one file."""

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Compute the loadings of both files."""
        queries, candidates = (self._learned(side) for side in _sides(task))
        return self._placed(task, queries, candidates)

    def _learned(self, side: _Side) -> Loadings:
        return dict(zip(side.attributes, self.loadings(side.values).tolist(), strict=True))

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """Apply the same loadings to these files."""
        try:
            by = parameters["by"]
            queries, candidates = (
                _read_loadings(parameters["loadings"][name]) for name in ("queries", "candidates")
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(
                f"these are not parameters of {cls.name}: they need by, and the loadings of both files"
            ) from None
        return cls(compare_by=by)._placed(task, queries, candidates)

    def _placed(self, task: LinkageTask, queries: Loadings, candidates: Loadings) -> LearnedLinker:
        first, second = _sides(task)
        parameters = {"by": self.compare_by, "loadings": {"queries": queries, "candidates": candidates}}
        places = self._places(first, queries), self._places(second, candidates)
        return _Points(*places, parameters, line=True)

    def _places(self, side: _Side, loadings: Loadings) -> FloatArray:
        """Compute the numbers of the records, shape (n, 1)."""
        if tuple(loadings) != side.attributes:
            raise UsageError(
                f"the loadings are of {', '.join(loadings)}, but the file has {', '.join(side.attributes)}; "
                "choose the same attributes as when they were learned"
            )
        sums = (side.values * np.array(list(loadings.values()))).sum(axis=1)
        if self.compare_by == "rank":
            return np.asarray((pd.Series(sums).rank().to_numpy() - 0.5) / sums.size)[:, None]
        return standardised(sums[:, None])


@dataclass(frozen=True, eq=False)
class _Side:
    """Attributes of one file, and their standardised values, 0 where missing."""

    attributes: tuple[str, ...]
    values: FloatArray


def _sides(task: LinkageTask) -> tuple[_Side, _Side]:
    def side(frame: pd.DataFrame, attributes: tuple[str, ...]) -> _Side:
        values = standardised(attribute_values(frame, attributes, task.schema))
        return _Side(attributes, np.nan_to_num(values, nan=0.0))

    return side(task.queries, task.query_attributes), side(task.candidates, task.candidate_attributes)


def _read_loadings(loadings: Mapping[str, Any]) -> Loadings:
    read = {str(name): float(value) for name, value in loadings.items()}
    if not all(abs(value) <= LARGEST for value in read.values()):
        raise ValueError("a loading is too large, or not a number")
    return read


class _Points(ScoredByKind):
    """Scores pairs by minus the distance of numbers (records, dimensions), -inf where one is missing.

    Distances on a line are differences, even where squares would overflow or underflow.
    """

    def __init__(
        self, queries: FloatArray, candidates: FloatArray, parameters: dict[str, Any], *, line: bool
    ) -> None:
        self.parameters, self._line = parameters, line
        first, second = (Kinds.where_worth(side.T, len(side)) for side in (queries, candidates))
        self.both = first, second
        self._queries, self._candidates = queries[first.first], candidates[second.first]

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Compute minus the distances to every kind of candidates."""
        return self._scores(self._queries[rows], self._candidates)

    def pair_scores(self, queries: IndexArray, candidates: IndexArray) -> FloatArray:
        """Compute minus the distances of single pairs."""
        first, second = self.both[0].kind[queries], self.both[1].kind[candidates]
        if self._line:
            return np.asarray(-np.abs(self._queries[first] - self._candidates[second])[:, 0])
        return in_small_blocks(
            lambda rows, columns: self._scores(self._queries[rows], self._candidates[columns]), first, second
        )

    def partner_ranks(self, part: Part) -> PartnerRanks | None:
        """Rank by binary search among sorted numbers if records have one each."""
        line = self._line or (self._queries.shape[1] == 1 and self._roots_are_sizes())
        return ranks_on_a_line(self._queries[:, 0], self._candidates[:, 0], part) if line else None

    def _roots_are_sizes(self) -> bool:
        """Whether the root of each difference's square is exact: none underflows, overflows or is missing."""
        values = np.unique(np.concatenate([self._queries, self._candidates]))
        return bool((np.abs(values) < 1e150).all() and (np.diff(values) > 1e-150).all())

    def _scores(self, queries: FloatArray, candidates: FloatArray) -> FloatArray:
        if self._line:
            return np.asarray(-np.abs(queries - candidates.T))
        distances = cdist(queries, candidates)
        return np.asarray(-np.where(np.isnan(distances), np.inf, distances))


class PrincipalComponent(OneDimension):
    """By the first principal component of each file (Domingo-Ferrer and Torra 2003).

    That of the correlation matrix, with the sign that makes the sum of its loadings positive: components have
    no direction of their own, and attributes of both files are taken to grow together.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.PrincipalComponent()).linked
    13
    """

    name: ClassVar[str] = "pca"

    @staticmethod
    def loadings(values: FloatArray) -> FloatArray:
        """Compute the eigenvector of the largest eigenvalue."""
        first = np.linalg.eigh(values.T @ values)[1][:, -1]
        return np.asarray(first if first.sum() >= 0.0 else -first)


class SumOfStandardised(OneDimension):
    """By the sum of z-scores of each file (Domingo-Ferrer and Torra 2003).

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.SumOfStandardised()).linked
    8
    """

    name: ClassVar[str] = "zscore"

    @staticmethod
    def loadings(values: FloatArray) -> FloatArray:
        """Return loadings of 1."""
        return np.ones(values.shape[1])


@dataclass(frozen=True)
class Nearest(Linker):
    """Scores pairs by minus the Euclidean distance of unscaled values.

    Normalising representatives again would inflate those of small variance. A record with a missing value has
    no distance and cannot be linked (-inf).
    """

    name: ClassVar[str] = "nearest"

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Read the values of both files."""
        if task.query_attributes != task.candidate_attributes:
            raise UsageError(f"{self.name} compares attributes that both files have; these differ")
        queries = attribute_values(task.queries, task.query_attributes, task.schema)
        candidates = attribute_values(task.candidates, task.candidate_attributes, task.schema)
        return _Points(queries, candidates, {}, line=False)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """Do as `learn`: there are no parameters."""
        del parameters
        return cls().learn(task)


ObjectArray = NDArray[np.object_]


def in_classes(queries: FloatArray, candidates: FloatArray, classes: int) -> tuple[ObjectArray, ObjectArray]:
    """Discretise numbers, column by column, by quantiles of both files together.

    Equal numbers share a class, so that classes may differ in size or be empty. Results are text, "1" for the
    smallest values; None where missing.
    """
    first = np.empty(queries.shape, dtype=object)
    second = np.empty(candidates.shape, dtype=object)
    shares = np.arange(1, classes) / classes
    for column in range(queries.shape[1]):
        pooled = np.concatenate([queries[:, column], candidates[:, column]])
        known = pooled[~np.isnan(pooled)]
        bounds = np.quantile(known, shares) if known.size else shares
        for values, codes in ((queries, first), (candidates, second)):
            at = np.searchsorted(bounds, values[:, column]) + 1
            missing = np.isnan(values[:, column])
            codes[:, column] = [None if gone else str(code) for code, gone in zip(at, missing, strict=True)]
    return first, second


AGREEMENT = Comparison(Measure.DEVIATIONS, (0.05,), 1.0)
"""Comparison of representatives: within 1/20 of a standard deviation, interpolated up to one."""


MOST_CLASSES = 10_000


@dataclass(frozen=True, kw_only=True)
class RepresentativeLinker(RepresentativeLinkerParameters, Linker):
    """Link files without common attributes by representatives of their records.

    Section 3 of Torra and Nin (2008). Each file is normalised by itself; each quantifier turns the values of
    a record into one number, whatever their order and however many they are; another linker compares these.

    UsageError if a setting is unknown or out of range.
    """

    common_attributes: ClassVar[bool] = False

    inner: Linker | None = None  # in place of that of `linkage`; `restored` does not know it

    def __post_init__(self) -> None:
        check_choices(options_of(type(self)), vars(self), UsageError)
        if not self.functions:
            raise UsageError(
                f"there is no quantifier; give at least one with {called('quantifiers')}",
                option="quantifiers",
            )
        twice = {function for function in self.functions if self.functions.count(function) > 1}
        if twice:
            raise UsageError(f"the quantifier {min(map(str, twice))} is given twice; give it once")
        if self.classes < 0 or self.classes == 1 or self.classes > MOST_CLASSES:
            raise UsageError(
                f"{called('classes')} is {self.classes}; give 2 to {MOST_CLASSES}, or 0 for numbers as they "
                "are",
                option="classes",
            )

    @property
    def functions(self) -> tuple[Quantifier, ...]:
        """List all quantifiers."""
        return tuple(chain.from_iterable(self.quantifiers))

    @staticmethod
    @abstractmethod
    def aggregate(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
        """Compute representatives (n, k) of normalised values (n, attributes), NaN where missing."""

    def representatives(self, frame: pd.DataFrame, attributes: Sequence[str], schema: Schema) -> FloatArray:
        """Compute the representatives of the records of a file, (n, quantifiers); NaN for empty records."""
        values = normalised(attribute_values(frame, attributes, schema), self.normalisation, self.missing)
        made = self.aggregate(values, self.functions)
        return standardised(made) if self.standardise else made

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Compute the representatives of both files, and let the inner linker learn from them."""
        inner_task = self._inner_task(task)
        return self._described(task, self._inner(inner_task).learn(inner_task))

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """Make a linker with the same quantifiers and settings, for these files."""
        try:
            linker = cls(
                quantifiers=tuple(parse_family(text) for text in parameters["quantifiers"]),
                **{name: parameters[name] for name in _SETTINGS} | {"classes": index(parameters["classes"])},
            )
            inner = dict(parameters["inner"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(f"these are not parameters of {cls.name}: {_NEEDED}") from None
        inner_task = linker._inner_task(task)
        return linker._described(task, type(linker._inner(inner_task)).restored(inner, inner_task))

    def _described(self, task: LinkageTask, learned: LearnedLinker) -> LearnedLinker:
        """Wrap the linker of the representatives, with the parameters and notes of this one."""
        learned.parameters = {
            "quantifiers": [str(function) for function in self.functions],
            **{name: getattr(self, name) for name in _SETTINGS},
            "inner": learned.parameters,
        }
        learned.notes = (*_notes_on_empty(task), *learned.notes)
        return learned

    def _inner(self, task: LinkageTask) -> Linker:
        if self.inner is not None:
            return self.inner
        if self.linkage == "distance":
            return Nearest()
        numeric = task.schema.select(scale=Scale.NUMERIC)
        return Probabilistic(compare=tuple((name, AGREEMENT) for name in numeric))

    def _inner_task(self, task: LinkageTask) -> LinkageTask:
        """Build the task of linking representatives, which both files have in common."""
        made = (
            self.representatives(task.queries, task.query_attributes, task.schema),
            self.representatives(task.candidates, task.candidate_attributes, task.schema),
        )
        names = tuple(str(function) for function in self.functions)
        if self.classes:
            codes = in_classes(*made, classes=self.classes)
            queries, candidates = (pd.DataFrame(side, columns=names) for side in codes)
            categories = tuple(str(at) for at in range(1, self.classes + 1))
            attributes = tuple(Attribute(name, scale=Scale.ORDINAL, categories=categories) for name in names)
        else:
            queries, candidates = (pd.DataFrame(values, columns=names) for values in made)
            attributes = tuple(Attribute(name, scale=Scale.NUMERIC) for name in names)
        return LinkageTask(
            queries=queries,
            candidates=candidates,
            query_attributes=names,
            candidate_attributes=names,
            schema=Schema(attributes),
            bijection=task.bijection,
            seed=task.seed,
        )


_SETTINGS = ("normalisation", "missing", "linkage", "standardise", "classes")
_NEEDED = f"they need quantifiers, {', '.join(_SETTINGS)} and inner"


def _notes_on_empty(task: LinkageTask) -> tuple[str, ...]:
    frames = (task.queries[list(task.query_attributes)], task.candidates[list(task.candidate_attributes)])
    counts = [int(frame.isna().all(axis=1).sum()) for frame in frames]
    return tuple(
        f"records without any value in {source}: {count}"
        for source, count in zip(task.sources, counts, strict=True)
        if count
    )


@dataclass(frozen=True, kw_only=True)
class OrderedWeightedAverages(RepresentativeLinker):
    """Representatives are OWA operators: Choquet integrals for symmetric measures.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.OrderedWeightedAverages()).linked
    12
    """

    name: ClassVar[str] = "owa"

    @staticmethod
    def aggregate(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
        """Apply `owa` to normalised values: representatives (n, k)."""
        return owa(values, quantifiers)


@dataclass(frozen=True, kw_only=True)
class SugenoIntegrals(SugenoIntegralsParameters, RepresentativeLinker):
    """Representatives are Sugeno integrals for symmetric measures.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.SugenoIntegrals()).linked
    9
    """

    name: ClassVar[str] = "sugeno"

    @staticmethod
    def aggregate(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
        """Apply `sugeno` to normalised values: representatives (n, k)."""
        return sugeno(values, quantifiers)
