"""Attacks as posteriors: learned and fixed distances, calibrated by the truth, and linkers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
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
"""Powers of ten, of the rate in terms of a usual distance, between which it is sought."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A probability for every candidate."""

    probability: FloatArray  # (blocks, candidates): ``exp(-rate * d_ij)``, rows sum to one
    rate: float  # 1 / distance


def calibrated(distance: FloatArray, partner: IndexArray) -> Calibrated:
    """The conditional logit of a distance: one parameter, by maximum likelihood of the true partners.

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
"""What the Mahalanobis distance is called that nothing is searched for."""

_NO_TIME = "no time was left for them"
_UNLIKE = (DistanceBased, RandomMatching)
"""Linkers that are not asked: the one is equal weights, the other has no scores but lots."""


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
    """An attack without probabilities, and why it has none."""

    name: str
    reason: str


def attackers_name(linker: type[Linker]) -> str:
    """What a linker is called here: as everywhere, with ``-linker`` where a family has that name."""
    return f"{linker.name}-linker" if linker.name in AGGREGATORS else linker.name


def attackers(task: RiskTask, clock: Clock) -> Iterator[Attacker | Lacking]:
    """Two distances that need no learning, every learned one, and every linker, while there is time."""
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
    """A linker with its defaults; its scores are distances with their sign changed."""
    given, truth = linker_task(task)
    if linker.learns_from_training:
        given = trained_by(given, truth)
    scores = score_matrix(linker().learn(given), len(given.queries), len(given.candidates))
    pair = task.first.pair
    return Attacker(attackers_name(linker), calibrated(-scores[pair.query_rows], pair.partner))
