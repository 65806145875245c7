"""Transform pairs for attacks on other scales: ranks, units, households, several releases."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.role_recognition import household
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.cells import are_numeric
from linkrisk.datasets.pairs.column_relations import parts
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.released_columns import SAYS_NOTHING, role_of
from linkrisk.datasets.pairs.several_files import side_by_side
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import problem_of
from linkrisk.solver.measures.task import RiskTask

CATEGORIES = 4
"""Most frequent categories of an attribute whose household shares are compared."""

INDICATORS, RECORDS_EACH = 24, 16
"""Most values of a part of an id that have indicators, and records needed for each."""


def by_ranks(task: RiskTask) -> LinkagePair:
    """Replace numbers by ranks within their file, reversed if necessary (rank-based linkage)."""
    files = task.files
    numeric = [at for at, name in enumerate(files.attributes) if name not in files.categorical]
    original, masked = files.original.copy(), files.masked.copy()
    known = np.flatnonzero(files.partner >= 0)
    for at in numeric:
        name = files.attributes[at]
        first, second = (ranks(each[:, at]) for each in (files.compared_values, files.masked_values))
        mine, theirs = first[known], second[files.partner[known]]
        if np.nansum((mine - np.nanmean(mine)) * (theirs - np.nanmean(theirs))) < 0.0:
            second = 1.0 - second
        original[name], masked[name] = first, second
    recoded = {name: one for name, one in files.recoded.items() if name in files.categorical}
    ranked = replace(files, original=original, masked=masked, recoded=recoded, dates={})
    return problem_of(ranked, task.first.options).pair


def ranks(values: FloatArray) -> FloatArray:
    """Compute ranks between 0 and 1, averaged over ties; NaN where missing."""
    ranks = pd.Series(values).rank()
    return np.asarray((ranks - 0.5) / max(1.0, float(ranks.notna().sum())), dtype=np.float64)


def by_units(task: RiskTask) -> LinkagePair:
    """Scale numbers by units of the original, or, if that is the default, of each file."""
    own = Standardisation(task.first.options.standardisation) is Standardisation.OWN
    other = Standardisation.ORIGINAL if own else Standardisation.OWN
    return problem_of(task.files, replace(task.first.options, standardisation=other.value)).pair


def household_column(task: RiskTask) -> str | None:
    """Find the column of households in both files; its numbers may have been changed."""
    files = task.files
    declared = () if task.schema is None else task.schema.select(role=Role.HOUSEHOLD)
    named = (name for name in files.original.columns if household(name, files.original[name]) is not None)
    both = (name for name in (*declared, *named) if name in files.original and name in files.masked)
    return next((name for name in both if name not in files.attributes), None)


def by_households(task: RiskTask) -> LinkagePair:
    """Compare each record with its household: size, means, shares; averages reduce noise."""
    files, column = task.files, household_column(task)
    if column is None:
        raise ValueError("there is no column of households")
    original, masked = files.original.copy(), files.masked.copy()
    attributes = list(files.attributes)
    both = traits(
        files.compared_values, files.masked_values, [one in files.categorical for one in attributes]
    )
    mine, theirs = (
        _of_households(each, frame[column]) for each, frame in zip(both, (original, masked), strict=True)
    )
    for at in range(mine.shape[1]):
        if min(np.nanstd(mine[:, at]), np.nanstd(theirs[:, at])) > 0.0:
            name = f"{column}, {at}"
            while name in original or name in masked:
                name += "'"
            attributes.append(name)
            original[attributes[-1]], masked[attributes[-1]] = mine[:, at], theirs[:, at]
    together = replace(files, original=original, masked=masked, attributes=tuple(attributes))
    return problem_of(together, task.first.options).pair


def traits(
    first: FloatArray, second: FloatArray, categorical: Sequence[bool], most: int = CATEGORIES
) -> tuple[FloatArray, FloatArray]:
    """List numbers, and indicators of categories that are frequent in both files."""
    columns: list[tuple[FloatArray, FloatArray]] = []
    for mine, theirs, coded in zip(first.T, second.T, categorical, strict=True):
        if not coded:
            columns.append((mine, theirs))
            continue
        codes, counts = np.unique(np.concatenate((mine, theirs)), return_counts=True)
        frequent = codes[np.argsort(-counts, kind="stable")][:most]
        columns += [((mine == code) * 1.0, (theirs == code) * 1.0) for code in frequent]
    if not columns:
        return np.empty((len(first), 0)), np.empty((len(second), 0))
    return np.column_stack([mine for mine, _ in columns]), np.column_stack([theirs for _, theirs in columns])


def _of_households(traits: FloatArray, numbers: pd.Series) -> FloatArray:
    """Compute the means and size of each record's household; records without a number are alone."""
    grouped = pd.DataFrame(traits).groupby(_homes(numbers))
    return np.column_stack((grouped.transform("mean").to_numpy(), grouped.transform("size").to_numpy()))


def homes(task: RiskTask) -> tuple[IndexArray, IndexArray]:
    """Number the households of the records of both files from 0."""
    files, column = task.files, household_column(task)
    return _homes(files.original[column]), _homes(files.masked[column])


def _homes(numbers: pd.Series) -> IndexArray:
    home = pd.factorize(numbers)[0].astype(np.intp)
    alone = home < 0
    home[alone] = home.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return home


def beside(files: FilePair, schema: Schema | None) -> tuple[FloatArray, FloatArray]:
    """List columns of both files that are not compared, (records, columns) each: numbers, and parts of ids.

    Of a part that goes with a column of the original both are there, so that it can be learned how.
    """
    table = Table(files.masked, "masked")
    mine, theirs = [np.empty((len(files.original), 0))], [np.empty((len(files.masked), 0))]
    for name in table.columns:
        column = table.frame[name]
        if name in files.attributes or not are_numeric(column):
            continue
        if role_of(name, table, schema) not in SAYS_NOTHING:
            theirs.append(_indicators(column))
    for one in files.left_in.masked:
        if one.part:
            mine.append(_indicators(files.original[one.original]))
            theirs.append(_indicators(parts(files.masked[one.column])[one.part]))
    return np.hstack(mine), np.hstack(theirs)


def _indicators(column: pd.Series) -> FloatArray:
    """List numbers, or indicators of frequent values."""
    if are_numeric(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(np.isfinite(numbers), numbers, np.nan)[:, None]
    codes, values = pd.factorize(column)
    often = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(values)), kind="stable")
    few = often[: min(INDICATORS, max(1, len(column) // RECORDS_EACH))]
    found = np.asarray(codes[:, None] == few, dtype=np.float64)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isnan(numbers[codes >= 0]).any():
        return found
    return np.column_stack((numbers, found)) if len(values) <= INDICATORS else numbers[:, None]


def together(task: RiskTask) -> Problem | None:
    """Join the last release with those that can be aligned with it; None where there are none."""
    files = _side_by_side(task)
    return None if files is None else problem_of(files, task.first.options)


def means(task: RiskTask) -> Problem | None:
    """Average each attribute over the releases, in standard deviations; None for a single release."""
    files = _side_by_side(task)
    if files is None:
        return None
    assert task.releases is not None
    names = list(dict.fromkeys(name for one in task.releases.files for name in one.attributes))
    categorical = {name: one for name, one in files.categorical.items() if name in names}
    original, masked = (_means(frame, names, categorical) for frame in (files.original, files.masked))
    averaged = replace(
        files, original=original, masked=masked, attributes=tuple(names), categorical=categorical
    )
    return problem_of(averaged, task.first.options)


def _means(frame: pd.DataFrame, names: Sequence[str], categorical: Container[str]) -> pd.DataFrame:
    found = {}
    for name in names:
        columns = [each for each in frame.columns if each == name or each.startswith(f"{name} (release ")]
        scaled = frame[name]
        if name not in categorical:
            values = frame[columns]
            scaled = ((values - values.mean()) / values.std(ddof=0)).mean(axis=1)
        found[name] = scaled
    return pd.DataFrame(found, index=frame.index)


def _side_by_side(task: RiskTask) -> FilePair | None:
    releases = task.releases
    members = () if releases is None else releases.group(len(releases.files))
    if releases is None or len(members) < 2:
        return None
    return side_by_side(releases.of(members), members)
