"""Options of tables made of microdata, recoded, or protected by a batch of tau-ARGUS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import COLUMN, DURATION, FILE, NAME, NUMBER, SWITCH, TEXT, pairs, whole
from linkrisk.datasets.options.option import PYTHON, again, declared, option, written
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import (
    About,
    Ended,
    Gaps,
    Holdings,
    Microdata,
    MicrodataOfEach,
    Negative,
    Rules,
    Summed,
    Trees,
    Weighted,
)

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Cancel, Hierarchies, Reporter, Rule


EXPANDED = "expanded"
WEIGHTINGS = (EXPANDED, "sample", "known")
PROTECTIONS = ("both", "upper", "sliding")
EMPTY = ("published", "suppressible")
MANUAL_RANGE = 20.0


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What else columns can mean."""

    weight: str | None = again(Weighted, "weight", None, help="sampling weights: values are weighted sums")
    shadow: str | None = option(
        None,
        "what rules look at instead of the response",
        COLUMN,
        doc="column that rules look at instead of the response; levels are the same share of the value",
        label="Rules look at (shadow variable)",
        usual="what is summed",
    )
    cost_column: str | None = option(
        None,
        "its sums are the costs of cells, for `--cost given`",
        COLUMN,
        doc='column whose sums are the costs of cells, for ``cost="given"``',
        label="Column of costs",
    )
    request: str | None = option(
        None, "who asked for protection: 1 or 2, else 0 or nothing", COLUMN, label="Who asked for protection"
    )
    respondent: str | None = option(
        None,
        "names of respondents, for {contributors}",
        COLUMN,
        doc="column of names, for the list of contributions; by default those of holdings, else record "
        "numbers",
        label="Names of respondents",
        usual="none: records are numbered",
        needs=("contributors",),
        because="names those who contribute",
    )


@dataclass(frozen=True, kw_only=True)
class Protected:
    """Data and consequences of primary rules."""

    weights_in_rules: str = option(
        EXPANDED,
        "expanded (default: a record of weight w is w respondents), sample (respondents do not know weights) "
        "or known",
        NAME,
        doc="what rules make of them: ``expanded``, a record of weight w is w respondents; ``sample``, "
        "respondents of the sample do not know them; ``known``, they do "
        "(`datasets.tables.tabulating.Concentration`)",
        choices=WEIGHTINGS,
        metavar="HOW",
        label="Weights in rules",
        named={
            EXPANDED: "a record of weight w is w respondents",
            "sample": "respondents do not know weights",
            "known": "respondents know weights",
        },
        needs=("weight",),
        because="says how rules see weights",
    )
    negative: bool = again(Negative, "negative", False)
    publish_respondents: bool = option(
        False,
        "numbers of respondents are published beside the sums: they are protected together",
        SWITCH,
        doc="whether the numbers of respondents are published beside the sums: they are protected together, "
        "in the column `respondents_published`",
        label="Numbers of respondents are published beside the sums, and protected with them",
    )
    protection: str = option(
        "both",
        "of rules: both (default), upper, or sliding, an interval as wide as both wherever it lies",
        NAME,
        doc="of rules: ``both``, the level above and below; ``upper``, above only, which is what the "
        "formulas of the Handbook derive; ``sliding``, an interval as wide as both together, wherever it "
        "lies",
        choices=PROTECTIONS,
        metavar="HOW",
        label="Protection",
        named={
            "both": "the level below and above",
            "upper": "the level above only",
            "sliding": "an interval as wide as both",
        },
    )
    empty: str = option(
        "published",
        "cells without respondents: published (default) or suppressible",
        NAME,
        choices=EMPTY,
        metavar="HOW",
        label="Cells without respondents",
        named={"published": "always published", "suppressible": "suppressed like others"},
    )
    manual: str | Path | None = option(
        None,
        "codes with status u, s or z, and if need be levels and cost, which come before the rules",
        FILE,
        label="File of statuses by hand",
        once=True,
    )
    manual_range: float = option(
        MANUAL_RANGE,
        "level of manually sensitive cells, in % of the value; default: {default}",
        NUMBER,
        metavar="P",
        label="Level of these, % of the value",
        needs=("manual",),
        because="is the level of cells that are sensitive by hand",
    )


@dataclass(frozen=True, kw_only=True)
class Making(Summed, Rules, Trees, Holdings, Columns, Protected, Gaps):
    """How a table is made."""

    words: ClassVar[Mapping[str, str]] = {"microdata": ", a record for each respondent"}


@dataclass(frozen=True)
class MakeOptions(Microdata, Making):
    """Options of `make_table`."""


@dataclass(frozen=True)
class MakeSeveralOptions(MicrodataOfEach, Making):
    """Options of `make_tables`."""


@dataclass(frozen=True, kw_only=True)
class MakeCommand(MakeSeveralOptions):
    """Options of `tables make`."""

    cells: str | None = written("write the cells")
    relations: str | None = written("write the relations")
    table: str | None = written("write both in one: .jj, or .tab of ARGUS with .rda beside it")
    contributors: str | None = written("write who contributes how much to each cell: for the house")
    record: str | None = written("write rules and labels, for `tables suppress --made`: for the house")


_MAKE = "see `tables make`; once for each"


@dataclass(frozen=True, kw_only=True)
class Recodings:
    """What becomes coarser."""

    recode: Mapping[str, str | Path] | None = option(
        None,
        "codes that become others: .grc, or columns code and becomes; once for each",
        pairs("A=FILE"),
        doc="for a variable, which codes become others: a recoding file of ARGUS (``.grc``), one that names "
        "codes of its tree to cut at, or a table with the columns `code` and `becomes`. The codes are right "
        "below the total afterwards, except with a cut",
        label="Recodings",
    )
    cut: Mapping[str, int] | None = option(
        None,
        "the level of a tree that becomes the lowest; the total is at 0; once for each",
        pairs("A=LEVEL", whole),
        label="Cuts",
    )
    hierarchies: Mapping[str, Hierarchies] | None = again(Trees, "hierarchies", None, help=_MAKE)
    rules: Sequence[Rule] = again(Rules, "rules", (), help=f"what is sensitive; {_MAKE}")


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What is found of each, and who may end it."""

    suppress: bool = option(
        False, "suppress cells of least value in each, too", SWITCH, label="Suppress in each"
    )
    time_limit: float | None = again(
        Ended,
        "time_limit",
        Ended.time_limit,
        help="seconds for each, or 'none'; default: {default}",
        doc="seconds for each suppression; None for no limit",
    )
    cancel: Cancel | None = again(
        Live,
        "cancel",
        None,
        doc="a token that ends it as Ctrl-C does: the suppression in hand with what it has, and no other is "
        "begun",
    )


@dataclass(frozen=True)
class RecodeOptions(Microdata, Recodings, Summed, Holdings, Weighted, Effects, Gaps):
    """Options of `recode_table`."""

    words: ClassVar[Mapping[str, str]] = {"microdata": "; see `tables make`"}


@dataclass(frozen=True, kw_only=True)
class RecodeCommand(RecodeOptions, About):
    """Options of `tables recode`."""

    cells: str | None = written("write the cells of the table with all recodings", after="time_limit")
    relations: str | None = written("write its relations", after="cells")
    json: str | None = again(About, "json", None, help="write the effects as JSON", after="relations")


@dataclass(frozen=True)
class RunBatchOptions:
    """Options of `run_batch`."""

    batch: str | Path = field(
        metadata=declared(
            "commands of ARGUS; its files lie beside it",
            FILE,
            doc="an ``.arb`` file; the files that it names lie beside it",
            metavar="BATCH.arb",
            bare=True,
        )
    )
    _: KW_ONLY
    publish_respondents: bool = option(
        False,
        "numbers of respondents are published beside the sums, in the same cells: they are protected "
        "together",
        SWITCH,
        doc="whether numbers of respondents are published beside the sums, in the same cells: they are "
        "protected together. Rounded and adjusted tables are refused then, and those with noise",
    )
    time_limit: float | None = option(
        None, "seconds for each method; default: what the batch says", DURATION, metavar="S"
    )
    cancel: Cancel | None = again(
        Live,
        "cancel",
        None,
        doc="a token that ends it as Ctrl-C does: the table in hand gets the best pattern that there is, "
        "what is protected is written, and nothing else is begun",
    )
    on_progress: Reporter | None = again(Live, "on_progress", None)
    beside: Sequence[str | Path] = option(
        (),
        "files that are written besides those of the batch, such as its JSON; what the batch reads or writes "
        "is refused there",
        TEXT,
        faces=frozenset({PYTHON}),
    )


@dataclass(frozen=True, kw_only=True)
class RunBatchCommand(RunBatchOptions):
    """Options of `tables run-batch`."""

    json: str | None = written("write what was done as JSON")
