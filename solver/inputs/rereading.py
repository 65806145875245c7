"""A file pair that workers read themselves: Parquet files of numbers on machines that have them, too.

Means, deviations, partners and a digest of all that is compared come from the parent: a worker that has read
other numbers, to the last bit, does not use them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.parquet import read_numbers
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.distances import FileMoments, Standardisation, standardise
from linkrisk.formulations.linkage.pair import LinkagePair

WORTH = 4_000_000
"""Bytes of records from which reading is worth it: less is sent sooner."""

_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class Rereading:
    """How a pair is made of two files (`run.remote.Recipe`)."""

    paths: tuple[str, str]  # of queries and of candidates
    # of each attribute; None where values are compared as they are
    moments: FileMoments | None
    shell: LinkagePair  # the pair without its records
    digest: bytes  # of the records

    def make(self) -> LinkagePair | None:
        """The pair; None where the files are not there, or are others."""
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
        """The attributes of a file; None where it does not have them, or is not there."""
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
    """How workers can read a pair from the files of queries and candidates; None where it has to be sent."""
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
