"""Link records by distance: to the candidate at the smallest weighted mean of attribute distances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.registry import names_files
from linkrisk.datasets.microdata.numeric import check_ranges, check_some_value, constant_attributes
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.options.option import check_choices, options_of
from linkrisk.datasets.pairs.categorical import (
    CategoricalAttribute,
    categorical_attributes,
    known_recodings,
    scales_of,
)
from linkrisk.datasets.pairs.file_pair import attribute_values
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.comparison import (
    Columns,
    Comparison,
    Direction,
    Missing,
    compare_files,
    with_missing,
)
from linkrisk.formulations.linkage.distances import (
    Standardisation,
    nominal_table,
    of_kind,
    ordinal_table,
    restricted,
)
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair, Ties, pair_of
from linkrisk.solver.linkage.linker import (
    LearnedLinker,
    LinkageTask,
    Linker,
    ScoredByKind,
    Truth,
    in_small_blocks,
)
from linkrisk.solver.linkage.parameters import DistanceBasedParameters
from linkrisk.solver.linkage.score_ranks import Kinds
from linkrisk.solver.run.errors import UsageError


def category_distances(attribute: CategoricalAttribute, missing: Missing) -> NDArray[np.float64]:
    """Tabulate the distance of original to masked categories, inf where impossible.

    With a last row and column for the missing category, where one is missing.
    """
    make = ordinal_table if attribute.scale is Scale.ORDINAL else nominal_table
    table = restricted(make(len(attribute.categories)), attribute.possible)
    if attribute.frequencies is None:
        return table
    return with_missing(table, *attribute.frequencies, missing)


@dataclass(frozen=True, kw_only=True)
class DistanceBased(DistanceBasedParameters, Linker):
    """Distance-based record linkage with weights that are given.

    The distance is ``sum_k p_k c_k``, where the attribute distance ``c_k`` is the squared (or absolute)
    difference of standardised values for a numeric attribute, and the squared (or plain) distance d of
    categories otherwise (Domingo-Ferrer and Torra 2002, Definition 1, which takes d itself: absolute).

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.DistanceBased()).linked
    13
    """

    name: ClassVar[str] = "dbrl"

    def __post_init__(self) -> None:
        check_choices(options_of(type(self)), vars(self), UsageError)
        for name, weight in self.weights or ():
            if not (math.isfinite(weight) and weight >= 0.0):
                raise UsageError(f"the weight of {name!r} is {weight:g}; it must be at least 0")

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Learn means and deviations (see `Linker.learn`); the weights are given."""
        return _Distances(self, task)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """Apply the same weights to other files (see `Linker.restored`)."""
        try:
            settings = dict(parameters)
            weights = tuple((str(name), float(weight)) for name, weight in settings.pop("weights").items())
            masking = without_files(settings.pop("masking"))
            linker = cls(weights=weights, masking=masking, **settings)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UsageError("these are not parameters of dbrl; take them from the JSON of `link`") from None
        return linker.learn(task)


def without_files(masking: Sequence[object]) -> tuple[str, ...]:
    """Check that methods from a JSON file, which is not trusted, name no files (UsageError)."""
    methods = tuple(str(method) for method in masking)
    for method in filter(names_files, methods):
        raise UsageError(
            f"the masking {method!r} names files, which are not opened because a JSON file says so: run "
            "`link` again"
        )
    return methods


class _Distances(ScoredByKind):
    """Computes weighted means of attribute distances of the records of a task."""

    def __init__(self, linker: DistanceBased, task: LinkageTask) -> None:
        if task.query_attributes != task.candidate_attributes:
            raise UsageError("dbrl compares attributes that both files have: name the same ones for both")
        self._weights = _checked_weights(linker.weights, task.query_attributes)
        self._comparison = _compared(linker, task)
        # Kinds are equal in every attribute, missing values included.
        sides = self._comparison.queries, self._comparison.candidates
        first, second = (Kinds.where_worth(side.T, len(side)) for side in sides)
        self.both = first, second
        self._of_kinds = self._comparison.part(first.first, second.first)
        self._form = WeightedMean(task.query_attributes, linker.differences).form(self._weights)
        self.parameters = {
            "weights": dict(zip(task.query_attributes, self._weights.tolist(), strict=True)),
            "differences": linker.differences,
            "standardisation": linker.standardisation,
            "masking": list(linker.masking),
            "missing": linker.missing,
        }

    def judged_as(self, truth: Truth) -> tuple[LinkagePair, DistanceForm]:
        """Return the distance, for the evaluator (see `LearnedLinker.judged_as`)."""
        ties = Ties.STRICT if truth.twin_group is None else Ties.SHARE
        weight = np.ones(truth.partner.size)
        return pair_of(self._comparison, truth.query_rows, truth.partner, weight, ties), self._form

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Compute minus the distance; -inf where masking cannot have made one record of the other."""
        return self._scores(self._of_kinds, rows)

    def pair_scores(self, queries: IndexArray, candidates: IndexArray) -> FloatArray:
        """Compute scores of single pairs (see `LearnedLinker.pair_scores`)."""

        def score(rows: IndexArray, columns: IndexArray) -> FloatArray:
            return self._scores(self._comparison.part(rows, columns), np.arange(rows.size))

        return in_small_blocks(score, queries, candidates)

    def _scores(self, compared: Comparison, rows: IndexArray) -> FloatArray:
        total = np.zeros((rows.size, len(compared.candidates)))
        # One attribute at a time: all together would take as many times the memory.
        for k, weight in enumerate(self._weights):
            apart, possible = compared.attribute(k, rows)
            total += weight * of_kind(apart, self._form.differences)
            if possible is not None:
                total[~possible] = np.inf
        return -total


def _checked_weights(given: Sequence[tuple[str, float]] | None, attributes: tuple[str, ...]) -> FloatArray:
    """Check that there is one weight for each attribute, and scale them to sum one."""
    if given is None:
        return np.full(len(attributes), 1.0 / len(attributes))
    weights = dict(given)
    if len(weights) < len(given) or set(weights) != set(attributes):
        raise UsageError(
            f"weights are given for {', '.join(name for name, _ in given)}, but the attributes are "
            f"{', '.join(attributes)}: give each one weight"
        )
    values = np.array([weights[name] for name in attributes])
    if not values.any():
        raise UsageError("all weights are zero: give at least one attribute a weight")
    values /= values.max()  # the sum of huge weights would overflow
    return np.asarray(values / values.sum())


def _compared(linker: DistanceBased, task: LinkageTask) -> Comparison:
    """Prepare the files of a task with the comparison of a fit."""
    attributes = task.query_attributes
    files = (Table(task.queries, task.sources[0]), Table(task.candidates, task.sources[1]))
    original, masked = reversed(files) if task.masked_queries else files
    scales = scales_of(attributes, (), (), task.schema)
    recodings = known_recodings(linker.masking, original, scales)
    categorical = categorical_attributes((original, masked), scales, recodings)
    rule = Missing(linker.missing)
    tables = [
        category_distances(categorical[name], rule) if name in categorical else None for name in attributes
    ]
    values = (
        attribute_values(original, attributes, categorical),
        attribute_values(masked, attributes, categorical),
    )
    _check_constant(values, attributes, tables, (original.source, masked.source), linker.standardisation)
    return compare_files(
        *values,
        columns=Columns(names=attributes, tables=tables if categorical else None, missing=rule),
        direction=Direction.MASKED_TO_ORIGINAL if task.masked_queries else Direction.ORIGINAL_TO_MASKED,
        standardisation=Standardisation(linker.standardisation),
    )


def _check_constant(
    values: Sequence[FloatArray],
    attributes: tuple[str, ...],
    tables: Sequence[FloatArray | None],
    sources: tuple[str, str],
    standardisation: str,
) -> None:
    """Refuse numeric attributes without a value, or without a deviation where that is needed."""
    numeric = [k for k, table in enumerate(tables) if table is None]
    names = [attributes[k] for k in numeric]
    for matrix, source in zip(values, sources, strict=True):
        check_some_value(matrix[:, numeric], names, source)
        if standardisation == Standardisation.NONE:
            continue
        for name, kind in constant_attributes(matrix[:, numeric], names).items():
            raise UsageError(f"{source}: {name!r} is {kind} and cannot be compared; leave it out")
        check_ranges(matrix[:, numeric], names, source)
