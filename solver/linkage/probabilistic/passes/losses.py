"""What share of the matches is not linked, by the model, where the true links are not known.

A match is lost when no pass compares it, or when it is compared and not linked. The second the probabilities
tell. The first they do not, as nothing is known of pairs that no pass compares; but some matches are found by
several passes, and from how often these disagree on the keys of one pass follows how often others disagree on
those of all: capture and recapture (Bishop, Fienberg and Holland 1975, chapter 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.passes.deciding import Decisions
from linkrisk.solver.linkage.probabilistic.passes.key_values import key_codes
from linkrisk.solver.linkage.probabilistic.passes.keys import Key, Pass
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses

MOST_CELLS = 1 << 16
"""Ways to agree on the keys of all columns; passes with more are not estimated."""

_UNLIKELY = 0.01
"""Pairs less probable say nothing about keys: there are too many of them, and hardly a match among them."""

_ITERATIONS, _TOLERANCE = 10_000, 1e-10


@dataclass(frozen=True)
class Losses:
    """Expected shares of all matches of two files.

    Attributes
    ----------
    lost : tuple of float
        For each pass, matches whose records do not agree on its keys.
    lost_so_far : tuple of float
        For each pass, matches that neither it nor a pass before it has compared.
    missed : float
        Matches that are not linked.
    """

    lost: tuple[float, ...]
    lost_so_far: tuple[float, ...]
    missed: float


def shared_columns(passes: Sequence[Pass]) -> tuple[str, ...]:
    """Columns that every pass needs: how many matches disagree there cannot be known."""
    return tuple(name for name in passes[0].columns if all(name in one.columns for one in passes))


def expected_losses(learned: LearnedPasses, task: LinkageTask, decisions: Decisions) -> Losses | None:
    """Estimate what is lost.

    Agreement of matches on keys of one column is taken to be independent of that on keys of others, as in
    the model of Fellegi and Sunter. A record that is linked is taken to have no other match: otherwise
    all who look a little like a linked person would count as matches that were missed.

    Parameters
    ----------
    learned : LearnedPasses
    task : LinkageTask
        The files that it learned from.
    decisions : Decisions
        What becomes of its pairs.

    Returns
    -------
    Losses or None
        None where passes share a column, have too many keys, or no two of them find the same matches.
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
    """Different keys, those of the same column together."""
    keys = dict.fromkeys(key for one in passes for key in one.keys)
    columns = dict.fromkeys(key.column for key in keys)
    return [tuple(key for key in keys if key.column == column) for column in columns]


def _agreeing(
    passes: Sequence[Pass], columns: Sequence[tuple[Key, ...]], shape: tuple[int, ...]
) -> BoolArray:
    """Whether all keys of a pass agree, shape (passes, cells); a cell says which of all keys agree."""
    keys = [key for own in columns for key in own]
    cells = np.arange(int(np.prod(shape)))
    bit = {key: (cells >> (len(keys) - 1 - at)) & 1 == 1 for at, key in enumerate(keys)}
    return np.array([np.logical_and.reduce([bit[key] for key in one.keys]) for one in passes])


def _possible(learned: LearnedPasses, decisions: Decisions) -> BoolArray:
    """Which pairs may be matches: the links, and pairs of records that no link has."""
    pairs, linked = learned.scored_pairs, decisions.linked
    free = np.ones(pairs.queries, np.bool_), np.ones(pairs.candidates, np.bool_)
    free[0][pairs.query[linked]] = False
    free[1][pairs.candidate[linked]] = False
    possible = free[0][pairs.query]
    possible &= free[1][pairs.candidate]
    possible |= linked
    return possible


def _shares_of_cells(weight: FloatArray, seen: BoolArray, shape: tuple[int, ...]) -> FloatArray | None:
    """The share of each cell among all matches, from those of cells that a pass compares.

    EM of a product of multinomials that is cut off: unseen cells get what is expected of them.
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
