"""What an attack makes of every record: rank, margin, near rivals, contributions of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluation
from linkrisk.solver.linkage.lexicographic import best_order
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

_ROWS_AT_ONCE = 20_000
"""Of which equal attribute distances are compared, all with all of a row."""


def contributions(form: DistanceForm, c: FloatArray) -> FloatArray:
    """Parts of the distance by attribute, which add up to it.

    `form`: a distance d. `c` (rows, attributes): attribute distances. Returns shape (rows, attributes): non-
    negative, but for a quadratic form with terms that cancel.

    Every d here is homogeneous, ``d(t c) = t**r d(c)`` with r = 1, or 2 for a quadratic form, so by Euler's
    theorem ``d = 1/r sum_k c_k dd/dc_k``, and the k-th term is the part of attribute k:

    - weighted mean: ``p_k c_k``;
    - OWA: ``p_r c_k``, where r is the rank of ``c_k``;
    - Choquet: ``c_(i) (mu(A_(i)) - mu(A_(i+1)))``, the increments ``(c_(i) - c_(i-1)) mu(A_(i))`` summed by
      parts (Grabisch 1996, Eq. 4), where ``A_(i)`` are the attributes from rank i upwards;
    - 2-additive: ``p_kk c_k`` and what ``p_kl min(c_k, c_l)`` gives to the smaller of the two;
    - quadratic: ``z_k (M z)_k``.

    Of equal attribute distances, among which the derivative is not unique, each gets the mean of theirs.
    """
    parts = np.empty(c.shape)
    for first in range(0, len(c), _ROWS_AT_ONCE):
        some = slice(first, first + _ROWS_AT_ONCE)
        parts[some] = _PARTS[form.kind](c[some], form.parameters)
    return parts


def _weighted_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(c * p)


def _quadratic(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray((c @ p) * c)


def _ordered_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(-c, axis=1, kind="stable")
    return _even(_back(-np.sort(-c, axis=1) * p, order), c)


def _choquet(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(c, axis=1, kind="stable")
    above = np.cumsum(np.left_shift(1, order)[:, ::-1], axis=1)[:, ::-1]
    worth = p[above]
    steps = worth - np.hstack([worth[:, 1:], np.zeros((len(c), 1))])
    return _even(_back(np.take_along_axis(c, order, axis=1) * steps, order), c)


def _pairwise(c: FloatArray, p: FloatArray) -> FloatArray:
    parts = c * np.diag(p)
    for k, row in enumerate(p):
        for other in range(k + 1, len(p)):
            least = row[other] * np.minimum(c[:, k], c[:, other])
            share = np.where(c[:, k] == c[:, other], 0.5, c[:, k] < c[:, other])
            parts[:, k] += share * least
            parts[:, other] += (1.0 - share) * least
    return parts


def _back(values: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    parts = np.empty_like(values)
    np.put_along_axis(parts, order, values, axis=1)
    return parts


def _even(parts: FloatArray, c: FloatArray) -> FloatArray:
    """The same parts for equal attribute distances of a row."""
    same = c[:, :, None] == c[:, None, :]
    return np.asarray((same * parts[:, None, :]).sum(axis=2) / same.sum(axis=2))


_PARTS = {
    FormKind.WEIGHTED_SUM: _weighted_sum,
    FormKind.ORDERED_SUM: _ordered_sum,
    FormKind.CHOQUET: _choquet,
    FormKind.PAIRWISE: _pairwise,
    FormKind.QUADRATIC: _quadratic,
}


TIMES = 1.1
"""A rival is near when it is at most so many times as far as the partner."""


def near_rivals(
    pair: LinkagePair, form: DistanceForm, stop: Callable[[], bool], times: float = TIMES
) -> FloatArray:
    """Rivals that are at most `times` as far as the partner, (blocks,); NaN if impossible or out of time.

    Neither the partner nor, with shared ties, its twins are counted.
    """
    factor = in_units_of(form, times)
    label = pair.twin_group if pair.ties is Ties.SHARE else np.arange(len(pair.candidates))
    candidates = np.arange(len(pair.candidates))
    counts = np.full(pair.blocks, np.nan)
    for part, distances in pair.chunks(form.differences, megabytes=16.0):
        if stop():
            break
        blocks = np.arange(pair.blocks)[part]
        found = form(distances)
        own = found[np.arange(blocks.size), pair.partner[blocks]]
        rival = label[None, :] != label[pair.partner[blocks]][:, None]
        rival &= pair.possible(blocks[:, None], candidates)
        # Not more than rounding beyond, so that what ties with the partner is near whatever the factor.
        counts[blocks] = (rival & (found <= factor * own[:, None] * (1.0 + 1e-12))).sum(axis=1)
    return np.where(pair.reachable, counts, np.nan)


def in_units_of(form: DistanceForm, times: float) -> float:
    """So many times a distance as people draw it, as a factor of what the form gives: squares, for some."""
    squares = form.differences is Differences.SQUARED or form.kind is FormKind.QUADRATIC
    return times**2 if squares else times


BASELINES = {"euclid": "equal-weights", "mahalanobis": "classical-mahalanobis"}
"""What the distances that need no search are called beside the learned ones."""


@dataclass(frozen=True, eq=False)
class AttackOnRecords:
    """One attack; all arrays have shape (blocks,), or (blocks, attributes)."""

    attack: str  # a family; ``equal-weights``; or ``classical-mahalanobis``
    attributes: tuple[str, ...]
    reachable: BoolArray  # whether the partner is possible at all
    settled: BoolArray  # whether there was time for the record; else it counts as not linked
    linked: BoolArray  # the partner is strictly nearer than every rival
    rank: IndexArray  # 1 + number of rivals strictly nearer than the partner; 0 where that is not known
    ties: IndexArray  # rivals exactly as near as the partner. Fewer are worse
    margin: FloatArray  # distance to the nearest rival minus that to the partner; higher is better
    near: FloatArray  # rivals hardly farther than the partner, or nearer (`near_rivals`). Fewer are worse
    to_partner: FloatArray  # contributions of attributes to the distance; NaN without one
    to_rival: FloatArray

    @property
    def apart(self) -> dict[str, float] | None:
        """Share of each attribute in what rivals of linked records are farther by; None if none is linked."""
        gaps = (self.to_rival - self.to_partner)[self.linked]
        gaps = gaps[~np.isnan(gaps).any(axis=1)].sum(axis=0)
        if not gaps.size or gaps.sum() <= 0.0:
            return None
        return dict(zip(self.attributes, (gaps / gaps.sum()).tolist(), strict=True))

    def to_frame(self, record: Sequence[str]) -> pd.DataFrame:
        """One row per record and attribute: record, attack, attribute, to_partner, to_rival."""
        count = len(self.attributes)
        return pd.DataFrame(
            {
                "record": np.repeat(np.array(record, dtype=object), count),
                "attack": self.attack,
                "attribute": list(self.attributes) * len(record),
                "to_partner": self.to_partner.ravel(),
                "to_rival": self.to_rival.ravel(),
            }
        )


def attacks_of(task: RiskTask, clock: Clock) -> Iterator[tuple[str, DistanceForm, Evaluation]]:
    """The learned attacks, the one that links most first, and those that need no search."""
    learned = task.attacks
    for name in sorted(learned, key=lambda name: -learned[name].evaluation.linked_weight):
        attack = learned[name]
        yield name, attack.problem.aggregator.form(attack.theta), attack.evaluation
    for name, form in baseline_forms(task.first.pair).items():
        yield BASELINES[name], form, task.baseline(name, clock)


def attack_on_records(
    pair: LinkagePair, name: str, form: DistanceForm, found: Evaluation, near: FloatArray
) -> AttackOnRecords:
    """What an attack makes of the records, from how it was counted."""
    blocks = np.arange(pair.blocks)
    sides = (pair.partner, found.rival)
    parts = [contributions(form, pair.distances(blocks, of, form.differences)) for of in sides]
    parts[0][~pair.reachable] = np.nan
    parts[1][found.rival < 0] = np.nan
    finite = np.isfinite(found.margin)
    return AttackOnRecords(
        attack=name,
        attributes=pair.attributes,
        reachable=pair.reachable,
        settled=found.settled,
        linked=found.linked,
        rank=found.rank,
        ties=found.ties,
        margin=np.where(finite, found.margin, np.nan),
        near=near,
        to_partner=parts[0],
        to_rival=parts[1],
    )


def out_of_reach(task: RiskTask, stop: Callable[[], bool]) -> dict[str, BoolArray]:
    """For each family the records that one rival alone keeps from being linked, whatever the parameters.

    Without those that comparing attributes, or ranks, one after another links: parameters come as near to
    that as doubles allow (see `search_state.beside_orders`).
    """
    pair, names = task.first.pair, task.worst.results
    lost = {name: lost_blocks(pair, task.problems[name].aggregator, stop) for name in names}
    if not any(one.any() for one in lost.values()):
        return lost
    in_order = np.zeros(task.records, dtype=np.bool_)
    for ranked in (False, True):
        in_order |= best_order(pair, stop, ranked=ranked).linked
    return {name: one & ~in_order for name, one in lost.items()}
