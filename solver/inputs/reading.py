"""Read files or frames into a linkage problem, with all options checked before reading."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.pairs.alignment import check_alignment
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.public.embedded import default_pair
from linkrisk.errors import called
from linkrisk.formulations.linkage.aggregators import AGGREGATORS, Aggregator, make_aggregator
from linkrisk.formulations.linkage.comparison import Columns, Missing
from linkrisk.formulations.linkage.distances import Differences, FileMoments, Standardisation, file_moments
from linkrisk.formulations.linkage.pair import Direction, LinkagePair, Ties, make_pair
from linkrisk.solver.inputs.problem import BlockSurvey, Problem, Rereading, rereading, weight_unit
from linkrisk.solver.linkage.distance_based import category_distances
from linkrisk.solver.options.checks import check_asked
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError

_FAR_CLOSER = 1e-3
"""Spread relative to the largest one below which squares fall under a millionth, which searches miss."""


_MOST = 0.6
"""Share of the values in the interval that measures the spread, so that outliers do not count."""


def scale_notes(files: FilePair, pair: LinkagePair) -> tuple[str, ...]:
    """Note numeric attributes whose differences are tiny beside those of another one.

    An outlier, such as 99999999 for a missing value, does that to its attribute under standardisation;
    without standardisation, units do. Bounds still hold.
    """
    numeric = [k for k, name in enumerate(files.attributes) if name not in files.categorical]
    spread = np.array([_spread(np.concatenate([pair.queries[:, k], pair.candidates[:, k]])) for k in numeric])
    largest = spread.max(initial=1.0 if files.categorical else 0.0)
    notes = []
    for at, k in enumerate(numeric):
        if 0.0 < spread[at] < _FAR_CLOSER * largest:
            notes.append(
                f"column {shown_name(files.attributes[k])} is hard to weight against the others, so the "
                f"bounds may stay wide: most of its values lie within {spread[at]:.1g} standardised units, "
                f"those of another column within {largest:.1g}; look for outliers (such as 99999999 for a "
                "missing value), and for unsuitable units where nothing is standardised"
            )
    return tuple(notes)


def _spread(values: FloatArray) -> float:
    """Compute the width of the shortest interval that holds `_MOST` of the known values."""
    ascending = np.sort(values[~np.isnan(values)])
    many = int(_MOST * len(ascending))
    return float((ascending[many:] - ascending[: len(ascending) - many]).min())


def check_alignment_options(id_column: str | None, row_by_row: bool) -> None:
    """Refuse two ways of aligning the records together."""
    try:
        check_alignment(id_column, row_by_row)
    except DataError as error:
        raise UsageError(str(error), option=error.option) from None


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
        If the request or the files cannot be used; one line that says how to fix it.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> problem = linkrisk.distances.make_problem(iris, masked)
    >>> problem.aggregator.name, problem.pair.blocks
    ('weighted-mean', 15)
    """
    options = options or ProblemOptions()
    check_problem_options(options)
    clock, schema = Clock(None), schema_of(options.schema)
    found = problem_of(_files(original, masked, options, schema), options, (original, masked))
    return replace(found, seconds=clock.seconds)


def check_problem_options(options: ProblemOptions) -> None:
    """Refuse requests that no file could satisfy, before reading; UsageError or FormulationError."""
    check_alignment_options(options.id, options.row_by_row)
    check_asked(options)
    _aggregator(options, ("A", "B"), categorical=False)  # any attributes will do


def problem_of(files: FilePair, options: ProblemOptions, read: tuple[Any, Any] = (None, None)) -> Problem:
    """Build the linkage problem of files already read, with options that `make_problem` has checked.

    `read`: paths from which workers can read them, if any.
    """
    clock, missing = Clock(None), Missing(options.missing)
    # The aggregator first: a request that it refuses should not cost the comparison of records.
    aggregator = _aggregator(options, files.attributes, categorical=bool(files.categorical))
    weight = files.design.weight
    unit = 1.0 if weight is None else weight_unit(weight[files.partner >= 0])
    direction, standardisation = Direction(options.direction), Standardisation(options.standardisation)
    moments = None if files.categorical else _moments(files, standardisation)
    pair = make_pair(
        files.compared_values,
        files.masked_values,
        files.partner,
        columns=Columns(names=files.attributes, tables=distance_tables(files, missing), missing=missing),
        direction=direction,
        standardisation=moments or standardisation,
        ties=None if options.ties is None else Ties(options.ties),
        weight=None if weight is None else weight / unit,
    )
    survey = BlockSurvey.of(files.design, direction, pair.query_rows, pair.partner)
    files = replace(files, notes=(*files.notes, *_missing_notes(files, missing), *scale_notes(files, pair)))
    again = _rereading(pair, *read, direction, moments)
    return Problem(files, pair, aggregator, options, clock.seconds, survey, again)


def _moments(files: FilePair, standardisation: Standardisation) -> FileMoments | None:
    """Compute the moments that standardise numeric attributes; None without standardisation."""
    names = [repr(name) for name in files.attributes]
    return file_moments(files.compared_values, files.masked_values, standardisation, names)


def _rereading(
    pair: LinkagePair, original: Any, masked: Any, direction: Direction, moments: FileMoments | None
) -> Rereading | None:
    """Make the recipe by which workers read the pair, queries first."""
    if direction is Direction.MASKED_TO_ORIGINAL:
        original, masked = masked, original
        moments = None if moments is None else FileMoments(moments.masked, moments.original)
    return rereading(pair, (original, masked), moments)


def with_aggregator(problem: Problem, name: str, k_additive: int | None) -> Problem:
    """Change the family of distances; FormulationError when it does not fit the files."""
    options = replace(problem.options, aggregator=name, k_additive=k_additive)
    files = problem.files
    aggregator = _aggregator(options, files.attributes, categorical=bool(files.categorical))
    return replace(problem, aggregator=aggregator, options=options)


def _aggregator(options: ProblemOptions, attributes: tuple[str, ...], *, categorical: bool) -> Aggregator:
    """Create the requested aggregator; FormulationError or UsageError when there is none."""
    differences = None if options.differences is None else Differences(options.differences)
    if categorical:
        differences = _without_sign(options.aggregator, differences)
    return make_aggregator(
        options.aggregator, attributes, differences=differences, k_additive=options.k_additive
    )


def distance_tables(files: FilePair, missing: Missing) -> list[FloatArray | None] | None:
    """Compute distances between the categories of each attribute, None for numeric ones; None if all are."""
    if not files.categorical:
        return None
    tables: list[FloatArray | None] = []
    for name in files.attributes:
        attribute = files.categorical.get(name)
        tables.append(None if attribute is None else category_distances(attribute, missing))
    return tables


def _missing_notes(files: FilePair, rule: Missing) -> tuple[str, ...]:
    """Note the number of missing values by column, and how they are compared."""
    lacking = []
    for name in files.attributes:
        counts = [int(frame[name].isna().sum()) for frame in (files.original, files.masked)]
        if any(counts):
            lacking.append(f"{shown_name(name)} ({counts[0]:,} and {counts[1]:,})")
    if not lacking:
        return ()
    return (
        f"values are missing in the original and the masked file and compared by {called('missing', rule)}: "
        f"{', '.join(lacking)}",
    )


def _without_sign(aggregator: str, asked: Differences | None) -> Differences | None:
    """Choose differences for files with categories: the default, unless that is signed."""
    if asked is Differences.SIGNED:
        raise UsageError(
            f"differences of categories have no sign: use {called('differences', 'absolute')}, or leave "
            "categorical attributes out",
            option="differences",
        )
    signed = AGGREGATORS[aggregator].allowed_differences[0] is Differences.SIGNED
    return Differences.ABSOLUTE if asked is None and signed else asked


def _files(original: Any, masked: Any, options: ProblemOptions, schema: Schema | None) -> FilePair:
    if original is None and masked is None:
        pair = default_pair()
        own = (options.attributes, options.id, schema, *options.nominal, *options.ordinal)
        if not options.masking and all(value is None for value in own):
            return pair
        chosen = make_file_pair(pair.original, pair.masked, **_file_options(options, schema))
        return replace(chosen, name=pair.name)
    if original is None or masked is None:
        missing = "original" if original is None else "masked"
        raise UsageError(
            f"the {missing} file is missing: give both {called('original')} and {called('masked')}, or "
            "neither",
            option=missing,
        )
    return make_file_pair(
        original, masked, drop_constant=options.drop_constant, **_file_options(options, schema)
    )


def _file_options(options: ProblemOptions, schema: Schema | None) -> dict[str, Any]:
    """Extract the options that declare the attributes."""
    return {
        "attributes": options.attributes,
        "id": options.id,
        "row_by_row": options.row_by_row,
        "nominal": options.nominal,
        "ordinal": options.ordinal,
        "schema": schema,
        "masking": options.masking,
    }
