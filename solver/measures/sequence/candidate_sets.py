"""What is left of a record's candidates where releases that cannot be aligned are searched one by one.

An intruder looks for a person in every release and keeps the candidates that are not much farther than the
nearest. Whatever he can tell candidates by beside what is compared, such as confidential values that no
masking changed, must agree in all releases: so he intersects (004, section 2.2; Stokes and Torra 2012; Ganta,
Kasiviswanathan and Smith 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.measures.links.near_rivals import in_units_of

WIDTHS = (1.0, 1.1, 1.5, 2.0, 3.0)
"""A candidate is kept when it is at most so many times as far as the nearest: the intruder's choice."""

_MEGABYTES = 16.0
_ROUNDING = 1e-12
"""Relative to a distance, and a distance of so many deviations: nothing that anybody could tell apart."""


@dataclass(frozen=True, eq=False)
class SearchedRelease:
    """One release and the distance that an intruder has for it."""

    pair: LinkagePair  # its blocks are the persons, the same ones in the same order in all releases
    form: DistanceForm
    # (candidates,): what candidates are told by: the same number, from 0, means the same in all releases
    mark: IndexArray


@dataclass(frozen=True, eq=False)
class Intersections:
    """What is left after each release; all arrays have shape (widths, releases, persons)."""

    size: FloatArray  # marks that candidates of all releases up to this one have; NaN where there was no time
    holds: BoolArray  # whether the person's own mark is among them


def marks(groups: Sequence[Sequence[FilePair]], confidential: Sequence[str]) -> list[IndexArray]:
    """What the masked records of several groups of releases are told by.

    `groups`: the releases of a group are one file, a record for each person of any of them (`side_by_side`).
    `confidential`: columns that no masking changed: records are told by their values, all together, in the
    last release of the group that has the person. Where there are none, records are told by who they are, as
    if something else that is released gave that away. Returns shape (masked records of the group,): numbers
    from 0.
    """
    told: list[dict[str, object]] = []
    for group in groups:
        told.append({})
        for pair in group:  # persons stay where they first are, as side by side; what is told is the last
            told[-1].update(zip(pair.masked_labels, _keys(pair, confidential), strict=True))
    keys = [key for group in told for key in group.values()]
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
    ends = np.cumsum([len(group) for group in told])
    return list(np.split(codes, ends[:-1]))


def _keys(pair: FilePair, confidential: Sequence[str]) -> Sequence[object]:
    """The confidential values of every masked record, or who it is."""
    if not confidential:
        return pair.masked_labels
    columns = [pair.masked[name] for name in confidential]
    cells = [["" if pd.isna(cell) else spelled(cell) for cell in column] for column in columns]
    return list(zip(*cells, strict=True))


def intersections(
    releases: Sequence[SearchedRelease],
    stop: Callable[[], bool],
    seed: int,
    widths: Sequence[float] = WIDTHS,
) -> Intersections:
    """Intersect the candidates of every person over the releases, one release after the other.

    `releases`: or of groups of releases, each as one. `widths`: how far candidates are kept.
    """
    persons = releases[0].pair.blocks
    size = np.full((len(widths), len(releases), persons), np.nan)
    holds = np.zeros(size.shape, dtype=np.bool_)
    most = max(release.pair.candidates.nbytes for release in releases)
    at_once = max(1, int(_MEGABYTES * 2**20 / max(most, 1)))
    order = np.random.default_rng(seed).permutation(persons)
    kinds = 1 + max(int(release.mark.max()) for release in releases)
    for begin in range(0, persons, at_once):
        if begin and stop():
            break
        some = order[begin : begin + at_once]
        left = np.ones((len(widths), some.size, kinds), dtype=np.bool_)
        for at, release in enumerate(releases):
            distance, own = _distances(release, some), release.mark[release.pair.partner[some]]
            for w, width in enumerate(widths):
                left[w] &= _marked(_near(distance, release.form, width), release.mark, kinds)
            size[:, at, some] = left.sum(axis=2)
            holds[:, at, some] = left[:, np.arange(some.size), own]
    return Intersections(size, holds)


def _distances(release: SearchedRelease, persons: IndexArray) -> FloatArray:
    """What the form gives, inf for impossible candidates, shape (persons, candidates)."""
    pair, form = release.pair, release.form
    candidates = np.arange(len(pair.candidates))
    distance = np.maximum(form(pair.distances(persons[:, None], candidates, form.differences)), 0.0)
    distance[~pair.possible(persons[:, None], candidates)] = np.inf
    return np.asarray(distance)


def _near(distance: FloatArray, form: DistanceForm, width: float) -> BoolArray:
    """Candidates at most so many times as far as the nearest, shape (persons, candidates)."""
    nearest = distance.min(axis=1, keepdims=True)
    limit = in_units_of(form, width) * nearest * (1.0 + _ROUNDING) + in_units_of(form, _ROUNDING)
    return np.asarray(np.isfinite(distance) & (distance <= limit))


def _marked(near: BoolArray, mark: IndexArray, kinds: int) -> BoolArray:
    """Which marks near candidates have, shape (persons, kinds)."""
    order = np.argsort(mark, kind="stable")
    present, begins = np.unique(mark[order], return_index=True)
    found = np.zeros((len(near), kinds), dtype=np.bool_)
    found[:, present] = np.logical_or.reduceat(near[:, order], begins, axis=1)
    return found
