"""From files or frames to a linkage problem: what `fit`, `compare` and `evaluate` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from datasets.default_pair import default_pair
from datasets.file_pair import FilePair, make_file_pair
from formulations.aggregators import Aggregator, make_aggregator
from formulations.distances import Differences, Standardisation
from formulations.pair import Direction, LinkagePair, Ties, make_pair
from solver.errors import UsageError

_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True)
class ProblemOptions:
    """What to link with what, and by which family of distances.

    Attributes
    ----------
    aggregator : str
        ``weighted-mean``, ``owa``, ``choquet`` or ``mahalanobis``.
    direction : str
        ``original-to-masked`` (the intruder's view) or ``masked-to-original`` (as D11.2 writes it).
    attributes : sequence of str, optional
        Attributes to compare; all common columns when absent.
    id_column : str, optional
        Column that says who is who; row by row when absent.
    drop_constant : bool
        Leave constant attributes out instead of refusing them.
    ties : str
        ``strict`` or ``share``.
    standardisation : str
        ``own``, ``original``, ``pooled`` or ``none``.
    differences : str, optional
        ``squared``, ``absolute`` or ``signed`` instead of the aggregator's default.
    k_additive : int, optional
        For ``choquet``: interactions of at most this many attributes.
    """

    aggregator: str = "weighted-mean"
    direction: str = Direction.ORIGINAL_TO_MASKED
    attributes: Sequence[str] | None = None
    id_column: str | None = None
    drop_constant: bool = False
    ties: str = Ties.STRICT
    standardisation: str = Standardisation.OWN
    differences: str | None = None
    k_additive: int | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """A linkage problem ready for engines and the evaluator."""

    files: FilePair
    pair: LinkagePair
    aggregator: Aggregator
    options: ProblemOptions

    @property
    def labels(self) -> list[str]:
        """What to call the record of each block."""
        original = self.options.direction == Direction.ORIGINAL_TO_MASKED
        names = self.files.original_labels if original else self.files.masked_labels
        return [names[row] for row in self.pair.query_rows]

    def describe(self) -> dict[str, Any]:
        """The part of the JSON that says what was solved."""
        return {
            "name": self.files.name,
            "aggregator": self.aggregator.name,
            "aggregator_options": self.aggregator.options,
            "direction": str(self.options.direction),
            "attributes": list(self.pair.attributes),
            "candidates": len(self.pair.candidates),
            "ties": str(self.pair.ties),
            "standardisation": str(self.options.standardisation),
            "differences": self.aggregator.differences.value,
        }


def choice(kind: type[_Choice], value: str, what: str) -> _Choice:
    """Read one of an enumeration's values; UsageError that lists them otherwise."""
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(member.value for member in kind)
        raise UsageError(f"unknown {what} '{value}': choose one of {allowed}") from None


def make_problem(original: Any = None, masked: Any = None, options: ProblemOptions | None = None) -> Problem:
    """Read a file pair and set up its linkage problem.

    Parameters
    ----------
    original, masked : path, pandas.DataFrame or polars.DataFrame, optional
        The two files; the embedded default pair when both are absent.
    options : ProblemOptions, optional

    Returns
    -------
    Problem

    Raises
    ------
    UsageError, DataError, FormulationError
        If the request or the files cannot be used; one line that says how to mend it.
    """
    options = options or ProblemOptions()
    direction = choice(Direction, options.direction, "direction")
    ties = choice(Ties, options.ties, "tie rule")
    standardisation = choice(Standardisation, options.standardisation, "standardisation")
    differences = None
    if options.differences is not None:
        differences = choice(Differences, options.differences, "kind of differences")
    k: object = options.k_additive
    if k is not None and (isinstance(k, bool) or not isinstance(k, int)):
        raise UsageError(f"k_additive must be a whole number, not {k!r}")
    # Any attributes will do to refuse a request that no file could satisfy, before the files are read.
    make_aggregator(options.aggregator, ("A", "B"), differences=differences, k_additive=options.k_additive)
    files = _files(original, masked, options)
    # The aggregator next: a request that it refuses should not cost the comparison of records.
    aggregator = make_aggregator(
        options.aggregator, files.attributes, differences=differences, k_additive=options.k_additive
    )
    pair = make_pair(
        files.original_values,
        files.masked_values,
        files.partner,
        attributes=files.attributes,
        direction=direction,
        standardisation=standardisation,
        ties=ties,
    )
    return Problem(files, pair, aggregator, options)


def _files(original: Any, masked: Any, options: ProblemOptions) -> FilePair:
    if original is None and masked is None:
        pair = default_pair()
        if options.attributes is None and options.id_column is None:
            return pair
        chosen = make_file_pair(
            pair.original, pair.masked, attributes=options.attributes, id_column=options.id_column
        )
        return replace(chosen, name=pair.name)
    if original is None or masked is None:
        missing = "original" if original is None else "masked"
        raise UsageError(f"the {missing} file is missing: give both --original and --masked, or neither")
    return make_file_pair(
        original,
        masked,
        attributes=options.attributes,
        id_column=options.id_column,
        drop_constant=options.drop_constant,
    )
