"""How the values of a column can be compared."""

from __future__ import annotations

from enum import StrEnum


class Scale(StrEnum):
    """How values can be compared: by difference, by order, only for equality, or (free text) not at all."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    TEXT = "text"


CATEGORICAL = frozenset((Scale.ORDINAL, Scale.NOMINAL))
"""Scales of attributes that have categories."""
