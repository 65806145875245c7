"""What a registry names by its place, and imports when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def imported(place: str) -> Any:
    """Import what is at a place, ``module:name``.

    A registry that imports all of its members makes everybody wait for them, who uses one or none.

    Examples
    --------
    >>> imported("linkrisk.datasets.microdata.formats.parquet:Parquet").suffixes
    ('.parquet', '.pq')
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
