"""The JSON of `tables suppress`, `audit`, `compare`, `run-batch` and `make --record`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.schemas.keys import key

Ending = Literal["optimal", "feasible", "interrupted"]
Ended = Literal["time", "work", "memory", "user"] | None
Codes = Annotated[list[list[str]], key("by variable")]
Labels = Annotated[dict[str, dict[str, Any]], key("of variables and their codes")]
Rules = Annotated[list[str], key("which say what is sensitive")]


class Status(TypedDict):
    """Cells of a status."""

    cells: int
    value: float


class Loss(TypedDict):
    """What is suppressed of a code."""

    code: str
    cells: int
    sensitive: int
    secondary: int
    value: float
    lost: float


class Intervals(TypedDict):
    """Suppressed cells, and what an attacker finds of them."""

    cell: list[int]
    codes: Codes
    status: list[str]
    value: list[float]
    low: list[float | None]
    high: list[float | None]
    lower_level: list[float]
    upper_level: list[float]
    sliding_level: list[float]
    short: Annotated[list[float], key("by how much they miss their level")]
    exact: list[bool]
    audited: list[bool]
    undecided: list[bool]


class Cells(TypedDict):
    """All cells, of a table that is not too large."""

    codes: Codes
    value: list[float]
    status: NotRequired[list[str]]
    became: NotRequired[Annotated[list[float], key("the value after")]]


class Figures(TypedDict):
    """The cells of a table with suppressed ones."""

    variables: list[str]
    labels: NotRequired[Labels]
    statuses: dict[str, Status]
    loss: Annotated[dict[str, list[Loss]], key("by variable")]
    intervals: Intervals
    all: Cells | None


class OnGrid(TypedDict):
    """The last decimal of all values, and cells whose interval has no other number of it."""

    step: float | None
    known: list[int]


class Who(TypedDict):
    """From whom the table is protected."""

    who: Annotated[
        list[Literal["singletons", "contributors", "listed", "coalitions"]],
        key("besides outsiders", public=True),
    ]
    left_out: Annotated[str | None, key("why insiders were not looked at")]
    in_part: Annotated[bool, key("whether levels were lowered that cannot be reached", public=True)]


class Narrowest(TypedDict):
    """What the attacker finds who finds most."""

    cell: int
    low: float
    high: float
    attacker: str


class Unreachable(TypedDict):
    """A level that cannot be reached against an insider."""

    cell: int
    attacker: str
    way: str
    level: float
    reached: float


class Insiders(TypedDict):
    """What insiders find out."""

    attackers: int
    protected: bool
    audited: bool
    under_protected: list[int]
    short_by: list[float]
    short_of: list[str]
    narrowest: list[Narrowest]
    without_interval: int
    unreachable: list[Unreachable]


class Exact(TypedDict):
    """What was decided in rational numbers."""

    protected: bool
    missed: list[int]
    undecided: list[int]
    levels_missed: int
    levels_undecided: int
    witnesses: int
    whole: bool


class Counts(TypedDict):
    """What is known of a table because its values are counts."""

    guessed: Annotated[bool, key("whether nobody has said it")]
    threshold_out_of_reach: list[dict[str, Any]]
    least: Annotated[int, key("what a suppressed count is at least", public=True)]
    thresholds: int
    lowered: list[dict[str, Any]]


_From = TypedDict("_From", {"from": Annotated[Who, key("from whom it is protected", public=True)]})


class SuppressedTable(_From):
    """A table with suppressed cells, audited."""

    cells: Annotated[int, key(public=True)]
    suppressed: Annotated[int, key(public=True)]
    protected: Annotated[
        bool, key("whether every sensitive cell is, from all attackers that there are", public=True)
    ]
    under_protected: Annotated[list[int], key("cells")]
    short_by: list[float]
    known_exactly: Annotated[list[int], key("cells")]
    not_audited: list[int]
    undecided: list[int]
    cost: Annotated[float | None, key("of the pattern, where it was searched for")]
    bound: Annotated[float | None, key("no pattern that protects costs less")]
    status: Ending | None
    limit: Ended
    pattern: Annotated[list[int], key("suppressed cells")]
    exact: NotRequired[Exact]
    insiders: NotRequired[Insiders]
    counts: NotRequired[Annotated[Counts, key("where values are counts", public=True)]]
    counts_unsaid: NotRequired[
        Annotated[bool, key("values are whole numbers, and nobody has said whether they count")]
    ]
    protection: Annotated[Literal["suppression"], key(public=True)]
    linkrisk: str
    name: Annotated[str, key("the table")]
    relations: Annotated[int, key("sums that hold", public=True)]
    sensitive: int
    on_grid: OnGrid
    table: Figures
    rules: NotRequired[Rules]
    respondents_known: Annotated[bool, key("whether the table has numbers of respondents", public=True)]
    respondents: NotRequired[Annotated[SuppressedTable, key("the same of these, where they are published")]]
    method: NotRequired[str]
    cost_of: NotRequired[str]
    backend: NotRequired[str]
    seed: NotRequired[int]
    seconds: float
    time_limit: NotRequired[float | None]
    subtables: NotRequired[int]
    open_before_repair: NotRequired[int]
    added_by_repair: NotRequired[int]
    removed_by_thinning: NotRequired[int]
    intervals: NotRequired[bool]


class TableRow(TypedDict):
    """What one backend says, and what was counted."""

    name: str
    status: str
    limit: str | None
    cost: float | None
    bound: float | None
    gap: float | None
    proven: bool
    audit: str
    rows_added: int | None
    build_seconds: float | None
    solve_seconds: float | None
    peak_memory_mb: float | None
    version: str


class TableComparison(TypedDict):
    """Every backend on the same model of a table."""

    linkrisk: str
    name: str
    problem: Literal["suppress", "round", "adjust"]
    cost_of: str | None
    base: int | None
    cells: int
    relations: int
    model: dict[str, Any]
    separated: bool
    time_limit: float | None
    seed: int
    versions: dict[str, str]
    backends: list[TableRow]
    disagreements: list[str]
    no_answer: NotRequired[Annotated[str, key("why no backend has any answer")]]


class BatchTable(TypedDict):
    """A table of a batch."""

    by: list[str]
    response: str
    cells: int
    relations: int
    sensitive: int
    method: str | None
    suppressed: int
    cost: float | None
    bound: float | None
    protected: bool | None
    respondents_published: bool
    changed: Annotated[int | None, key("cells that have another value than before, where they may")]
    found: Annotated[
        dict[str, Any] | None, key("what the JSON of its action has, but for what there is of each cell")
    ]


class Batch(TypedDict):
    """What a batch of tau-ARGUS has done."""

    linkrisk: str
    batch: str
    protected: bool
    tables: list[BatchTable]
    files: Annotated[list[str], key("that were written")]
    withheld: Annotated[list[str], key("that were not, since their table is not protected")]
    said: list[str]
    not_begun: list[str]


class Records(TypedDict):
    """What became of columns of codes, and of records without a code or a response."""

    renamed: Annotated[dict[str, str], key("variables whose column of codes has another name")]
    coded: Annotated[dict[str, int], key("by column, records without a code that got one")]
    left_out: Annotated[dict[str, int], key("by column, records that are not in the table")]
    missing_code: Annotated[str, key("of records that had none")]


class Tabulation(Records):
    """What was made of microdata, without its cells."""

    linkrisk: str
    cells: int
    relations: int
    sensitive: int


class MadeTable(TypedDict):
    """What the owner of a table keeps of how it was made: `tables make --record`."""

    rules: Rules
    cells: int
    linkrisk: str
    input: str
    by: list[list[str]]
    response: str | None
    labels: NotRequired[Labels]
    counts: NotRequired[bool]
