"""What linkers claim for every record: the best candidate, with its score, right or wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.alignment import TablePair
from linkrisk.datasets.pairs.categorical import NOT_INFERRED
from linkrisk.datasets.pairs.linkage_frames import linkage_frames, recoded_frames
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.inputs.link_tasks import linkage_task, twin_group
from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.judging import judged_links
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Truth, in_chunks
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Claims:
    """The link of each record to its best candidate."""

    record: IndexArray  # (claims,): the row of the query
    candidate: IndexArray  # (claims,): of several equally good ones, one by chance
    score: FloatArray  # (claims,)
    right: BoolArray  # (claims,)


def linker_task(task: RiskTask) -> tuple[LinkageTask, Truth]:
    """The pair as linkers take it, and the truth about it."""
    files, options = task.files, task.first.options
    pair = TablePair(
        Table(files.original, "original"),
        Table(files.masked, "masked"),
        files.partner,
        files.original_labels,
        files.masked_labels,
    )
    names = files.attributes
    frames = linkage_frames(
        pair,
        (names, names),
        nominal=[name for name in options.nominal if name in names],
        ordinal=[name for name in options.ordinal if name in names],
        schema=task.schema,
        recoded=True,
    )
    if NOT_INFERRED not in files.masking:
        frames = recoded_frames(frames, files.partner)
    found, _, partner = linkage_task(pair, frames, Direction(options.direction), task.seed)
    return found, Truth.of(partner, len(found.candidates))


def best_candidates(learned: LearnedLinker, truth: Truth, seed: int, clock: Clock) -> Claims:
    """The best candidate of every query that has a partner and a finite score, while there is time."""
    random = np.random.default_rng(seed)
    chosen = np.full(truth.query_rows.size, -1, dtype=np.intp)
    best = np.full(truth.query_rows.size, -np.inf)
    for part, scores in in_chunks(learned, truth.query_rows, truth.candidates, _CELLS_AT_ONCE):
        best[part] = scores.max(axis=1)
        # The largest of random numbers among the best ones: each of these is as likely.
        lots = np.where(scores == best[part][:, None], random.random(scores.shape), -1.0)
        chosen[part] = lots.argmax(axis=1)
        if clock.expired:
            break
    made = np.flatnonzero(np.isfinite(best))
    return Claims(
        truth.query_rows[made], chosen[made], best[made], np.asarray(chosen[made] == truth.partner[made])
    )


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
    all candidates; then the other way round.
    """
    given, truth = linker_task(task)
    group = twin_group(given) if task.first.pair.ties is Ties.SHARE else None
    blocks = truth.query_rows.size
    half = np.random.default_rng(task.seed).permutation(blocks) < blocks // 2
    linked = np.zeros(blocks)
    for known in (half, ~half):
        attacked = np.flatnonzero(~known)
        partner = np.full(truth.queries, -1, dtype=np.intp)
        partner[truth.query_rows[attacked]] = truth.partner[attacked]
        judge = Truth.of(partner, truth.candidates, group)
        linker = Bayesian(match_share=1.0 / max(2, truth.candidates))
        learned = linker.learn(trained_by(given, truth, np.flatnonzero(known)))
        found = judged_links(learned, judge, curve=False).evaluation
        linked[attacked] = found.linked * judge.weight
    return linked


def _partners(truth: Truth) -> IndexArray:
    """The partner of every query, -1 where it has none."""
    partner = np.full(truth.queries, -1, dtype=np.intp)
    partner[truth.query_rows] = truth.partner
    return partner


def trained_by(given: LinkageTask, truth: Truth, known: IndexArray | slice = slice(None)) -> LinkageTask:
    """The task with some known pairs to learn from, and names of its own for candidates' attributes."""
    names = {name: _OTHER.format(name) for name in given.candidate_attributes}
    while set(names.values()) & set(given.query_attributes):
        names = {name: f"{other} " for name, other in names.items()}
    candidates = given.candidates.rename(columns=names)
    sides = given.queries.iloc[truth.query_rows[known]], candidates.iloc[truth.partner[known]]
    chosen = zip(sides, (given.query_attributes, names.values()), strict=True)
    training = pd.concat([side[list(names)].reset_index(drop=True) for side, names in chosen], axis=1)
    own = [given.schema[name] for name in given.query_attributes]
    schema = Schema((*own, *(replace(given.schema[old], name=new) for old, new in names.items())))
    attributes = tuple(names.values())
    return replace(
        given, candidates=candidates, candidate_attributes=attributes, schema=schema, training=training
    )
