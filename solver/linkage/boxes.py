"""Which boxes of candidates a count goes by, and what bounds a distance from below in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import BoxedCandidates, LinkagePair

_MATTERS = 1.0 / 64.0
"""Share of the importance of the most important attribute from which boxes are halved by an attribute."""

_WORTH_A_TREE = 256
"""Blocks for which a tree of their own pays; fewer go by one that is right for any distance."""

_ROUNDED = 2.0**-44
"""Times the number of attributes: far more than rounding does to products with a matrix."""


class Bounded(NamedTuple):
    """Boxes of candidates, and the distance of a block to whoever lies in one.

    Nobody in a box is nearer than `form` of the least differences of the block's point and the box, each less
    by `shift`; that less `blur`.

    Attributes
    ----------
    candidates : BoxedCandidates
    points : ndarray of float64, shape (blocks, dimensions)
        The blocks where the boxes are.
    form : DistanceForm
        Monotone.
    of_values : bool
        Whether the points are values, some of which may be looked up or missing.
    shift, blur : float
        Zero unless rounding matters.
    """

    candidates: BoxedCandidates
    points: FloatArray
    form: DistanceForm
    of_values: bool
    shift: float = 0.0
    blur: float = 0.0


def bounded(pair: LinkagePair, form: DistanceForm) -> Bounded:
    """The boxes that leave out most for a distance, and what bounds it in them."""
    if form.kind is not FormKind.QUADRATIC:
        monotone, raised = form.monotone()
        boxed = _by_values(pair, np.maximum(form.importance, 0.0))
        blur = raised * float(_largest(pair, monotone.differences).max()) if raised else 0.0
        return Bounded(boxed, pair.queries, monotone, True, blur=blur)
    # Only differences with their signs are coordinates that can be turned.
    numeric = pair.tables is None and pair.missing is None and form.differences is Differences.SIGNED
    if numeric and pair.blocks >= _WORTH_A_TREE:
        return _turned(pair, form)
    diagonal = form.diagonal()
    return Bounded(_by_values(pair, diagonal.importance), pair.queries, diagonal, True)


def _by_values(pair: LinkagePair, importance: FloatArray) -> BoxedCandidates:
    """The tree that is halved by the attributes that matter to a distance."""
    matters = importance >= _MATTERS * importance.max()
    if pair.blocks < _WORTH_A_TREE and not pair.by_candidate.has_boxed(matters.tobytes()):
        matters[:] = True
    return pair.boxed(matters)


def _turned(pair: LinkagePair, form: DistanceForm) -> Bounded:
    """A quadratic form as the sum of squares of other coordinates, ``B z`` with ``B' B`` the matrix.

    With the eigenvalues and eigenvectors of the matrix; negative ones, which rounding makes, are left out.
    """
    matrix, n = form.parameters, len(pair.attributes)
    values, vectors = np.linalg.eigh(matrix)
    turn = np.sqrt(values.clip(0.0))[:, None] * vectors.T
    own = pair.queries @ turn.T
    key = (b"turned", matrix.tobytes())
    boxed = pair.by_candidate.boxed(key, np.ones(n), points=lambda: pair.candidates @ turn.T)
    largest = _largest(pair, Differences.SQUARED)
    left_out = _ROUNDED * n * float(np.abs(values).max()) - float(values.min(initial=0.0))
    noise = _noise(form, largest)
    far = np.maximum(np.abs(pair.by_candidate.extremes).max(axis=0), np.abs(pair.queries).max(axis=0))
    shift = _ROUNDED * n * float((np.abs(turn) @ far).max())
    squares = DistanceForm(FormKind.WEIGHTED_SUM, Differences.SQUARED, np.ones(n))
    return Bounded(boxed, own, squares, False, shift, left_out * float(largest.sum()) + noise)


def _noise(form: DistanceForm, largest: FloatArray) -> float:
    """What the evaluator's rounding, and the part of a tie that comes of it, can be of the farthest rival."""
    with np.errstate(invalid="ignore"):
        return 2.0 * form.noise * float(np.diag(form.parameters) @ largest)


def _largest(pair: LinkagePair, kind: Differences) -> FloatArray:
    """Above every attribute distance that is finite, shape (attributes,)."""
    # Nothing is known of no records at all: what is NaN counts for nothing here.
    low, high = pair.by_candidate.extremes
    low = np.fmin(low, np.fmin.reduce(pair.queries, initial=np.nan))
    high = np.fmax(high, np.fmax.reduce(pair.queries, initial=np.nan))
    largest = high - low
    if pair.missing is not None:
        found = [pair.missing.of_queries, pair.missing.of_candidates, pair.missing.of_both[None, :]]
        for values in found:
            largest = np.fmax(largest, np.fmax.reduce(np.abs(values), initial=np.nan))
    for k, table in pair.looked_up.items():
        largest[k] = table[np.isfinite(table)].max(initial=0.0)
    with np.errstate(over="ignore"):  # bounds of minus infinity leave nobody out
        return np.asarray(largest if kind is Differences.ABSOLUTE else largest**2)
