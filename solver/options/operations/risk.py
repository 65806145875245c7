"""What `risk` and `report` can be asked, as functions and as commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import FILE, NAME, NUMBER, TEXT, several
from linkrisk.datasets.options.option import COMMAND, PYTHON, again, option, written
from linkrisk.solver.options.measuring import (
    CalledSamples,
    LimitAll,
    Masked,
    Measures,
    Provable,
    Releases,
    SeveralFiles,
    WorstCase,
)
from linkrisk.solver.options.pair import Alignment, Attributes, Constants
from linkrisk.solver.options.run import Chance, Command, Live, Workers

if TYPE_CHECKING:
    from linkrisk.solver.options.types import FileOrResult

_TYPED = frozenset({COMMAND})


@dataclass(frozen=True, kw_only=True)
class Measured(
    Attributes, Alignment, Constants, Releases, Measures, Masked, WorstCase, LimitAll, Chance, Workers,
    CalledSamples, Live, Command
):  # fmt: skip
    """What is asked of measures."""

    words: ClassVar[Mapping[str, str]] = {**Workers.words, "work": "search samples and count"}


@dataclass(frozen=True, kw_only=True)
class RiskOptions(SeveralFiles, Measured, Provable):
    """What `risk` can be asked."""


@dataclass(frozen=True, kw_only=True)
class RiskCommand(RiskOptions):
    """What the command `risk` can be asked."""

    title = "output"

    json: str | None = written("write all results as JSON")
    report: str | None = written("write the results as one HTML page, as report does")
    table: str | None = written("write the table of findings, as its suffix says")


@dataclass(frozen=True)
class FilesOrResults:
    """The two files, or results that are saved already."""

    title = SeveralFiles.title

    original: FileOrResult | Sequence[FileOrResult] | None = again(
        SeveralFiles,
        "original",
        None,
        doc="the original file, as `risk` takes it; or what a function has returned, its JSON, or the file "
        "with it (.json), of which the report is made without measuring anything",
    )
    masked: FileOrResult | Sequence[FileOrResult] | None = again(
        SeveralFiles, "masked", None, doc="its masked version, likewise; or a sweep beside a worst case"
    )


@dataclass(frozen=True, kw_only=True)
class ReportOptions(FilesOrResults, Measured):
    """What `report` can be asked."""

    title = "report"

    audience: str | None = option(
        None,
        "internal, or external without anything that would help an intruder; default: internal",
        NAME,
        choices=("internal", "external"),
        metavar="WHO",
        label="Audience",
        after="json",
    )
    certificates: bool | None = option(
        None,
        "whether to certify every worst case and check the certificates; when absent, where that is quick",
        TEXT,
        faces=frozenset({PYTHON}),
    )
    certificate_time_limit: float | None = option(
        None,
        "seconds for all certificates, after the measures; default: what these leave of {time_limit}, 20 at "
        "most",
        NUMBER,
        doc="seconds for all certificates, after the measures and beyond their time limit; when absent, the "
        "measures leave a part of that to them, of which 20 are used at most",
        metavar="S",
        label="Time limit of certificates",
        after="certificate_file",
    )


@dataclass(frozen=True, kw_only=True)
class ReportCommand(ReportOptions):
    """What the command `report` can be asked."""

    title = "report"

    output: str | None = written("write the report as one HTML page")
    json: str | None = written("write what the report says as JSON")
    saved: list[str] | None = option(
        None,
        "measure nothing: make the page of what fit, risk, sweep or report wrote with --json; given again, a "
        "sweep beside a worst case",
        several(FILE),
        faces=_TYPED,
    )
    certificate_file: str | None = written(
        "write what proves the bounds of all families, whatever that takes", flag="certificate"
    )
