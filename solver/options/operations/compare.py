"""What `compare` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from linkrisk.datasets.options.kinds import SWITCH, WORDS
from linkrisk.datasets.options.option import option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.pair import Files, ProblemOptions
from linkrisk.solver.options.run import Chance, LimitEach, Live, Model, Steered, Workers


@dataclass(frozen=True, kw_only=True)
class Backends:
    """What is compared."""

    title = "backends"

    backends: Sequence[str] | None = option(
        None,
        "of exact, {choices}; default: exact and all that are installed",
        WORDS,
        choices=names.BACKENDS,
        named={"exact": "exact: our own"},
        label="Backends",
    )
    start: bool = option(
        True,
        "do not start from the heuristic attack",
        SWITCH,
        doc="give the heuristic attack as a start point to the exact engine and to the backends that take "
        "one",
        label="Start from the heuristic attack",
    )


@dataclass(frozen=True, kw_only=True)
class CompareOptions(
    Files, ProblemOptions, LimitEach, Chance, Model, Backends, Workers, Steered, Live
):  # fmt: skip
    """What `compare` can be asked."""

    words: ClassVar[Mapping[str, str]] = {**Workers.words, "work": "run engine and backends side by side"}


@dataclass(frozen=True, kw_only=True)
class CompareCommand(CompareOptions):
    """What the command `compare` can be asked."""

    title = "output"

    json: str | None = written("write the comparison as JSON")
    table: str | None = written("write the comparison as a table, as its suffix says")
