"""Words, numbers and rows that the sections share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkrisk.solver.run.counts import MINUS
from linkrisk.solver.run.counts import several as several

Json = Mapping[str, Any]

STATUSES = {
    "u": "Sensitive",
    "m": "Suppressed with them",
    "s": "Published",
    "z": "Always published",
}

SHORT = 1e-5
"""By how much of its level a cell may be short: what optimisers cannot tell; the audit has the same."""


@dataclass(frozen=True)
class Attacked:
    """A suppressed cell, and what an outsider finds of it."""

    cell: int
    codes: tuple[str, ...]
    status: str
    value: float
    low: float
    high: float
    lower_level: float
    upper_level: float
    sliding_level: float
    short: float
    exact: bool
    audited: bool
    undecided: bool

    @property
    def unsafe(self) -> bool:
        """Whether it was not seen to be protected."""
        return self.short > 0 or self.undecided

    @property
    def name(self) -> str:
        """Its codes, or its number."""
        return named(self.codes, self.cell)

    @property
    def interval(self) -> str:
        """``7 to 13``; where the audit was ended before, what was seen until then."""
        if self.exact:
            return exactly(self.value)
        return f"{'' if self.audited else 'at least '}{exactly(self.low)} to {exactly(self.high)}"

    @property
    def share(self) -> float:
        """How much of its worst level is reached: 1 where it just is."""
        below, above = max(self.value - self.low, 0.0), max(self.high - self.value, 0.0)
        pairs = (
            (below, self.lower_level),
            (above, self.upper_level),
            (below + above, self.sliding_level),
        )
        return min((reach / level for reach, level in pairs if level > 0), default=float("inf"))


def attacked(given: Json) -> list[Attacked]:
    """The suppressed cells, sensitive ones first, of these those that reach least of their level."""
    found = given["table"]["intervals"]
    names = (
        "status",
        "value",
        "low",
        "high",
        "lower_level",
        "upper_level",
        "sliding_level",
        "short",
        "exact",
        "audited",
        "undecided",
    )
    codes = list(zip(*found["codes"], strict=True)) or [()] * len(found["cell"])
    lines = [
        Attacked(cell, tuple(code), *rest)
        for cell, code, *rest in zip(found["cell"], codes, *(found[name] for name in names), strict=True)
    ]
    return sorted(lines, key=lambda one: (one.status != "u", not one.unsafe, one.share, one.cell))


@dataclass(frozen=True)
class Moved:
    """A sensitive cell of an adjusted table."""

    name: str
    value: float
    became: float
    lower_level: float
    upper_level: float

    @property
    def level(self) -> float:
        """How far it had to move, the way it went."""
        return self.upper_level if self.became > self.value else self.lower_level

    @property
    def short(self) -> bool:
        """Whether it is nearer to its value than that."""
        far = abs(self.became - self.value)
        return self.level <= 0.0 or far < self.level * (1.0 - SHORT) - 1e-9 * max(1.0, abs(self.value))


def moved(given: Json) -> list[Moved]:
    """The sensitive cells of an adjusted table."""
    found = given["table"]["sensitive"]
    codes = list(zip(*found["codes"], strict=True)) or [()] * len(found["cell"])
    columns = (found[name] for name in ("value", "became", "lower_level", "upper_level"))
    lines = zip(found["cell"], codes, *columns, strict=True)
    return [Moved(named(code, cell), *rest) for cell, code, *rest in lines]


def named(codes: Sequence[str], cell: int) -> str:
    """A cell by its codes, ``N1 × big``; by its number where it has none."""
    return " × ".join(code or "(empty)" for code in codes) if codes else f"cell {cell}"


def exactly(value: float) -> str:
    """A value of a cell with all its digits but those that rounding has made: ``16,847,646.84``."""
    text = f"{value:,.10g}" if abs(value) < 1e15 else f"{value:.10g}"
    return ("0" if text == "-0" else text).replace("-", MINUS)


def shares(part: Json, whole: float) -> float | None:
    """The share of the values; None where there is nothing."""
    return part["value"] / whole if whole > 0 else None


def secondary(given: Json) -> int:
    """Cells that are suppressed with the sensitive ones."""
    return int(given["suppressed"] - given["sensitive"])


def proven(given: Json) -> bool:
    """Whether nothing that does the same costs less."""
    return bool(given["status"] == "optimal")


def ended(given: Json) -> Iterator[str]:
    """What ended a search before its proof."""
    if given["limit"] == "time":
        yield "The time was over before that was proven; what was found until then is as safe."
    if given["limit"] == "user":
        yield "The search was stopped; what was found until then is as safe."
