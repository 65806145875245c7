"""What `suppress` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options import typed
from linkrisk.datasets.options.kinds import COLUMN, FILE, LIMIT, NAME, NAMES, TEXT, WHOLE, number
from linkrisk.datasets.options.option import COMMAND, PROTOCOL, again, option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.keys import GHOSTS, Data, Dropped, Order, Trees, UnsafeKeys, mapping
from linkrisk.solver.options.names import CostName, SuppressionName
from linkrisk.solver.options.run import Live

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Hierarchy

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
    """How it is looked for."""

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
        WHOLE,
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
    """What `suppress` can be asked."""

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
class SuppressCommand(Data, Written, Known, Pages, Dropped, Order, UnsafeKeys, Taken, Searched, Live):
    """What the command `suppress` can be asked."""

    words: ClassVar[Mapping[str, str]] = _USE

    order_seed: int | None = option(
        None, "seed of the random order", WHOLE, faces=frozenset({PROTOCOL}), label="Seed of the order"
    )
