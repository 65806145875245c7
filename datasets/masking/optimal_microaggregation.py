"""Optimal univariate microaggregation: each attribute by itself, with the least loss there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.base import NumericMethod, of_known
from linkrisk.datasets.masking.microaggregation import check_enough_records, check_group_size, group_means
from linkrisk.datasets.masking.parameters import OptimalMicroaggregationParameters
from linkrisk.formulations.compiled import kernel


@dataclass(frozen=True, kw_only=True)
class OptimalMicroaggregation(OptimalMicroaggregationParameters, NumericMethod):
    """Microaggregation of every attribute by itself, with the least sum of squared errors.

    S. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Trans.
    on Knowledge and Data Engineering 15(4), 2003: an optimal grouping has groups of k to 2k-1 consecutive
    values of the sorted attribute, and is a shortest path. Missing values stay missing and are in no group.

    Attributes
    ----------
    k : int
        The least number of records in a group.

    Raises
    ------
    DataError
        If k is below 2.
    """

    name: ClassVar[str] = "optimal-microaggregation"
    chance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_group_size(self.k)

    @property
    def action(self) -> str:
        """What is done, with the parameters."""
        return f"optimal univariate microaggregation with k = {self.k}, each attribute by itself,"

    def mask_values(
        self,
        values: FloatArray,
        generator: np.random.Generator,  # noqa: ARG002 - nothing is left to chance
    ) -> FloatArray:
        """Replace every value by the mean of its group (see `NumericMethod.mask_values`)."""
        check_enough_records(len(values), self.k)
        return of_known(values, self._means)

    def _means(self, column: FloatArray) -> FloatArray:
        check_enough_records(len(column), self.k, "value")
        return group_means(column[:, np.newaxis], optimal_partition(column, self.k))[:, 0]


def optimal_partition(values: FloatArray, k: int) -> list[IndexArray]:
    """Partition numbers into groups of k to 2k-1 with the least sum of squared deviations from the means.

    Equal values keep the order of their rows; among equal partitions the one whose first groups are smaller
    wins.

    Parameters
    ----------
    values : float64 array (n,)
        The numbers.
    k : int
        The least group size, 1 <= k <= n.

    Returns
    -------
    list of intp arrays
        The groups by ascending values, rows ascending within each. Time O(n k), memory O(n).
    """
    order = np.argsort(values, kind="stable")
    size = _shortest_path(values[order], k)
    n = len(values)
    groups, start = [], 0
    while start < n:
        groups.append(np.sort(order[start : start + size[start]]))
        start += int(size[start])
    return groups


@kernel
def _shortest_path(ordered: FloatArray, k: int) -> IndexArray:
    """How many the first group has in the best partition of ascending values from each position on.

    From each start a window grows by one value at a time and updates mean and error as Welford (1962) does,
    which does not cancel as the difference of two sums of squares would.
    """
    n = len(ordered)
    # The error of the best partition from each position on, infinite where there is none.
    least = np.full(n + 1, np.inf)
    least[n] = 0.0
    best = np.full(n, k)
    for start in range(n - k, -1, -1):
        mean, error = 0.0, 0.0
        for size in range(1, min(2 * k - 1, n - start) + 1):
            added = ordered[start + size - 1]
            step = added - mean
            # The first value is its own mean, without rounding.
            mean = added if size == 1 else mean + step / size
            error += 0.0 if size == 1 else step * (added - mean)
            if size >= k and error + least[start + size] < least[start]:
                least[start], best[start] = error + least[start + size], size
    return best
