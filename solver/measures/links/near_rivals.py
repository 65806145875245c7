"""How many candidates an intruder cannot well tell from the partner: those that are hardly farther."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import LinkagePair, Ties

TIMES = 1.1
"""A rival is near when it is at most so many times as far as the partner."""


def near_rivals(
    pair: LinkagePair, form: DistanceForm, stop: Callable[[], bool], times: float = TIMES
) -> FloatArray:
    """Rivals that are at most `times` as far as the partner: it hides among so many.

    `times`: of the distance as people draw it: where the form takes squares, of its root. Returns shape
    (blocks,): the partner is not counted, nor with shared ties its twins; NaN where the partner is impossible
    or there was no time.
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
