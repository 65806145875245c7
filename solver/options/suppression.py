"""Options of microdata with key variables: of `unsafe` and `suppress`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.microdata.names import parse_names, shown_names
from linkrisk.datasets.options import typed
from linkrisk.datasets.options.kinds import (
    COLUMN,
    FILE,
    LIMIT,
    NAME,
    NAMES,
    NUMBER,
    SEED,
    TEXT,
    WHOLE,
    Kind,
    by_name,
    number,
    several,
    whole,
)
from linkrisk.datasets.options.option import COMMAND, PROTOCOL, again, option, written
from linkrisk.datasets.options.typed import Reader
from linkrisk.solver.options import names
from linkrisk.solver.options.data import Data, Described, Dropped, Order
from linkrisk.solver.options.names import CostName, SuppressionName
from linkrisk.solver.options.run import Live

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from linkrisk.solver.options.types import (
        Hierarchy,
        MaskingMethod,
        SchemaLike,
        Tables,
        Threshold,
    )


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
    """Levels to which key variables can be recoded; the `words` of an operation name their use."""

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


_USE_OF_TRIALS: Mapping[str, str] = {
    "hierarchy_use": "each level tried by itself",
    "hierarchy_means": "each of whose levels is tried by itself",
}


@dataclass(frozen=True, kw_only=True)
class Recodings:
    """What is tried."""

    title = "recodings"

    recode: Sequence[str | MaskingMethod] = option(
        (),
        "count again with this, spelled as for `mask`; several are applied in order",
        several(TEXT),
        doc="a trial: methods applied to the table in order, spelled as for `mask`, such as "
        '``"global-recoding hierarchy=age=ages.csv level=2"`` or '
        '``"top-coding categories=3 attributes=age"``. All is counted again with them, and nothing is '
        "written",
        metavar="METHOD",
        label="Recodings",
    )
    hierarchies: Sequence[Hierarchy | str] = again(Trees, "hierarchies", ())


@dataclass(frozen=True, kw_only=True)
class UnsafeOptions(Data, UnsafeKeys, Recodings):
    """Options of `unsafe`."""

    words: ClassVar[Mapping[str, str]] = _USE_OF_TRIALS


@dataclass(frozen=True, kw_only=True)
class UnsafeCommand(UnsafeOptions):
    """Options of the command `unsafe`."""

    json: str | None = written("write all counts as JSON")


_TYPED = frozenset({COMMAND})

_USE: Mapping[str, str] = {
    "hierarchy_use": "for joint",
    "hierarchy_means": "for ``joint``: a value that stands for l of L leaves costs (l - 1) / (L - 1) of one "
    "that is taken out",
}

SUPPRESS_SECONDS = 60.0
"""Of a search where nothing is said."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What was found before."""

    answer: str | Path | None = option(
        None,
        "such a file: take that again, and count again, instead of a search",
        FILE,
        doc="file of an answer that was found before (`SuppressionResult.answer`): it is taken, and counted "
        "again, instead of a search",
        label="Answer",
    )


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What is taken out."""

    title = "what is taken"

    problem: SuppressionName = option(
        "cover",
        "cover (default): every unsafe combination of the input loses a value; recount: every record has K "
        "like it in the output, where missing values are own-category or matches-anything; joint: that by "
        "levels of recoding together with suppression",
        replace(NAME, field="radio"),
        choices=names.SUPPRESSIONS,
        named={
            "cover": "every unsafe combination of the file loses a value",
            "recount": "counted again in the output, every record has k alike",
            "joint": "the same, by levels of recoding together with suppression",
        },
        label="What is reached",
    )
    hierarchies: Sequence[Hierarchy | str] = again(Trees, "hierarchies", ())
    cost: CostName | None = option(
        None,
        "of a value: one each (default), the entropy of its variable, or by priority",
        NAME,
        doc="of a value: ``one`` each, the ``entropy`` of its variable, or by ``priority``; when absent "
        "``priority`` where there are {priorities}, else ``one``",
        choices=names.COSTS,
        metavar="HOW",
        label="Cost of a value",
    )
    priorities: Mapping[str, float] | None = option(
        None,
        "costs of values by key variable; 1 for all others",
        mapping("A=5,B=2", number, typed.number),
        flag="priority",
        label="Priorities",
    )
    untouched: Sequence[str] = option(
        (), "key variables that keep all values", NAMES, label="Key variables that keep all values"
    )
    ghosts: Mapping[str, Sequence[str]] | None = option(
        None,
        "column B, no key variable, loses its value wherever A does; once for each",
        GHOSTS,
        doc="columns that are no key variables and lose their value wherever a key variable loses one, "
        "because they tell it: the province beside the town",
        flag="ghost",
        label="Ghosts",
    )
    household: str | None = option(None, "column of household numbers", COLUMN, label="Households")
    head: str | None = option(
        None,
        "who is the head of a household: each has exactly one member whose A is V",
        TEXT,
        doc='who is the head of a household, as ``"relation=1"``: exactly one member of each, else it is '
        "refused",
        metavar="A=V",
        label="Head of a household",
    )
    household_keys: Sequence[str] = option(
        (),
        "key variables taken from all members of a household or none",
        NAMES,
        label="Key variables of households",
    )


@dataclass(frozen=True, kw_only=True)
class Searched:
    """Options of the search."""

    backend: str = option(
        "highs",
        "what solves the programs of recount and joint; default: {default}",
        NAME,
        choices=names.BACKENDS,
        label="Backend",
    )
    seed: int = option(
        0,
        "of the choice of what these look at; default: {default}",
        SEED,
        doc="of the choice of neighbourhoods in which these look for better answers",
        label="Seed",
    )
    time_limit: float | None = option(
        SUPPRESS_SECONDS,
        "seconds, or 'none'; default: {default}",
        LIMIT,
        doc="seconds, after which what is not solved keeps a good answer and a bound; None for no limit",
        metavar="S",
        label="Time limit in seconds",
    )


@dataclass(frozen=True, kw_only=True)
class SuppressOptions(Data, Known, Dropped, UnsafeKeys, Taken, Searched, Live):
    """Options of `suppress`."""

    words: ClassVar[Mapping[str, str]] = _USE


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written."""

    output: str | None = written(
        "file to write, in the format that its suffix says; without it nothing is written"
    )
    json: str | None = written("write what was found and taken as JSON")
    write_recodings: str | None = option(
        None,
        "of joint: write the levels that were chosen as recoding files of mu-ARGUS (.grc)",
        TEXT,
        metavar="FOLDER",
        faces=_TYPED,
    )
    write_answer: str | None = written("write what is taken from which record")


@dataclass(frozen=True, kw_only=True)
class Pages:
    """What is written for others, and kept."""

    protocol: str | None = written(
        "TOML file to which this step is added; `run-protocol` does all steps again or undoes the last ones"
    )
    report: str | None = written(
        "write what was done as one HTML page, with risk and frequencies before and after"
    )
    external_report: str | None = written(
        "the same for readers outside, without anything that would help an intruder"
    )


@dataclass(frozen=True, kw_only=True)
class SuppressCommand(
    Data, Written, Known, Pages, Dropped, Order, Described, UnsafeKeys, Taken, Searched, Live
):
    """Options of the command `suppress`."""

    words: ClassVar[Mapping[str, str]] = _USE

    order_seed: int | None = option(
        None, "seed of the random order", SEED, faces=frozenset({PROTOCOL}), label="Seed of the order"
    )
