"""The JSON of `mask`, `run-protocol`, `describe`, `datasets` and `report`, and of an answer of `suppress`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

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
    """What a report says."""

    title: str
    audience: Literal["internal", "external"]
    linkrisk: str
    made: Annotated[str, key("when, ISO 8601")]
    about: NotRequired[Annotated[str, key("`suppression`, or what was done to a table")]]
    headline: ReportHead
    sections: list[Section]
