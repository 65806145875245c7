"""The intruder who knows all records: the posterior over one-to-one matchings of the two files.

``P(sigma | X, Y)`` is proportional to ``prod_i f(y_sigma(i) | x_i)``. Its marginals are quotients of
permanents, which cannot be computed for more than some dozens of records, so matchings are drawn (M. Jerrum
and A. Sinclair, Approximating the permanent, SIAM Journal on Computing 18, 1989, had the first such chain).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.optimize import linear_sum_assignment

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.measures.posteriors import right_claims
from linkrisk.solver.run.clock import Clock

CHAINS = 4
BURNING, CHOOSING, COUNTING = 500, 1_500, 3_000
"""Sweeps of every chain: to forget where it began, to choose the claims, and to count how many are right."""

_TOURS = 48
"""Ways to put records into groups, drawn beforehand."""

_ANYHOW = 8
"""Of so many sweeps, one groups records at random."""

_BATCHES = 20
_AT_ONCE = 100
"""Sweeps between two checks of the clock."""


@dataclass(frozen=True)
class MatchingLimit:
    """How many links the best claims of an intruder who knows all records are expected to get right."""

    expected: float  # weight of the right ones among the chosen claims, a share
    # `expected` less its Monte Carlo error, with 95 % confidence; and the best claims as the draws have them,
    # which look better than they are, with the same error
    low: float
    high: float
    sweeps: int  # of each chain after the first ones, 0 where the posterior is known without drawing
    claimed: IndexArray  # (queries,): the candidate that is claimed for each query
    probability: FloatArray  # (queries,): that it is the right one, as the draws have it
    right: float  # weight of the claims that are right here, a share


@dataclass(frozen=True, eq=False)
class Queries:
    """Whose partner is claimed."""

    rows: IndexArray  # (queries,): of the queries in their own file
    masked: bool  # whether they are masked records, and originals the candidates
    weight: FloatArray  # (queries,): what each counts

    def right(self, matching: IndexArray, claimed: IndexArray) -> FloatArray:
        """Weight of the claims that agree with matchings, shape (..., n) to (...,), a share."""
        rows, columns = (claimed, self.rows) if self.masked else (self.rows, claimed)
        return np.asarray((matching[..., rows] == columns) @ self.weight / self.weight.sum())

    def marginals(self, counts: FloatArray) -> FloatArray:
        """Rows of the queries, columns of candidates, of a table of original and masked records."""
        return counts.T[self.rows] if self.masked else counts[self.rows]


def matching_limit(
    log_likelihood: FloatArray, truth: IndexArray, queries: Queries, seed: int, clock: Clock
) -> MatchingLimit:
    """Draw matchings, claim for every query its most probable candidate, and count on further draws.

    `log_likelihood` (n, m): ``log f_ij``, m <= n: of the original records, m were released. `truth` (n,): the
    true matching, -1 where a record was not released. Half of the chains begin there: where the masking is
    the given one, the truth is itself a draw from the posterior. The others begin at the most
    probable matching.
    """
    n, m = log_likelihood.shape
    exact = exact_marginals(log_likelihood)
    if exact is not None:
        marginals, partner = queries.marginals(exact), queries.marginals(_as_table(truth, m))
        best = marginals.max(axis=1)
        expected = float(queries.weight @ best / queries.weight.sum())
        claimed = marginals.argmax(axis=1)
        share = right_claims(marginals, partner.argmax(axis=1))
        right = float(queries.weight @ share / queries.weight.sum())
        return MatchingLimit(expected, expected, expected, 0, claimed, best, right)
    # A record that was not released has a hidden image, the same for all.
    full = np.hstack([log_likelihood, np.zeros((n, n - m))])
    chains = _Chains(full, m, _starts(full, truth), np.random.default_rng((seed, 17)))
    for _ in _parts(BURNING, clock):
        chains.sweep(_AT_ONCE)
    for _ in _parts(CHOOSING, clock):
        chains.sweep(_AT_ONCE, count=True)
    claimed = queries.marginals(chains.counts).argmax(axis=1)
    hits = [
        chains.sweep(_AT_ONCE, count=True, claimed=claimed, queries=queries) for _ in _parts(COUNTING, clock)
    ]
    return _estimated(np.concatenate(hits), chains, claimed, queries, float(queries.right(truth, claimed)))


def _parts(sweeps: int, clock: Clock) -> Iterator[None]:
    """So many parts, fewer when the clock runs out, at least one."""
    for part in range(sweeps // _AT_ONCE):
        if part and clock.expired:
            return
        yield


def exact_marginals(log_likelihood: FloatArray) -> FloatArray | None:
    """The marginals where records fall into groups that are indistinguishable; None otherwise."""
    possible = np.isfinite(log_likelihood)
    size = possible.sum(axis=1)
    if possible.shape[0] != possible.shape[1] or not size.all():
        return None
    first = possible.argmax(axis=1)
    _, member, group, members = np.unique(first, return_index=True, return_inverse=True, return_counts=True)
    alike = (possible == possible[member[group]]).all() and (members[group] == size).all()
    apart = (possible.sum(axis=0) == size[possible.argmax(axis=0)]).all()
    with np.errstate(invalid="ignore"):
        same = (log_likelihood == log_likelihood[np.arange(len(first)), first][:, None])[possible].all()
    return possible / size[:, None] if alike and apart and same else None


def _as_table(truth: IndexArray, masked: int) -> FloatArray:
    """One where two records are partners, shape (n, m)."""
    return np.asarray(truth[:, None] == np.arange(masked), dtype=np.float64)


def _starts(full: FloatArray, truth: IndexArray) -> IndexArray:
    true = truth.copy()
    free = np.setdiff1d(np.arange(len(full)), truth[truth >= 0])
    true[truth < 0] = free
    finite = np.isfinite(full)
    lowest = full[finite].min() if finite.any() else 0.0
    # So bad that no other gain makes up for one of them.
    worse = lowest - (full[finite].max() - lowest + 1.0) * (len(full) + 1)
    _, best = linear_sum_assignment(np.where(finite, full, worse), maximize=True)
    if not finite[np.arange(len(full)), best].all():
        best = true
    return np.stack([true, best] * (CHAINS // 2)).astype(np.intp)


class _Chains:
    """Gibbs sampling of matchings: in groups of three records, all orders of their images are weighed.

    Which records form groups does not depend on the state, so that every sweep leaves the posterior as it is.
    Groups are records that may well have each other's images, drawn beforehand, and now and then any records.
    """

    def __init__(
        self, full: FloatArray, masked: int, starts: IndexArray, random: np.random.Generator
    ) -> None:
        self._full, self._random = full, random
        self.state = starts
        self.counts = np.zeros((len(full), masked))
        self.counted = 0
        size = min(3, len(full))
        self._orders = np.array(list(itertools.permutations(range(size))), dtype=np.intp)
        images, records = _heights(full), _heights(full.T)
        self._tours = [_tour(images, records, random) for _ in range(_TOURS)]
        self._size = size

    def sweep(
        self,
        sweeps: int,
        *,
        count: bool = False,
        claimed: IndexArray | None = None,
        queries: Queries | None = None,
    ) -> FloatArray:
        """Sweep; the share of claims that are right after each, shape (sweeps, chains)."""
        n, size = len(self._full), self._size
        hits = np.zeros((sweeps, len(self.state)))
        for at in range(sweeps):
            anyhow = at % _ANYHOW == 0
            tour = self._random.permutation(n) if anyhow else self._tours[self._random.integers(_TOURS)]
            shift = int(self._random.integers(n))
            records = np.roll(tour, shift)[: n - n % size].reshape(-1, size)
            self._mix(records)
            if count:
                self._note()
            if claimed is not None and queries is not None:
                hits[at] = queries.right(self.state, claimed)
        return hits

    def _mix(self, records: IndexArray) -> None:
        """Draw anew which records of each group, shape (groups, size), have which of their images."""
        images = self.state[:, records]  # (chains, groups, size)
        fit = self._full[records[None, :, :, None], images[:, :, None, :]]
        places = np.arange(self._size)
        weight = fit[:, :, places, self._orders].sum(axis=-1)  # (chains, groups, orders)
        # The largest of the logs with noise of this kind is a draw from what they are logs of (Gumbel).
        chosen = (weight + self._random.gumbel(size=weight.shape)).argmax(axis=-1)
        self.state[:, records] = np.take_along_axis(images, self._orders[chosen], axis=-1)

    def _note(self) -> None:
        released = self.counts.shape[1]
        for state in self.state:
            rows = np.flatnonzero(state < released)
            self.counts[rows, state[rows]] += 1.0
        self.counted += len(self.state)


def _tour(images: FloatArray, records: FloatArray, random: np.random.Generator) -> IndexArray:
    """An order of the records in which neighbours may well have each other's images."""
    other = _drawn(records, random)[_drawn(images, random)]
    seen, order = np.zeros(len(other), dtype=np.bool_), []
    for start in random.permutation(len(other)).tolist():
        at = start
        while not seen[at]:
            seen[at] = True
            order.append(at)
            at = int(other[at])
    return np.array(order, dtype=np.intp)


def _heights(logs: FloatArray) -> FloatArray:
    """Sums of the roots of probabilities along each row: roots, so that a tour goes further."""
    share = np.exp(0.5 * (logs - logs.max(axis=1, keepdims=True)))
    return np.asarray(np.cumsum(share, axis=1))


def _drawn(heights: FloatArray, random: np.random.Generator) -> IndexArray:
    drawn = random.random(len(heights))[:, None] * heights[:, -1:]
    return np.asarray(np.minimum((heights < drawn).sum(axis=1), heights.shape[1] - 1), dtype=np.intp)


def _estimated(
    hits: FloatArray, chains: _Chains, claimed: IndexArray, queries: Queries, right: float
) -> MatchingLimit:
    """Mean over draws, with an error that takes in what chains differ by."""
    expected = float(hits.mean())
    batches = np.array([each.mean(axis=0) for each in np.array_split(hits, min(_BATCHES, len(hits)))])
    within = stats.t.ppf(0.975, batches.size - 1) * batches.std(ddof=1) / np.sqrt(batches.size)
    means = hits.mean(axis=0)
    between = stats.t.ppf(0.975, means.size - 1) * means.std(ddof=1) / np.sqrt(means.size)
    error = float(max(within, between))
    marginals = queries.marginals(chains.counts) / chains.counted
    best = float(queries.weight @ marginals.max(axis=1) / queries.weight.sum())
    own = marginals[np.arange(claimed.size), claimed]
    low, high = max(0.0, expected - error), min(1.0, max(best, expected) + error)
    return MatchingLimit(expected, low, high, chains.counted // CHAINS, claimed, own, right)
