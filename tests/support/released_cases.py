"""Attributes of two files as the measures of disclosure and loss see them."""

from __future__ import annotations

import numpy as np

from linkrisk.datasets.microdata.roles import Scale
from linkrisk.solver.measures.released import ReleasedAttribute


def attribute(name, original, masked, scale=Scale.NUMERIC, categories=(), partner=None):
    """One attribute; row i of the original belongs to row i of the masked file unless `partner` says more."""
    original, masked = np.array(original, dtype=float), np.array(masked, dtype=float)
    partner = np.arange(len(original)) if partner is None else np.array(partner)
    return ReleasedAttribute(name, scale, original, masked, partner, tuple(categories))


def table(original, masked, names="abcdefgh"):
    """Numeric attributes from two arrays."""
    columns = zip(names, np.asarray(original).T, np.asarray(masked).T, strict=False)
    return [attribute(name, before, after) for name, before, after in columns]
