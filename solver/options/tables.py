"""Options that operations on tables share: cells, tabulated microdata, attackers, search, output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import (
    COLUMN,
    FILE,
    LIMIT,
    NAMES,
    OPEN,
    SEED,
    SWITCH,
    TEXT,
    TREES,
    WRITTEN,
    YES_NO,
    pairs,
    several,
)
from linkrisk.datasets.options.option import COMMAND, again, declared, option, written

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import (
        File,
        Frame,
        Hierarchies,
        Incomplete,
        Rule,
        SchemaLike,
        TableLike,
        TableSource,
    )


TABLE_SECONDS = 60.0
"""Of a search in a table where nothing is said."""

OWN = "exact"
"""What our own branch and cut, and branch and bound, are called among backends."""

_TYPED = frozenset({COMMAND})


@dataclass(frozen=True)
class TableCells:
    """Its cells, and how they add up."""

    title = "the table: {tables}, or {cells} with {relations} or codes"

    cells: TableSource | Sequence[Frame] | None = option(
        None,
        "a line for each cell: value; status u (sensitive), m (suppressed with it), s or z (always "
        "published); lower_protection, upper_protection, sliding_protection; lower_bound, upper_bound; cost. "
        "Several tables are joined where their codes are equal",
        several(FILE),
        doc="a whole table (`open_table`, `make_table`), a file that says itself which relations there are, "
        "or a line for each cell: `value`; `status`, ``u`` where it is sensitive, ``m`` where it is "
        "suppressed with these, ``z`` where it is always published; `lower_protection`, `upper_protection` "
        "and `sliding_protection` of sensitive cells; `lower_bound` and `upper_bound`, what everybody knows, "
        "by default 0 (or minus the largest value, where one is negative) and the largest value; `cost`. "
        "Several tables are joined where their codes are equal",
        label="File of cells",
        after="metadata",
    )
    relations: Frame | Sequence[Frame] | None = option(
        None,
        "a line for each term: relation, cell (from 0), coefficient; the terms of a relation sum to 0. "
        "Without it relations follow from codes",
        several(FILE),
        doc="a line for each term: `relation`, `cell` (from 0), `coefficient`; the terms of a relation sum "
        "to 0. Without it the relations follow from the codes of the cells: a code is the sum of those right "
        "below it, for all codes of the other columns",
        label="File of relations",
        after="cells",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class TableReading:
    """How it is read."""

    title = TableCells.title

    tables: Frame | Sequence[Frame] | None = option(
        None,
        "a file that says itself which relations there are: .jj, or .tab of ARGUS with .rda beside it. "
        "Several .tab are joined where their codes are equal",
        several(FILE),
        doc="instead of {cells}: a file that says itself which relations there are, ``.jj``, or ``.tab`` of "
        "ARGUS with ``.rda`` beside it; or several, which are joined where their codes are equal",
        flag="table",
        label="Whole tables",
    )
    metadata: str | Path | None = option(
        None,
        "the .rda of {tables}, where it is not beside it",
        FILE,
        doc="what the columns of cells of ARGUS are; by default the ``.rda`` file of the same name",
        label="Metadata of ARGUS (.rda)",
        usual="the one beside a .tab, if any",
    )
    by: Sequence[str] | None = option(
        None, "columns of codes; default: those before value", NAMES, label="Columns of codes"
    )
    hierarchies: Mapping[str, Hierarchies] | None = option(
        None,
        "of a column of codes: code and parent, .hrc, or a column for each level; several for one column "
        "where codes are grouped in several ways",
        TREES,
        doc="of columns of codes: a file or frame with `code` and `parent`, or with a column for each level, "
        "or a tree of ARGUS (``.hrc``); several of them where codes are grouped in several ways. The codes "
        "of a column without one are all right below its total",
        flag="hierarchy",
        label="Hierarchies",
    )
    totals: Mapping[str, str] | None = option(
        None, "the total of a column of codes; default: Total", pairs("A=CODE"), flag="total", label="Totals"
    )
    value: str | None = option(
        None,
        "the column of values; default: value",
        COLUMN,
        doc="the column of values, where it is not called `value`",
        label="Column of values",
        usual="value; of ARGUS the first one",
    )
    apriori: str | Path | None = option(
        None,
        "what is known of some cells: .hst of ARGUS",
        FILE,
        label="What is known of cells (.hst)",
        once=True,
    )
    counts: bool | None = option(
        None,
        "whether the values count: attackers know whole numbers, and 1 or more where empty cells are shown; "
        "default: guessed, and said",
        YES_NO,
        doc="whether the values are counts, which attackers know to be whole numbers, and at least 1 where "
        "empty cells are shown. By default it is guessed: where they equal the column `respondents`, or "
        "exactly the smallest of whole numbers are sensitive",
        label="The values",
        usual="guessed: counts, or amounts",
        named={"yes": "count: whole numbers", "no": "are amounts"},
        once=True,
    )
    recompute: bool = option(
        False,
        "compute totals again, where they do not add up",
        SWITCH,
        label="Compute totals again from what is below them",
    )
    made: str | Path | None = option(
        None,
        "what `tables make --record` has written of it: rules, labels, and whether the values count",
        FILE,
        label="Rules that it was made by (.json)",
        usual="not known",
        once=True,
    )


@dataclass(frozen=True)
class LinkTablesOptions:
    """Options of `link_tables`."""

    tables: Sequence[TableSource] = field(
        metadata=declared(
            "tables with columns of codes",
            several(FILE),
            doc="tables with columns of codes. Cells with the same codes are the same cell; a column that a "
            "table does not have stands at its total there",
        )
    )
    _: KW_ONLY
    totals: Mapping[str, str] | None = again(TableReading, "totals", None)


@dataclass(frozen=True)
class TableOptions(TableCells, TableReading):
    """Options of the source of a table."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class WhoAttacks:
    """Who attacks a table."""

    title = "who attacks besides outsiders"

    insiders: File | None = option(
        None,
        "singletons (the only respondents of cells; default where {contributors} or a column respondents say "
        "who is alone, as far as levels can be kept from them), contributors (every respondent, by what it "
        "contributed), a file: insider, cell, lower, upper; or none",
        OPEN,
        doc="who attacks besides outsiders: ``singletons``, each only respondent of a cell; "
        "``contributors``, each respondent by what it contributed; a file of `insider`, `cell`, `lower`, "
        "`upper`; or ``none``. By default singletons, where `contributors` or a column `respondents` say who "
        "is alone, and as far as levels can be kept from them",
        metavar="WHO",
        label="Besides outsiders",
        usual="only respondents, where known",
        named={
            "none": "nobody",
            "singletons": "the only respondents of cells",
            "contributors": "every respondent",
        },
        once=True,
    )
    contributors: File | None = option(
        None,
        "cell, contributor, amount, as tables make writes them",
        FILE,
        doc="who contributes what: `cell`, `contributor`, `amount`, as `make_table` writes them. Without it "
        "singletons are known by the column `respondents` of the cells",
        label="File of contributions",
        once=True,
    )
    coalitions: File | None = option(
        None,
        "who tells one another everything: coalition, contributor",
        FILE,
        label="File of coalitions",
        once=True,
    )
    as_far_as_possible: bool = option(
        False,
        "lower the levels that cannot be reached against an insider, whatever is suppressed",
        SWITCH,
        label="Where a level cannot be kept from somebody, keep as much of it as possible",
        needs=("insiders", "coalitions"),
        because="lowers levels against insiders who are asked for",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Exactly:
    """How levels are decided."""

    exact: bool = option(
        False,
        "decide every level in rational numbers, without tolerance",
        SWITCH,
        doc="decide in rational numbers whether every level holds, for a certificate",
        label="Decide every level in rational numbers, without tolerance: slower",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Ended:
    """What chance depends on in a backend, and when the search ends."""

    seed: int = option(0, "of the backend; default: {default}", SEED, label="Seed")
    time_limit: float | None = option(
        TABLE_SECONDS,
        "seconds, or 'none'; default: {default}",
        LIMIT,
        doc="seconds after which the best answer so far is returned, with a bound; None for no limit",
        metavar="S",
        label="Time limit in seconds",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Published:
    """The file for readers."""

    output: str | None = written("write the table as it may be published", after="made")
    dataflow: str | None = option(
        None,
        "what .sdmx.csv files call the table: AGENCY:ID(VERSION); default: as one that was read does",
        TEXT,
        faces=_TYPED,
        metavar="ID",
        after="output",
        once=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class OneForTheHouse:
    """The internal file; the `words` of an operation name its content."""

    internal: str | None = written("write {house}: for the house", after="output")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class SeveralForTheHouse:
    """Files for the house."""

    internal: Sequence[str] | None = option(
        None,
        "write the cells with status and the intervals that attackers find: for the house; once for each "
        "format",
        replace(WRITTEN, repeated=True),
        faces=_TYPED,
        after="output",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class About:
    """Files about the result."""

    json: str | None = written("write what was found as JSON", after="internal")
    report: str | None = written("write what was done and found as one HTML page", after="json")
    external_report: str | None = written(
        "the same for readers outside, without anything that would help an intruder", after="report"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Proof:
    """What proves that levels hold."""

    certificate: str | None = written(
        "write what proves it, for `verify` (with .gz compressed); implies {exact}", after="exact"
    )


_DATA = declared(
    "microdata{microdata}",
    FILE,
    doc="the microdata, a record for each respondent",
    flag="input",
    label="File of microdata",
)
"""What is tabulated; the `words` of an operation say more of it."""


@dataclass(frozen=True)
class Microdata:
    """What is tabulated by what."""

    data: TableLike = field(metadata=_DATA)
    by: Sequence[str] = field(
        metadata=declared("explanatory variables, one to six", NAMES, label="Explanatory variables")
    )


@dataclass(frozen=True)
class MicrodataOfEach:
    """What is tabulated by what, for each of several tables."""

    data: TableLike = field(metadata=_DATA)
    by: Sequence[Sequence[str]] = field(
        metadata=declared(
            "explanatory variables, one to six; once for each of several tables, which are linked",
            several(NAMES),
            doc="the explanatory variables of each table, one to six",
            label="Explanatory variables",
        )
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Summed:
    """What is summed."""

    response: str | None = option(
        None,
        "what is summed; default: records are counted",
        COLUMN,
        doc="what is summed; records are counted where absent",
        label="What is summed",
        usual="records are counted",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Rules:
    """What is sensitive."""

    rules: Sequence[Rule] = option(
        (),
        "what is sensitive: p=P[,q=Q][,m=M], nk=N,K, frequency=N[,RANGE], zero=RANGE or "
        "request=P[,P2[,N[,RANGE]]]; once for each",
        several(TEXT),
        doc='``"p=10"`` or ``"p=10,q=50,m=2"``: the p % rule with prior knowledge q and a coalition of m; '
        '``"nk=2,75"``: dominance; ``"frequency=3"`` or ``"frequency=3,20"``: fewer than 3 respondents, with '
        'a level of 20 % of the value; ``"zero=5"``: 0 although there are respondents, with a level of 5; '
        '``"request=70"`` or ``"request=70,50,3,20"``: the largest respondent asked for protection and has '
        "more than 70 % (by the second kind of request 50 %), or there are fewer than 3; a level of 20 %. A "
        "cell is sensitive by any of them",
        flag="rule",
        metavar="RULE",
        label="Rules",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Trees:
    """How codes are grouped."""

    hierarchies: Mapping[str, Hierarchies] | None = option(
        None,
        "columns code and parent, .hrc, or a column for each level; once for each variable, or for each way "
        "in which its codes are grouped; of dates A=month, A=quarter or A=year",
        TREES,
        doc="of explanatory variables: files or frames with the columns `code` and `parent`, or with a "
        "column for each level, or trees of ARGUS (``.hrc``); several for a variable that is grouped in "
        "several ways. Of dates ``month``, ``quarter`` or ``year``: they become these, below the coarser "
        "levels",
        flag="hierarchy",
        label="Hierarchies",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Holdings:
    """Who counts as one."""

    holding: str | None = option(
        None,
        "holdings, whose respondents count as one",
        COLUMN,
        label="Holdings",
        usual="none: each record is a respondent",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Weighted:
    """Sampling weights."""

    weight: str | None = option(None, "sampling weights", COLUMN, label="Sampling weights")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Negative:
    """Of what sign contributions are."""

    negative: bool = option(
        False,
        "contributions may be negative; rules take absolute values",
        SWITCH,
        label="Amounts may be below zero; rules then take them without their sign",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Gaps:
    """What is missing, and what becomes of records without a code or a response."""

    schema: SchemaLike | None = option(
        None,
        "JSON or TOML file: missing codes, labels and forms of dates",
        FILE,
        doc="missing codes, labels and forms of dates of columns; what roles they have is said by the others",
        label="Schema",
    )
    missing: str | Incomplete = option(
        "refuse",
        "records without a code or a response: refuse (default), leave-out, or code (code=NAME): those "
        "without a code have the code missing (NAME) below the total, those without a response are left out",
        OPEN,
        doc="records without a code, or without a response: ``refuse`` the table; ``leave-out`` of it; or "
        "``code``, ``code=NAME``: those without a code of a variable have the code ``missing``, or this one, "
        "right below its total, and those without a response are left out",
        metavar="HOW",
        label="Records without a code or a response",
        named={
            "refuse": "there must be none",
            "leave-out": "left out",
            "code": "in the table as 'missing'; without a response left out",
        },
    )
