"""Options of a run: limits, samples, workers, cancellation and progress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import COLUMN, COUNT, LIMIT, NUMBER, SEED, SHARE, SIZE, TEXT, Range
from linkrisk.datasets.options.option import PYTHON, again, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linkrisk.solver.options.types import Cancel, Reporter, Steering

AUTOMATIC = "auto"
"""Stands for what the program chooses."""

SECONDS = 120.0
"""Of a search where nothing is said."""

MARGIN = 1e-5
"""Of strict inequalities in a model."""

TOLERATED = 0.05
"""Share of records that may be re-identified."""

CONFIDENCE = 0.95
"""Of the limit that samples give."""

_MEGABYTES = replace(LIMIT, metavar="MB", within=Range(above=0, of="megabytes"))
_UNITS = replace(NUMBER, metavar="UNITS", within=Range(above=0, of="units"))
_POSITIVE = replace(NUMBER, within=Range(above=0))


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Limits:
    """When a search ends."""

    title = "run"

    time_limit: float | str | None = option(
        AUTOMATIC,
        "seconds, or 'none'; default: {default}",
        LIMIT,
        doc="seconds after which the best answer so far is returned, with a valid bound; None for no limit, "
        f"``auto`` for {SECONDS:g}, or for none where there is a work limit",
        usual=f"{SECONDS:g}, or none with {{work_limit}}",
        metavar="S",
        label="Time limit in seconds",
    )
    work_limit: float | None = option(
        None,
        "units of work, counted and not timed (a unit is about a second of one processor): the same seed "
        "then gives the same answer on every machine",
        _UNITS,
        doc="units of work after which the same happens; ``exact`` only. A unit is about a second of one "
        "processor, but counted and not measured: the same seed and limit give the same answer on every "
        "machine",
        label="Work limit in units",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LimitEach:
    """When each of several ends."""

    title = Limits.title

    time_limit: float | None = option(
        60.0,
        "seconds for each, or 'none'; default: {default}",
        LIMIT,
        doc="seconds for each of them; None for no limit",
        metavar="S",
        label="Time limit in seconds",
        record=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Chance:
    """What random choices depend on."""

    title = Limits.title

    seed: int = option(0, "seed of every random choice; default: {default}", SEED, label="Seed")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Model:
    """The model, and the optimisers that solve it."""

    title = Limits.title

    threads: int | None = option(
        None,
        "threads of the optimiser; default: 1",
        COUNT,
        doc="for ``milp``: threads of the optimiser; 1 when absent",
        label="Threads",
    )
    margin: float | None = option(
        None,
        "margin that replaces the strict inequality in a model, on rows of unit length; default: {default}",
        SHARE,
        doc="for ``milp``: margin that replaces the strict inequality, on rows of unit length; {default} "
        "when absent",
        usual=f"{MARGIN:g}",
        metavar="M",
        label="Margin",
    )
    big_c: float | None = option(
        None,
        "one constant C for all rows, as in the paper; default: tight for each row",
        _POSITIVE,
        doc="for ``milp``: one constant C for all rows instead of a tight one for each",
        metavar="C",
        label="Constant C",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Samples:
    """Whether samples are searched instead of all records, and how they are drawn."""

    title = "samples"

    sample: int | str | None = option(
        AUTOMATIC,
        "search random samples of so many records each instead of all, or 'none'; default: {default}",
        SIZE,
        doc="records in each of the random samples whose worst cases are searched instead of that of the "
        "whole file; ``auto`` for the program's choice, in files of more than some ten thousand records "
        "only; None for none. All records stay candidates, and the attack is counted on all",
        usual="all records, of more than 20,000 samples of 50",
        metavar="M",
        label="Records in a sample",
    )
    samples: int | None = option(
        None,
        "how many samples, disjoint; default: what the time limit allows",
        COUNT,
        metavar="K",
        label="Samples",
    )
    confidence: float = option(
        CONFIDENCE,
        "of the limit that samples give for the whole file; default: {default}",
        SHARE,
        doc="of the limit that samples give for the whole file (`FamilyFit.linked_confidence_limit`)",
        metavar="P",
        label="Confidence",
    )
    strata: str | None = option(None, "draw of each value of a column its share", COLUMN, label="Strata")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Workers:
    """Worker processes; the `words` of an operation name their work."""

    title = "workers"
    words: ClassVar[Mapping[str, str]] = {"work": "work", "workers_for": "", "workers_usual": "none"}

    scheduler: str | None = option(
        None,
        "address of a Dask scheduler whose workers {work} (pip install 'linkrisk[dask]')",
        TEXT,
        doc="address of a Dask scheduler whose workers {work}; the answers are the same",
        metavar="ADDRESS",
        label="Scheduler",
    )
    workers: int | None = option(
        None,
        "so many processes of this machine {work}{workers_for}; default: {workers_usual}",
        COUNT,
        label="Workers",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Memory:
    """How much memory a run may hold."""

    title = "engine"

    memory_limit: float | str | None = option(
        AUTOMATIC,
        "megabytes that the process may hold, or 'none'; default: {default}",
        _MEGABYTES,
        doc="megabytes (of a million bytes) that this process may hold before the same happens; ``auto`` for "
        "most of what is free when the run begins, None for no limit",
        usual="four fifths of what is free",
        label="Memory limit in megabytes",
    )


_CALLS = frozenset({PYTHON})


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Steered:
    """Tuning of the searches."""

    steering: Steering | None = option(
        None,
        "tuning of the searches, for experiments: it decides how soon an answer is found, never which bound "
        "holds",
        TEXT,
        faces=_CALLS,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Cancellable:
    """Who may end a call."""

    cancel: Cancel | None = option(
        None,
        "a token with which another thread, or `on_progress`, may end the call as Ctrl-C does, with what is "
        "known by then",
        TEXT,
        faces=_CALLS,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Live(Cancellable):
    """Cancellation and progress of a call."""

    on_progress: Reporter | None = option(
        None,
        "called with every `Progress`, from whichever thread makes it. Without one, a notebook shows the "
        "progress of a search under its cell, unless the environment variable LINKRISK_PROGRESS is ``none``",
        TEXT,
        faces=_CALLS,
    )


@dataclass(frozen=True, kw_only=True)
class Watched:
    """Progress of a call without a search."""

    on_progress: Reporter | None = again(
        Live, "on_progress", None, doc="called when code has to be compiled first"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Command:
    """How a call came about."""

    command: str | None = option(None, "the command line to note in the result", TEXT, faces=_CALLS)
