"""Attacks as probabilities: learned distances, equal weights, match weights of probabilistic linkage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.linkage.assignment import distance_matrix
from linkrisk.solver.linkage.baselines import euclidean_form
from linkrisk.solver.linkage.matching import score_matrix
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.links.best_candidates import linker_task
from linkrisk.solver.measures.links.held_out_trials import EQUAL
from linkrisk.solver.measures.posteriors.calibrated import Calibrated, calibrated
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attacker:
    """An attack with its probabilities.

    Attributes
    ----------
    name : str
        A family, ``equal-weights``, or the linker ``prl``.
    beliefs : Calibrated
    linked, most : float or None
        What the learned distance links by the count of the evaluator, and what no parameters of its family
        exceed, as shares. None where nothing was learned from the truth.
    certain : bool
        Whether `most` holds without any chance.
    """

    name: str
    beliefs: Calibrated
    linked: float | None
    most: float | None
    certain: bool = True


def attackers(task: RiskTask, clock: Clock) -> Iterator[Attacker]:
    """Every learned distance, equal weights, and the default probabilistic linker, while there is time."""
    pair = task.first.pair
    yield Attacker(EQUAL, calibrated(distance_matrix(pair, euclidean_form(pair)), pair.partner), None, None)
    for name, attack in task.attacks.items():
        if clock.expired:
            return
        problem = attack.problem
        distance = distance_matrix(problem.pair, problem.aggregator.form(attack.theta))
        low, high = attack.result.interval
        beliefs = calibrated(distance, pair.partner)
        certain = attack.result.confidence is None
        yield Attacker(name, beliefs, low / task.total, high / task.total, certain)
    if clock.expired:
        return
    try:
        given, _ = linker_task(task)
        scores = score_matrix(Probabilistic().learn(given), len(given.queries), len(given.candidates))
    except UsageError:  # files that this linker does not take
        return
    yield Attacker(Probabilistic.name, calibrated(-scores[pair.query_rows], pair.partner), None, None)
