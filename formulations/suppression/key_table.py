"""The key variables of a file as codes, and its different rows with the number of records of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError

Codes = NDArray[np.int32]

MISSING = -1
"""The code of a missing value."""

MOST_KEYS = 62
"""Sets of key variables are the bits of a signed integer of 64 bits."""

_MOST = 2**62


@dataclass(frozen=True, eq=False)
class KeyTable:
    """The key variables of a file.

    Attributes
    ----------
    names : tuple of str
        Of the q key variables.
    codes : ndarray of int32, shape (n, q)
        Equal codes for equal values, from 0 without large gaps; `MISSING` where there is none.
    weights : ndarray of float64, shape (n,), or None
        How many of the population each record stands for; 1 when None.

    Raises
    ------
    FormulationError
        If there is no record or key variable, too many key variables, or weights that are not positive.
    """

    names: tuple[str, ...]
    codes: Codes
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        records, keys = self.codes.shape
        if len(self.names) != keys:
            raise ValueError(f"{len(self.names)} names for {keys} columns of codes")
        if not records or not keys:
            raise FormulationError(f"{records} records of {keys} key variables: there must be one of each")
        if keys > MOST_KEYS:
            raise FormulationError(f"{keys} key variables are too many: choose at most {MOST_KEYS}")
        if self.weights is not None and not (np.isfinite(self.weights) & (self.weights > 0)).all():
            raise FormulationError("the weights of records must be positive and finite")

    @property
    def records(self) -> int:
        """How many records there are, n."""
        return len(self.codes)

    @cached_property
    def types(self) -> RowTypes:
        """The different rows."""
        return row_types(self.codes, self.weights)

    def mask(self, names: tuple[str, ...]) -> int:
        """The set of key variables of these names, as bits."""
        return sum(1 << self.names.index(name) for name in set(names))

    def named(self, mask: int) -> tuple[str, ...]:
        """The names of a set of key variables."""
        return tuple(self.names[at] for at in members(mask))


@dataclass(frozen=True, eq=False)
class RowTypes:
    """The different rows of a file: what is true of one record is true of all of its type.

    Attributes
    ----------
    codes : ndarray of int32, shape (T, q)
    count : ndarray of int64, shape (T,)
        Records of each type.
    weight : ndarray of float64, shape (T,)
        The sum of their weights; their number without weights.
    of : ndarray of int64, shape (n,)
        The type of each record.
    """

    codes: Codes
    count: LongArray
    weight: FloatArray
    of: LongArray

    def __len__(self) -> int:
        return len(self.codes)


def row_types(codes: Codes, weights: FloatArray | None = None) -> RowTypes:
    """The different rows of codes of shape (n, q), in the order of their codes."""
    groups, firsts = numbered_rows(codes)
    count = np.bincount(groups, minlength=len(firsts)).astype(np.int64)
    weight = count if weights is None else np.bincount(groups, weights, len(firsts))
    return RowTypes(np.ascontiguousarray(codes[firsts]), count, weight.astype(np.float64), groups)


def numbered_rows(codes: Codes) -> tuple[LongArray, LongArray]:
    """Number equal rows equally, a missing value being a value as any other.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, q)

    Returns
    -------
    groups : ndarray of int64, shape (n,)
        From 0 without a gap.
    firsts : ndarray of int64
        The first row of each group.
    """
    joint = np.zeros(len(codes), dtype=np.int64)
    size = 1
    for column in codes.T:
        levels = int(column.max(initial=MISSING)) + 2
        if size > _MOST // levels:  # closed up, the numbers are below n again
            joint = np.unique(joint, return_inverse=True)[1].astype(np.int64)
            size = int(joint.max(initial=0)) + 1
        joint = joint * levels + (column.astype(np.int64) + 1)
        size *= levels
    _, firsts, groups = np.unique(joint, return_index=True, return_inverse=True)
    return groups.reshape(-1).astype(np.int64), firsts.astype(np.int64)


def members(mask: int) -> tuple[int, ...]:
    """The places of the bits that are set, in order."""
    return tuple(at for at in range(mask.bit_length()) if mask >> at & 1)


def size_of(mask: int) -> int:
    """How many bits are set."""
    return mask.bit_count()
