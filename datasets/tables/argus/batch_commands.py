"""What a batch of tau-ARGUS says: data, tables, and what is done with them in turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

MICRODATA, CELLS = "microdata", "cells"


@dataclass(frozen=True)
class Opened:
    """Microdata or cells, and what their columns are."""

    kind: str
    data: Path
    metadata: Path


@dataclass(frozen=True)
class Rule:
    """A safety rule with its numbers."""

    name: str
    numbers: tuple[float, ...]


@dataclass
class Specified:
    """A table: explanatory variables, response (None: counts), shadow, cost and its power, rules."""

    opened: Opened
    line: int
    by: tuple[str, ...]
    response: str | None
    shadow: str | None = None
    cost: str | None = None
    power: float = 1.0
    rules: tuple[Rule, ...] = ()
    settings: dict[str, float] = field(default_factory=dict)
    recompute: bool = False


@dataclass(frozen=True)
class Recode:
    """A variable made coarser: by a file, or down to a level."""

    line: int
    table: int
    variable: str
    level: int | None
    file: Path | None


@dataclass(frozen=True)
class Apriori:
    """What a file knows of the cells of a table."""

    line: int
    table: int
    file: Path
    separator: str
    skip_unknown: bool
    expand: bool


@dataclass(frozen=True)
class Suppress:
    """A method for a table, or for several that are linked, and its numbers."""

    line: int
    method: str
    tables: tuple[int, ...]
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class CellKeys:
    """Noise by cell keys for a table: perturbation tables, where its metadata does not name them.

    Of sums there are also one of small cells, and the extra noise of sensitive ones.
    """

    line: int
    table: int
    noise: Path | None = None
    small: Path | None = None
    extra: float = 0.0


@dataclass(frozen=True)
class Write:
    """A table in a format, with options that are on."""

    line: int
    table: int
    format: int
    options: dict[str, bool]
    file: Path


@dataclass(frozen=True)
class Named:
    """A file that a line asks for."""

    line: int
    file: Path


Step: TypeAlias = Recode | Apriori | Suppress | CellKeys | Write


@dataclass(frozen=True)
class Batch:
    """All that a batch says.

    Steps number tables from 1, in the order of all `tables`: behind <CLEAR> they count on.

    Attributes
    ----------
    path : Path
    tables : tuple of Specified
    steps : tuple of Recode, Apriori, Suppress, CellKeys, Write
        In the order of the file.
    ignored : tuple of str
        Commands without effect here, with the reason.
    lines : tuple of str
        Its text.
    logbook : Named or None
        Where what is done is written, with times.
    versions : tuple of Named
        Where the version of the program is written.
    """

    path: Path
    tables: tuple[Specified, ...]
    steps: tuple[Step, ...]
    ignored: tuple[str, ...]
    lines: tuple[str, ...] = ()
    logbook: Named | None = None
    versions: tuple[Named, ...] = ()
