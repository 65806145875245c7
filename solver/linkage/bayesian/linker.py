"""The linker `bayes`: Bayes factors between files without attributes in common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.errors import called
from linkrisk.solver.linkage.bayesian.categorising import UNKNOWN, Categories, learn_categories
from linkrisk.solver.linkage.bayesian.factors import BayesFactors
from linkrisk.solver.linkage.bayesian.likelihood import MarginalLikelihood
from linkrisk.solver.linkage.bayesian.match_share import estimated_match_share, match_probabilities
from linkrisk.solver.linkage.bayesian.parameters import Learned, counted, read_parameters
from linkrisk.solver.linkage.bayesian.search import learn_graph
from linkrisk.solver.linkage.kinds import Kinds
from linkrisk.solver.linkage.linker import LinkageTask, Linker, ScoredByKind, in_chunks
from linkrisk.solver.linkage.parameters import BayesianParameters
from linkrisk.solver.run.errors import UsageError

_MOST_PAIRS = 1_000_000
"""With more pairs than this, p is estimated from a random part of the queries."""


@dataclass(frozen=True, kw_only=True)
class Bayesian(BayesianParameters, Linker):
    """Link by the Bayes factor ``Pr(a, b) / (Pr(a) Pr(b))`` of a decomposable graphical model.

    The files have no attribute in common; training records, of which all attributes are known, say how those
    of one file depend on those of the other. D. Smith, *Re-identification in the absence of common matching
    variables*, University of Manchester, CMIST working paper 2016-02, sections 4 and 5.2.

    Attributes
    ----------
    classes : int
        Most classes of a numeric attribute, at least 2.
    prior_weight : float
        Sum of the parameters of the hyper-Dirichlet prior, positive: how many records it counts for.
    match_share : float, optional
        Probability that a pair is a match before its records are looked at. By default one in the number of
        candidates for a bijection, otherwise estimated.

    Raises
    ------
    UsageError
        If a setting is out of range.
    """

    name: ClassVar[str] = "bayes"
    common_attributes: ClassVar[bool] = False
    learns_from_training: ClassVar[bool] = True

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
        """A model that was learned before, and its p, applied to these files."""
        _check_apart(task)
        learned, match_share = read_parameters(parameters)
        for name in task.query_attributes + task.candidate_attributes:
            if name not in learned.categories:
                raise UsageError(f"parameters of bayes: nothing was learned about {name!r}; leave it out")
        return LearnedBayesian(learned, task, match_share)


class LearnedBayesian(ScoredByKind):
    """A model applied to two files; scores are match weights, the binary logarithm of the Bayes factor.

    Attributes
    ----------
    match_share : float
        p, the probability that a pair is a match.
    """

    def __init__(
        self, learned: Learned, task: LinkageTask, match_share: float | None, notes: tuple[str, ...] = ()
    ) -> None:
        nodes = {name: at for at, name in enumerate(learned.categories)}
        sides = ((task.queries, task.query_attributes), (task.candidates, task.candidate_attributes))
        queries, candidates = (
            coded(frame, {name: learned.categories[name] for name in names}) for frame, names in sides
        )
        self._both = tuple(Kinds.where_worth(side.T, len(side)) for side in (queries, candidates))
        self._factors = BayesFactors(
            learned.model,
            queries[self._both[0].first],
            candidates[self._both[1].first],
            [nodes[name] for name in task.query_attributes],
            [nodes[name] for name in task.candidate_attributes],
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

    @property
    def both(self) -> tuple[Kinds, Kinds]:
        """Records with equal codes."""
        return self._both[0], self._both[1]

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """``log2 BF`` to a billionth: what differs by rounding only ties."""
        return self._factors.weights(rows)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Posterior probabilities of a match, given p."""
        return match_probabilities(scores, self.match_share)

    def _estimated(self, task: LinkageTask) -> float:
        """p: known for a bijection, else from the scores of all pairs, or of a random part of the queries."""
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
    """Codes of the attributes of a table, shape (n, attributes)."""
    return np.column_stack([categories[name].codes(frame[name]) for name in categories])


def _unseen(frame: pd.DataFrame, names: tuple[str, ...], codes: IndexArray) -> tuple[str, ...]:
    """What to say about values that are there but that no training record has."""
    unseen = (codes == UNKNOWN) & frame[list(names)].notna().to_numpy()
    return tuple(
        f"{count} values of {name!r} are in no training record and count as missing"
        for name, count in zip(names, unseen.sum(axis=0), strict=True)
        if count
    )


def _check_apart(task: LinkageTask) -> None:
    """The attributes of one file must not be those of the other."""
    common = [name for name in task.query_attributes if name in task.candidate_attributes]
    if common:
        raise UsageError(
            f"bayes links files without attributes in common, and both have {common[0]!r}; "
            "leave it out of one of them"
        )
    if not (task.query_attributes and task.candidate_attributes):
        raise UsageError("bayes needs at least one attribute of each file")


def _complete(task: LinkageTask, names: tuple[str, ...]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The training records without missing values, and what to say about the others."""
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
