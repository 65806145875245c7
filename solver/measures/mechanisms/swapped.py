"""Rank swapping: a rank moves by at most the window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.rank_swapping import RankSwapping, swap_partners, window_size
from linkrisk.solver.measures.mechanisms.base import Mechanism, UnfitError

_RANKS_DRAWN = 200_000
"""Ranks in all simulated swaps together, about a second."""

_RUNS = (50, 3_000)
"""Simulated swaps, at least and at most."""

_ENOUGH = 100
"""Swaps, on the average, from which each probability is estimated."""


class Swapped(Mechanism):
    """``f(y | x) = prod_a K_a(rank of x_a, rank of y_a)``, attribute by attribute.

    ``K_a(r, s)`` is the probability that the value of rank r changes places with that of rank s. It has no
    simple formula (the last free rank of a window takes what is left), so it is estimated by simulated swaps,
    smoothed along the diagonals, which change slowly. It is 0 beyond the window. Equal values have each
    other's ranks alike. The intruder knows the ranks: swapping keeps the values of every attribute.
    """

    approximate = (
        "rank swapping is followed record by record, with probabilities estimated by simulation: that two "
        "records exchange their values is not used"
    )

    def __init__(
        self,
        method: RankSwapping,
        original: FloatArray,
        masked: FloatArray,
        attributes: tuple[str, ...],
        seed: int,
    ) -> None:
        self.attributes = attributes
        self._method, self._original, self._masked, self._seed = method, original, masked, seed

    def log_likelihood(self) -> FloatArray:
        """Sum over attributes (see `Mechanism.log_likelihood`)."""
        kernels: dict[int, FloatArray] = {}
        found = np.zeros((len(self._original), len(self._masked)))
        for name, original, masked in zip(self.attributes, self._original.T, self._masked.T, strict=True):
            known = int((~np.isnan(original)).sum())
            if known not in kernels:
                kernels[known] = swap_kernel(known, self._method.percent, self._seed)
            found += _of_values(kernels[known], original, masked, name)
        return found


def swap_kernel(records: int, percent: float, seed: int) -> FloatArray:
    """Estimate the probability that each rank swaps with each other one, or stays, shape (ranks, ranks).

    Every rank within the window has some probability; rows sum to one.
    """
    window = window_size(records, percent)
    if window < 1:
        raise UnfitError(f"a window of {percent:g} % is less than one of {records} values")
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(15,)))
    runs = min(max(_RUNS[0], _RANKS_DRAWN // records), _RUNS[1])
    wanting = _ENOUGH * 2 * window / runs  # swaps of neighbours to take along with each one
    reach = min(int(wanting / 2.0), window // 8)
    counts, ranks = np.zeros((records, records)), np.arange(records)
    for _ in range(runs):
        counts[ranks, swap_partners(records, window, random)] += 1.0
    kernel = np.zeros_like(counts)
    for offset in range(window + 1):
        smooth = _smoothed(np.diagonal(counts, offset), reach) + 0.5 / window
        kernel[ranks[: records - offset], ranks[offset:]] = smooth
        kernel[ranks[offset:], ranks[: records - offset]] = smooth
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True))


def _smoothed(values: FloatArray, reach: int) -> FloatArray:
    """Means of each value and its neighbours, fewer at the ends."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(values.size)
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, values.size)
    return np.asarray((total[high] - total[low]) / (high - low))


def _of_values(kernel: FloatArray, original: FloatArray, masked: FloatArray, name: str) -> FloatArray:
    """Log probabilities of masked values (m,) given original ones (n,): ranks of equal values together."""
    known = original[~np.isnan(original)]
    levels, sizes = np.unique(known, return_counts=True)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    table = np.add.reduceat(np.add.reduceat(kernel, first, axis=0), first, axis=1) / sizes[:, None]
    after = _places(masked, levels)
    if (after < 0).any():
        row = int(np.argmax(after < 0)) + 1
        raise UnfitError(
            f"masked record {row} has a value of {name!r} that no original record has, which swapping does "
            "not make"
        )
    whole = np.zeros((levels.size + 1, levels.size + 1))
    whole[:-1, :-1], whole[-1, -1] = table, 1.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(whole)[np.ix_(_places(original, levels), after)])


def _places(values: FloatArray, levels: FloatArray) -> NDArray[np.intp]:
    """The level of each value, the place behind all where it is missing, -1 where it is none of them."""
    at = np.minimum(np.searchsorted(levels, values), levels.size - 1)
    found = np.where(levels[at] == values, at, -1)
    return np.where(np.isnan(values), levels.size, found).astype(np.intp)
