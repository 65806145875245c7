"""Linkers that need no search for a worst case, attacking the records of a pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.formulations.linkage.pair import Ties
from linkrisk.solver.inputs.link_tasks import twin_group
from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.judging import judged_links
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.links.best_candidates import linker_task
from linkrisk.solver.measures.task import RiskTask

_OTHER = "released {}"
"""What a candidate's attributes are called for a linker that needs none in common."""


def by_probability(task: RiskTask) -> FloatArray:
    """What probabilistic record linkage (EM, no truth) links, shape (blocks,): 1, 0 or a share."""
    given, truth = linker_task(task)
    group = twin_group(given) if task.first.pair.ties is Ties.SHARE else None
    truth = Truth.of(_partners(truth), truth.candidates, group)
    found = judged_links(Probabilistic().learn(given), truth, curve=False).evaluation
    return np.asarray(found.linked * truth.weight)


def by_bayes(task: RiskTask) -> FloatArray:
    """The same of the Bayesian linker, whose intruder knows the partners of one half of the records.

    It learns from that half how released values depend on original ones, and attacks the other half among
    all candidates; then the other way round, so that every record is attacked once by who does not know it.
    """
    given, truth = linker_task(task)
    group = twin_group(given) if task.first.pair.ties is Ties.SHARE else None
    blocks = truth.query_rows.size
    half = np.random.default_rng(task.seed).permutation(blocks) < blocks // 2
    linked = np.zeros(blocks)
    apart = _apart(given)
    for known in (half, ~half):
        training = _side_by_side(apart, truth, np.flatnonzero(known))
        attacked = np.flatnonzero(~known)
        partner = np.full(truth.queries, -1, dtype=np.intp)
        partner[truth.query_rows[attacked]] = truth.partner[attacked]
        judge = Truth.of(partner, truth.candidates, group)
        learned = Bayesian(match_share=1.0 / max(2, truth.candidates)).learn(
            replace(apart, training=training)
        )
        found = judged_links(learned, judge, curve=False).evaluation
        linked[attacked] = found.linked * judge.weight
    return linked


def _partners(truth: Truth) -> IndexArray:
    """The partner of every query, -1 where it has none."""
    partner = np.full(truth.queries, -1, dtype=np.intp)
    partner[truth.query_rows] = truth.partner
    return partner


def _apart(given: LinkageTask) -> LinkageTask:
    """The same task, in which no attribute of one file is one of the other."""
    names = {name: _OTHER.format(name) for name in given.candidate_attributes}
    both = [given.schema[name] for name in given.query_attributes]
    schema = Schema((*both, *(replace(given.schema[old], name=new) for old, new in names.items())))
    return replace(
        given,
        candidates=given.candidates.rename(columns=names),
        candidate_attributes=tuple(names.values()),
        schema=schema,
    )


def _side_by_side(given: LinkageTask, truth: Truth, known: IndexArray) -> pd.DataFrame:
    """Some queries with the values of their partners."""
    queries = given.queries[list(given.query_attributes)].iloc[truth.query_rows[known]]
    partners = given.candidates[list(given.candidate_attributes)].iloc[truth.partner[known]]
    return pd.concat([queries.reset_index(drop=True), partners.reset_index(drop=True)], axis=1)
