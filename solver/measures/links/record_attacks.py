"""What one attack makes of every record; and the records that are out of reach of a whole family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluation
from linkrisk.solver.linkage.lexicographic import best_order
from linkrisk.solver.measures.links.contributions import contributions
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

BASELINES = {"euclid": "equal-weights", "mahalanobis": "classical-mahalanobis"}
"""What the distances that need no search are called beside the learned ones."""


@dataclass(frozen=True, eq=False)
class AttackOnRecords:
    """One attack; all arrays have shape (blocks,), or (blocks, attributes)."""

    # the family whose parameters were learned; ``equal-weights``; or ``classical-mahalanobis``, whose matrix
    # is the inverse of the mean products of differences between partners
    attack: str
    attributes: tuple[str, ...]
    reachable: BoolArray  # whether the partner is possible at all
    settled: BoolArray  # whether there was time to look at the record; else it counts as not linked
    linked: BoolArray  # the partner is strictly nearer than every rival
    rank: IndexArray  # 1 + number of rivals strictly nearer than the partner; 0 where that is not known
    ties: IndexArray  # rivals exactly as near as the partner. Fewer are worse
    # distance to the nearest rival minus distance to the partner, in units of the attack's distance; NaN
    # where there is none. Higher is worse
    margin: FloatArray
    near: FloatArray  # rivals hardly farther than the partner, or nearer (`near_rivals`). Fewer are worse
    # what each attribute contributes to the distance to the partner, and to the nearest rival
    # (`contributions`); NaN where there is none
    to_partner: FloatArray
    to_rival: FloatArray

    @property
    def apart(self) -> dict[str, float] | None:
        """Share of each attribute in what rivals of linked records are farther by, all such records together.

        Negative for one in which rivals are nearer. None where no record is linked.
        """
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
    that as doubles allow (see `worst_case.beside_orders`).
    """
    pair, names = task.first.pair, task.worst.results
    lost = {name: lost_blocks(pair, task.problems[name].aggregator, stop) for name in names}
    if not any(one.any() for one in lost.values()):
        return lost
    in_order = np.zeros(task.records, dtype=np.bool_)
    for ranked in (False, True):
        in_order |= best_order(pair, stop, ranked=ranked).linked
    return {name: one & ~in_order for name, one in lost.items()}
