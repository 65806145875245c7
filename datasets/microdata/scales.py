"""How the values of a column can be compared."""

from __future__ import annotations

from enum import StrEnum


class Scale(StrEnum):
    """How values can be compared: by difference, by days, by order, for equality, or (text) not at all."""

    NUMERIC = "numeric"
    DATE = "date"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    TEXT = "text"


MEASURED = frozenset((Scale.NUMERIC, Scale.DATE))
"""Scales of attributes whose values have differences."""

CATEGORICAL = frozenset((Scale.ORDINAL, Scale.NOMINAL))
"""Scales of attributes that have categories."""
