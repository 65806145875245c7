"""Rank swapping: values change places with values of nearly the same rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import NumericMethod, check_percent, of_known
from linkrisk.datasets.masking.parameters import RankSwappingParameters
from linkrisk.errors import called
from linkrisk.formulations.compiled import kernel


@dataclass(frozen=True, kw_only=True)
class RankSwapping(RankSwappingParameters, NumericMethod):
    """Swap each value with another whose rank differs by at most `percent` % of the records.

    R. Moore, Controlled data-swapping techniques for masking public use microdata sets, US Bureau of the
    Census, 1996. Each attribute by itself: the values are ranked (equal ones by row), and from the lowest
    rank up every value not yet swapped changes places with one drawn at random from those above it that are
    in the window and not yet swapped. Each value is swapped at most once; one that finds no partner stays.
    Missing values stay where they are and have no rank; percent counts the known values.

    Attributes
    ----------
    percent : float
        The window, in percent of the records, above 0 and at most 100.

    Raises
    ------
    DataError
        If percent is out of range.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.RankSwapping(percent=20.0)
    >>> masked = linkrisk.mask(iris, method, seed=1).table
    >>> sorted(masked["sepal_length"]) == sorted(iris["sepal_length"])
    True
    """

    name: ClassVar[str] = "rank-swapping"

    def __post_init__(self) -> None:
        check_percent(self.percent, most=100)

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        return f"rank swapping within {self.percent:g} % of the records"

    def mask_values(self, values: FloatArray, generator: np.random.Generator) -> FloatArray:
        """See `NumericMethod.mask_values`."""
        return of_known(values, lambda column: self._swapped(column, generator))

    def _swapped(self, column: FloatArray, generator: np.random.Generator) -> FloatArray:
        n = len(column)
        if n < 2:
            raise DataError(
                f"there is only 1 value, and swapping needs two; choose other {called('attributes')}",
                option="attributes",
            )
        window = window_size(n, self.percent)
        if window < 1:
            least = f"it must be at least {100 / n:.3g}"
            raise DataError(f"percent is {self.percent:g}, less than one of {n} values; {least}")
        masked, order = np.empty_like(column), np.argsort(column, kind="stable")
        masked[order] = column[order[swap_partners(n, window, generator)]]
        return masked


def window_size(records: int, percent: float) -> int:
    """Number of ranks that `percent` % of the records are, rounded down."""
    # Allow for products such as 0.07 * 100 that fall just short of an integer.
    return min(math.floor(percent * records / 100 + 1e-9), records - 1)


def swap_partners(records: int, window: int, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Draw an involution of ranks (n,): partner[i] differs from i by at most `window`."""
    partner = np.arange(records, dtype=np.intp)
    free = np.array([at & -at for at in range(records + 1)], dtype=np.intp)
    rank, candidates = _next_rank(free, partner, window, -1, min(window, records))
    while candidates > 0:
        # The draws are numpy's own: those of compiled code need not be the same everywhere.
        chosen = int(generator.integers(candidates))
        rank, candidates = _swap(free, partner, window, rank, candidates, chosen)
    return partner


# Which ranks are free is kept as sums (Fenwick 1994): entry i counts the free ones of the i & -i ranks below
# rank i. Ranks below the one at hand are not free, so that the candidates are the first free ones of all.


@kernel
def _occupy(free: npt.NDArray[np.intp], rank: int) -> None:
    at = rank + 1
    while at < len(free):
        free[at] -= 1
        at += at & -at


@kernel
def _free_rank(free: npt.NDArray[np.intp], chosen: int) -> int:
    """The free rank with `chosen` free ones below it."""
    at, step = 0, 1
    while 2 * step < len(free):
        step *= 2
    while step > 0:
        if at + step < len(free) and free[at + step] <= chosen:
            at += step
            chosen -= free[at]
        step //= 2
    return at


@kernel
def _next_rank(
    free: npt.NDArray[np.intp], partner: npt.NDArray[np.intp], window: int, rank: int, inside: int
) -> tuple[int, int]:
    """Occupy the next free rank that has candidates, and those without; the rank and how many it has.

    `inside` ranks of the window above `rank` are free. At the end there are no candidates.
    """
    records = len(partner)
    while rank + 1 < records:
        rank += 1
        if rank + window < records:
            inside += 1
        if partner[rank] == rank:
            _occupy(free, rank)
            inside -= 1
            if inside > 0:
                return rank, inside
    return rank, 0


@kernel
def _swap(
    free: npt.NDArray[np.intp],
    partner: npt.NDArray[np.intp],
    window: int,
    rank: int,
    inside: int,
    chosen: int,
) -> tuple[int, int]:
    """Let a rank change places with a candidate, and go on to the next."""
    other = _free_rank(free, chosen)
    _occupy(free, other)
    partner[rank], partner[other] = other, rank
    return _next_rank(free, partner, window, rank, inside - 1)
