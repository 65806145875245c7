"""The JSON of a protected table as sections read it: its cells by name, numbers in words, codes in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words, names_in_words
from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.charts.rows import Reach
from linkrisk.solver.documents.document import Block, Paragraph
from linkrisk.solver.documents.wording import joined, table
from linkrisk.solver.run.number_format import MINUS, no_less, several
from linkrisk.solver.schemas.keys import Json

Columns = Sequence[tuple[str, str, Of]]
"""Name, title and kind of each column; names are those of what the lines are made of."""

SHORT = 1e-5
"""By how much of its level a cell may be short: what optimisers cannot tell; the audit has the same."""

MOST_LISTED = 2_000
"""Lines of a table of the page; files for the house have all."""

EMPTY = "(empty)"
"""A code without a sign."""


@dataclass(frozen=True)
class Attacked:
    """A suppressed cell, and what an outsider finds of it."""

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
        """Whether it is not one that was suppressed with these."""
        return self.status == "u"

    @property
    def unsafe(self) -> bool:
        """Whether it was not seen to be protected."""
        return self.short > 0 or self.undecided

    @property
    def interval(self) -> str:
        """``7 to 13``; where the audit was ended before, what was seen until then."""
        if self.exact:
            return exactly(self.value)
        return f"{'' if self.audited else 'at least '}{exactly(self.low)} to {exactly(self.high)}"

    @property
    def shortage(self) -> str:
        """By how much it misses its level, as it follows an interval; empty where it does not."""
        return f", short by {exactly(self.short)}" if self.short > 0 else ""

    @property
    def levels(self) -> str:
        """What must remain possible: ``7 to 13``, ``a width of 6``, or empty."""
        parts = []
        if self.lower_level > 0 or self.upper_level > 0:
            ends = (self.value - self.lower_level, self.value + self.upper_level)
            parts.append(" to ".join(map(exactly, ends)))
        if self.sliding_level > 0:
            parts.append(f"a width of {exactly(self.sliding_level)}")
        return " and ".join(parts)

    @property
    def reach(self) -> Reach:
        """How far its value may go down and up, beside its levels."""
        ends = (max(self.value - self.low, 0.0), max(self.high - self.value, 0.0))
        levels = (self.lower_level, self.upper_level, self.sliding_level)
        return Reach(self.cell, *ends, *levels, f"{self.interval}{self.shortage}", self.unsafe)

    @property
    def reached(self) -> float:
        """How much of its worst level is reached: 1 where it just is."""
        return self.reach.share


def _named(found: Json) -> list[str]:
    """The cells of a part of the JSON by their codes, ``N1 × big``, or their numbers."""
    codes = list(zip(*found["codes"], strict=True)) or [()] * len(found["cell"])
    names = (" × ".join(code or EMPTY for code in own) for own in codes)
    return [name or f"cell {number}" for name, number in zip(names, found["cell"], strict=True)]


def attacked(given: Json) -> list[Attacked]:
    """The suppressed cells, sensitive ones first, of these those that reach least of their level."""
    found = given["table"]["intervals"]
    columns = (found[one.name] for one in fields(Attacked)[2:])
    cells = [Attacked(*line) for line in zip(found["cell"], _named(found), *columns, strict=True)]
    return sorted(cells, key=lambda one: (not one.sensitive, not one.unsafe, one.reached, one.number))


def moved(given: Json) -> list[Json]:
    """The sensitive cells of an adjusted table, first those that moved by most of their value.

    They have how far they had to move the way they went, `level`, and whether they moved by less, `short`.
    """
    found, lines = given["table"]["sensitive"], []
    columns = (found[name] for name in ("value", "became", "lower_level", "upper_level"))
    for cell, value, became, lower, upper in zip(_named(found), *columns, strict=True):
        far, level = abs(became - value), upper if became > value else lower
        short = level <= 0.0 or far < level * (1.0 - SHORT) - 1e-9 * max(1.0, abs(value))
        line = {"cell": cell, "value": value, "became": became, "level": level, "moved": far, "short": short}
        lines.append({**line, "share": far / abs(value) if value else None})
    return sorted(lines, key=lambda one: -one["moved"] / max(abs(one["value"]), 1.0))


def titles_of(given: Json) -> Callable[[int], str]:
    """What to call the suppressed cells where their numbers count, too: ``cell 4 (region=N, size=a)``."""
    found = given["table"]
    codes = {
        cell: ", ".join(f"{name}={code}" for name, code in zip(found["variables"], own, strict=False))
        for cell, *own in zip(found["intervals"]["cell"], *found["intervals"]["codes"], strict=True)
    }
    return lambda cell: f"cell {cell} ({codes[cell]})" if codes.get(cell) else f"cell {cell}"


def with_names(given: Json, lines: Iterable[Json]) -> list[Json]:
    """Lines about suppressed cells, whose `cell` is not a number but a name."""
    names = {one.number: one.cell for one in attacked(given)}
    return [{**line, "cell": names.get(line["cell"], f"cell {line['cell']}")} for line in lines]


def some(names: Iterable[str], most: int = 5) -> str:
    """The first of several, and how many more there are."""
    given = list(names)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return "; ".join(given[:most]) + more


def exactly(value: float) -> str:
    """A value of a cell with all its digits but those that rounding has made: ``16,847,646.84``."""
    text = f"{value:,.10g}" if abs(value) < 1e15 else f"{value:.10g}"
    return ("0" if text == "-0" else text).replace("-", MINUS)


def cost(value: float) -> str:
    """A cost or its bound, which sums have made."""
    return exactly(round(value, 6))


def are(many: int, what: str) -> str:
    """``1 cell is``, ``2 cells are``."""
    return several(many, f"{what} is", f"{what}s are")


def size(given: Json) -> str:
    """How many cells, by which variables, and how many relations."""
    variables = given["table"]["variables"]
    by = f" by {joined(variables)}" if variables else ""
    relations = several(given["relations"], "relation")
    return f"{several(given['cells'], 'cell')}{by}, with {relations} between them"


def listing(caption: str, columns: Columns, lines: Iterable[Any]) -> Table:
    """A table of objects or mappings, by the names of its columns; as many lines as a page has."""
    rows = [
        [line[name] if isinstance(line, Mapping) else getattr(line, name) for name, *_ in columns]
        for line in lines
    ]
    return table(caption, columns, rows[:MOST_LISTED])


def cut(many: int, text: str) -> tuple[Block, ...]:
    """The note that not all lines are listed, where they are not."""
    return (Paragraph(text.format(MOST_LISTED), quiet=True),) if many > MOST_LISTED else ()


def proven(given: Json) -> bool:
    """Whether nothing that does the same costs less."""
    return bool(given["status"] == "optimal")


def proof(given: Json, claim: str, least: str = "proven least") -> str:
    """What is known of cheaper answers, after a `claim` such as "no adjustment costs less than"."""
    return least if proven(given) else no_less(claim, given["cost"], given["bound"], cost(given["bound"]))


def ended(given: Json) -> Iterator[str]:
    """What ended a search before its proof."""
    if given["limit"] == "time":
        yield "The time was over before that was proven; what was found until then is as safe."
    if given["limit"] == "user":
        yield "The search was stopped; what was found until then is as safe."


def in_words(given: Json) -> Json:
    """Say what variables and codes mean, with the codes beside, as far as the table has labels."""
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
