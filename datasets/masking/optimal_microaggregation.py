"""Optimal univariate microaggregation: each attribute by itself, with the least loss there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from datasets.masking.base import NumericMethod, option, parse_whole
from datasets.masking.microaggregation import check_enough_records, check_group_size, group_means

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class OptimalMicroaggregation(NumericMethod):
    """Microaggregation of every attribute by itself, with the least sum of squared errors.

    S. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Trans.
    on Knowledge and Data Engineering 15(4), 2003: an optimal grouping has groups of k to 2k-1 consecutive
    values of the sorted attribute, and is a shortest path.

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

    k: int = field(default=3, metadata=option("least number of records in a group", parse_whole, metavar="K"))

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
        columns = [
            group_means(column[:, np.newaxis], optimal_partition(column, self.k)) for column in values.T
        ]
        return np.hstack(columns)


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
        The groups by ascending values, rows ascending within each. Time and memory O(n k).
    """
    order = np.argsort(values, kind="stable")
    errors = _window_errors(values[order], k)
    n = len(values)
    # least[i]: the error of the best partition of the sorted values from i on, infinite where there is none.
    least = np.full(n + 1, np.inf)
    least[n] = 0.0
    size = np.zeros(n + 1, dtype=np.intp)
    for start in range(n - k, -1, -1):
        last = min(2 * k - 1, n - start)
        totals = errors[: last - k + 1, start] + least[start + k : start + last + 1]
        best = int(np.argmin(totals))
        least[start], size[start] = totals[best], k + best
    groups, start = [], 0
    while start < n:
        groups.append(np.sort(order[start : start + size[start]]))
        start += int(size[start])
    return groups


def _window_errors(ordered: FloatArray, k: int) -> FloatArray:
    """Sum of squared deviations of every window: row s for windows of k+s values, column i for their start.

    All windows grow by one value at a time and update mean and error as Welford (1962) does, which does not
    cancel as the difference of two sums of squares would.
    """
    n = len(ordered)
    errors = np.full((k, n), np.inf)
    mean = ordered.copy()
    error = np.zeros(n)
    if k == 1:
        errors[0] = error
    for size in range(2, min(2 * k - 1, n) + 1):
        starts = n - size + 1
        added = ordered[size - 1 :]
        step = added - mean[:starts]
        mean = mean[:starts] + step / size
        error = error[:starts] + step * (added - mean)
        if size >= k:
            errors[size - k, :starts] = error
    return errors
