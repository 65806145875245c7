"""Implement the model of Fellegi and Sunter (1969): EM, match weights in bits, and the decision rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from linkrisk.arrays import FloatArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.linkage.linker import LearnedLinker
from linkrisk.solver.linkage.probabilistic.coding import CodedColumn
from linkrisk.solver.linkage.probabilistic.comparisons import SIMILARITIES, Comparison
from linkrisk.solver.linkage.probabilistic.kernels import Weights
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts

BOUND = 1e-9
"""Least m- and u-probability of a level, and least distance of p from 0 and 1."""

MOST_MATCHES = 1.5
"""Matches per record of the smaller file above which EM has probably confused similar pairs with matches."""

START_M = 0.9
"""Initial m-probability of full agreement; the other levels share the rest."""


@dataclass(frozen=True)
class EMSettings:
    """Parameters to estimate, and limits of EM."""

    p: float | None = None  # the share of matches, when it is known; estimated otherwise
    start_p: float = 0.01  # initial value of the estimate
    most_p: float = 1.0  # upper limit of the estimate
    # take u-probabilities from the agreement of all pairs, nearly all of them non-matches, instead of
    # estimating them
    fixed_u: bool = False
    # pairs added to each level of each attribute, for m and for u unless that is fixed: the parameters of
    # the Dirichlet priors (Beta with two levels) are 1 + prior
    prior: float = 0.0
    tolerance: float = 1e-6  # converged when no probability moves by more, p as a share of itself
    most_iterations: int = 5000


@dataclass(frozen=True, eq=False)
class OutsidePairs:
    """Pairs that blocking left out, counted as non-matches: so u is that of all pairs.

    Where pairs are compared because they agree on something, agreement on it is no rare event among them,
    and u-probabilities learned from them alone would make it worthless.
    """

    pairs: float  # number of them
    # for each attribute the number at each level, disagreement first
    levels: tuple[FloatArray, ...]

    @property
    def joined(self) -> FloatArray:
        """Concatenate the levels of all attributes."""
        return np.concatenate(self.levels)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Parameters of the model, levels from disagreement to full agreement."""

    m: Sequence[FloatArray]  # probability of each level among matches, by attribute; sums to one
    u: Sequence[FloatArray]  # u-probabilities, among other pairs
    p: float  # share of matches among the pairs of the model


@dataclass(frozen=True, eq=False)
class Estimate(Probabilities):
    """Result of EM; `p` is the share among the compared pairs and those outside."""

    # Before each iteration and at the end: log-likelihood of the pattern counts plus the log of the priors up
    # to a constant. It never falls.
    log_posterior: tuple[float, ...]
    converged: bool
    match_probability: FloatArray  # (G,): of each pattern

    @property
    def iterations(self) -> int:
        """Number of EM iterations."""
        return len(self.log_posterior) - 1


class _Model:
    """Pattern counts, with the levels of all attributes in one vector."""

    def __init__(
        self, counts: PatternCounts, levels: Sequence[int], settings: EMSettings, outside: OutsidePairs | None
    ) -> None:
        self.counts = counts
        self.settings = settings
        self.outside = 0.0 if outside is None else outside.pairs
        self.outside_levels = np.zeros(int(np.sum(levels))) if outside is None else outside.joined
        self.ends = np.cumsum(levels)[:-1]
        self.first = np.concatenate([[0], self.ends]).astype(np.int64)
        self.total = int(np.sum(levels))
        self.match = np.empty(len(counts.counts))

    def proportions(self, counts: FloatArray) -> FloatArray:
        """Maximise over level probabilities given expected counts of the levels (M-step)."""
        return self.shares(counts + self.settings.prior)

    def shares(self, counts: FloatArray) -> FloatArray:
        """Compute the share of the pairs at each level of every attribute."""
        return np.concatenate([bounded_proportions(part) for part in np.split(counts, self.ends)])

    def expect(self, m: FloatArray, u: FloatArray, p: float) -> tuple[float, FloatArray, FloatArray]:
        """Compute the log-posterior, and the expected level counts among matches and other pairs (E-step).

        The match probability of every pattern goes into `match`.
        """
        matches, others = np.zeros(self.total), np.zeros(self.total)
        log_m, log_u = np.log(m), np.log(u)
        logs = _Logarithms(log_m, log_u, float(np.log(p)), float(np.log1p(-p)))
        value = _expectation(
            self.counts.patterns, self.counts.counts, self.first, logs, self.match, matches, others
        )
        value += self.outside_levels @ log_u + self.outside * np.log1p(-p)
        priors = log_m.sum() + (0.0 if self.settings.fixed_u else log_u.sum())
        return float(value + self.settings.prior * priors), matches, others + self.outside_levels

    @property
    def pairs(self) -> float:
        """Number of all pairs, those outside included."""
        return self.counts.pairs + self.outside


class _Logarithms(NamedTuple):
    """Logarithms of m- and u-probabilities, of the share of matches and of its complement."""

    m: FloatArray
    u: FloatArray
    p: float
    q: float


@kernel
def _expectation(
    patterns: NDArray[np.uint8],
    counts: FloatArray,
    first: NDArray[np.int64],
    logs: _Logarithms,
    match: FloatArray,
    matches: FloatArray,
    others: FloatArray,
) -> float:
    """Write match probabilities of patterns to `match`, sum level counts; returns the log-likelihood."""
    likelihood = 0.0
    for g in range(counts.size):
        a, b = logs.p, logs.q
        for k in range(first.size):
            if patterns[g, k] > 0:
                a += logs.m[first[k] + patterns[g, k] - 1]
                b += logs.u[first[k] + patterns[g, k] - 1]
        smaller = np.exp(-abs(a - b)) / (1.0 + np.exp(-abs(a - b)))
        likelihood += counts[g] * (max(a, b) - np.log1p(-smaller))
        match[g] = 1.0 - smaller if a >= b else smaller
        other = smaller if a >= b else 1.0 - smaller
        for k in range(first.size):
            if patterns[g, k] > 0:
                matches[first[k] + patterns[g, k] - 1] += counts[g] * match[g]
                others[first[k] + patterns[g, k] - 1] += counts[g] * other
    return likelihood


def estimate(
    counts: PatternCounts,
    levels: Sequence[int],
    settings: EMSettings,
    outside: OutsidePairs | None = None,
) -> Estimate:
    """Estimate m, u and p by expectation maximisation (EM).

    Initial values: m = `START_M` at full agreement, u of all pairs, and p = `start_p`.
    """
    model = _Model(counts, levels, settings, outside)
    m = np.concatenate([np.append(np.full(n - 1, (1 - START_M) / (n - 1)), START_M) for n in levels])
    p = float(np.clip(settings.start_p if settings.p is None else settings.p, BOUND, 1 - BOUND))
    _, matches, others = model.expect(m, m, p)
    # Fixed u-probabilities need no prior.
    u = (model.shares if settings.fixed_u else model.proportions)(matches + others)
    value, matches, others = model.expect(m, u, p)
    trace, converged = [value], False
    while not converged and len(trace) <= settings.most_iterations:
        new_m = model.proportions(matches)
        new_u = u if settings.fixed_u else model.proportions(others)
        new_p = p
        if settings.p is None:
            new_p = min(float(counts.counts @ model.match) / model.pairs, settings.most_p)
        new_p = min(max(new_p, BOUND), 1 - BOUND)
        moved = max(float(np.abs(new_m - m).max()), float(np.abs(new_u - u).max()), abs(new_p / p - 1.0))
        m, u, p = new_m, new_u, new_p
        value, matches, others = model.expect(m, u, p)
        trace.append(value)
        converged = moved <= settings.tolerance
    return Estimate(
        m=tuple(np.split(m, model.ends)),
        u=tuple(np.split(u, model.ends)),
        p=p,
        log_posterior=tuple(trace),
        converged=converged,
        match_probability=model.match,
    )


def bounded_proportions(counts: FloatArray) -> FloatArray:
    """Maximise ``sum_l counts_l log(theta_l)`` over probabilities that are all at least `BOUND`.

    Levels that would fall below are put at the bound, the others share the rest in proportion.
    """
    total = counts.sum()
    if total == 0:
        return np.full(counts.size, 1.0 / counts.size)
    low = np.zeros(counts.size, dtype=np.bool_)
    while True:
        rest = (1.0 - BOUND * low.sum()) / counts[~low].sum()
        theta = np.where(low, BOUND, counts * rest)
        if (theta >= BOUND).all():
            return theta
        low |= theta < BOUND


def notes_on(
    attributes: Sequence[str], found: Estimate, settings: EMSettings, records: int, pairs: float
) -> tuple[str, ...]:
    """Note doubtful properties of an estimate of `pairs` pairs; `records` are those of the smaller file."""
    notes = []
    if not found.converged:
        notes.append(
            f"EM did not converge in {found.iterations:,} iterations: probabilities still changed by more "
            f"than {settings.tolerance:g}; allow more iterations"
        )
    expected = found.p * pairs
    if settings.p is None and found.p <= BOUND:
        notes.append(f"the share of matches p is at its bound {BOUND:g}: EM found no matches")
    elif settings.p is None and found.p >= settings.most_p:
        notes.append(
            f"EM would expect more than {expected:,.0f} matches for {records:,} records and was held to "
            "these: many pairs are similar without being matches; give the share of matches if you know it"
        )
    elif settings.p is None and expected > MOST_MATCHES * records:
        notes.append(
            f"EM expects {expected:,.0f} matches for {records:,} records: what it found are similar pairs, "
            "not matches; give the share of matches, or compare other attributes"
        )
    for name, m, u in zip(attributes, found.m, found.u, strict=True):
        for symbol, table in (("m", m), ("u", u)):
            at_bound = [str(level) for level in np.flatnonzero(table <= BOUND * (1 + 1e-6))]
            if at_bound:
                notes.append(
                    f"the {symbol}-probability of {name!r} is at its bound {BOUND:g} at level "
                    f"{', '.join(at_bound)} (0 is disagreement), which alone sets the weight there; set a "
                    "prior"
                )
        if m[-1] <= u[-1]:
            notes.append(
                f"full agreement on {name!r} is not more likely among matches (m = {m[-1]:.4g}) than among "
                f"other pairs (u = {u[-1]:.4g}): it is no evidence of a match"
            )
    return tuple(notes)


def level_weights(m: FloatArray, u: FloatArray) -> FloatArray:
    """Compute ``log2(m / u)`` of every level, disagreement first (Fellegi and Sunter 1969)."""
    return np.asarray(np.log2(m) - np.log2(u))


def pattern_weights(patterns: NDArray[np.uint8], weights: Sequence[FloatArray]) -> FloatArray:
    """Compute the match weight of every pattern, shape (G,): the sum over attributes, 0 where missing."""
    total = np.zeros(len(patterns))
    for k, own in enumerate(weights):
        total += np.concatenate([[0.0], own])[patterns[:, k]]
    return total


def compiled_weights(
    columns: Sequence[CodedColumn], comparisons: Sequence[Comparison], weights: Sequence[FloatArray]
) -> Weights:
    """Convert match weights for compiled code.

    Between two thresholds of an interpolated comparison the weight is linear in the similarity or the
    difference (Winkler 1990); from full agreement on, and where disagreement is full, it is constant.
    """
    none = np.empty(0)
    segment, knots, heights = [], [], []
    for column, comparison, own in zip(columns, comparisons, weights, strict=True):
        interpolated = comparison.disagreement is not None
        knot, height = (np.array(comparison.knots), own[::-1]) if interpolated else (none, none)
        knots.append(knot)
        heights.append(height)
        if not interpolated:
            segment.append(own[column.segments.level.astype(np.intp) - 1])
        elif comparison.measure in SIMILARITIES:
            segment.append(np.interp(column.segments.similarity, knot[::-1], height[::-1]))
        else:
            segment.append(np.full(column.segments.level.size, np.nan))
    return Weights(
        disagreement=np.array([own[0] for own in weights]),
        segment=np.concatenate(segment),
        knot_first=np.concatenate([[0], np.cumsum([knot.size for knot in knots])]).astype(np.int64),
        knot=np.concatenate(knots),
        knot_weight=np.concatenate(heights),
    )


class MatchWeights(LearnedLinker):
    """Scores pairs by match weights in bits: the sum over attributes of ``log2(m / u)`` at their level."""

    def __init__(
        self,
        probabilities: Probabilities,
        parameters: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.p = probabilities.p
        both = zip(probabilities.m, probabilities.u, strict=True)
        self.level_weights = tuple(level_weights(m, u) for m, u in both)
        self.parameters = parameters
        self.notes = notes

    @property
    def even(self) -> float:
        """Match weight of even odds, in bits."""
        return float(np.log2(1.0 - self.p) - np.log2(self.p))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Compute ``p 2**w / (p 2**w + 1 - p)`` for a match weight w."""
        odds = scores - self.even  # in place from here, as there may be very many
        odds *= np.log(2.0)
        return np.asarray(expit(odds, out=odds), dtype=np.float64)


@dataclass(frozen=True)
class Thresholds:
    """Thresholds on match weights that divide pairs in three."""

    link: float  # pairs with at least this weight, in bits, are linked; inf when no pair may be
    non_link: float  # pairs with less are non-linked; those between the two are for clerical review
    # ``P(linked | U)`` of the rule: the share of non-matches that are linked
    false_link_rate: float
    false_non_link_rate: float  # ``P(non-linked | M)``: the share of matches that are non-linked

    def outcomes(self, weights: FloatArray, counts: FloatArray) -> dict[str, float]:
        """Count how many pairs of these weights are linked, clerical and non-linked."""
        linked, non_linked = weights >= self.link, weights < self.non_link
        return {
            "linked": float(counts[linked].sum()),
            "clerical": float(counts[~(linked | non_linked)].sum()),
            "non_linked": float(counts[non_linked].sum()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Numbers, ready for JSON; infinite thresholds are None."""
        return {name: value if np.isfinite(value) else None for name, value in asdict(self).items()}


def error_rate_thresholds(
    weights: FloatArray,
    matches: FloatArray,
    others: FloatArray,
    most_false_links: float,
    most_false_non_links: float,
    even: float,
) -> Thresholds:
    """Choose the thresholds that decide on most pairs within two error rates.

    Patterns are ordered by their weight; those of equal weight stay together, so that the rates are
    reached or stayed below. Where a pattern could be either, it is linked when a match is at least as
    likely as none, and nothing is left for clerical review. `matches` and `others` are expected numbers of
    pairs of each weight; `most_false_links` is mu = P(linked | U), `most_false_non_links` lambda =
    P(non-linked | M), and `even` the weight at which a match is as likely as none.
    """
    levels, place = np.unique(weights, return_inverse=True)
    share_m = _shares(np.bincount(place, matches))
    share_u = _shares(np.bincount(place, others))
    below = np.concatenate([[0.0], np.cumsum(share_m)])  # P(weight < level | M)
    above = np.concatenate([np.cumsum(share_u[::-1])[::-1], [0.0]])  # P(weight >= level | U)
    rounding = 1e-12
    first_linked = int(np.argmax(above <= most_false_links + rounding))
    first_kept = int(np.flatnonzero(below <= most_false_non_links + rounding)[-1])
    if first_linked < first_kept:
        cut = int(np.clip(np.searchsorted(levels, even), first_linked, first_kept))
        first_linked = first_kept = cut
    edges = np.append(levels, np.inf)
    return Thresholds(
        link=float(edges[first_linked]),
        non_link=float(edges[first_kept]),
        false_link_rate=float(above[first_linked]),
        false_non_link_rate=float(below[first_kept]),
    )


def _shares(counts: NDArray[np.generic]) -> FloatArray:
    """Normalise counts by their sum; zeros stay zeros."""
    amounts = counts.astype(np.float64)
    return np.asarray(amounts / (amounts.sum() or 1.0))
