"""What a linker claims for every record: its best candidate, with the score, right or wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.categorical import NOT_INFERRED
from linkrisk.datasets.pairs.linkage_frames import linkage_frames
from linkrisk.datasets.pairs.recoded_frames import recoded_frames
from linkrisk.datasets.pairs.table_pair import TablePair
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.link_tasks import linkage_task
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Truth, in_chunks
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
    """The best candidate of every query that has a partner; of the first ones when the clock runs out.

    Queries without any candidate of a finite score make no claim.
    """
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
