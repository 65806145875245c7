"""Random measures, and the indices and the integral of a measure by definition."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def random_set_function(seed, n):
    """Any values, on the empty set too."""
    return np.random.default_rng(seed).normal(size=1 << n)


def random_fuzzy_measure(seed, n):
    """Monotone by construction: each subset is the largest of its parts plus a random gain."""
    rng = np.random.default_rng(seed)
    measure = np.zeros(1 << n)
    for mask in range(1, 1 << n):
        parts = [measure[mask ^ (1 << k)] for k in range(n) if mask >> k & 1]
        measure[mask] = max(parts) + rng.exponential() * rng.integers(0, 2)
    measure[-1] += 1.0
    return measure / measure[-1]


def subsets(elements):
    """All subsets, by size."""
    return [subset for size in range(len(elements) + 1) for subset in combinations(elements, size)]


def bits(subset):
    """The bit mask of a subset."""
    return sum(1 << k for k in subset)


def subset_weight(size, others):
    """The probability that a random order puts exactly a given subset of `others` elements first."""
    return 1.0 / ((others + 1) * math.comb(others, size))


def brute_shapley(measure, n):
    """What each attribute adds to those before it, averaged over all orders."""
    phi = np.zeros(n)
    for k in range(n):
        for subset in subsets([i for i in range(n) if i != k]):
            gain = measure[bits(subset) | 1 << k] - measure[bits(subset)]
            phi[k] += subset_weight(len(subset), n - 1) * gain
    return phi


def brute_interaction(measure, n):
    """What each pair adds beyond what its two attributes add alone, averaged over all orders."""
    index = np.zeros((n, n))
    for j, k in combinations(range(n), 2):
        for subset in subsets([i for i in range(n) if i not in (j, k)]):
            mask, a, b = bits(subset), 1 << j, 1 << k
            gain = measure[mask | a | b] - measure[mask | a] - measure[mask | b] + measure[mask]
            index[j, k] += subset_weight(len(subset), n - 2) * gain
    return index + index.T


def brute_choquet(values, measure):
    """The area under the decreasing function t -> mu({k: c_k >= t}), for values that are not negative."""
    total, previous = 0.0, 0.0
    for level in sorted(values):
        total += (level - previous) * measure[bits(k for k, c in enumerate(values) if c >= level)]
        previous = level
    return total
