"""The JSON of `evaluate`, `link`, `find-links` and `compare`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.options.names import (
    DifferencesName,
    DirectionName,
    LinkerName,
    MissingName,
    StandardisationName,
    TiesName,
)
from linkrisk.solver.schemas.fit import Baselines, Ends, Labels, Limit, Problem, RecordsTable, Strata, Workers
from linkrisk.solver.schemas.keys import OPEN, key

Parameters = Annotated[dict[str, Any], key("what was learned: see the page of the aggregator or the linker")]
Notes = Annotated[list[str], key("what else you should know, in sentences")]
AmongThree = Annotated[int, key("records whose partner is among the three nearest, or best")]
PartnerTied = Annotated[int, key("records whose partner ties with another candidate")]
Versions = Annotated[dict[str, str], key("of what the numbers depend on")]


class Evaluation(Problem, Ends):
    """What given parameters re-identify."""

    records: Annotated[int, key("that have a partner")]
    linked: Annotated[
        int, key("records whose partner is strictly nearest; where not all were counted, of those")
    ]
    among_three: AmongThree
    partner_tied: PartnerTied
    one_to_one: Annotated[int | None, key("correct links when records are assigned one to one")]
    counted: NotRequired[Annotated[int, key("where there was no time for all: records that were counted")]]
    status: NotRequired[Annotated[Literal["feasible", "interrupted"], key("why not all were")]]
    limit: NotRequired[Limit]
    strata: NotRequired[dict[str, Strata]]
    parameters: Parameters
    baselines: Baselines
    notes: Notes
    workers: NotRequired[Workers]
    versions: Versions
    records_table: RecordsTable


class Files(TypedDict):
    """What was linked."""

    method: LinkerName
    status: Literal["linked"]
    parameters: Parameters
    name: Annotated[str, key("files")]
    direction: DirectionName
    attributes: NotRequired[Annotated[list[str], key("that both files have")]]
    original_attributes: NotRequired[Annotated[list[str], key("where these are others in each file")]]
    masked_attributes: NotRequired[list[str]]
    schema: Annotated[dict[str, Any], key("scales and categories")]
    labels: NotRequired[Labels]
    candidates: int
    alignment: str
    notes: Notes
    workers: NotRequired[Workers]
    seed: int
    seconds: float
    versions: Versions


class Blocked(TypedDict, total=False):
    """What a linker needs besides the attributes to compare."""

    blocking: Annotated[list[str], key("columns of both files")]
    passes: Annotated[list[str], key("as they are written in the option")]


class Learned(TypedDict):
    """Keys of `fit` and `link` that are needed to apply their parameters to other files."""

    parameters: Annotated[Blocked, OPEN]
    aggregator: NotRequired[str | None]
    direction: NotRequired[DirectionName | None]
    ties: NotRequired[TiesName | None]
    standardisation: NotRequired[StandardisationName | None]
    differences: NotRequired[DifferencesName | None]
    missing: NotRequired[MissingName | None]
    attributes: NotRequired[list[str] | None]
    original_attributes: NotRequired[list[str] | None]
    masked_attributes: NotRequired[list[str] | None]
    schema: NotRequired[dict[str, Any] | None]
    aggregator_options: NotRequired[dict[str, Any] | None]


class OneToOne(TypedDict):
    """What a one-to-one matching links."""

    matching: str
    threshold: float | None
    claimed: int
    correct: int
    precision: float | None
    recall: float


class PrecisionRecall(TypedDict):
    """Of all pairs with at least some score."""

    average_precision: float
    threshold: list[float | None]
    precision: list[float]
    recall: list[float]


class Claim(TypedDict):
    """The most probable claim of an intruder."""

    query: str
    candidate: str
    score: float | None
    probability: float | None
    correct: float


class Pass(TypedDict):
    """One pass over the pairs that agree on some keys."""

    keys: str
    pairs: int
    compared: int
    without_key: list[int]
    linked: int
    clerical: int
    estimated_false_links: float | None
    estimated_lost: NotRequired[float | None]
    estimated_lost_so_far: NotRequired[float | None]
    right: NotRequired[int]
    lost: NotRequired[float]
    lost_so_far: NotRequired[float]


class Passes(TypedDict):
    """Linkage in passes."""

    passes: list[Pass]
    linked: int
    clerical: int
    estimated_false_links: float | None
    estimated_missed: NotRequired[float | None]
    right: NotRequired[int]
    precision: NotRequired[float | None]
    recall: NotRequired[float]
    decided: Annotated[int, key("pairs that were decided by clerks")]


class Link(Files):
    """What a linker re-identifies."""

    records: Annotated[int, key("that have a partner")]
    linked: Annotated[int, key("records whose partner scores strictly higher than every other candidate")]
    linked_upper_bound: Annotated[None, key("null: there is no bound")]
    limit: None
    among_three: AmongThree
    partner_tied: PartnerTied
    one_to_one: OneToOne | None
    precision_recall: PrecisionRecall | None
    passes: NotRequired[Passes]
    ties: TiesName
    bijection: bool
    expected_links: Annotated[float | None, key("with guesses among equal scores")]
    most_probable_claim: Claim | None
    records_table: RecordsTable


class FoundLinks(Files):
    """Links between two files whose true links are unknown."""

    matching: str | None
    passes: Passes
    queries: int


class Row(TypedDict):
    """The claim of a backend, and its recount."""

    engine: str
    backend: str | None
    status: str
    limit: str | None
    claimed: float | None
    linked: float | None
    linked_with_margin: float | None
    linked_upper_bound: float | None
    gap: float | None
    rows: int | None
    columns: int | None
    nonzeros: int | None
    build_seconds: float | None
    solve_seconds: float | None
    peak_memory_mb: float | None
    version: str


class Comparison(Problem):
    """Every backend, and the exact engine, on the same problem."""

    records: int
    margin: float
    backends: list[Row]
    disagreements: Annotated[list[str], key("claims that contradict each other or the recount")]
    no_answer: NotRequired[Annotated[str, key("why there is none")]]
    attack: Annotated[float | None, key("what was linked before any of them started")]
    big_c: float | None
    time_limit: float | None
    seed: int
    threads: int
    command: NotRequired[str | None]
    workers: NotRequired[Workers]
    notes: Notes
    versions: Versions
