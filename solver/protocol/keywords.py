"""What the steps of a protocol may say, and how each of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from linkrisk.datasets.options.typed import (
    Reader,
    columns,
    flag,
    limit,
    number,
    table,
    tables,
    text,
    texts,
    threshold,
    whole,
)

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
    {
        **dict.fromkeys(
            ("problem", "missing", "cost", "household", "head", "weight", "schema", "backend"), text
        ),
        **dict.fromkeys(("keys", "untouched", "household_keys", "renumber"), texts),
        "drop": columns,
        **dict.fromkeys(("k", "dimension", "seed", "order_seed"), whole),
        "levels": table(whole),
        "tables": tables,
        "risk": number,
        "threshold": threshold,
        "priorities": table(number),
        "ghosts": table(texts),
        "hierarchies": table(text),
        "answer": text,
        "time_limit": limit,
        "shuffle": flag,
    }
)
COMMANDS: Mapping[str, Mapping[str, Reader]] = MappingProxyType({"mask": MASK, "suppress": SUPPRESS})
"""The keywords of the functions, by name; how an output is written is among them."""
