"""What `evaluate` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import FILE, SWITCH
from linkrisk.datasets.options.option import again, declared, option, written
from linkrisk.solver.options.names import (
    DifferencesName,
    DirectionName,
    MissingName,
    StandardisationName,
    TiesName,
)
from linkrisk.solver.options.pair import (
    Alignment,
    Attributes,
    Categories,
    Comparison,
    Constants,
    Family,
    Files,
)
from linkrisk.solver.options.run import LimitEach, Limits, Live, Workers

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from linkrisk.solver.options.types import Masking, Result, SchemaLike

_LEARNED = "as in FIT.json"


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What is counted."""

    parameters: str | Path | Mapping[str, Any] | Result = field(
        metadata=declared(
            "what `fit --json` or `link --json` wrote",
            FILE,
            doc="the result of `fit` or `link`, the JSON that was written of it, or its content. With no "
            "files given, those that it names (the embedded default pair where that is theirs, or it names "
            "none), looked up beside its JSON and in the working folder",
            metavar="FIT.json",
            label="Parameters",
        )
    )


@dataclass(frozen=True, kw_only=True)
class AsLearned:
    """What holds as it was learned, unless it is given again."""

    nominal: Sequence[str] | None = again(Categories, "nominal", None)
    ordinal: Sequence[str] | None = again(Categories, "ordinal", None)
    schema: SchemaLike | None = again(Categories, "schema", None)
    masking: Masking | None = again(Categories, "masking", None)
    aggregator: str | None = again(
        Family,
        "aggregator",
        None,
        usual=_LEARNED,
        doc="which of them, where the parameters are those of several families; the worst when absent",
    )
    direction: DirectionName | None = again(Comparison, "direction", None, usual=_LEARNED)
    ties: TiesName | None = again(Comparison, "ties", None, usual=_LEARNED)
    standardisation: StandardisationName | None = again(Comparison, "standardisation", None, usual=_LEARNED)
    differences: DifferencesName | None = again(Comparison, "differences", None, usual=_LEARNED)
    missing: MissingName | None = again(Comparison, "missing", None, usual=_LEARNED)
    k_additive: int | None = again(Comparison, "k_additive", None)


@dataclass(frozen=True, kw_only=True)
class LimitOfAll:
    """When the count ends."""

    title = Limits.title

    time_limit: float | None = again(
        LimitEach,
        "time_limit",
        None,
        help="seconds for all, or 'none' (default); the records that are counted by then, in random order, "
        "say what all are, with confidence limits",
        doc="seconds for all of it, of parameters of `fit`. Records are counted in random order; those that "
        "were counted in time say what all are, with confidence limits",
        record=False,
    )


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Learned, Files, Attributes, Alignment, Constants, AsLearned, Workers, LimitOfAll, Live):
    """What `evaluate` can be asked."""

    title = "output"
    words: ClassVar[Mapping[str, str]] = {**Workers.words, "work": "count"}

    one_to_one: bool = option(
        False,
        "also assign records one to one",
        SWITCH,
        doc="also count the correct links of the assignment with the smallest total distance",
        label="One to one",
    )


@dataclass(frozen=True, kw_only=True)
class EvaluateCommand(EvaluateOptions):
    """What the command `evaluate` can be asked."""

    title = "output"

    json: str | None = written("write the whole result as JSON")
    table: str | None = written("write the table of records, as its suffix says")
