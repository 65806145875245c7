"""The JSON of microdata: suppression, unsafe combinations, masking, protocols, descriptions, reports."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.options.names import CostName, SuppressionName
from linkrisk.solver.schemas.fit import Labels
from linkrisk.solver.schemas.keys import key


class MaskedFile(TypedDict):
    """A file of a masking."""

    name: str
    sha256: str | None


class Method(TypedDict):
    """A method, and what it was applied to."""

    method: str
    parameters: dict[str, Any]
    attributes: list[str]
    said: Annotated[str, key("the same in words")]


class Masking(TypedDict):
    """How a masked table was made, with the seed: to be kept, and to be kept secret."""

    linkrisk: str
    input: NotRequired[Annotated[MaskedFile, key("of a record")]]
    output: NotRequired[Annotated[MaskedFile, key("of a record")]]
    name: Annotated[str, key("of the original table")]
    records: int
    columns: Annotated[int, key("of the original table")]
    methods: list[Method]
    strata: NotRequired[list[str]]
    seed: Annotated[str | None, key("as text: few programs read whole numbers of so many digits")]
    masked: list[str]
    unchanged: Annotated[list[str], key("masked without a single changed value")]
    as_is: list[str]
    left_alone: Annotated[dict[str, str], key("columns that were not masked because of what they are")]
    withheld: Annotated[dict[str, int], key("values that are missing only since masking, by column")]
    once_per_household: NotRequired[dict[str, str]]
    several_per_household: NotRequired[dict[str, str]]
    perhaps_codes: NotRequired[list[str]]
    identifiers: Annotated[list[str], key("direct identifiers that are left in")]
    dropped: NotRequired[list[str]]
    renumbered: NotRequired[list[str]]
    order_told_by: NotRequired[
        Annotated[list[str], key("columns of ids that undo the random order, as they are as they were")]
    ]
    order: NotRequired[
        Annotated[
            list[int], key("the row of the original of each record: with it, it can be told who is who")
        ]
    ]
    labels: NotRequired[dict[str, dict[str, str]]]


class ProtocolInput(TypedDict):
    """What a protocol is of."""

    file: str
    sha256: str | None


class ProtocolStep(TypedDict):
    """A step that was done."""

    command: str
    done: list[str]
    sha256: str


class ProtocolRun(TypedDict):
    """What running a protocol did, without seeds."""

    linkrisk: str
    protocol: Annotated[str, key("its file")]
    input: ProtocolInput
    steps: list[ProtocolStep]
    undone: Annotated[int, key("last steps that were not done")]
    output: str
    repeatable: Annotated[bool, key("whether the protocol as it was given makes the same file again")]


class Frequency(TypedDict):
    """How many records have a category."""

    code: str
    label: str
    records: int


class Column(TypedDict):
    """What is in a column, beside the first guess of what it is."""

    name: str
    label: str
    role: str | None
    why_role: str
    scale: str | None
    why_scale: str
    different: int
    empty: int
    coded_missing: int
    lowest: float | None
    highest: float | None
    frequent: list[Frequency]


class Description(TypedDict):
    """What is in a table."""

    file: str
    records: int
    columns: list[Column]
    notes: list[str]
    schema: Annotated[dict[str, Any], key("the first guess, to be corrected")]


class Dataset(TypedDict):
    """What a named data set is."""

    name: str
    title: str
    rows: int
    columns: list[str]
    origin: str
    licence: str
    address: str | None
    local_file: str | None
    comes_from: str


class Datasets(TypedDict):
    """All named data sets."""

    datasets: list[Dataset]


class Answer(TypedDict):
    """What `suppress` took from which records."""

    records: int
    levels: dict[str, int]
    taken: Annotated[dict[str, list[int]], key("rows from 1, by key variable")]


class ReportHead(TypedDict):
    """The sentences at the head of a report."""

    answer: Literal["above", "below", "open", "unknown", "compared"]
    verdict: str
    worst: str
    reasons: list[str]


class Section(TypedDict):
    """A part of a report."""

    name: str
    title: str
    lead: str
    blocks: Annotated[list[dict[str, Any]], key("each with its `kind`: paragraphs, numbers, tables, charts")]


class Report(TypedDict):
    """A report."""

    title: str
    audience: Literal["internal", "external"]
    linkrisk: str
    made: Annotated[str, key("when, ISO 8601")]
    about: NotRequired[Annotated[str, key("`suppression`, or what was done to a table")]]
    headline: ReportHead
    sections: list[Section]


class Checked(TypedDict):
    """What a checked table has of unsafe combinations in the input."""

    variables: list[str]
    threshold: float
    combinations: Annotated[int, key("different unsafe ones")]
    records: Annotated[int, key("that have one")]


class Missing(TypedDict):
    """Values that are missing."""

    before: int
    after: int


class Category(TypedDict):
    """How many records have a category; null for what is no category of the input, or of the output."""

    category: str | None
    others: int
    before: int | None
    after: int | None


class Variable(TypedDict):
    """A key variable before and after."""

    name: str
    categories: int
    categories_after: int
    level: Annotated[int, key("of recoding", public=True)]
    missing_before: int
    suppressed: int
    share: float
    cost: float
    untouched: bool
    frequencies: list[Category]
    missing: Missing


class Compared(TypedDict):
    """Key variables and risk before and after."""

    variables: list[Variable]
    risk: Annotated[
        dict[str, Any], key("by what a missing value means: records below k, the smallest k, and more")
    ]
    riskiest: Annotated[dict[str, Any], key("combinations of the input")]


class Asked(TypedDict):
    """What was asked of key variables."""

    linkrisk: str
    name: Annotated[str, key("the table")]
    keys: Annotated[list[str], key("key variables")]
    constant: Annotated[list[str], key("those of one value, which are left out")]
    k: Annotated[int | None, key("records that are to be alike", public=True)]
    risk: float | None
    missing: str
    missing_means: str
    weight: str | None
    labels: Labels
    level_names: NotRequired[dict[str, list[str]]]
    tables: Annotated[list[Checked], key("that were checked, as the input has them")]


class Suppression(Asked):
    """A table with values taken out at least cost."""

    records: Annotated[int, key(public=True)]
    cells: Annotated[int, key("values that were taken out")]
    cost: Annotated[float, key("what they cost")]
    bound: Annotated[float, key("no other suppression that does the same costs less")]
    status: Annotated[Literal["optimal", "feasible", "interrupted"], key(public=True)]
    answer_given: Annotated[bool, key("whether nothing was searched, because the answer was given")]
    limit: str | None
    unsafe_records: int
    unsafe_combinations: int
    minimal_unsafe_combinations: int
    suppressed: Annotated[dict[str, int], key("values by key variable")]
    levels: Annotated[dict[str, int], key("of recoding, by key variable")]
    recounted: Annotated[
        int | None, key("records that keep an unsafe combination, by an independent count: 0", public=True)
    ]
    after: Annotated[
        dict[str, int], key("records with an unsafe combination of the output, by what a missing value means")
    ]
    sha256: Annotated[str | None, key("of the input")]
    problem: Annotated[SuppressionName, key(public=True)]
    dimension: int | None
    cost_of: CostName
    untouched: list[str]
    ghosts: dict[str, list[str]]
    household: str | None
    head: str | None
    household_keys: list[str]
    backend: str
    seed: int
    time_limit: float | None
    dropped: Annotated[list[str], key("columns")]
    identifiers: Annotated[list[str], key("columns that name the records")]
    recodings: dict[str, Any]
    proof: str
    cost_of_recoding: NotRequired[Annotated[float, key("of the problem joint")]]
    cost_per_record: NotRequired[float]
    lattice: NotRequired[Annotated[dict[str, int], key("combinations of levels: all, and those left open")]]
    seconds: float
    before_and_after: Compared


class UnsafeCount(TypedDict):
    """Unsafe combinations of a table."""

    combinations: Annotated[int, key("different ones")]
    minimal: Annotated[int, key("minimal ones of records")]
    records: Annotated[int, key("that have one")]
    by_variable: dict[str, int]
    by_category: dict[str, dict[str, int]]


class Level(TypedDict):
    """What recoding one key variable to a level gains and loses."""

    variable: str
    level: int
    categories: int
    lost: float
    minimal: int
    records: int


class Unsafe(Asked):
    """Unsafe combinations of a table."""

    before: UnsafeCount
    after: Annotated[UnsafeCount | None, key("with the trial recodings")]
    recoded: list[str]
    levels: list[Level]
    records: int
