"""What the steps of a protocol may say, and how each of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from linkrisk.datasets.options.option import PROTOCOL, options_of
from linkrisk.datasets.options.typed import Reader
from linkrisk.solver.options.operations.mask import MaskCommand
from linkrisk.solver.options.operations.suppress import SuppressCommand

COMMANDS: Mapping[str, Mapping[str, Reader]] = MappingProxyType(
    {
        command: {name: one.kind.typed for name, one in options_of(asked, PROTOCOL).items()}
        for command, asked in (("mask", MaskCommand), ("suppress", SuppressCommand))
    }
)
"""The keywords of the functions, by name; how an output is written is among them."""
