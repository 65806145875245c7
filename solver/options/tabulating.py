"""Options about tables of microdata: variables, what is summed, who is in them, and what is sensitive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import COLUMN, FILE, NAMES, OPEN, SWITCH, TEXT, TREES, several
from linkrisk.datasets.options.option import declared, option

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Hierarchies, Incomplete, Rule, SchemaLike, TableLike


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
    """Whom a record stands for."""

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
