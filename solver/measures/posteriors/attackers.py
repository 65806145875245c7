"""Attacks as probabilities: learned distances, those that need no learning, and linkers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.baselines import euclidean_form, mahalanobis_form
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.linker import LinkageTask, Linker, Truth
from linkrisk.solver.linkage.matching import RandomMatching, distance_matrix, score_matrix
from linkrisk.solver.linkage.registry import LINKERS
from linkrisk.solver.measures.links.best_candidates import linker_task
from linkrisk.solver.measures.links.held_out_trials import EQUAL
from linkrisk.solver.measures.posteriors.calibrated import Calibrated, calibrated
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import noted

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
    # what the learned distance links by the count of the evaluator, and what no parameters of its family
    # exceed, as shares. None where the worst case was not sought
    linked: float | None = None
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
    asked: dict[str, Callable[[], Attacker]] = {
        CLASSICAL: lambda: _by_form(CLASSICAL, mahalanobis_form(pair), pair),
        **{name: partial(_learned, task, name) for name in task.attacks},
    }
    linkers = [linker for linker in LINKERS.values() if linker not in _UNLIKE]
    # Those that learn from known pairs take longest, and come last.
    linkers.sort(key=lambda linker: linker.learns_from_training)
    asked |= {attackers_name(linker): partial(_by_linker, task, linker) for linker in linkers}
    for name, attack in asked.items():
        if clock.expired:
            yield Lacking(name, _NO_TIME)
            continue
        try:
            found: Attacker | Lacking = attack()
        except Exception as error:  # such as files that this linker does not take
            found = Lacking(name, noted(error))
        yield found


def _by_form(name: str, form: DistanceForm, pair: LinkagePair) -> Attacker:
    """A distance that is given."""
    return Attacker(name, calibrated(distance_matrix(pair, form), pair.partner))


def _learned(task: RiskTask, name: str) -> Attacker:
    """The worst case of a family."""
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


def trained_by(task: LinkageTask, truth: Truth) -> LinkageTask:
    """The same task for linkers that learn from known pairs, which are all pairs of partners.

    Attributes of the candidates get names of their own: such a linker is for attributes of which one file
    has some and the other file others, and says by training records how they depend on each other.
    """
    names = {name: f"{name} (candidate)" for name in task.candidate_attributes}
    while set(names.values()) & set(task.query_attributes):
        names = {name: f"{other} " for name, other in names.items()}
    candidates = task.candidates.rename(columns=names)
    sides = task.queries.iloc[truth.query_rows], candidates.iloc[truth.partner]
    training = pd.concat([side.reset_index(drop=True) for side in sides], axis=1)
    schema = Schema(
        (
            *(task.schema[name] for name in task.query_attributes),
            *(replace(task.schema[name], name=other) for name, other in names.items()),
        )
    )
    return replace(
        task,
        candidates=candidates,
        candidate_attributes=tuple(names.values()),
        schema=schema,
        training=training,
    )
