"""Compute posteriors of partners by Bayes' theorem, and test probabilities for compatibility with them.

Definition 3 of D11.2: P' is compatible with P if there is a belief function ``Bel <= P`` whose pignistic
probability is P'. With the mass m of Bel, ``Bel(B) = sum_{A in B} m(A)`` and
``P'(i) = sum_{A with i} m(A) / |A|``. Proofs are in docs/methods/risk-reidentification.md:

- P' is compatible with P if and only if there is a coupling ``J(t, i) >= 0`` with rows that sum to P,
  columns that sum to P', and no entry of a row above its diagonal, ``J(t, i) <= J(t, t)``: n^2 numbers
  instead of 2^n.
- Candidates with the same P and the same P' can be put together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import Direction, LinkagePair
from linkrisk.solver.linkage.baselines import euclidean_form, mahalanobis_form
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.linker import Linker
from linkrisk.solver.linkage.matching import RandomMatching, distance_matrix, score_matrix
from linkrisk.solver.linkage.registry import LINKERS
from linkrisk.solver.measures.held_out_trials import EQUAL
from linkrisk.solver.measures.linker_attacks import linker_task, trained_by
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import noted

_EXPONENTS = (-4.0, 6.0)
"""Powers of ten of the rate, relative to a typical distance, that bound its search."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Match probabilities calibrated from a distance."""

    probability: FloatArray  # (blocks, candidates): ``exp(-rate * d_ij)``, rows sum to one
    rate: float  # 1 / distance


def calibrated(distance: FloatArray, partner: IndexArray) -> Calibrated:
    """Calibrate a distance by a conditional logit with one parameter, by maximum likelihood.

    Which truth it is fitted to makes little difference, as it has one parameter. The likelihood is concave in
    the rate; where every partner is nearest it has no maximum, and a large rate is taken.

    `distance` (blocks, candidates): inf where a candidate is impossible; lower is nearer, of any sign.
    `partner` (blocks,).
    """
    possible = np.isfinite(distance)
    nearest = np.where(possible, distance, np.inf).min(axis=1, keepdims=True)
    nearest = np.where(np.isfinite(nearest), nearest, 0.0)
    # Distances from the nearest candidate: nothing overflows. Where nothing is possible, all are alike.
    apart = np.where(possible, distance - nearest, np.inf)
    apart[~possible.any(axis=1)] = 0.0
    own = apart[np.arange(partner.size), partner]
    known = np.isfinite(own)
    usual = float(apart[np.isfinite(apart)].mean()) or 1.0

    def loss(exponent: float) -> float:
        rate = 10.0**exponent / usual
        return float((rate * own[known] + np.log(np.exp(-rate * apart[known]).sum(axis=1))).sum())

    found = minimize_scalar(loss, bounds=_EXPONENTS, method="bounded", options={"xatol": 1e-3})
    rate = 10.0 ** float(found.x) / usual
    weight = np.exp(-rate * apart)
    return Calibrated(np.asarray(weight / weight.sum(axis=1, keepdims=True)), rate)


CLASSICAL = "classical-mahalanobis"
"""Name of the classical Mahalanobis distance."""

_NO_TIME = "no time was left for them"
_UNLIKE = (DistanceBased, RandomMatching)
"""Linkers left out: one repeats equal weights, the other is random."""


@dataclass(frozen=True, eq=False)
class Attacker:
    """An attack with its probabilities."""

    name: str  # a family, ``equal-weights``, ``classical-mahalanobis``, or a linker (`attackers_name`)
    beliefs: Calibrated
    linked: float | None = None  # found by the learned distance, and its bound, as shares; or None
    most: float | None = None
    certain: bool = True  # whether `most` holds without any chance


@dataclass(frozen=True)
class Lacking:
    """An attack without probabilities, and the reason."""

    name: str
    reason: str


def attackers_name(linker: type[Linker]) -> str:
    """Name a linker, with ``-linker`` where a family has that name."""
    return f"{linker.name}-linker" if linker.name in AGGREGATORS else linker.name


def attackers(task: RiskTask, clock: Clock) -> Iterator[Attacker | Lacking]:
    """Yield two baselines, every learned distance, and every linker, while there is time."""
    pair = task.first.pair
    yield _by_form(EQUAL, euclidean_form(pair), pair)
    ways: dict[str, Callable[[], Attacker]] = {
        CLASSICAL: lambda: _by_form(CLASSICAL, mahalanobis_form(pair), pair),
        **{name: partial(_learned, task, name) for name in task.attacks},
    }
    linkers = [linker for linker in LINKERS.values() if linker not in _UNLIKE]
    # Those that learn from known pairs take longest, and come last.
    linkers.sort(key=lambda linker: linker.learns_from_training)
    ways |= {attackers_name(linker): partial(_by_linker, task, linker) for linker in linkers}
    for name, attack in ways.items():
        if clock.expired:
            yield Lacking(name, _NO_TIME)
            continue
        try:
            found: Attacker | Lacking = attack()
        except Exception as error:  # such as files that this linker does not take
            found = Lacking(name, noted(error))
        yield found


def _by_form(name: str, form: DistanceForm, pair: LinkagePair) -> Attacker:
    return Attacker(name, calibrated(distance_matrix(pair, form), pair.partner))


def _learned(task: RiskTask, name: str) -> Attacker:
    attack = task.attack(name)
    low, high = attack.result.interval
    found = _by_form(name, attack.problem.aggregator.form(attack.theta), attack.problem.pair)
    certain = attack.result.confidence is None
    return replace(found, linked=low / task.total, most=high / task.total, certain=certain)


def _by_linker(task: RiskTask, linker: type[Linker]) -> Attacker:
    """Score by a linker with its defaults; negative scores serve as distances."""
    given, truth = linker_task(task)
    if linker.learns_from_training:
        given = trained_by(given, truth)
    scores = score_matrix(linker().learn(given), len(given.queries), len(given.candidates))
    pair = task.first.pair
    return Attacker(attackers_name(linker), calibrated(-scores[pair.query_rows], pair.partner))


ROUNDING = 1e-9
"""Relative tolerance at which probabilities are equal."""


def one_record_posterior(log_likelihood: FloatArray, rows: IndexArray, direction: Direction) -> FloatArray:
    """Compute the probability that each candidate is the partner of each query.

    With ``f_ij`` the probability (density) that the original record i becomes the masked record j, and
    ``P(i | j) = f_ij / sum_k f_kj``,

    - original-to-masked: one of m masked records was made from i, and each may be it alike; the others have
      the density ``g_ij = sum_{k != i} f_kj / (n - 1)``. So ``P(j | i)`` is proportional to ``f_ij / g_ij``,
      and so to the odds ``P(i | j) / (1 - P(i | j))``;
    - masked-to-original: of n original records each may be the one alike, so ``P(i | j)`` itself.

    `log_likelihood` (n, m): ``log f_ij``. `rows` (queries,): of the queries in their own file. Returns shape
    (queries, candidates): rows sum to one.
    """
    if direction is Direction.MASKED_TO_ORIGINAL:
        chosen = log_likelihood.T[rows]
        return np.asarray(np.exp(chosen - logsumexp(chosen, axis=1, keepdims=True)))
    odds = _log_odds(log_likelihood)[rows]
    # What no other record can have become is certain.
    certain = np.isposinf(odds)
    odds = np.where(certain.any(axis=1, keepdims=True), np.where(certain, 0.0, -np.inf), odds)
    return np.asarray(np.exp(odds - logsumexp(odds, axis=1, keepdims=True)))


def _log_odds(log_likelihood: FloatArray) -> FloatArray:
    """Compute ``log(f_ij / sum_{k != i} f_kj)``, shape (n, m), accurate even if one record dominates."""
    columns = np.arange(log_likelihood.shape[1])
    first = log_likelihood.argmax(axis=0)
    largest = log_likelihood[first, columns]
    others = log_likelihood.copy()
    others[first, columns] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = logsumexp(others, axis=0)
        share = np.exp(others - np.logaddexp(beside, largest))  # at most one half: nothing is lost
        odds = np.log(share) - np.log1p(-share)
        odds[first, columns] = largest - beside
    odds[np.isneginf(log_likelihood)] = -np.inf
    return np.asarray(odds)


def best_claims(probability: FloatArray) -> NDArray[np.bool_]:
    """Find the most probable candidates of each row, shape as `probability`; several on ties."""
    largest = probability.max(axis=1, keepdims=True)
    return np.asarray(probability >= largest * (1.0 - ROUNDING))


def right_claims(probability: FloatArray, partner: IndexArray) -> FloatArray:
    """Compute how often the best candidate is the partner, shape (rows,), with ties broken at random."""
    best = best_claims(probability)
    return np.asarray(best[np.arange(len(best)), partner] / best.sum(axis=1))


TOLERANCE = 1e-6
"""Share of probability by which P and P' may miss the nearest compatible ones: rounding, that of the
optimiser, and candidates that are left out because all of them together have less than a tenth of it."""

_ROUNDING = 1e-12

MOST_CELLS = 40_000
"""Entries of a coupling that a linear program decides; a second or more."""


def compatible(true: FloatArray, claimed: FloatArray, most_cells: int = MOST_CELLS) -> bool | None:
    """Test whether `claimed` (P') is compatible with `true` (P), each (candidates,); None if undecided."""
    true = _without_dust(true)
    kept = (true > 0.0) | (_without_dust(claimed) > 0.0)
    true, claimed = true[kept], claimed[kept]
    if _refuted(true, claimed):
        return False
    if _by_level_sets(true, claimed) or _kept_in_place(true, claimed):
        return True
    classes = _classes(true, claimed)
    if classes.rows.size * classes.size.size > most_cells:
        return None
    return _missed(classes) <= TOLERANCE


def _without_dust(probability: FloatArray) -> FloatArray:
    """Set the smallest probabilities to zero, less than a tenth of the tolerance in all."""
    order = np.argsort(probability)
    dust = order[np.cumsum(probability[order]) < TOLERANCE / 10.0]
    kept = probability.copy()
    kept[dust] = 0.0
    return kept


def _room(claimed: FloatArray, most: FloatArray) -> FloatArray:
    """Compute ``sum_i min(most, P'(i))`` for each entry of `most`: capacity of a row with such a diagonal."""
    order = np.sort(claimed)
    below = np.concatenate([[0.0], np.cumsum(order)])
    at = np.searchsorted(order, most, side="right")
    return np.asarray(below[at] + (order.size - at) * most)


def _refuted(true: FloatArray, claimed: FloatArray) -> bool:
    """Test two necessary conditions for a coupling.

    Row t has entries of at most ``J(t, t) <= P'(t)`` and of at most ``P'(i)``, so that
    ``P(t) <= sum_i min(P'(t), P'(i))``. And in column i there is no more than row i has, P(i), and than each
    other row t can give: no more than its diagonal, and no more than half of P(t).
    """
    room = _room(claimed, claimed)
    given = np.minimum(claimed, true / 2.0)
    others = given.sum() - given
    return bool(((true > room + TOLERANCE) | (claimed > true + others + TOLERANCE)).any())


def _by_level_sets(true: FloatArray, claimed: FloatArray) -> bool:
    """Test the belief function on the level sets of P': ``Bel(A) <= P(A)`` for each of these.

    With the candidates in the order of P', the largest first, the set A of the first k has the mass
    ``k (P'(k) - P'(k + 1))``.
    """
    order = np.argsort(-claimed)
    levels = claimed[order]
    mass = np.arange(1, levels.size + 1) * (levels - np.append(levels[1:], 0.0))
    return bool((np.cumsum(true[order]) >= np.cumsum(mass) - _ROUNDING).all())


def _kept_in_place(true: FloatArray, claimed: FloatArray) -> bool:
    """Test the coupling of largest diagonal, ``min(P, P')``.

    A row with an excess gives it to the columns that lack something, the largest lack first and no more than
    its diagonal to any, so that what is left is as even as can be (the argument of Gale and Ryser). With what
    `_refuted` finds, this decides all cases with a certain truth, and those where all that can be true has
    the same P and the same P'.
    """
    diagonal = np.minimum(true, claimed)
    lack = (claimed - diagonal)[claimed > true]
    for row in np.flatnonzero(true > claimed):
        levels = np.unique(np.concatenate([[0.0], lack, np.maximum(lack - diagonal[row], 0.0)]))
        taken = np.clip(lack - levels[:, None], 0.0, diagonal[row]).sum(axis=1)
        excess = true[row] - claimed[row]
        if taken[0] < excess - _ROUNDING:
            return False
        lack = lack - np.clip(lack - np.interp(-excess, -taken, levels), 0.0, diagonal[row])
    return True


@dataclass(frozen=True, eq=False)
class _Classes:
    """Candidates aggregated by their two probabilities."""

    true: FloatArray  # (classes,): of each member
    claimed: FloatArray
    size: FloatArray  # (classes,): members
    rows: IndexArray  # (any,): classes that can be true
    least: FloatArray  # (classes,): what the diagonals of rows have at least
    # P' of candidates that cannot be true, and of which each has less than any row has on its diagonal: no
    # row is held back by them one by one
    rest: float


def _classes(true: FloatArray, claimed: FloatArray) -> _Classes:
    """Aggregate candidates; those impossible in truth and below all diagonals form the last class."""
    least = _least_diagonal(true, claimed)
    small = (true == 0.0) & (claimed <= least[true > 0.0].min())
    rest = float(claimed[small].sum())
    true, claimed = true[~small], claimed[~small]
    logs = np.round(np.log(np.maximum(np.stack([true, claimed], axis=1), 1e-300)), 9)
    _, first, count = np.unique(logs, axis=0, return_index=True, return_counts=True)
    true, claimed, least = true[first], claimed[first], least[~small][first]
    return _Classes(true, claimed, count.astype(np.float64), np.flatnonzero(true > 0.0), least, rest)


def _least_diagonal(true: FloatArray, claimed: FloatArray) -> FloatArray:
    """Bound each diagonal from below by bisection, such that its row has room for P(t)."""
    low, high = np.zeros_like(true), claimed.copy()
    for _ in range(40):
        middle = (low + high) / 2.0
        fits = _room(claimed, middle) >= true
        high = np.where(fits, middle, high)
        low = np.where(fits, low, middle)
    return low


def _missed(classes: _Classes) -> float:
    """Minimise ``sum_i |P'(i) - sum_t J(t, i)| / 2`` over couplings J, by classes."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # an optimiser is loaded where it is used

    rows, size = classes.rows, classes.size
    many, of = size.size, rows.size
    cells = of * many
    own = np.arange(of) * many + rows
    row_of, column_of = np.repeat(np.arange(of), many), np.tile(np.arange(many), of)
    # Entries beside the diagonal that one member has in its row (column) with members of the other class.
    in_row, in_column = size[column_of].copy(), size[rows][row_of].copy()
    in_row[own] -= 1.0
    in_column[own] -= 1.0
    cell, diagonal = np.arange(cells), cells + np.arange(of)
    to_rest, above = cells + of + np.arange(of), cells + 2 * of + np.arange(many + 1)
    below = above + many + 1
    variables = cells + 2 * of + 2 * (many + 1)
    at_row, at_column = np.arange(of), np.arange(many + 1)
    row_sums = _matrix(
        [(row_of, cell, in_row), (at_row, diagonal, 1.0), (at_row, to_rest, 1.0)], (of, variables)
    )
    column_sums = _matrix(
        [
            (column_of, cell, in_column),
            (rows, diagonal, 1.0),
            (np.full(of, many), to_rest, size[rows]),
            (at_column, above, 1.0),
            (at_column, below, -1.0),
        ],
        (many + 1, variables),
    )
    # Columns with less than the diagonal has at least need no cap.
    tight = np.flatnonzero(classes.claimed[column_of] > classes.least[rows][row_of])
    number = np.arange(tight.size)
    capped = _matrix([(number, tight, 1.0), (number, diagonal[row_of[tight]], -1.0)], (tight.size, variables))
    cost = np.zeros(variables)
    cost[above] = cost[below] = np.append(size, 1.0) / 2.0
    low = np.zeros(variables)
    scale = float(size.sum())  # probabilities of many candidates are small beside an optimiser's tolerances
    low[diagonal] = scale * classes.least[rows]
    sums = scale * np.concatenate([classes.true[rows], classes.claimed, [classes.rest]])
    solved = milp(
        cost,
        bounds=Bounds(low, np.inf),
        constraints=[
            LinearConstraint(sparse.vstack([row_sums, column_sums]), sums, sums),
            LinearConstraint(capped, -np.inf, 0.0),
        ],
    )
    if solved.status != 0:
        raise RuntimeError(f"the linear program of a coupling was not solved: {solved.message}")
    return float(solved.fun) / scale


def _matrix(
    entries: Sequence[tuple[IndexArray, IndexArray, FloatArray | float]], shape: tuple[int, int]
) -> sparse.csr_array:
    rows = np.concatenate([row for row, _, _ in entries])
    columns = np.concatenate([column for _, column, _ in entries])
    values = np.concatenate([np.broadcast_to(value, np.shape(row)) for row, _, value in entries])
    return sparse.csr_array((values, (rows, columns)), shape=shape)


@dataclass(frozen=True)
class Claim:
    """The link of highest probability of an attack."""

    record: str  # what the two are called
    candidate: str
    probability: float  # as the attack has it
    true_probability: float | None  # by the posterior of the masking; None where that does not hold
    right: bool


@dataclass(frozen=True)
class AttackOdds:
    """An attack's probabilities beside the true ones. All numbers but rates are shares of records."""

    name: str  # a family, ``equal-weights``, ``classical-mahalanobis``, or a linker
    linked: float | None  # found by the learned distance, and its bound; None where not learned
    most: float | None
    certain: bool  # whether the bound holds without any chance: no samples were searched
    right: float  # nearest candidates that are the partner; lots decide between equally near ones
    expected: float | None  # right claims in expectation by the true posterior; higher is worse
    claimed: float  # the same as its own probabilities have it; neither better nor worse
    rate: float  # of these: ``P' = exp(-rate * distance)``, normalised
    surest: Claim
    # records whose probabilities are compatible with the true ones (definition 3 of D11.2), and records
    # where that was not decided. None where the true ones do not hold. Neither better nor worse
    compatible: float | None
    undecided: float | None


@dataclass(frozen=True, eq=False)
class Truth:
    """Posterior and partners, the reference of attacks."""

    posterior: FloatArray  # (blocks, candidates): of the masking
    holds: bool  # whether it covers all attributes that attacks use
    partner: IndexArray  # (blocks,)
    weight: FloatArray  # (blocks,): parts of one
    records: Sequence[str]  # what blocks and candidates are called
    candidates: Sequence[str]


def judged(attacker: Attacker, truth: Truth, verdicts: FloatArray) -> AttackOdds:
    """Evaluate an attack, with the compatibility of its records (`compatible_records`)."""
    beliefs, weight = attacker.beliefs.probability, truth.weight
    best = best_claims(beliefs)
    each = (truth.posterior * best).sum(axis=1) / best.sum(axis=1)
    return AttackOdds(
        attacker.name,
        attacker.linked,
        attacker.most,
        attacker.certain,
        float(weight @ right_claims(beliefs, truth.partner)),
        float(weight @ each) if truth.holds else None,
        float(weight @ beliefs.max(axis=1)),
        attacker.beliefs.rate,
        surest_claim(beliefs, truth),
        float(weight @ (verdicts == 1.0)) if truth.holds else None,
        float(weight @ np.isnan(verdicts)) if truth.holds else None,
    )


def surest_claim(beliefs: FloatArray, truth: Truth) -> Claim:
    """Find the link of largest probability."""
    row, column = divmod(int(beliefs.argmax()), beliefs.shape[1])
    return Claim(
        truth.records[row],
        truth.candidates[column],
        float(beliefs[row, column]),
        float(truth.posterior[row, column]) if truth.holds else None,
        bool(truth.partner[row] == column),
    )


def compatible_records(attacks: Sequence[Attacker], truth: Truth, clock: Clock) -> list[FloatArray]:
    """Test Definition 3 for every attack and record: 1 for yes, 0 for no, NaN if undecided.

    What needs no optimisation first; then one linear program for records with the same probabilities.
    """
    found = [np.full(len(truth.posterior), np.nan) for _ in attacks]
    if not truth.holds:
        return found
    known: dict[bytes, float] = {}
    for most in (0, MOST_CELLS):
        for row, posterior in enumerate(truth.posterior):
            if clock.expired:
                return found
            for attack, verdicts in zip(attacks, found, strict=True):
                if not np.isnan(verdicts[row]):
                    continue
                beliefs = attack.beliefs.probability[row]
                key = hashlib.sha256(posterior.tobytes() + beliefs.tobytes() + bytes([most > 0])).digest()
                if key not in known:
                    answer = compatible(posterior, beliefs, most)
                    known[key] = np.nan if answer is None else float(answer)
                verdicts[row] = known[key]
    return found
