"""Which linkers can compare representatives, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from solver.linkage.linker import Linker
from solver.linkage.representatives.nearest import Nearest

INNER_LINKERS: Mapping[str, Callable[[], Linker]] = MappingProxyType({"distance": Nearest})
"""What makes the linker of `--linkage`. It gets numbers, or categories under `--classes`, with equal names in
both files."""
