"""The linker bayes: Bayes factors between files without attributes in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.errors import called
from linkrisk.solver.linkage.bayesian_parameters import (
    UNKNOWN,
    Categories,
    Learned,
    counted,
    learn_categories,
    read_parameters,
)
from linkrisk.solver.linkage.graphical_model import GraphicalModel, MarginalLikelihood, learn_graph
from linkrisk.solver.linkage.linker import LinkageTask, Linker, ScoredByKind, in_chunks
from linkrisk.solver.linkage.parameters import BayesianParameters
from linkrisk.solver.linkage.score_ranks import Kinds
from linkrisk.solver.run.errors import UsageError

_LEAST = -60.0
"""Logit of the smallest non-zero share of matches, about 1e-26."""


def match_probabilities(weights: FloatArray, match_share: float) -> FloatArray:
    """Compute posterior match probabilities, ``p BF / (p BF + 1 - p)`` (Smith 2016, Eq. 4)."""
    return np.asarray(expit(weights * np.log(2.0) + logit(match_share)), dtype=np.float64)


def estimated_match_share(weights: FloatArray) -> float:
    """Estimate the share p of matches among all pairs from match weights, by maximum likelihood.

    EM takes the mean of the posterior probabilities as the next p until convergence (Smith 2016, section 4).
    It climbs the likelihood ``prod (1 - p + p BF)``, whose logarithm is concave in p, so it converges to the
    only maximum. A root finder locates it directly, because EM is slow near 0.
    """
    logs = weights * np.log(2.0)
    small = np.exp(-np.abs(logs))

    def slope(log_odds: float) -> float:
        """Compute the slope of the log likelihood, the mean of ``(BF - 1) / (1 - p + p BF)``."""
        p, rest = expit(log_odds), expit(-log_odds)
        return float(
            np.where(logs > 0, (1 - small) / (rest * small + p), (small - 1) / (rest + p * small)).mean()
        )

    if slope(_LEAST) <= 0.0:
        return 0.0
    if slope(-_LEAST) >= 0.0:
        return 1.0
    return float(expit(brentq(slope, _LEAST, -_LEAST, xtol=1e-12)))


_DECIMALS = 9
"""Decimals of a match weight; smaller differences are rounding errors."""


class _Side(NamedTuple):
    """One file: codes (n, a), nodes of columns, groups of rows with their known columns, and log Pr (n,)."""

    codes: IndexArray
    nodes: tuple[int, ...]
    groups: list[tuple[IndexArray, IndexArray]]
    logs: FloatArray


class BayesFactors:
    """Bayes factors ``Pr(a, b) / (Pr(a) Pr(b))`` between two files (Smith 2016, Eq. 4).

    Files are codes (n, a) and the nodes of their columns, none in both. A missing value (`UNKNOWN`) is no
    evidence and is summed out. A clique holds at most `cells_at_once` numbers at a time.
    """

    def __init__(
        self,
        model: GraphicalModel,
        queries: tuple[IndexArray, Sequence[int]],
        candidates: tuple[IndexArray, Sequence[int]],
        cells_at_once: int = 2_000_000,
    ) -> None:
        self._model, self._cells_at_once = model, cells_at_once
        self._queries, self._candidates = self._side(*queries), self._side(*candidates)

    @property
    def connected(self) -> bool:
        """Whether any node of one file depends on any node of the other."""
        return self._model.connected(self._queries.nodes, self._candidates.nodes)

    def weights(self, rows: IndexArray) -> FloatArray:
        """Compute match weights ``log2 BF`` of some queries with every candidate, shape (any, m), no -0."""
        first, second = self._queries, self._candidates
        weights = np.empty((rows.size, len(second.codes)))
        for query_rows, known in first.groups:
            places = np.flatnonzero(np.isin(rows, query_rows))
            for candidate_rows, also_known in second.groups:
                nodes = [first.nodes[k] for k in known] + [second.nodes[k] for k in also_known]
                for part in self._parts(places, nodes, candidate_rows.size):
                    evidence = {first.nodes[k]: first.codes[rows[part], k][:, None] for k in known}
                    evidence |= {
                        second.nodes[k]: second.codes[candidate_rows, k][None, :] for k in also_known
                    }
                    logs = self._model.log_probability(evidence)
                    logs = logs - first.logs[rows[part], None] - second.logs[candidate_rows]
                    weights[np.ix_(part, candidate_rows)] = logs
        return np.asarray(np.round(weights / np.log(2.0), _DECIMALS) + 0.0)

    def _side(self, codes: IndexArray, nodes: Sequence[int]) -> _Side:
        """Prepare a file with ``log Pr(a)`` of each record, the attributes of the other file summed out."""
        logs, groups = np.empty(len(codes)), list(_groups(codes))
        for rows, known in groups:
            for part in self._parts(rows, [nodes[k] for k in known]):
                evidence = {nodes[k]: codes[part, k, None] for k in known}
                logs[part] = self._model.log_probability(evidence)[:, 0]
        return _Side(codes, tuple(nodes), groups, logs)

    def _parts(self, rows: IndexArray, nodes: Sequence[int], others: int = 1) -> Iterator[IndexArray]:
        """Split rows into batches, each with `others` records, where these nodes are known."""
        size = max(1, self._cells_at_once // (others * self._model.hidden_cells(nodes)))
        for first in range(0, rows.size, size):
            yield rows[first : first + size]


def _groups(codes: IndexArray) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Group records by their known columns: the rows of each group, and these columns."""
    patterns, kind = np.unique(codes != UNKNOWN, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        yield np.flatnonzero(kind == at), np.flatnonzero(pattern)


_MOST_PAIRS = 1_000_000
"""Number of pairs above which p is estimated from a random sample of the queries."""


@dataclass(frozen=True, kw_only=True)
class Bayesian(BayesianParameters, Linker):
    """Link by the Bayes factor ``Pr(a, b) / (Pr(a) Pr(b))`` of a decomposable graphical model.

    The files have no attribute in common; training records with all attributes show how those
    of one file depend on those of the other. D. Smith, *Re-identification in the absence of common matching
    variables*, University of Manchester, CMIST working paper 2016-02, sections 4 and 5.2.

    UsageError if a setting is out of range.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> one, two = iris[["sepal_length", "petal_length"]], iris[["petal_width"]]
    >>> training = linkrisk.data.load("iris").drop(columns="class")
    >>> found = linkrisk.link(one, two, method=linkrisk.linkers.Bayesian(classes=3), training=training)
    >>> found.records
    15
    """

    name: ClassVar[str] = "bayes"
    common_attributes: ClassVar[bool] = False
    learns_from_training: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("networkx",)

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise UsageError(f"classes is {self.classes}; a numeric attribute needs at least 2")
        if not (math.isfinite(self.prior_weight) and self.prior_weight > 0):
            raise UsageError(f"prior_weight is {self.prior_weight:g}; it must be above 0")
        if self.match_share is not None and not 0 < self.match_share < 1:
            raise UsageError(f"match_share is {self.match_share:g}; it must be between 0 and 1")

    def learn(self, task: LinkageTask) -> LearnedBayesian:
        """Learn categories, graph and probability tables from the training records, and p from the files."""
        _check_apart(task)
        names = task.query_attributes + task.candidate_attributes
        training, notes = _complete(task, names)
        categories = {
            name: learn_categories(training[name], task.schema.scale(name), self.classes) for name in names
        }
        codes = coded(training, categories)
        sizes = [categories[name].size for name in names]
        graph = learn_graph(MarginalLikelihood(codes, sizes, self.prior_weight))
        learned = counted(graph, codes, categories, self.prior_weight)
        return LearnedBayesian(learned, task, self.match_share, notes)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedBayesian:
        """Apply a learned model, and its p, to these files."""
        _check_apart(task)
        learned, match_share = read_parameters(parameters)
        for name in task.query_attributes + task.candidate_attributes:
            if name not in learned.categories:
                raise UsageError(f"parameters of bayes: nothing was learned about {name!r}; leave it out")
        return LearnedBayesian(learned, task, match_share)


class LearnedBayesian(ScoredByKind):
    """A model applied to two files, with the binary logarithm of the Bayes factor as match weight."""

    def __init__(
        self, learned: Learned, task: LinkageTask, match_share: float | None, notes: tuple[str, ...] = ()
    ) -> None:
        nodes = {name: at for at, name in enumerate(learned.categories)}
        sides = ((task.queries, task.query_attributes), (task.candidates, task.candidate_attributes))
        queries, candidates = (
            coded(frame, {name: learned.categories[name] for name in names}) for frame, names in sides
        )
        first, second = (Kinds.where_worth(side.T, len(side)) for side in (queries, candidates))
        self.both = first, second
        self._factors = BayesFactors(
            learned.model,
            (queries[first.first], [nodes[name] for name in task.query_attributes]),
            (candidates[second.first], [nodes[name] for name in task.candidate_attributes]),
        )
        notes += _unseen(task.queries, task.query_attributes, queries)
        notes += _unseen(task.candidates, task.candidate_attributes, candidates)
        if not self._factors.connected:
            notes += ("no attribute of one file depends on any of the other: all pairs score alike",)
        if match_share is None:
            match_share = self._estimated(task)
            if match_share in (0.0, 1.0):
                notes += (f"the estimate of the share of matches is {match_share:g}, an end of its range",)
        self.match_share = match_share
        self.notes = notes
        self.parameters = learned.to_dict() | {"p": match_share}

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Compute ``log2 BF``, rounded to a billionth so that rounding differences tie."""
        return self._factors.weights(rows)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Compute posterior match probabilities, given p."""
        return match_probabilities(scores, self.match_share)

    def _estimated(self, task: LinkageTask) -> float:
        """Estimate p: known for a bijection, else from the scores of all pairs or of a sample."""
        candidates = len(task.candidates)
        if task.bijection:
            return 1.0 / candidates
        rows = np.arange(len(task.queries))
        most = max(1, _MOST_PAIRS // candidates)
        if rows.size > most:
            rows = np.sort(np.random.default_rng(task.seed).choice(rows, size=most, replace=False))
        return estimated_match_share(
            np.concatenate([scores.ravel() for _, scores in in_chunks(self, rows, candidates)])
        )


def coded(frame: pd.DataFrame, categories: Mapping[str, Categories]) -> IndexArray:
    """Code the attributes of a table, shape (n, attributes)."""
    return np.column_stack([categories[name].codes(frame[name]) for name in categories])


def _unseen(frame: pd.DataFrame, names: tuple[str, ...], codes: IndexArray) -> tuple[str, ...]:
    """Note values that no training record has."""
    unseen = (codes == UNKNOWN) & frame[list(names)].notna().to_numpy()
    return tuple(
        f"{count} values of {name!r} are in no training record and count as missing"
        for name, count in zip(names, unseen.sum(axis=0), strict=True)
        if count
    )


def _check_apart(task: LinkageTask) -> None:
    """Refuse attributes that occur in both files."""
    common = [name for name in task.query_attributes if name in task.candidate_attributes]
    if common:
        raise UsageError(
            f"bayes links files without attributes in common, and both have {common[0]!r}; "
            "leave it out of one of them"
        )
    if not (task.query_attributes and task.candidate_attributes):
        raise UsageError("bayes needs at least one attribute of each file")


def _complete(task: LinkageTask, names: tuple[str, ...]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Select training records without missing values, with a note on the others."""
    if task.training is None:
        raise UsageError(
            "bayes learns from records of which all attributes are known: give training records "
            f"({called('training')})",
            option="training",
        )
    for name in names:
        if name not in task.training.columns:
            raise UsageError(f"the training records have no attribute {name!r}; they need all of both files")
        numeric = pd.api.types.is_numeric_dtype(task.training[name].dtype)
        if task.schema[name].scale is Scale.NUMERIC and not numeric:
            raise UsageError(f"the training records have text in {name!r}, which is numeric in the files")
    training = task.training[list(names)].dropna()
    if len(training) < 2:
        raise UsageError(
            f"{len(training)} of {len(task.training)} training records have no missing value; "
            "bayes needs at least two"
        )
    dropped = len(task.training) - len(training)
    notes = (f"{dropped} training records with missing values were left out",) if dropped else ()
    return training, notes
