"""Prepares the JSON of a protected table for sections: names of cells, texts of numbers and codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words, names_in_words
from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.charts.reach import Reach
from linkrisk.solver.documents.document import Block, Paragraph
from linkrisk.solver.documents.wording import joined, table
from linkrisk.solver.run.number_format import MINUS, no_less, several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables import tolerances

Columns = Sequence[tuple[str, str, Of]]
"""Name, title and kind of each column; names are keys of the lines."""


MOST_LISTED = 2_000
"""Lines of a table of the page; internal files have all."""

EMPTY = "(empty)"
"""Text of an empty code."""


@dataclass(frozen=True)
class Attacked:
    """Suppressed cell with the interval of an outsider."""

    number: int
    cell: str
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
    def sensitive(self) -> bool:
        """Whether it is a primary suppression."""
        return self.status == "u"

    @property
    def unsafe(self) -> bool:
        """Whether it was not proven protected."""
        return self.short > 0 or self.undecided

    @property
    def interval(self) -> str:
        """Return ``7 to 13``; an inner bound where the audit ended early."""
        if self.exact:
            return exactly(self.value)
        return f"{'' if self.audited else 'at least '}{exactly(self.low)} to {exactly(self.high)}"

    @property
    def shortage(self) -> str:
        """Return the shortfall of its level, to follow an interval; empty if there is none."""
        return f", short by {exactly(self.short)}" if self.short > 0 else ""

    @property
    def levels(self) -> str:
        """Return the values that must remain possible: ``7 to 13``, ``a width of 6``, or empty."""
        parts = []
        if self.lower_level > 0 or self.upper_level > 0:
            ends = (self.value - self.lower_level, self.value + self.upper_level)
            parts.append(" to ".join(map(exactly, ends)))
        if self.sliding_level > 0:
            parts.append(f"a width of {exactly(self.sliding_level)}")
        return " and ".join(parts)

    @property
    def reach(self) -> Reach:
        """Return how far its value may go down and up, beside its levels."""
        ends = (max(self.value - self.low, 0.0), max(self.high - self.value, 0.0))
        levels = (self.lower_level, self.upper_level, self.sliding_level)
        return Reach(self.cell, *ends, *levels, f"{self.interval}{self.shortage}", self.unsafe)

    @property
    def reached(self) -> float:
        """Return the met share of its worst level: 1 if it is just met."""
        return self.reach.share


def _named(found: Json) -> list[str]:
    """Name the cells of a part of the JSON by their codes, ``N1 × big``, or their numbers."""
    codes = list(zip(*found["codes"], strict=True)) or [()] * len(found["cell"])
    names = (" × ".join(code or EMPTY for code in own) for own in codes)
    return [name or f"cell {number}" for name, number in zip(names, found["cell"], strict=True)]


def attacked(given: Json) -> list[Attacked]:
    """Return the suppressed cells, sensitive ones first, and among these the least protected."""
    found = given["table"]["intervals"]
    columns = (found[one.name] for one in fields(Attacked)[2:])
    cells = [Attacked(*line) for line in zip(found["cell"], _named(found), *columns, strict=True)]
    return sorted(cells, key=lambda one: (not one.sensitive, not one.unsafe, one.reached, one.number))


def moved(given: Json) -> list[Json]:
    """Return the sensitive cells of an adjusted table, the largest relative changes first.

    They have the distance required in their direction, `level`, and whether they missed it, `short`.
    """
    found, lines = given["table"]["sensitive"], []
    columns = (found[name] for name in ("value", "became", "lower_level", "upper_level"))
    for cell, value, became, lower, upper in zip(_named(found), *columns, strict=True):
        far, level = abs(became - value), upper if became > value else lower
        short = level <= 0.0 or far < level * (1.0 - tolerances.AUDITED) - 1e-9 * max(1.0, abs(value))
        line = {"cell": cell, "value": value, "became": became, "level": level, "moved": far, "short": short}
        lines.append({**line, "share": far / abs(value) if value else None})
    return sorted(lines, key=lambda one: -one["moved"] / max(abs(one["value"]), 1.0))


def titles_of(given: Json) -> Callable[[int], str]:
    """Return the names of suppressed cells with their numbers: ``cell 4 (region=N, size=a)``."""
    found = given["table"]
    codes = {
        cell: ", ".join(f"{name}={code}" for name, code in zip(found["variables"], own, strict=False))
        for cell, *own in zip(found["intervals"]["cell"], *found["intervals"]["codes"], strict=True)
    }
    return lambda cell: f"cell {cell} ({codes[cell]})" if codes.get(cell) else f"cell {cell}"


def with_names(given: Json, lines: Iterable[Json]) -> list[Json]:
    """Return lines about suppressed cells, whose `cell` is a name instead of a number."""
    names = {one.number: one.cell for one in attacked(given)}
    return [{**line, "cell": names.get(line["cell"], f"cell {line['cell']}")} for line in lines]


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first of several, and the number of the others."""
    given = list(names)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return "; ".join(given[:most]) + more


def exactly(value: float) -> str:
    """Format a value of a cell with all digits but those of rounding errors: ``16,847,646.84``."""
    text = f"{value:,.10g}" if abs(value) < 1e15 else f"{value:.10g}"
    return ("0" if text == "-0" else text).replace("-", MINUS)


def cost(value: float) -> str:
    """Format a cost or its bound, which are sums."""
    return exactly(round(value, 6))


def are(many: int, what: str) -> str:
    """Return ``1 cell is``, ``2 cells are``."""
    return several(many, f"{what} is", f"{what}s are")


def size(given: Json) -> str:
    """Describe the size: cells, variables, and relations."""
    variables = given["table"]["variables"]
    by = f" by {joined(variables)}" if variables else ""
    relations = several(given["relations"], "relation")
    return f"{several(given['cells'], 'cell')}{by}, with {relations} between them"


def listing(caption: str, columns: Columns, lines: Iterable[Any]) -> Table:
    """List objects or mappings in a table, by the names of its columns, up to the limit of a page."""
    rows = [
        [line[name] if isinstance(line, Mapping) else getattr(line, name) for name, *_ in columns]
        for line in lines
    ]
    return table(caption, columns, rows[:MOST_LISTED])


def cut(many: int, text: str) -> tuple[Block, ...]:
    """Note that not all lines are listed."""
    return (Paragraph(text.format(MOST_LISTED), quiet=True),) if many > MOST_LISTED else ()


def proven(given: Json) -> bool:
    """Whether it is proven optimal."""
    return bool(given["status"] == "optimal")


def proof(given: Json, claim: str, least: str = "proven least") -> str:
    """Describe the bound, after a `claim` such as "no adjustment costs less than"."""
    return least if proven(given) else no_less(claim, given["cost"], given["bound"], cost(given["bound"]))


def ended(given: Json) -> Iterator[str]:
    """Describe the limit that ended a search before its proof."""
    if given["limit"] == "time":
        yield "The time was over before that was proven; what was found until then is as safe."
    if given["limit"] == "user":
        yield "The search was stopped; what was found until then is as safe."


def in_words(given: Json) -> Json:
    """Describe the meaning of variables and codes, as far as the table has labels."""
    found = given.get("table") or {}
    labels: Labels = found.get("labels", {})
    if not labels:
        return given
    variables = list(found["variables"])
    words = names_in_words(variables, labels)
    made = {**found, "variables": words}
    for part in ("all", "intervals", "sensitive"):
        if found.get(part):
            columns = zip(variables, found[part]["codes"], strict=True)
            codes = [[code_in_words(name, code, labels) for code in column] for name, column in columns]
            made[part] = {**found[part], "codes": codes}
    made["loss"] = {
        word: [{**line, "code": code_in_words(name, line["code"], labels)} for line in found["loss"][name]]
        for name, word in zip(variables, words, strict=True)
    }
    beside = given.get("respondents")
    return {**given, "table": made, **({"respondents": in_words(beside)} if beside else {})}
