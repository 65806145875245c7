"""The JSON of `tables round`, `adjust`, `perturb-counts`, `perturb-sums` and `recode`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.schemas.keys import key
from linkrisk.solver.schemas.tables import Cells, Codes, Ended, Ending, Labels, Records, Rules


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
