"""Options about a table of microdata: which one it is, what is unsafe in it, and how it is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.microdata.names import parse_names, shown_names
from linkrisk.datasets.options import typed
from linkrisk.datasets.options.kinds import (
    COLUMN,
    FILE,
    NAMES,
    NUMBER,
    SWITCH,
    TEXT,
    WHOLE,
    Kind,
    by_name,
    number,
    several,
    whole,
)
from linkrisk.datasets.options.option import APP, COMMAND, PROTOCOL, PYTHON, declared, option
from linkrisk.datasets.options.typed import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from linkrisk.solver.options.types import Hierarchy, SchemaLike, TableLike, Tables, Threshold

OF_WRITING = frozenset({COMMAND, PROTOCOL, APP})
"""Where it is said how a table is written: functions say it when they write."""


def _shown_pairs(value: Mapping[Any, Any]) -> str:
    return shown_names([f"{name}={NUMBER.spell(each)}" for name, each in value.items()], ",")


def mapping(form: str, read: Callable[[str], Any], of: Reader) -> Kind:
    """Numbers by name, all in one word."""
    return Kind(lambda text: dict(by_name(text, read)), form, _shown_pairs, typed.table(of), field="pairs")


def _table(text: str) -> tuple[tuple[str, ...], float | None]:
    """``A,B`` or ``A,B=N``."""
    variables, mark, value = text.rpartition("=")
    return parse_names(variables if mark else text), number(value) if mark else None


def _tables(value: Any) -> list[tuple[Sequence[str], float | None]]:
    """Tables with their thresholds."""
    return list(value.items()) if isinstance(value, Mapping) else [(one, None) for one in value]


def _shown_table(one: tuple[Sequence[str], float | None]) -> str:
    names = shown_names(one[0], ",")
    return names if one[1] is None else f"{names}={NUMBER.spell(one[1])}"


def _threshold(text: str) -> float | dict[int, float]:
    """``N``, or ``1=N,2=M`` by the number of variables."""
    if "=" not in text:
        return number(text)
    return {whole(size): value for size, value in by_name(text, number)}


def _gathered(given: list[list[tuple[str, str]]]) -> dict[str, list[str]]:
    """The ghosts of each key variable."""
    found: dict[str, list[str]] = {}
    for name, ghost in (pair for one in given for pair in one):
        found.setdefault(name, []).append(ghost)
    return found


TABLES = Kind(
    _table,
    "A,B",
    _shown_table,
    typed.tables,
    repeated=True,
    together=dict,
    apart=_tables,
    untyped=lambda value: [_shown_table(one) for one in _tables(value)],
)
THRESHOLD = replace(
    NUMBER,
    field="text",
    parse=_threshold,
    spell=lambda value: _shown_pairs(value) if isinstance(value, Mapping) else NUMBER.spell(value),
    typed=typed.threshold,
    untyped=lambda value: (
        {str(size): one for size, one in value.items()} if isinstance(value, dict) else value
    ),
)
GHOSTS = Kind(
    by_name,
    "A=B",
    lambda one: shown_names([f"{one[0]}={ghost}" for ghost in one[1]], ","),
    typed.table(typed.texts),
    repeated=True,
    together=_gathered,
    apart=dict.items,
)
HIERARCHIES = replace(
    several(TEXT),
    metavar="A=FILE",
    typed=typed.table(typed.text),
    untyped=lambda value: dict(one.split("=", 1) for one in value),
)
DROPPED = replace(
    NAMES,
    parse=lambda text: [] if text == "none" else list(parse_names(text)),
    spell=lambda value: '"none"' if list(value) == ["none"] else shown_names(value, ",") or "none",
    typed=typed.columns,
)


@dataclass(frozen=True)
class Data:
    """The table."""

    data: TableLike = field(
        metadata=declared(
            "file of any format, or the name of a data set",
            FILE,
            doc="the table, a file of any format; a text without suffix and folder is the name of a public "
            "data set",
            flag="input",
            label="File",
            faces=frozenset({PYTHON, COMMAND, APP}),
        )
    )


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """Which columns go."""

    drop: Sequence[str] | None = option(
        None,
        "columns that are left out; default: the direct identifiers of the schema; 'none' keeps all",
        DROPPED,
        doc="columns to leave out; by default the direct identifiers of the schema. An empty one keeps all",
        label="Columns left out",
    )


@dataclass(frozen=True, kw_only=True)
class UnsafeKeys:
    """Which variables are keys, and which combinations of them are unsafe."""

    title = "what is unsafe (default: --k 3)"

    keys: Sequence[str] | None = option(
        None,
        "key variables; default: those of the schema, or all but ids and weights",
        NAMES,
        doc="the key variables; those of the schema, or all columns that are no ids or weights, when absent, "
        "but what is the same for all records only where another option names it",
        label="Key variables",
    )
    k: int | None = option(
        None,
        "fewer than K records with the same values of all keys",
        WHOLE,
        doc="fewer than k records with the same values of all keys are unsafe; 3 where nothing else is said. "
        "With {dimension}, of all sets of so many keys or fewer",
        metavar="K",
        label="k",
    )
    levels: Mapping[str, int] | None = option(
        None,
        "levels of identification: tables of a variable of level 1, another of 1 or 2, and so on",
        mapping("A=1,B=2", whole, typed.whole),
        doc="levels of identification, 1 the most identifying: a table has a variable of level 1, another of "
        "level 1 or 2, and so on. Variables that are not named identify nobody",
        label="Levels of identification",
    )
    dimension: int | None = option(
        None,
        "all tables of up to D key variables; with {k}, too",
        WHOLE,
        doc="all tables of so many keys or fewer",
        metavar="D",
        label="Key variables of a table, at most",
    )
    tables: Tables = option(
        (),
        "a table; give it once for each; A,B=N has a threshold of its own",
        TABLES,
        doc="tables by their key variables; a mapping has a threshold for each",
        flag="table",
        label="Tables",
    )
    threshold: Threshold = option(
        1.0,
        "of {levels}, {dimension} and {tables}: what occurs no more often; default: {default}; or by the "
        "number of variables, 1=10,2=3",
        THRESHOLD,
        doc="of {levels}, {dimension} and {tables}: combinations that occur no more often are unsafe. At "
        "least 1; one for all, or by the number of variables",
        label="A cell is small up to",
    )
    risk: float | None = option(
        None,
        "combinations of all keys with more individual risk than R, by the weights",
        NUMBER,
        doc="combinations of all keys with more individual risk (Benedetti and Franconi, by the sampling "
        "weights) are unsafe; without weights the file is the population, and the risk 1/f",
        metavar="R",
        label="Individual risk",
    )
    missing: str | None = option(
        None,
        "of missing values: own-category (default with {k}), matches-anything, alpha=A in between, or safe "
        "(default otherwise): no combination with one is unsafe; or code=C, which is written for what is "
        "taken out",
        TEXT,
        doc="what a missing value of the input means: ``own-category``, ``matches-anything``, ``alpha=A`` in "
        "between, or ``safe``: no combination with it is unsafe. ``own-category`` with {k}, else ``safe``. "
        "Codes that are declared missing are values as any other, as readers of the file tell them apart; "
        "where missing values are ``safe``, they are missing. ``code=C`` writes the code C for what is taken "
        "out, and counts it as that",
        metavar="MEANING",
        label="Missing values, and what is taken out",
    )
    weight: str | None = option(
        None,
        "sampling weights: count in the population",
        COLUMN,
        label="Counted in the population, by the weights",
    )
    schema: SchemaLike | None = option(
        None, "JSON or TOML file: roles and missing codes of columns", FILE, label="Schema"
    )


@dataclass(frozen=True, kw_only=True)
class Trees:
    """The levels to which key variables can be recoded; the `words` of an operation say what they are for."""

    hierarchies: Sequence[Hierarchy | str] = option(
        (),
        "{hierarchy_use}: CSV file with the categories of A and one column per coarser level; of dates "
        "month, quarter or year; once for each (default: those of {schema})",
        HIERARCHIES,
        doc="of key variables, {hierarchy_means}; those of the schema when absent. As text "
        '``"age=ages.csv"``, or of dates ``"born=month"``: months, quarters and years',
        flag="hierarchy",
        label="Hierarchies",
    )


@dataclass(frozen=True, kw_only=True)
class Order:
    """How the records are written."""

    shuffle: bool = option(
        False, "write records in random order, whole households together", SWITCH, faces=OF_WRITING,
        label="Write the records in random order, whole households together",
    )  # fmt: skip
    renumber: Sequence[str] = option(
        (),
        "columns of ids that are written as 1, 2, 3, ... in that order",
        NAMES,
        faces=OF_WRITING,
        label="Ids that get new numbers",
    )
