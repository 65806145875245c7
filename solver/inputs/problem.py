"""Hold a linkage problem: a file pair with its attacker's distances, survey design, and JSON."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.parquet import read_numbers
from linkrisk.datasets.microdata.names import shown_labels
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.survey_design import SurveyDesign, by_stratum
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.distances import FileMoments, Standardisation, standardise
from linkrisk.formulations.linkage.pair import Direction, LinkagePair
from linkrisk.solver.inputs.recorded_masking import what_masking_did
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.result import plain

WORTH = 4_000_000
"""Bytes of records above which workers read files instead of receiving records."""

_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class Rereading:
    """Recipe by which workers rebuild a pair from two Parquet files of numbers (`run.remote.Recipe`).

    Means, deviations, partners and a digest of the compared data come from the parent: a worker that read
    other numbers, to the last bit, does not use them.
    """

    paths: tuple[str, str]  # files of queries and of candidates
    # of each attribute; None where values are compared as they are
    moments: FileMoments | None
    shell: LinkagePair  # the pair without its records
    digest: bytes  # digest of the records

    def make(self) -> LinkagePair | None:
        """Rebuild the pair; None where files are missing or have changed."""
        files = [self._values(path) for path in self.paths]
        if files[0] is None or files[1] is None or len(files[0]) <= self.shell.query_rows.max(initial=-1):
            return None
        try:
            first, second, _ = standardise(files[0], files[1], self.moments or Standardisation.NONE)
        except FormulationError:
            return None
        pair = replace(self.shell, queries=first[self.shell.query_rows], candidates=second)
        return pair if _digest(pair) == self.digest else None

    def _values(self, path: str) -> FloatArray | None:
        """Read the attributes of a file; None where one is missing."""
        try:
            frame = read_numbers(Path(path))
        except ImportError:
            return None
        if frame is None or not set(self.shell.attributes) <= set(frame.columns):
            return None
        try:
            return np.ascontiguousarray(numeric_matrix(frame, self.shell.attributes, path))
        except DataError:
            return None


def rereading(pair: LinkagePair, sources: Sequence[Any], moments: FileMoments | None) -> Rereading | None:
    """Make the recipe to read a pair from its two files; None where it has to be sent."""
    paths = [Path(each).resolve() for each in sources if isinstance(each, str | Path)]
    if len(paths) < 2 or any(path.suffix.lower() not in _SUFFIXES for path in paths):
        return None
    if pair.tables is not None or pair.missing is not None:
        return None
    if pair.queries.nbytes + pair.candidates.nbytes < WORTH:
        return None
    shell = replace(pair, queries=pair.queries[:0], candidates=pair.candidates[:0], orders=None)
    return Rereading((str(paths[0]), str(paths[1])), moments, shell, _digest(pair))


def _digest(pair: LinkagePair) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for records in (pair.queries, pair.candidates):
        found.update(str(records.shape).encode())
        found.update(np.ascontiguousarray(records).data)
    return found.digest()


@dataclass(frozen=True, eq=False)
class BlockSurvey:
    """Sampling weight and stratum of every block."""

    # weight_column, stratum_column that they come from; None without
    weight_column: str | None = None
    weight: FloatArray | None = None  # (blocks,): persons that each block represents
    stratum_column: str | None = None
    stratum: tuple[str, ...] | None = None  # (blocks,)
    unit: float = 1.0  # weight in the population of a weight of one in the search (`weight_unit`)

    @classmethod
    def of(
        cls, design: SurveyDesign, direction: Direction, query_rows: IndexArray, partner: IndexArray
    ) -> Self:
        """Read the survey design of the original records, for blocks; rows (blocks,) of both sides."""
        rows = query_rows if direction is Direction.ORIGINAL_TO_MASKED else partner
        weight = None if design.weight is None else design.weight[rows]
        return cls(
            weight_column=design.weight_column,
            weight=weight,
            stratum_column=design.stratum_column,
            stratum=None if design.stratum is None else tuple(design.stratum[row] for row in rows.tolist()),
            unit=1.0 if weight is None else weight_unit(weight),
        )

    def describe(self) -> dict[str, Any]:
        """Report the columns in the JSON, and the sum of the weights of all blocks."""
        said: dict[str, Any] = {}
        if self.weight is not None:
            said |= {"weight": self.weight_column, "total_weight": plain(math.fsum(self.weight.tolist()))}
        if self.stratum is not None:
            said["stratum"] = self.stratum_column
        return said

    @property
    def shown(self) -> dict[str, tuple[str, ...]]:
        """Report the column of strata with its codes; empty without one."""
        if self.stratum is None or self.stratum_column is None:
            return {}
        return {self.stratum_column: tuple(dict.fromkeys(self.stratum))}

    def strata(self, linked: BoolArray) -> dict[str, Any]:
        """``{"strata": {stratum: {"records": n, "linked": m}}}``; empty where there are no strata."""
        return {} if self.stratum is None else {"strata": by_stratum(self.stratum, linked)}

    def links(self, linked: BoolArray, share: FloatArray) -> dict[str, Any]:
        """Report ``{"weighted_links": sum}`` of links that count `share` of their weight; else empty."""
        if self.weight is None:
            return {}
        return {"weighted_links": plain(math.fsum((self.weight * share)[linked].tolist()))}


def weight_unit(weight: FloatArray) -> float:
    """Choose a divisor that brings weights near one, as the tolerances of a search assume.

    A power of two near their mean, so that scaling is exact; their value where all are equal, as integer
    objectives give better bounds.
    """
    if weight.size == 0:
        return 1.0
    if (weight == weight[0]).all():
        return float(weight[0])
    return float(2.0 ** round(math.log2(float(weight.mean()))))


@dataclass(frozen=True, eq=False)
class Searched:
    """The part of a problem that a search needs."""

    pair: LinkagePair
    aggregator: Aggregator
    unit: float = 1.0  # weight in the population of a weight of one


@dataclass(frozen=True, eq=False)
class Problem:
    """A linkage problem ready for engines and the evaluator.

    Attributes
    ----------
    files : FilePair
    pair : LinkagePair
    aggregator : Aggregator
    options : ProblemOptions
    seconds : float
        What setting it up took, once the files had been read and checked.
    survey : BlockSurvey
        Sampling weights and strata of the blocks.
    rereading : Rereading or None
        How other processes can read the pair themselves; None where it has to be sent.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.distances.make_problem(iris, masked).files.attributes
    ('sepal_length', 'sepal_width', 'petal_length', 'petal_width')
    """

    files: FilePair
    pair: LinkagePair
    aggregator: Aggregator
    options: ProblemOptions
    seconds: float = 0.0
    survey: BlockSurvey = field(default_factory=BlockSurvey)
    rereading: Rereading | None = None

    @property
    def searched(self) -> Searched:
        """Extract the part that a search needs."""
        return Searched(self.pair, self.aggregator, self.survey.unit)

    @property
    def labels(self) -> list[str]:
        """Label the record of each block."""
        original = Direction(self.options.direction) is Direction.ORIGINAL_TO_MASKED
        names = self.files.original_labels if original else self.files.masked_labels
        return [names[row] for row in self.pair.query_rows]

    def describe(self) -> dict[str, Any]:
        """Describe the problem for the JSON."""
        described = {
            "name": self.files.name,
            "aggregator": self.aggregator.name,
            "aggregator_options": self.aggregator.options,
            "direction": str(self.options.direction),
            "attributes": list(self.pair.attributes),
            "alignment": self.files.alignment,
            "candidates": len(self.pair.candidates),
            "ties": str(self.pair.ties),
            "standardisation": str(self.options.standardisation),
            "differences": self.aggregator.differences.value,
            "missing": str(self.options.missing),
        }
        if self.files.categorical or self.files.dates:
            described["schema"] = categorical_schema(self.files).to_dict()
        shown = {name: one.categories for name, one in self.files.categorical.items()}
        shown = {**dict.fromkeys(self.pair.attributes, ()), **shown, **self.survey.shown}
        return {
            **described,
            **what_masking_did(self.files),
            **self.survey.describe(),
            **shown_labels(self.files.labels, shown),
        }


def shares(problem: Problem) -> FloatArray:
    """Value of a link of each block apart from its sampling weight: one, except for shared ties."""
    weight, pair = problem.survey.weight, problem.pair
    return pair.weight if weight is None else np.asarray(pair.weight * problem.survey.unit / weight)


def categorical_schema(files: FilePair) -> Schema:
    """Scale and categories of the categorical attributes, and which are dates, as results record them."""
    kinds = {
        name: Attribute(name, Role.KEY, attribute.scale, attribute.categories)
        for name, attribute in files.categorical.items()
    }
    kinds |= {name: Attribute(name, Role.KEY, Scale.DATE, form=form) for name, form in files.dates.items()}
    return Schema(tuple(kinds[name] for name in files.attributes if name in kinds))
