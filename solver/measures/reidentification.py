"""Estimate the probability of re-identification: limits of all attacks under known masking.

An intruder who knows all records goes by the posterior over one-to-one matchings of the two files,
``P(sigma | X, Y)``, proportional to ``prod_i f(y_sigma(i) | x_i)``. Its marginals, quotients of permanents,
cannot be computed for more than some dozens of records, so matchings are drawn (M. Jerrum and A.
Sinclair, Approximating the permanent, SIAM Journal on Computing 18, 1989, had the first such chain).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import linear_sum_assignment

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.measures.base import (
    OF_WEIGHTS,
    CountedAttack,
    Finding,
    Kind,
    Measure,
    MeasureResult,
    Unit,
    Worse,
)
from linkrisk.solver.measures.held_out_trials import record_counts
from linkrisk.solver.measures.posteriors import (
    Attacker,
    AttackOdds,
    Claim,
    Lacking,
    Truth,
    attackers,
    compatible_records,
    judged,
    one_record_posterior,
    right_claims,
    surest_claim,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

CHAINS = 4
BURNING, CHOOSING, COUNTING = 500, 1_500, 3_000
"""Gibbs sweeps of every chain: burn-in, choice of the claims, and estimation of their correctness."""

_TOURS = 48
"""Tours drawn in advance, by which records are grouped."""

_ANYHOW = 8
"""One in so many sweeps groups records at random, so that the chain can reach every matching."""

_BATCHES = 20
_AT_ONCE = 100
"""Sweeps between two checks of the clock."""


@dataclass(frozen=True)
class MatchingLimit:
    """Expected correct links of the best claims of an intruder who knows all records."""

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
    """Records whose partner is claimed."""

    rows: IndexArray  # (queries,): of the queries in their own file
    masked: bool  # whether they are masked records, and originals the candidates
    weight: FloatArray  # (queries,): what each counts

    def right(self, matching: IndexArray, claimed: IndexArray) -> FloatArray:
        """Sum the weight of claims that agree with matchings, shape (..., n) to (...,), as a share."""
        rows, columns = (claimed, self.rows) if self.masked else (self.rows, claimed)
        return np.asarray((matching[..., rows] == columns) @ self.weight / self.weight.sum())

    def marginals(self, counts: FloatArray) -> FloatArray:
        """Rows of the queries, columns of candidates, of a table of original and masked records."""
        return counts.T[self.rows] if self.masked else counts[self.rows]


def matching_limit(
    log_likelihood: FloatArray, truth: IndexArray, queries: Queries, seed: int, clock: Clock
) -> MatchingLimit:
    """Sample matchings by MCMC, claim each query's most probable candidate, and count on further draws.

    `log_likelihood` (n, m): ``log f_ij``, m <= n: of the original records, m were released. `truth` (n,): the
    true matching, -1 where a record was not released. Half of the chains begin there: where the masking is
    the given one, the truth is itself a draw from the posterior. The others begin at the most
    probable matching.
    """
    n, m = log_likelihood.shape
    exact = exact_marginals(log_likelihood)
    if exact is not None:
        partners = (truth[:, None] == np.arange(m)).astype(np.float64)
        marginals, partner = queries.marginals(exact), queries.marginals(partners)
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
    """Compute the marginals exactly where records form groups of identical rows; None otherwise."""
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
    """Gibbs sampler of matchings, which redraws the images of groups of three records.

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
        """Run sweeps; return the share of correct claims after each, shape (sweeps, chains)."""
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
        """Redraw the images of the records in each group, shape (groups, size)."""
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
    """Order the records such that neighbours are likely to exchange images."""
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
    """Sum the roots of probabilities along each row: roots lengthen the tour."""
    share = np.exp(0.5 * (logs - logs.max(axis=1, keepdims=True)))
    return np.asarray(np.cumsum(share, axis=1))


def _drawn(heights: FloatArray, random: np.random.Generator) -> IndexArray:
    drawn = random.random(len(heights))[:, None] * heights[:, -1:]
    return np.asarray(np.minimum((heights < drawn).sum(axis=1), heights.shape[1] - 1), dtype=np.intp)


def _estimated(
    hits: FloatArray, chains: _Chains, claimed: IndexArray, queries: Queries, right: float
) -> MatchingLimit:
    """Estimate the mean over draws, with the standard error between chains."""
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


_NORMAL = 1.959964
"""Quantile of the normal distribution for 95 % intervals."""


@dataclass(frozen=True, eq=False, repr=False)
class Reidentification(MeasureResult):
    """Limits for all attacks where the masking is known (D11.2, section 2.4), and attacks beside them.

    Shares of records, or of the sum of their sampling weights, from 0 to 1.
    """

    measure: ClassVar[str] = "reidentification"
    records: int
    candidates: int
    attributes: tuple[str, ...]  # with known masking: the limits are for attacks by these
    left_out: tuple[str, ...]  # attributes that are compared, and whose masking is not known
    approximate: tuple[str, ...]  # what the probabilities leave out. Empty where they are exact
    # expected share of right links of an intruder who knows one record, the masked file, the masking and how
    # masked records are distributed; no attack with this knowledge expects more. Higher is worse
    one_record: float
    one_record_low: float  # where 95 % of repetitions of such claims lie
    one_record_high: float
    one_record_right: float  # share of these claims that is right here. Higher is worse
    surest: Claim  # the most probable of these claims
    all_records: MatchingLimit | None  # knowing all originals; None if one is missing, or late
    attacks: tuple[AttackOdds, ...]
    without: tuple[Lacking, ...]  # attacks that have no probabilities here, each with the reason
    unweighted: Mapping[str, float]  # by key of `counted_attacks`, if records have weights
    table: pd.DataFrame  # see `to_frame`

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The two limits; of every attack what it found, what it expects, whether it is compatible."""
        ends = self.one_record_low, self.one_record_high
        words = "limit, one record known"
        found = [_finding("limit_one_record", words, self.one_record, ends, Kind.RANGE)]
        if (limit := self.all_records) is not None:
            kind, words = Kind.CONFIDENCE if limit.sweeps else Kind.CERTAIN, "limit, all records known"
            found.append(_finding("limit_all_records", words, limit.expected, (limit.low, limit.high), kind))
        for attack in self.attacks:
            found += _findings(attack)
        return tuple(found)

    @property
    def counted_attacks(self) -> tuple[CountedAttack, ...]:
        """Who goes by the probabilities of the masking; and nearest candidates, where lots decide."""
        right = max(self.one_record, self.one_record_right)
        found = [CountedAttack("known_masking", "knowing one record and the masking", right)]
        if (limit := self.all_records) is not None:
            words = "knowing all records and the masking"
            found.append(CountedAttack("known_masking_all", words, limit.expected))
        found += [
            CountedAttack(f"nearest_{one.name.replace('-', '_')}", f"the nearest by {one.name}", one.right)
            for one in self.attacks
        ]
        return tuple(one._replace(unweighted=self.unweighted.get(one.key)) for one in found)

    @property
    def paragraph(self) -> str:
        """Report the limits, and the attack with the highest expectation."""
        on = f" by {shown_names(self.attributes)}" if self.left_out else ""
        text = (
            "an intruder who knows one record and how the file was masked expects "
            f"{_percent(self.one_record)} right links at most{on}, whatever his attack"
        )
        if self.all_records is not None:
            text += f"; one who knows all records, {_percent(self.all_records.expected)}"
        expecting = [attack for attack in self.attacks if attack.expected is not None]
        if not expecting:
            return f"{text}."
        best = max(expecting, key=lambda attack: attack.expected or 0.0)
        learned = [attack for attack in self.attacks if attack.linked is not None]
        text += f". Of the attacks, {best.name} expects most, {_percent(best.expected)}"
        if not learned:
            return f"{text}."
        most = max(learned, key=lambda attack: attack.linked or 0.0)
        return (
            f"{text}. The worst case that was found links {_percent(most.linked)} ({most.name}), with "
            f"parameters that were fitted to the truth; {_percent(most.expected)} of its claims are right in "
            "expectation, where lots decide between equally near candidates."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note the limits of the estimates."""
        notes = [f"re-identification: {text}" for text in self.approximate]
        if self.left_out:
            notes.append(
                f"re-identification: the masking of {shown_names(self.left_out)} is not known, so the limits "
                "do not hold for attacks that use it, and these are not judged"
            )
        if self.all_records is None:
            notes.append(
                "re-identification: no limit for an intruder who knows all records: some masked records have "
                "no original record here"
            )
        for reason in dict.fromkeys(lacking.reason for lacking in self.without):
            names = shown_names([lacking.name for lacking in self.without if lacking.reason == reason])
            notes.append(f"re-identification: no probabilities of {names}: {reason}")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per record.

        Columns: record; claimed, the candidate that is most probable to who knows one record (the first of
        equal ones); probability of this claim; partner, the probability of the partner; all_records, that of
        the best claim of who knows all records; and for each attack ``compatible, NAME``: 1, 0, or missing
        where it is not decided.
        """
        return self.table


def _finding(
    key: str, words: str, value: float, ends: tuple[float, float], kind: Kind, worse: Worse = Worse.HIGHER
) -> Finding:
    return Finding(key, words, value, Unit.SHARE, worse, *ends, kind)


def _findings(attack: AttackOdds) -> list[Finding]:
    name, key = attack.name, attack.name.replace("-", "_")
    found = []
    if attack.linked is not None and attack.most is not None:
        kind, ends = Kind.CERTAIN if attack.certain else Kind.CONFIDENCE, (attack.linked, attack.most)
        found.append(_finding(f"found_{key}", f"{name}, found and bound", attack.linked, ends, kind))
    if attack.expected is not None:
        found.append(Finding(f"expected_{key}", f"{name}, expected", attack.expected))
    if attack.compatible is not None and attack.undecided is not None:
        words, kind, share = f"{name}, compatible", Kind.CERTAIN, attack.compatible
        ends = share, min(1.0, share + attack.undecided)
        found.append(_finding(f"compatible_{key}", words, share, ends, kind, Worse.NEITHER))
    return found


class ProbabilityOfReidentification(Measure):
    """Computes the posterior of the masking, and evaluates attacks by it."""

    name: ClassVar[str] = "reidentification"
    title: ClassVar[str] = "Probability of re-identification, where the masking is known"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 6.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require the masking method."""
        return task.known_masking.lacking()

    def take(self, task: RiskTask, clock: Clock) -> Reidentification:
        """Compute posteriors, then matchings, then attacks."""
        pair, masking = task.first.pair, task.known_masking
        direction = Direction(task.first.options.direction)
        weight = record_counts(task.first)
        posterior = one_record_posterior(masking.log_likelihood, pair.query_rows, direction)
        largest, share = posterior.max(axis=1), weight / weight.sum()
        expected = float(share @ largest)
        spread = _NORMAL * float(np.sqrt(share**2 @ (largest * (1.0 - largest))))
        labels = task.files.masked_labels, task.files.original_labels
        names = labels[direction is Direction.MASKED_TO_ORIGINAL]
        truth = Truth(posterior, not masking.left_out, pair.partner, share, task.first.labels, names)
        limit = _all_records(task, weight, clock)
        table: dict[str, object] = {
            "record": task.first.labels,
            "claimed": [names[at] for at in posterior.argmax(axis=1).tolist()],
            "probability": largest,
            "partner": posterior[np.arange(pair.blocks), pair.partner],
            "all_records": np.full(pair.blocks, np.nan) if limit is None else limit.probability,
        }
        tried = list(attackers(task, clock))
        attacks = [attack for attack in tried if isinstance(attack, Attacker)]
        verdicts = compatible_records(attacks, truth, clock)
        for attack, each in zip(attacks, verdicts, strict=True):
            table[f"compatible, {attack.name}"] = each
        rightly = right_claims(posterior, pair.partner)
        unweighted = {"known_masking": max(largest.mean(), rightly.mean())}
        unweighted |= {} if limit is None else {"known_masking_all": limit.probability.mean()}
        for attack in attacks:
            right = right_claims(attack.beliefs.probability, pair.partner).mean()
            unweighted[f"nearest_{attack.name.replace('-', '_')}"] = right
        return Reidentification(
            records=pair.blocks,
            candidates=len(pair.candidates),
            attributes=masking.attributes,
            left_out=masking.left_out,
            approximate=masking.approximate,
            one_record=expected,
            one_record_low=max(0.0, expected - spread),
            one_record_high=min(1.0, expected + spread),
            one_record_right=float(share @ rightly),
            surest=surest_claim(posterior, truth),
            all_records=limit,
            attacks=tuple(
                judged(attack, truth, each) for attack, each in zip(attacks, verdicts, strict=True)
            ),
            without=tuple(attack for attack in tried if isinstance(attack, Lacking)),
            unweighted={} if np.ptp(weight) == 0.0 else {key: float(one) for key, one in unweighted.items()},
            table=pd.DataFrame(table),
        )


def _all_records(task: RiskTask, weight: FloatArray, clock: Clock) -> MatchingLimit | None:
    """Estimate the limit of an intruder who knows all records; None if a masked record has no original."""
    partner, pair = task.files.partner, task.first.pair
    if int((partner >= 0).sum()) < len(task.files.masked):
        return None
    masked = Direction(task.first.options.direction) is Direction.MASKED_TO_ORIGINAL
    queries = Queries(pair.query_rows, masked, weight)
    likelihood = task.known_masking.log_likelihood
    return matching_limit(likelihood, partner, queries, task.seed, clock)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100.0 * share:.1f} %"
