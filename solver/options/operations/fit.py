"""What `fit` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from linkrisk.datasets.options.kinds import NUMBER, SWITCH, TEXT
from linkrisk.datasets.options.option import PYTHON, option, written
from linkrisk.solver.options.engine import Engine
from linkrisk.solver.options.pair import (
    Alignment,
    Attributes,
    Categories,
    Comparison,
    Constants,
    Families,
    Files,
)
from linkrisk.solver.options.run import (
    Chance,
    Command,
    Limits,
    Live,
    Memory,
    Model,
    Samples,
    Steered,
    Workers,
)

_OUTPUT = "output"
_CALLED = frozenset({PYTHON})


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Whether what proves the bound is written down."""

    title = _OUTPUT

    certificate: bool = option(
        False,
        "write down what proves the bound, for `verify`; ``exact`` and one aggregator only. Where that "
        "fails, the result has no certificate and a note that says why",
        SWITCH,
        faces=_CALLED,
    )
    certificate_time_limit: float | None = option(
        None,
        "seconds for that, after the search; default: what it leaves of {time_limit}, at least a quarter "
        "or 60",
        NUMBER,
        doc="seconds for that, after the search; when absent, the search leaves a part of the time limit "
        "to it, or 60 without one",
        metavar="S",
        after="certificate_file",
    )


@dataclass(frozen=True, kw_only=True)
class FitOptions(
    Files, Attributes, Alignment, Constants, Categories, Families, Comparison, Limits, Chance, Model,
    Samples, Workers, Engine, Memory, Certificate, Steered, Live, Command
):  # fmt: skip
    """What `fit` can be asked."""

    words: ClassVar[Mapping[str, str]] = {
        **Workers.words,
        "work": "search samples and count",
        "workers_for": "; with {scheduler}, for how many the samples are planned",
    }

    on_found: Callable[[Any], None] | None = option(
        None, "called with the result, or results, before a certificate is made of it", TEXT, faces=_CALLED
    )
    reserve: tuple[float, float] = option(
        (0.0, 0.0),
        "seconds of the time limit that are left to whoever writes the result: at all, and for each record "
        "of each family",
        TEXT,
        faces=_CALLED,
    )


@dataclass(frozen=True, kw_only=True)
class FitCommand(FitOptions):
    """What the command `fit` can be asked."""

    title = _OUTPUT

    json: str | None = written("write the whole result as JSON")
    report: str | None = written("write the result as one HTML page")
    table: str | None = written("write the table of records (of the worst family), as its suffix says")
    certificate_file: str | None = written(
        "write what proves the bound, for the command verify", flag="certificate"
    )
    write_model: str | None = written("write the model (.lp or .mps) instead of solving it")
