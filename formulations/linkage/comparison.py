"""Two files ready to be compared: standardised, categories looked up, missing values drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.distance_tables import DistanceTables
from linkrisk.formulations.linkage.distances import FileMoments, Standardisation, standardised_files
from linkrisk.formulations.linkage.missing import (
    KnownValues,
    Missing,
    MissingDifferences,
    missing_differences,
)
from linkrisk.formulations.linkage.ties import grain, table_grain


class Direction(StrEnum):
    """Which file's records are linked (the blocks) to which file's (the candidates)."""

    ORIGINAL_TO_MASKED = "original-to-masked"
    MASKED_TO_ORIGINAL = "masked-to-original"


@dataclass(frozen=True)
class Comparison:
    """All records of two files, in standardised units or categories.

    Attributes
    ----------
    queries : ndarray of float64, shape (queries, attributes)
        Records of the file that is linked; categories as their positions, NaN where a number is missing.
    candidates : ndarray of float64, shape (candidates, attributes)
        Records of the other file.
    attributes : tuple of str
        Names of the attributes.
    offset : ndarray of float64, shape (attributes,)
        How far from zero values were before they were standardised (`Standardised`).
    grains : ndarray of float64, shape (attributes,)
        What is far below any difference that the attributes show (`ties.grain`).
    tables : DistanceTables, optional
        Distances between categories, of a query and of a candidate; all other attributes are numeric.
    missing : MissingDifferences, optional
        What numeric attributes differ by where a value is missing.
    """

    queries: FloatArray
    candidates: FloatArray
    attributes: tuple[str, ...]
    offset: FloatArray
    grains: FloatArray
    tables: DistanceTables | None = None
    missing: MissingDifferences | None = None

    def part(self, queries: IndexArray, candidates: IndexArray) -> Comparison:
        """Some of the queries with some of the candidates."""
        missing = self.missing
        if missing is not None:
            of_queries = missing.part(queries)
            missing = replace(of_queries, of_candidates=missing.of_candidates[candidates])
        return replace(
            self, queries=self.queries[queries], candidates=self.candidates[candidates], missing=missing
        )

    def attribute(self, k: int, rows: IndexArray) -> tuple[FloatArray, BoolArray | None]:
        """Differences of one attribute, of some queries to all candidates.

        Parameters
        ----------
        k : int
        rows : ndarray of int, shape (any,)
            The queries.

        Returns
        -------
        ndarray of float64, shape (any, candidates)
            Finite.
        ndarray of bool, shape (any, candidates), or None
            Which pairs are possible; None where all are.
        """
        if self.tables is not None and k in self.tables.attributes:
            table = self.tables.table(int(np.searchsorted(self.tables.attributes, k)))
            queries = self.queries[rows, k].astype(np.intp)
            distances = table[queries].take(self.candidates[:, k].astype(np.intp), axis=1)
            possible = np.isfinite(distances)
            return np.where(possible, distances, 0.0), None if np.isfinite(table).all() else possible
        differences: FloatArray = self.queries[rows, k][:, None] - self.candidates[:, k]
        if self.missing is not None:
            self.missing.fill(differences, k, rows[:, None], np.arange(len(self.candidates)))
        return differences, None


@dataclass(frozen=True)
class Columns:
    """What the columns of two files are, and what their values are compared as.

    Attributes
    ----------
    names : tuple of str, optional
        Of the attributes; ``V1``, ``V2``, ... when absent.
    tables : sequence of ndarray or None, optional
        For each attribute None, or the distance of each category of an original record (rows) to each of a
        masked one (columns), not negative; inf where the first cannot have become the second. The values of
        such an attribute are positions in its table. All attributes are numeric when absent.
    missing : Missing
        What a missing value of a numeric attribute is compared as.
    known : KnownValues, optional
        What missing values may be, in the units of comparison, where other records say that.
    """

    names: tuple[str, ...] | None = None
    tables: Sequence[FloatArray | None] | None = None
    missing: Missing = Missing.EXPECTED
    known: KnownValues | None = None


NUMERIC = Columns()


def compare_files(
    original: FloatArray,
    masked: FloatArray,
    *,
    columns: Columns = NUMERIC,
    direction: Direction = Direction.ORIGINAL_TO_MASKED,
    standardisation: Standardisation | FileMoments = Standardisation.OWN,
) -> Comparison:
    """Make two files comparable (see `pair.make_pair`, whose arguments these are).

    Raises
    ------
    FormulationError
        If an attribute cannot be standardised, or a value is not a position in its table.
    """
    tables, attributes = columns.tables, columns.names
    looked_up = None if tables is None else DistanceTables.of(tables)
    called = [repr(name) for name in attributes or ()]
    queries, candidates, offset = standardised_files(original, masked, standardisation, tables, called)
    if direction is Direction.MASKED_TO_ORIGINAL:
        queries, candidates = candidates, queries
        looked_up = None if looked_up is None else looked_up.transposed()
    names = attributes or tuple(f"V{k + 1}" for k in range(original.shape[1]))
    categorical = np.empty(0, dtype=np.intp) if looked_up is None else looked_up.attributes
    numeric = np.setdiff1d(np.arange(len(names)), categorical).astype(np.intp)
    return Comparison(
        queries=queries,
        candidates=np.ascontiguousarray(candidates),
        attributes=names,
        offset=offset,
        grains=_grains(queries, candidates, offset, looked_up),
        tables=looked_up,
        missing=missing_differences(queries, candidates, numeric, columns.missing, columns.known),
    )


def _grains(
    first: FloatArray, second: FloatArray, offset: FloatArray, tables: DistanceTables | None
) -> FloatArray:
    """The grain of each attribute, shape (attributes,)."""
    grains = grain(first, second, offset)
    if tables is not None:
        for at, k in enumerate(tables.attributes.tolist()):
            grains[k] = table_grain(tables.table(at))
    return grains
