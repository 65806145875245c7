"""Options of the measures of a release: of `risk`, `report` and `sweep`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.options.kinds import (
    DURATION,
    FILE,
    NAME,
    NAMES,
    NUMBER,
    OPEN,
    SWITCH,
    TEXT,
    WORDS,
    Range,
    several,
)
from linkrisk.datasets.options.option import COMMAND, PYTHON, again, option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.names import TiesName
from linkrisk.solver.options.pair import (
    ALL,
    Alignment,
    Attributes,
    Categories,
    Comparison,
    Constants,
    Families,
    Files,
)
from linkrisk.solver.options.run import (
    AUTOMATIC,
    CONFIDENCE,
    TOLERATED,
    Chance,
    Command,
    Limits,
    Live,
    Memory,
    Samples,
    Workers,
)

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import FileOrResult, Masking, SchemaLike, TableLike


_CALLED = frozenset({PYTHON})
_SHARE = replace(NUMBER, metavar="SHARE", shown=100.0, within=Range(0, 1))


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SeveralFiles:
    """The two files, or several of each."""

    title = Files.title

    original: TableLike | Sequence[TableLike] | None = again(
        Files,
        "original",
        None,
        kind=several(FILE),
        help="original file, of any format; give it once for each source of an intruder, which are joined by "
        "{id}",
        doc="the original file, as `fit` takes it; a list or tuple of them are sources that are joined by "
        "the ids of their records",
    )
    masked: TableLike | Sequence[TableLike] | None = again(
        Files,
        "masked",
        None,
        kind=several(FILE),
        help="masked file, of any format; give it once for each release, the first one first",
        doc="its masked version; a list or tuple of them are releases in the order in which they came, of "
        "which the last is judged",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Releases:
    """How several releases belong together."""

    title = "several releases"

    releases: str = option(
        "together",
        "whether an intruder can tell which records of several releases belong together: {choices}, or which "
        "of them, as in 1+2,3; default: {default}",
        OPEN,
        choices=names.WAYS,
        metavar="WAY",
        label="Releases",
    )
    versions: bool = option(
        False,
        "several originals are no sources of one intruder: each is what the release in its place was made of",
        SWITCH,
        label="Originals are versions",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Measures:
    """What is measured, and by what it is judged."""

    title = "measures"

    measures: str | Sequence[str] = option(
        ALL,
        "{choices}; default: {default}",
        WORDS,
        choices=names.MEASURES,
        named={ALL: "all measures"},
        label="Measures",
    )
    tolerated: float = option(
        TOLERATED,
        "share of records that may be re-identified, for the verdict; default: {default}",
        _SHARE,
        label="Tolerated, in % of the records",
    )
    groups: str | Sequence[str] | None = option(
        None,
        "columns of the original file to show risk by; default: key and stratum of the schema",
        NAMES,
        metavar="COLUMN[,COLUMN]",
        label="Groups",
    )
    fraction: float | None = option(
        None,
        "sampling fraction: records for each person of the population; default: by sampling weights",
        replace(NUMBER, within=Range(above=0, most=1)),
        metavar="PI",
        label="Sampling fraction",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Masked(Categories):
    """Categorical attributes, and the known masking of a file."""

    masking: Masking = again(
        Categories,
        "masking",
        (),
        help="how the file was masked, as 'top-coding categories=3 attributes=A'; give it once for each "
        "method; or the FILE.json that mask --record has written. Pairs of records that a masking of "
        "categories makes impossible are never linked. Recodings that the files show are known without it; "
        "'none' leaves them out",
        doc="how the file was masked, as `mask` takes it: methods of categories, as for `fit`, and those "
        "of numbers (``noise percent=20 attributes=age``), which the measure ``reidentification`` goes by. "
        "One of these without attributes has masked all numeric attributes that are compared. A path that "
        "ends in ``.json`` is the record that `mask` has written: the methods that it names",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class WorstCase(Families, Comparison):
    """Which worst cases are searched."""

    aggregator: str | Sequence[str] = again(
        Families, "aggregator", ALL, doc="the families of distances that the worst case is taken over"
    )
    ties: TiesName | None = again(
        Comparison,
        "ties",
        None,
        usual="share where candidates are identical",
        doc="``strict`` or ``share``, as for `fit`. When absent, ``share`` where candidates equal a partner, "
        "as guessing among equals succeeds with some probability. The verdict knows both, whichever is "
        "searched",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LimitAll(Limits):
    """When all measures end."""

    time_limit: float | str | None = again(
        Limits,
        "time_limit",
        AUTOMATIC,
        help="seconds for all, or 'none'; default: {default}",
        doc="seconds of the whole call, reading included: half of it for the worst cases, the rest shared "
        "out by what measures cost. A measure that has no answer by then is a note. As for `fit` otherwise",
    )
    work_limit: float | None = again(
        Limits, "work_limit", None, help="units of work instead, as for fit", doc=""
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CalledSamples:
    """Samples for worst cases of large files, where a function asks for them."""

    sample: int | str | None = again(Samples, "sample", AUTOMATIC, faces=_CALLED)
    samples: int | None = again(Samples, "samples", None, faces=_CALLED)
    confidence: float = again(Samples, "confidence", CONFIDENCE, faces=_CALLED)
    memory_limit: float | str | None = again(Memory, "memory_limit", AUTOMATIC, faces=_CALLED)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Provable:
    """Whether certificates can be made afterwards."""

    certificates: bool = option(
        False,
        "keep what certificates of the worst cases would be made of (`FamilyFit.fitted`), and leave a part "
        "of the time limit to them",
        TEXT,
        faces=_CALLED,
    )


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
    """Options of `risk`."""


@dataclass(frozen=True, kw_only=True)
class RiskCommand(RiskOptions):
    """Options of the command `risk`."""

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
    """Options of `report`."""

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
        DURATION,
        doc="seconds for all certificates, after the measures and beyond their time limit; when absent, the "
        "measures leave a part of that to them, of which 20 are used at most",
        metavar="S",
        label="Time limit of certificates",
        after="certificate_file",
    )


@dataclass(frozen=True, kw_only=True)
class ReportCommand(ReportOptions):
    """Options of the command `report`."""

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


SECONDS_EACH = 60.0
"""Of a masking where nothing is said."""

MEASURES = ("worst-case", "simple-attacks", "held-out", "information-loss")
"""Those that are taken where nothing is said."""

_COLUMNS, _MEASURES = "columns", Measures.title


@dataclass(frozen=True)
class Maskings:
    """What is masked, and in which ways."""

    title = "maskings"

    original: TableLike | None = again(
        Files,
        "original",
        None,
        help="file of any format, or the name of a data set",
        doc="the original table, as `mask` takes it; it has to be given",
        group=title,
    )
    methods: Sequence[Any] = option(
        (),
        "{choices}, with its parameters and ranges of them, as 'microaggregation k=2..20', 'noise "
        "percent=5..50:5' (step 5) or 'noise percent=5,10 correlated'; several in order with + between them; "
        "give it once for each family of maskings",
        several(TEXT),
        doc='as `mask` takes them, with ranges: ``"microaggregation k=2..20"``, ``"noise percent=5..50:5"``; '
        "several methods in order with `` + `` between them or as a sequence",
        choices=names.MASKING_METHODS,
        flag="method",
        metavar="METHOD",
        label="Methods",
    )


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the columns of the file are."""

    attributes: Sequence[str] | None = again(
        Attributes, "attributes", None, help="attributes to compare; default: all columns", group=_COLUMNS
    )
    id: str | None = again(
        Alignment, "id", None, help="column of record ids, never masked or compared", doc="", group=_COLUMNS
    )
    drop_constant: bool = again(Constants, "drop_constant", False, group=_COLUMNS)
    nominal: Sequence[str] = again(Categories, "nominal", (), group=_COLUMNS)
    ordinal: Sequence[str] = again(Categories, "ordinal", (), group=_COLUMNS)
    schema: SchemaLike | None = again(
        Categories,
        "schema",
        None,
        help="JSON or TOML file that says what the columns are, for measures and methods",
        doc="what the columns are; methods without a schema of their own go by it as well",
        group=_COLUMNS,
    )


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What is measured of each masking."""

    measures: str | Sequence[str] = again(
        Measures,
        "measures",
        MEASURES,
        help="{choices}, or all; default: {default}",
        doc="as `risk` takes them; the worst case is always among them",
        usual=", ".join(MEASURES),
    )
    loss: str | None = option(
        None,
        "information loss that the front goes by; default: IL1s, or pMSE",
        NAME,
        doc="the information loss that the Pareto front goes by "
        "(`linkrisk.solver.risk_utility.sweep.LOSSES`). When absent, IL1s over all attributes, or pMSE "
        "where that is known of more maskings",
        choices="linkrisk.solver.risk_utility.sweep:LOSSES",
        label="Information loss",
        group=_MEASURES,
    )
    tolerated: float = again(
        Measures,
        "tolerated",
        TOLERATED,
        help="share of records that may be re-identified; default: {default}",
    )


@dataclass(frozen=True, kw_only=True)
class LimitsEach:
    """When each masking ends, and where what is finished is kept."""

    title = Limits.title

    time_limit: float | str | None = again(
        Limits,
        "time_limit",
        AUTOMATIC,
        help="seconds for each masking, or 'none'; default: {default}",
        doc=f"seconds for each masking, as `risk` takes them; {SECONDS_EACH:g} when absent, or none with a "
        "work limit",
        usual=f"{SECONDS_EACH:g}, or none with {{work_limit}}",
    )
    work_limit: float | None = again(
        Limits, "work_limit", None, help="units of work for each masking, as for fit", doc=""
    )
    seed: int = again(
        Chance,
        "seed",
        0,
        help="seed of every random choice, that of masking included; default: {default}",
        doc="of all measures; masking draws from one that follows from this and the text of the masking",
    )
    folder: str | Path | None = option(
        None,
        "where finished runs are kept; default: beside --table or --json, with .runs at its end",
        FILE,
        doc="where finished runs are kept: a sweep that was stopped goes on there, and nothing is measured "
        "twice",
        metavar="DIR",
        label="Folder",
    )


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Maskings, Columns, WorstCase, Judged, LimitsEach, Workers, Live, Command):
    """Options of `sweep`."""

    words: ClassVar[Mapping[str, str]] = {
        **Workers.words,
        "work": "measure one masking each",
        "workers_usual": "all processors",
    }


@dataclass(frozen=True, kw_only=True)
class SweepCommand(SweepOptions):
    """Options of the command `sweep`."""

    title = "output"

    plan: str | None = option(
        None,
        "TOML file with maskings, and with any of these options",
        FILE,
        faces=_TYPED,
        group=Maskings.title,
        after="methods",
    )
    planned: tuple[Any, ...] = option((), "the maskings of a plan", TEXT, faces=frozenset())
    table: str | None = written("write the table, one masking per row")
    json: str | None = written("write the same with all findings as JSON")
    report: str | None = written("write the results as one HTML page")
