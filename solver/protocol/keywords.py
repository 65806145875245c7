"""What the steps of a protocol may say, and how each of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from linkrisk.datasets.options.option import PROTOCOL, options_of
from linkrisk.datasets.options.typed import Reader, columns, flag, text, texts, whole
from linkrisk.solver.options.operations.suppress import SuppressCommand

MASK: Mapping[str, Reader] = MappingProxyType(
    {
        **dict.fromkeys(("method", "strata", "renumber"), texts),
        **dict.fromkeys(("id", "weight"), text),
        "drop": columns,
        "shuffle": flag,
        "seed": whole,
    }
)
SUPPRESS: Mapping[str, Reader] = MappingProxyType(
    {name: one.kind.typed for name, one in options_of(SuppressCommand, PROTOCOL).items()}
)
COMMANDS: Mapping[str, Mapping[str, Reader]] = MappingProxyType({"mask": MASK, "suppress": SUPPRESS})
"""The keywords of the functions, by name; how an output is written is among them."""
