"""Which linkers can compare representatives, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from datasets.schema import Schema
from solver.linkage.linker import Linker
from solver.linkage.representatives.nearest import Nearest


def _nearest(schema: Schema) -> Linker:
    del schema
    return Nearest()


INNER_LINKERS: Mapping[str, Callable[[Schema], Linker]] = MappingProxyType({"distance": _nearest})
"""What makes the linker of `--linkage` from the schema of the representatives.

They have equal names in both files, and are numeric, or ordinal under `--classes`.
"""
