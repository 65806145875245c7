"""The JSON of `suppress` and `unsafe`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.options.names import CostName, SuppressionName
from linkrisk.solver.schemas.fit import Labels
from linkrisk.solver.schemas.keys import key


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
