"""The JSON of every action of `tables`."""

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
    """The claim of a backend, and its recount."""

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


class Change(TypedDict):
    """What changed of a code."""

    code: str
    cells: int
    changed: int
    change: float
    value: float


class Moved(TypedDict):
    """The sensitive cells of an adjusted table."""

    cell: list[int]
    codes: Codes
    value: list[float]
    became: list[float]
    lower_level: list[float]
    upper_level: list[float]


class ChangedFigures(TypedDict):
    """The cells of a table whose values were changed."""

    variables: list[str]
    labels: NotRequired[Labels]
    loss: dict[str, list[Change]]
    all: Cells | None
    changes: Annotated[list[list[float | None]], key("how many cells changed by how much")]
    sensitive: NotRequired[Moved]


class Changed(TypedDict):
    """What all tables have whose values were changed."""

    cells: Annotated[int, key(public=True)]
    changed: int
    linkrisk: str
    name: Annotated[str, key("the table, or microdata")]
    relations: Annotated[int, key("sums", public=True)]
    rules: NotRequired[Rules]
    table: ChangedFigures
    seed: int | None


class Searched(Changed):
    """What was changed at the least cost."""

    largest_change: float
    cost: float
    bound: Annotated[float, key("no table of this kind costs less")]
    status: Ending
    limit: Ended
    backend: str
    seconds: float
    time_limit: float | None


class RoundedTable(Searched):
    """A rounded table."""

    rounded: list[float]
    protection: Annotated[Literal["rounding"], key(public=True)]
    base: Annotated[int, key(public=True)]
    relaxed: Annotated[bool, key("whether values may be more than the base away", public=True)]
    asked_relaxed: bool


class AdjustedTable(Searched):
    """An adjusted table."""

    adjusted: list[float]
    protection: Annotated[Literal["adjustment"], key(public=True)]
    sensitive: int
    up: Annotated[int, key("sensitive cells that went up")]
    weight: str
    squares: bool
    up_only: bool
    step: float | None
    guessed: NotRequired[int | None]
    mean_change: float
    mean_relative_change: float
    median_relative_change: float


class Noisy(Changed, Records):
    """What tables with noise by cell keys have in common."""

    not_adding_up: Annotated[int, key("relations", public=True)]
    changes: Annotated[dict[str, Any], key("between values before and after: quantiles")]
    records: int
    largest_noise: float
    variance: float
    weight: str | None
    keys: Annotated[str | None, key("column of record keys")]


class PerturbedCounts(Noisy):
    """Counts with noise."""

    protection: Annotated[Literal["counts"], key(public=True)]
    variances: list[float]
    small: Annotated[int, key("counts up to it do not appear", public=True)]
    design: Annotated[dict[str, list[float]], key("the perturbation table")]


class PerturbedSums(Noisy):
    """Sums with noise."""

    protection: Annotated[Literal["sums"], key(public=True)]
    sensitive: int
    response: str
    scale: str
    share: float
    least: float | None
    flex_point: float | None
    power: float
    factors: list[float]
    extra: float
    same_key: bool
    digits: int | None
    zeros: bool
    decimals: int
    decimals_of_sums: int
    separation_point: float


class Recoding(TypedDict):
    """What became of the codes of a variable."""

    variable: str
    how: str
    before: int
    after: int
    codes: list[list[str]]


class Effect(TypedDict):
    """A table with some recodings."""

    recoding: str
    cells: int
    relations: int
    empty: int
    sensitive: int
    secondary: int | None
    cost: float | None
    bound: float | None


class RecodedFigures(TypedDict):
    """The cells of a table of coarser codes."""

    variables: list[str]
    labels: NotRequired[Labels]
    all: Cells | None


class RecodedTable(Records):
    """A table of coarser codes."""

    protection: Annotated[Literal["recoding"], key(public=True)]
    linkrisk: str
    name: str
    by: list[str]
    suppressed: Annotated[bool, key("whether the effects say what is suppressed with them")]
    time_limit: float | None
    not_begun: list[str]
    response: str | None
    holding: str | None
    weight: str | None
    rules: Rules
    recodings: list[Recoding]
    cells: Annotated[int, key(public=True)]
    relations: Annotated[int, key(public=True)]
    table: RecodedFigures
    effects: list[Effect]
