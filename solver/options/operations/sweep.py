"""What `sweep` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.options.kinds import FILE, NAME, TEXT, several
from linkrisk.datasets.options.option import COMMAND, again, option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.measuring import Measures, WorstCase
from linkrisk.solver.options.pair import Alignment, Attributes, Categories, Constants, Files
from linkrisk.solver.options.run import AUTOMATIC, TOLERATED, Chance, Command, Limits, Live, Workers

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import SchemaLike, TableLike

SECONDS_EACH = 60.0
"""Of a masking where nothing is said."""

MEASURES = ("worst-case", "simple-attacks", "held-out", "information-loss")
"""Those that are taken where nothing is said."""

_TYPED = frozenset({COMMAND})
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
        "(`linkrisk.solver.risk_utility.results.LOSSES`). When absent, IL1s over all attributes, or pMSE "
        "where that is known of more maskings",
        choices="linkrisk.solver.risk_utility.results:LOSSES",
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
    """What `sweep` can be asked."""

    words: ClassVar[Mapping[str, str]] = {
        **Workers.words,
        "work": "measure one masking each",
        "workers_usual": "all processors",
    }


@dataclass(frozen=True, kw_only=True)
class SweepCommand(SweepOptions):
    """What the command `sweep` can be asked."""

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
