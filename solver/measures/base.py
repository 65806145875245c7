"""Define the interface of a measure, and the common form of all results."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.solver.run.result import Plots, Result, plain

if TYPE_CHECKING:
    from linkrisk.solver.documents.document import Document
    from linkrisk.solver.measures.task import RiskTask
    from linkrisk.solver.run.clock import Clock


class Worse(StrEnum):
    """Direction in which a number is worse for the data holder."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Unit(StrEnum):
    """Unit of a number."""

    SHARE = "share"
    RECORDS = "records"
    PERSONS = "persons"
    POINTS = "percentage points"
    NUMBER = "number"


class Kind(StrEnum):
    """Meaning of an interval's ends."""

    CERTAIN = "certain"
    CONFIDENCE = "95 % confidence"
    RANGE = "range"


@dataclass(frozen=True)
class Finding:
    """One number of a measure, for the table of all measures."""

    key: str  # what it is in the JSON: lower case, joined by underscores
    words: str  # what it is, as the line of a table
    value: float | None  # None where there is none, such as a share of no records
    unit: Unit = Unit.SHARE  # of `value`, `low` and `high`; shares are between 0 and 1
    worse: Worse = Worse.HIGHER
    # low, high: ends of an interval
    low: float | None = None
    high: float | None = None
    kind: Kind | None = None  # what kind of interval; None where there is none

    def __post_init__(self) -> None:
        if (self.kind is None) != (self.low is None and self.high is None):
            raise ValueError(f"{self.key}: an interval needs ends and a kind, or neither")


OF_WEIGHTS, OF_RECORDS = "of what records stand for", "of the records, unweighted"
"""Units of shares, where records have sampling weights."""


class CountedAttack(NamedTuple):
    """An attack whose links were counted, or have a known expectation."""

    key: str  # its name in the JSON, and for a reader
    words: str
    share: float  # of the records that it links rightly; of weights, where there are sampling weights
    unweighted: float | None = None  # of the records, where they have different sampling weights


@dataclass(frozen=True, eq=False, repr=False)
class MeasureResult(Result):
    """Result of a measure: a frozen dataclass without a `repr` of its own, equivalent to its JSON.

    Attributes
    ----------
    measure : str
        The measure's name, of the class.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> found = linkrisk.risk(iris, masked, aggregator="weighted-mean", measures=["uniqueness"])
    >>> found.measures["uniqueness"].to_frame().shape
    (15, 2)
    """

    kind: ClassVar[str] = "measure"

    measure: ClassVar[str]

    @property
    @abstractmethod
    def findings(self) -> tuple[Finding, ...]:
        """List the numbers for the table of all measures, the most important first."""

    @property
    @abstractmethod
    def paragraph(self) -> str:
        """Report the result in two to four sentences."""

    @property
    def notes(self) -> tuple[str, ...]:
        """List caveats."""
        return ()

    @property
    def counted_attacks(self) -> tuple[CountedAttack, ...]:
        """List attacks besides the worst case that were counted; they bound every verdict from below."""
        return ()

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Convert the details to a table; each measure documents its columns."""

    def content(self) -> dict[str, Any]:
        """Build the JSON: the findings, and every field of the result."""
        return {
            "findings": [jsonable(finding) for finding in self.findings],
            **{field.name: jsonable(self.written(field.name)) for field in dataclasses.fields(self)},
            "notes": list(self.notes),
        }

    def written(self, name: str) -> Any:
        """Convert a field for the JSON."""
        return getattr(self, name)

    @property
    def plot(self) -> Plots:
        """Charts of the result: ``result.plot.bound()``, and what else ``dir(result.plot)`` lists."""
        return Plots(lambda: {"measures": {self.measure: self.to_dict()}})

    def in_short(self) -> Document:
        """Make the short answer: the paragraph, and the findings."""
        from linkrisk.solver.documents.short import short_of

        return short_of({**self.to_dict(), "measure": self.measure, "paragraph": self.paragraph})

    def __repr__(self) -> str:
        return f"{self.measure}: {self.paragraph}"


class Measure(ABC):
    """A measure of a release.

    Attributes
    ----------
    name : str
        What `--measures` takes.
    title : str
        What people read above its numbers.
    cost : float
        Its part of the time limit, beside those of the others: seconds that it typically takes on a file of
        some hundred records.
    growth : float
        Seconds that it takes besides for each million records, whatever its clock says: where fewer are left,
        it is left out.
    unit : str
        What its shares are of where records have sampling weights; empty where it has none of records.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    unit: ClassVar[str] = ""
    cost: ClassVar[float] = 1.0
    growth: ClassVar[float] = 0.0

    def heading(self, *, weighted: bool, title: str = "") -> str:
        """Heading of its numbers, with their unit where two are used."""
        shares = f"; shares {self.unit}" if weighted and self.unit else ""
        return f"{title or self.title}{shares}"

    def least(self, task: RiskTask) -> float:
        """Estimate the seconds that it takes at least on these files."""
        return self.growth * task.records / 1e6

    def lacking(self, task: RiskTask) -> str | None:
        """Name what the measure needs and the files lack; None where it can be computed."""
        del task
        return None

    @abstractmethod
    def take(self, task: RiskTask, clock: Clock) -> MeasureResult:
        """Compute the measure; when `clock` expires, return a partial result that is marked as such."""


_KINDS = "biuf"
"""Types of numeric arrays."""


def jsonable(value: Any) -> Any:
    """Convert a field for JSON: arrays to lists, frames to rows, numbers that are not finite to null."""
    if value is None or type(value) in (str, int, bool, float):  # most of what large files have
        return plain(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: jsonable(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, pd.DataFrame):
        columns = (value.iloc[:, at] for at in range(value.shape[1]))
        cells = [jsonable(one.to_numpy() if one.dtype.kind in _KINDS else one.tolist()) for one in columns]
        rows = [list(row) for row in zip(*cells, strict=True)] if cells else [[] for _ in range(len(value))]
        return {"columns": [str(name) for name in value.columns], "rows": rows}
    if isinstance(value, Mapping):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _numbers(value) if value.ndim and value.dtype.kind in _KINDS else jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    if isinstance(value, np.generic):
        return jsonable(value.item())
    return None if value is pd.NA else plain(value)


def _numbers(values: NDArray[Any]) -> list[Any]:
    """Convert large lists of numbers by `plain`."""
    if values.dtype.kind != "f":
        listed: list[Any] = values.tolist()
        return listed
    finite = np.isfinite(values)
    whole = finite & (values == np.floor(values))
    if finite.all() and not whole.any():
        return list(values.tolist())
    found = values.astype(object)
    found[~finite] = None
    found[whole] = np.array([int(value) for value in values[whole].tolist()], dtype=object)
    return list(found.tolist())
