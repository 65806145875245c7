"""Marginal likelihoods of sets of categorical attributes under a hyper-Dirichlet prior."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np
from scipy.special import gammaln

from linkrisk.arrays import IndexArray


class MarginalLikelihood:
    """The log marginal likelihood of any set of attributes, each computed once.

    All parameters of the prior are equal and sum to `prior_weight` (Smith 2016, section 5.2). For a set A of
    attributes with K combinations of categories, lambda_i = prior_weight / K and (Dawid and Lauritzen 1993;
    Smith 2016, section 4.2)

        p(x_A) = Gamma(lambda) / Gamma(lambda + n) prod_i Gamma(lambda_i + n_i) / Gamma(lambda_i).

    Parameters
    ----------
    codes : ndarray of int, shape (n, attributes)
        Codes from 0 of the training records, none missing.
    sizes : iterable of int
        The number of categories of each attribute.
    prior_weight : float
        lambda, positive: how many records the prior counts for.
    """

    def __init__(self, codes: IndexArray, sizes: Iterable[int], prior_weight: float = 1.0) -> None:
        self.codes = codes
        self.sizes = tuple(sizes)
        self.prior_weight = prior_weight
        self._known: dict[frozenset[int], float] = {frozenset(): 0.0}

    def cells(self, attributes: Iterable[int]) -> int:
        """K, the number of combinations of categories of these attributes."""
        return prod(self.sizes[attribute] for attribute in attributes)

    def of(self, attributes: frozenset[int]) -> float:
        """``log p(x_A)``, natural logarithm; 0 for no attributes at all."""
        if attributes not in self._known:
            self._known[attributes] = self._compute(attributes)
        return self._known[attributes]

    def gain(self, one: int, other: int, separator: frozenset[int]) -> float:
        """The gain in log likelihood from an edge whose ends have the neighbours `separator` in common.

        ``log p(S, v, w) + log p(S) - log p(S, v) - log p(S, w)`` (Dawid and Lauritzen 1993); with the
        opposite sign, what its removal gains.
        """
        return (
            self.of(separator | {one, other})
            + self.of(separator)
            - self.of(separator | {one})
            - self.of(separator | {other})
        )

    def score(self, cliques: Iterable[frozenset[int]], separators: Iterable[frozenset[int]]) -> float:
        """``log p(x_V | graph)``: the sum over cliques less the sum over separators."""
        return sum(map(self.of, cliques)) - sum(map(self.of, separators))

    def _compute(self, attributes: frozenset[int]) -> float:
        columns = sorted(attributes)
        counts = cell_counts(self.codes, columns, self.sizes)[1]
        total, each = self.prior_weight, self.prior_weight / self.cells(columns)
        return float(
            gammaln(total)
            - gammaln(total + len(self.codes))
            + gammaln(each + counts).sum()
            - counts.size * gammaln(each)
        )


def cell_counts(
    codes: IndexArray, columns: Iterable[int], sizes: tuple[int, ...]
) -> tuple[IndexArray, IndexArray]:
    """Count records in the cells of the table of some attributes.

    Returns
    -------
    cells : ndarray of int, shape (occupied,)
        Places of the cells that are not empty in the flattened table, in ascending order.
    counts : ndarray of int, shape (occupied,)
    """
    place = np.zeros(len(codes), dtype=np.intp)
    for column in columns:
        place = place * sizes[column] + codes[:, column]
    cells, counts = np.unique(place, return_counts=True)
    return cells, counts
