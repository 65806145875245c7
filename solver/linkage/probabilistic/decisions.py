"""Decide on links and clerical review, and estimate expected losses, in linkage by passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.errors import called
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.matching import matched_pairs
from linkrisk.solver.linkage.probabilistic.blocking import Key, Pass, key_codes
from linkrisk.solver.linkage.probabilistic.passes import LearnedPasses
from linkrisk.solver.linkage.score_ranks import ScoredPairs
from linkrisk.solver.run.errors import UsageError

_LEAST_GAIN = 1e-6
"""Gain of every link in bits, so that a link of even odds is made if no other excludes it."""


@dataclass(frozen=True, eq=False)
class Reviewed:
    """Pairs with a clerical decision."""

    query: IndexArray  # (any,): their rows
    candidate: IndexArray
    link: BoolArray  # (any,): whether the pair is a link


@dataclass(frozen=True, eq=False)
class Decisions:
    """Outcome of every compared pair; a pair neither linked nor clerical is a non-link."""

    linked: BoolArray  # (pairs,)
    clerical: BoolArray
    available: BoolArray  # (pairs,): whether both records were unlinked in the pass of the pair
    probability: FloatArray  # (pairs,): of a match; 1 or 0 after a clerical decision


def decide(
    learned: LearnedPasses, one_to_one: str | None = None, reviewed: Reviewed | None = None, seed: int = 0
) -> Decisions:
    """Link pairs by the learned thresholds, in the union of all passes or pass by pass."""
    pairs, parameters = learned.scored_pairs, learned.parameters
    ends = (parameters["thresholds"][end] for end in ("link", "non_link"))
    link, non_link = (np.inf if end is None else float(end) for end in ends)
    leave = bool(parameters["linked_leave"])
    probability = learned.probabilities(pairs.score)
    linked, undecided = np.zeros(pairs.score.size, np.bool_), np.ones(pairs.score.size, np.bool_)
    if reviewed is not None:
        place = _places(learned, reviewed, one_to_one)
        known, are_links = place[place >= 0], reviewed.link[place >= 0]
        linked[known], probability[known], undecided[known] = are_links, are_links, False
    free = _Free(pairs)
    if leave or one_to_one is not None:
        free.take(np.flatnonzero(linked))
    available = np.ones(pairs.score.size, np.bool_)
    first_pass = learned.files.compared.pairs.first_pass
    for stage in range(len(learned.files.joined.passes)) if leave else (None,):
        likely = (pairs.score >= link) & undecided
        if stage is not None:
            own = np.flatnonzero(first_pass == stage)
            available[own] = free.both(own)
            likely &= first_pass == stage
        chosen = np.flatnonzero(likely)
        chosen = chosen[free.both(chosen)]
        if one_to_one is not None:
            some = pairs.query[chosen], pairs.candidate[chosen], _gains(pairs.score[chosen], learned.even)
            chosen = chosen[matched_pairs(*some, one_to_one, seed)]
        linked[chosen] = True
        free.take(chosen)
    clerical = np.flatnonzero((pairs.score >= non_link) & (pairs.score < link) & undecided & available)
    if leave or one_to_one is not None:
        # A pair is for review only while both records are unlinked.
        clerical = clerical[free.both(clerical)]
    for_review = np.zeros(pairs.score.size, np.bool_)
    for_review[clerical] = True
    return Decisions(linked, for_review, available | ~undecided, probability)


def _gains(weights: FloatArray, even: float) -> FloatArray:
    """Compute gains of links: log odds in bits, so that the largest total is the likeliest set of links.

    Where worse than even odds are linked too, gains are relative to the least of them.
    """
    return np.asarray(weights - min(even, weights.min(initial=np.inf)) + _LEAST_GAIN)


class _Free:
    """Records without a link so far."""

    def __init__(self, pairs: ScoredPairs) -> None:
        self._pairs = pairs
        self._query = np.ones(pairs.queries, dtype=np.bool_)
        self._candidate = np.ones(pairs.candidates, dtype=np.bool_)

    def both(self, which: IndexArray | slice) -> BoolArray:
        """Tell whether both records of some pairs are unlinked."""
        pairs = self._pairs
        return np.asarray(self._query[pairs.query[which]] & self._candidate[pairs.candidate[which]])

    def take(self, which: IndexArray) -> None:
        """Mark the records of some pairs as linked."""
        self._query[self._pairs.query[which]] = False
        self._candidate[self._pairs.candidate[which]] = False


def _places(learned: LearnedPasses, reviewed: Reviewed, one_to_one: str | None) -> IndexArray:
    """Find the reviewed pairs among the compared ones, -1 for others."""
    pairs = learned.scored_pairs
    every = pairs.query.astype(np.int64) * pairs.candidates + pairs.candidate
    wanted = reviewed.query.astype(np.int64) * pairs.candidates + reviewed.candidate
    order = np.argsort(wanted, kind="stable")
    at = np.minimum(np.searchsorted(wanted[order], every), wanted.size - 1)
    met = np.flatnonzero(wanted[order][at] == every)
    place = np.full(wanted.size, -1, dtype=np.intp)
    place[order[at[met]]] = met
    lost = int((reviewed.link & (place < 0)).sum())
    if lost:
        raise UsageError(
            f"{lost:,} of the decided links are compared by no pass: add a pass whose keys these records "
            "share"
        )
    if one_to_one is not None:
        for rows, what in ((reviewed.query, "first"), (reviewed.candidate, "second")):
            if np.bincount(rows[reviewed.link]).max(initial=0) > 1:
                raise UsageError(
                    f"the decisions link a record of the {what} file twice, but links are to be one to one: "
                    f"leave {called('one_to_one')} out, or decide for one of them",
                    option="one_to_one",
                )
    return place


MOST_CELLS = 1 << 16
"""Most agreement patterns of keys for which losses are estimated."""

_UNLIKELY = 0.01
"""Match probability below which pairs are ignored in estimates of keys: many, with hardly a match."""

_ITERATIONS, _TOLERANCE = 10_000, 1e-10


@dataclass(frozen=True)
class Losses:
    """Expected shares of all matches of two files."""

    lost: tuple[float, ...]  # for each pass, matches whose records do not agree on its keys
    lost_so_far: tuple[float, ...]  # for each pass, matches that neither it nor a pass before it has compared
    missed: float  # matches that are not linked


def shared_columns(passes: Sequence[Pass]) -> tuple[str, ...]:
    """List columns used by every pass, on which disagreement of matches cannot be estimated."""
    return tuple(name for name in passes[0].columns if all(name in one.columns for one in passes))


def expected_losses(learned: LearnedPasses, task: LinkageTask, decisions: Decisions) -> Losses | None:
    """Estimate the shares of matches that are lost.

    Agreement of matches on keys of different columns is assumed independent, as in the model of Fellegi and
    Sunter. A linked record is assumed to have no other match: otherwise all records similar to a linked one
    would count as missed matches.
    """
    passes = learned.files.joined.passes
    if shared_columns(passes):
        return None
    columns = _keys_by_column(passes)
    shape = tuple(2 ** len(keys) for keys in columns)
    if np.prod(shape, dtype=np.float64) > MOST_CELLS:
        return None
    agree = _agreeing(passes, columns, shape)
    probability, possible = decisions.probability, _possible(learned, decisions)
    some = np.flatnonzero(possible & (probability >= _UNLIKELY))
    pairs = learned.scored_pairs
    cell = np.zeros(some.size, dtype=np.intp)
    for keys in columns:
        for key in keys:
            first, second = key_codes(task, key)
            own = first[pairs.query[some]]
            cell = 2 * cell + ((own >= 0) & (own == second[pairs.candidate[some]]))
    weight = np.bincount(cell, probability[some], minlength=agree.shape[1]).astype(np.float64)
    share = _shares_of_cells(weight, np.asarray(agree.any(axis=0)), shape)
    if share is None:
        return None
    compared = float(probability.sum(where=possible))
    linked = float(probability.sum(where=decisions.linked))
    so_far = np.logical_or.accumulate(agree, axis=0) @ share
    return Losses(
        lost=tuple((1.0 - agree @ share).tolist()),
        lost_so_far=tuple((1.0 - so_far).tolist()),
        missed=float(1.0 - so_far[-1] * linked / compared),
    )


def _keys_by_column(passes: Sequence[Pass]) -> list[tuple[Key, ...]]:
    """List distinct keys, grouped by column."""
    keys = dict.fromkeys(key for one in passes for key in one.keys)
    columns = dict.fromkeys(key.column for key in keys)
    return [tuple(key for key in keys if key.column == column) for column in columns]


def _agreeing(
    passes: Sequence[Pass], columns: Sequence[tuple[Key, ...]], shape: tuple[int, ...]
) -> BoolArray:
    """Tell whether all keys of a pass agree, shape (passes, agreement patterns of keys)."""
    keys = [key for own in columns for key in own]
    cells = np.arange(int(np.prod(shape)))
    bit = {key: (cells >> (len(keys) - 1 - at)) & 1 == 1 for at, key in enumerate(keys)}
    return np.array([np.logical_and.reduce([bit[key] for key in one.keys]) for one in passes])


def _possible(learned: LearnedPasses, decisions: Decisions) -> BoolArray:
    """Select pairs that may be matches: links, and pairs of unlinked records."""
    free = _Free(learned.scored_pairs)
    free.take(np.flatnonzero(decisions.linked))
    return free.both(slice(None)) | decisions.linked


def _shares_of_cells(weight: FloatArray, seen: BoolArray, shape: tuple[int, ...]) -> FloatArray | None:
    """Estimate the share of each cell among all matches, from the cells that a pass compares.

    EM of a truncated product of multinomials: unseen cells get their expected counts.
    """
    total = float(weight[seen].sum())
    if not total > 0:
        return None
    count = np.where(seen, weight, 0.0).reshape(shape)
    share: FloatArray = np.full(weight.size, np.nan)
    for _ in range(_ITERATIONS):
        margins = [
            count.sum(axis=tuple(other for other in range(len(shape)) if other != axis))
            for axis in range(len(shape))
        ]
        before = share
        shares = [margin / count.sum() for margin in margins]
        share = np.asarray(reduce(np.multiply.outer, shares), dtype=np.float64).ravel()
        visible = float(share[seen].sum())
        if not visible > 0:
            return None
        if np.abs(share - before).max() < _TOLERANCE:
            return share
        count = np.where(seen, weight, share * (total / visible)).reshape(shape)
    return None
