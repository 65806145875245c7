"""States key variables as codes, and counts the frequencies of their combinations.

Two rows agree on a set of variables *exactly* when their codes are equal, a missing value being a category
of its own, and *loosely* when they are equal wherever both have a value. The count of a row is

    exact + alpha (loose - exact),

so that alpha = 0 makes a missing value its own category, alpha = 1 lets it match anything, on either side, as
sdcMicro's `freqCalc` does, and in between it counts in part.
"""

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
    """The key variables of a file, as codes."""

    names: tuple[str, ...]
    codes: Codes  # (n, q): of values, from 0 without large gaps; `MISSING` for a missing one
    weights: FloatArray | None = None  # (n,): sampling weights, 1 by default

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
        """Number of records, n."""
        return len(self.codes)

    @cached_property
    def types(self) -> RowTypes:
        """The distinct rows."""
        return row_types(self.codes, self.weights)

    def mask(self, names: tuple[str, ...]) -> int:
        """The set of key variables of these names, as bits."""
        return sum(1 << self.names.index(name) for name in set(names))

    def named(self, mask: int) -> tuple[str, ...]:
        """Names of a set of key variables."""
        return tuple(self.names[at] for at in members(mask))


@dataclass(frozen=True, eq=False)
class RowTypes:
    """Distinct rows of a file; records of one type are interchangeable."""

    codes: Codes  # (T, q)
    count: LongArray  # (T,): records of each type
    weight: FloatArray  # (T,): the sum of their weights; their number without weights
    of: LongArray  # (n,): the type of each record

    def __len__(self) -> int:
        return len(self.codes)


def row_types(codes: Codes, weights: FloatArray | None = None) -> RowTypes:
    """Return the distinct rows of codes (n, q), in the order of their codes."""
    groups, firsts = numbered_rows(codes)
    count = np.bincount(groups, minlength=len(firsts)).astype(np.int64)
    weight = count if weights is None else np.bincount(groups, weights, len(firsts))
    return RowTypes(np.ascontiguousarray(codes[firsts]), count, weight.astype(np.float64), groups)


def numbered_rows(codes: Codes) -> tuple[LongArray, LongArray]:
    """Number equal rows (n, q) equally from 0, missing values like others; first row of each number."""
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
    """List the positions of the set bits, in order."""
    return tuple(at for at in range(mask.bit_length()) if mask >> at & 1)


def size_of(mask: int) -> int:
    """Count the set bits."""
    return mask.bit_count()


OWN_CATEGORY, MATCHES_ANYTHING, SAFE = "own-category", "matches-anything", "safe"


@dataclass(frozen=True)
class MissingMeaning:
    """Meaning of a missing value of a key variable where combinations are counted."""

    # 0: a category of its own; 1: it matches anything; between, loose agreement counts by so much
    alpha: float = 0.0
    safe: bool = False  # whether a combination with a missing value is never unsafe, as in mu-ARGUS
    # what stands in the place of values that are taken out, and is what is missing; a gap when None
    code: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha <= 1.0:
            raise FormulationError(f"alpha = {self.alpha:g} is not between 0 and 1")

    @classmethod
    def parse(cls, text: str) -> MissingMeaning:
        """Read ``own-category``, ``matches-anything``, ``safe``, ``alpha=A`` or ``code=C``."""
        known = {OWN_CATEGORY: cls(0.0), MATCHES_ANYTHING: cls(1.0), SAFE: cls(0.0, safe=True)}
        if text in known:
            return known[text]
        name, mark, value = text.partition("=")
        try:
            if name.strip() == "alpha" and mark:
                return cls(float(value))
            if name.strip() == "code" and value.strip():
                return cls(code=value.strip())
        except ValueError as error:
            if isinstance(error, FormulationError):
                raise
        raise FormulationError(
            f"a missing value is {OWN_CATEGORY}, {MATCHES_ANYTHING}, {SAFE}, alpha=A or code=C, not {text!r}"
        )

    @property
    def words(self) -> str:
        """Continuation of a sentence: the meaning on which a number depends."""
        if self.safe:
            return "a combination with a missing value is safe"
        if self.code is not None:
            return f"what is taken out is written as {self.code}, a category of its own"
        if self.alpha == 0.0:
            return "a missing value is a category of its own"
        if self.alpha == 1.0:
            return "a missing value matches anything"
        return f"a missing value matches anything by {self.alpha:g}"

    def __str__(self) -> str:
        if self.safe:
            return SAFE
        if self.code is not None:
            return f"code={self.code}"
        return {0.0: OWN_CATEGORY, 1.0: MATCHES_ANYTHING}.get(self.alpha, f"alpha={self.alpha:g}")


def frequencies(codes: Codes, weight: FloatArray, meaning: MissingMeaning) -> FloatArray:
    """Weighted frequency (T,) of the combination in each row (T, d)."""
    groups, firsts = numbered_rows(codes)
    exact: FloatArray = np.bincount(groups, weight, len(firsts)).astype(np.float64)
    if meaning.alpha == 0.0 or not (codes == MISSING).any():
        return exact[groups]
    loose = exact + loosely(codes[firsts], exact)
    return np.asarray((exact + meaning.alpha * (loose - exact))[groups], dtype=np.float64)


def loosely(rows: Codes, weight: FloatArray) -> FloatArray:
    """Weight (G,) of the other rows that agree loosely with each of different rows (G, d).

    Rows with the same variables missing are compared together, pattern by pattern.
    """
    lacking = rows == MISSING
    pattern, firsts = numbered_rows(lacking.astype(np.int32))
    places = [np.flatnonzero(pattern == at) for at in range(len(firsts))]
    found = np.zeros(len(rows))
    for at, ours in enumerate(places):
        for other, theirs in enumerate(places):
            if at == other:  # of one pattern, loosely is exactly, and they differ
                continue
            shared = ~(lacking[firsts[at]] | lacking[firsts[other]])
            found[ours] += _sums_at(rows[ours][:, shared], rows[theirs][:, shared], weight[theirs])
    return found


def _sums_at(ours: Codes, theirs: Codes, weight: FloatArray) -> FloatArray:
    """Weight of the rows `theirs` that equal each row of `ours`."""
    if not ours.shape[1]:
        return np.full(len(ours), weight.sum())
    groups: LongArray = numbered_rows(np.concatenate([ours, theirs]))[0]
    sums = np.bincount(groups[len(ours) :], weight, int(groups.max()) + 1)
    return np.asarray(sums[groups[: len(ours)]], dtype=np.float64)
