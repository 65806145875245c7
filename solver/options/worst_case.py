"""Options of `fit`, the estimator, `compare` and `evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.options.kinds import DURATION, FILE, NAME, SWITCH, TEXT, WORDS
from linkrisk.datasets.options.option import PYTHON, again, declared, option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.names import (
    DifferencesName,
    DirectionName,
    EngineName,
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
    Families,
    Family,
    Files,
    ProblemOptions,
    Scales,
)
from linkrisk.solver.options.run import (
    Cancellable,
    Chance,
    Command,
    LimitEach,
    Limits,
    Live,
    Memory,
    Model,
    Samples,
    Steered,
    Workers,
)

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import (
        Masking,
        RandomState,
        Result,
        SchemaLike,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Engine:
    """Which engine searches, and what solves its model."""

    title = "engine"

    engine: EngineName | None = option(
        None,
        "{choices}; default: exact, or milp where {backend}, {margin} or {big_c} is given",
        NAME,
        choices=names.ENGINES,
        label="Engine",
    )
    backend: str | None = option(
        None,
        "for milp: {choices}; default: {default}",
        NAME,
        doc="for ``milp``: the optimiser; ``highs`` when absent",
        choices=names.BACKENDS,
        usual="highs",
        label="Backend",
    )


_OUTPUT = "output"
_CALLED = frozenset({PYTHON})


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Whether what proves the bound is written down."""

    title = _OUTPUT

    certificate: bool = option(
        False,
        "write down what proves the bound, for `verify`; ``exact`` and one aggregator only. Where that "
        "fails, the result has no certificate and a note that says why",
        SWITCH,
        faces=_CALLED,
    )
    certificate_time_limit: float | None = option(
        None,
        "seconds for that, after the search; default: what it leaves of {time_limit}, at least a quarter "
        "or 60",
        DURATION,
        doc="seconds for that, after the search; when absent, the search leaves a part of the time limit "
        "to it, or 60 without one",
        metavar="S",
        after="certificate_file",
    )


@dataclass(frozen=True, kw_only=True)
class FitOptions(
    Files, Attributes, Alignment, Constants, Categories, Families, Comparison, Limits, Chance, Model,
    Samples, Workers, Engine, Memory, Certificate, Steered, Live, Command
):  # fmt: skip
    """Options of `fit`."""

    words: ClassVar[Mapping[str, str]] = {
        **Workers.words,
        "work": "search samples and count",
        "workers_for": "; with {scheduler}, for how many the samples are planned",
    }

    on_found: Callable[[Any], None] | None = option(
        None, "called with the result, or results, before a certificate is made of it", TEXT, faces=_CALLED
    )
    reserve: tuple[float, float] = option(
        (0.0, 0.0),
        "seconds of the time limit that are left to whoever writes the result: at all, and for each record "
        "of each family",
        TEXT,
        faces=_CALLED,
    )


@dataclass(frozen=True, kw_only=True)
class FitCommand(FitOptions):
    """Options of the command `fit`."""

    title = _OUTPUT

    json: str | None = written("write the whole result as JSON")
    report: str | None = written("write the result as one HTML page")
    table: str | None = written("write the table of records (of the worst family), as its suffix says")
    certificate_file: str | None = written(
        "write what proves the bound, for the command verify", flag="certificate"
    )
    write_model: str | None = written("write the model (.lp or .mps) instead of solving it")


@dataclass(frozen=True, kw_only=True)
class EstimatorOptions(
    Attributes, Scales, Family, Comparison, Samples, Workers, Engine, Model, Limits, Memory, Cancellable
):  # fmt: skip
    """Options of the estimator."""

    words: ClassVar[Mapping[str, str]] = FitOptions.words

    random_state: int | RandomState | None = option(
        None,
        "the seed of every random choice: a number, or a RandomState; None draws one from numpy's global "
        "generator",
        TEXT,
        faces=frozenset({PYTHON}),
    )


@dataclass(frozen=True, kw_only=True)
class Backends:
    """What is compared."""

    title = "backends"

    backends: Sequence[str] | None = option(
        None,
        "of exact, {choices}; default: exact and all that are installed",
        WORDS,
        choices=names.BACKENDS,
        named={"exact": "exact: our own"},
        label="Backends",
    )
    start: bool = option(
        True,
        "do not start from the heuristic attack",
        SWITCH,
        doc="give the heuristic attack as a start point to the exact engine and to the backends that take "
        "one",
        label="Start from the heuristic attack",
    )


@dataclass(frozen=True, kw_only=True)
class CompareOptions(
    Files, ProblemOptions, LimitEach, Chance, Model, Backends, Workers, Steered, Live
):  # fmt: skip
    """Options of `compare`."""

    words: ClassVar[Mapping[str, str]] = {**Workers.words, "work": "run engine and backends side by side"}


@dataclass(frozen=True, kw_only=True)
class CompareCommand(CompareOptions):
    """Options of the command `compare`."""

    title = "output"

    json: str | None = written("write the comparison as JSON")
    table: str | None = written("write the comparison as a table, as its suffix says")


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
    """Options of `evaluate`."""

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
    """Options of the command `evaluate`."""

    title = "output"

    json: str | None = written("write the whole result as JSON")
    table: str | None = written("write the table of records, as its suffix says")
