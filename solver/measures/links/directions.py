"""A quadratic form in readable form: the weighted sums of differences whose squares it adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators.base import Aggregator
from linkrisk.formulations.linkage.forms import FormKind

_NOTHING = 1e-9
"""Share of the trace below which a direction is rounding."""

_SAID = 0.1
"""Coefficients that are smaller than this share of the largest are left out of words."""


@dataclass(frozen=True, eq=False)
class Direction:
    """One of the terms of ``z' M z = trace(M) * sum_k s_k (v_k' z)**2``, z the standardised differences."""

    # s_k, the eigenvalue as a share of the trace. The attack goes by directions with large shares
    share: float
    # (attributes,): v_k, the eigenvector, of length one; the largest coefficient is positive
    coefficients: FloatArray
    words: str  # the sum of differences, such as ``0.98 income - 0.20 tax``; small coefficients are left out


def directions_of(aggregator: Aggregator, theta: FloatArray) -> tuple[Direction, ...]:
    """The directions of a quadratic form, the largest share first; none of any other kind of distance."""
    form = aggregator.form(theta)
    if form.kind is not FormKind.QUADRATIC:
        return ()
    values, vectors = np.linalg.eigh(form.parameters)
    shares = values.clip(0.0) / values.clip(0.0).sum()
    found = []
    for at in np.argsort(-shares, kind="stable"):
        if shares[at] > _NOTHING:
            vector = vectors[:, at] * np.sign(vectors[np.argmax(np.abs(vectors[:, at])), at])
            found.append(Direction(float(shares[at]), vector, _words(vector, aggregator.attributes)))
    return tuple(found)


def _words(vector: FloatArray, names: Sequence[str]) -> str:
    """The terms that matter, the largest first."""
    order = [
        at for at in np.argsort(-np.abs(vector), kind="stable") if abs(vector[at]) >= _SAID * vector.max()
    ]
    first, *others = order
    signed = [f"{'-' if vector[at] < 0.0 else '+'} {abs(vector[at]):.2f} {names[at]}" for at in others]
    return " ".join([f"{vector[first]:.2f} {names[first]}", *signed])
