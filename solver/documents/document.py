"""The document model: sections of blocks for terminal, notebook, page and application."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Self, TypeGuard

from linkrisk.errors import LinkriskError
from linkrisk.solver.charts.chart import Chart, Table
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result


class CellState(StrEnum):
    """What became of a cell of a statistical table, in the order of legends."""

    words: str
    letter: str  # the mark beside its value, as on colour alone nothing hangs; of statuses those of ARGUS

    def __new__(cls, name: str, words: str = "", letter: str = "") -> Self:
        """Take the name with its meaning."""
        made = str.__new__(cls, name)
        made._value_, made.words, made.letter = name, words, letter
        return made

    PUBLISHED = "published", "published"
    SHORT = "short", "sensitive, not protected", "!"
    SENSITIVE = "sensitive", "sensitive", "u"
    SECONDARY = "secondary", "suppressed with them", "m"
    GONE = "gone", "suppressed", "x"
    FIXED = "fixed", "always published", "z"
    UP = "up", "changed, up", "\N{UPWARDS ARROW}"
    DOWN = "down", "changed, down", "\N{DOWNWARDS ARROW}"
    ABSENT = "absent", "no such cell"


SUPPRESSED = frozenset((CellState.SENSITIVE, CellState.SECONDARY, CellState.SHORT, CellState.GONE))
"""Of cells whose value is not published; of the last one nothing else is said."""


@dataclass(frozen=True)
class GridCell:
    """One cell of `CellGrid`."""

    state: CellState
    text: str  # its value, as it is written
    note: str = ""  # what else is known of it


@dataclass(frozen=True)
class CellGrid:
    """A statistical table that shows the status of every cell, with details under the cursor."""

    kind: ClassVar[str] = "cells"
    caption: str
    row_variable: str
    column_variable: str  # empty where there is one variable only
    rows: tuple[str, ...]  # codes
    columns: tuple[str, ...]
    cells: Sequence[Sequence[GridCell]]  # a list for each row

    @property
    def states(self) -> list[CellState]:
        """Those that there are and that have a mark: what a legend explains."""
        found = {one.state for line in self.cells for one in line}
        return [state for state in CellState if state.letter and state in found]

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON."""
        lines = [[[one.state.value, one.text, one.note] for one in line] for line in self.cells]
        return {**vars(self), "rows": list(self.rows), "columns": list(self.columns), "cells": lines}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> CellGrid:
        """The grid of a JSON; KeyError, TypeError or ValueError when it is none."""
        cells = [
            [GridCell(CellState(state), text, note) for state, text, note in line] for line in given["cells"]
        ]
        rows, columns = tuple(given["rows"]), tuple(given["columns"])
        return cls(**{**given, "rows": rows, "columns": columns, "cells": cells})


P = ParamSpec("P")

RISK = "risk"

_UNFIT = (KeyError, TypeError, ValueError, IndexError, AttributeError)
"""What reading a JSON raises that is not what it should be."""


class Audience(StrEnum):
    """Who reads: `external` leaves out whatever would help an intruder."""

    INTERNAL = "internal"
    EXTERNAL = "external"


@dataclass(frozen=True)
class Paragraph:
    """A few sentences; `quiet` for what has to be known besides: a note of its section (`Section.notes`)."""

    kind: ClassVar[str] = "paragraph"
    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Items:
    """Short sentences, one below the other, such as what to do next."""

    kind: ClassVar[str] = "items"
    title: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Number:
    """One line of `Numbers`, ready to be read."""

    words: str
    value: str  # as text, with its unit
    interval: str = ""  # and what kind it is
    direction: str = ""  # "higher is worse", "lower is worse" or empty
    meaning: str = ""  # in one sentence; empty where the words say it


@dataclass(frozen=True)
class Numbers:
    """Findings of one measure."""

    kind: ClassVar[str] = "numbers"
    title: str
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Code:
    """A command to be copied, or another text whose every character counts."""

    kind: ClassVar[str] = "code"
    title: str
    text: str


@dataclass(frozen=True)
class Records:
    """The table of records, to be sorted, filtered and exported; one that is picked shows its distances.

    `partner` and `rival` have per record the contribution of each attribute to its distance to the partner,
    and to the nearest other candidate; empty rows where they are not known, such as a record without a
    partner. The data set ``picked`` of the waterfall has rows (attribute, to, contribution); the page puts in
    those of the record that is picked.
    """

    kind: ClassVar[str] = "records"
    table: Table  # a row per record; the first column is the record's id
    attributes: tuple[str, ...] = ()  # what the distance is made of
    partner: Sequence[Sequence[float]] = ()
    rival: Sequence[Sequence[float]] = ()
    waterfall: Chart | None = None


@dataclass(frozen=True)
class Choice:
    """One of several groups of blocks is shown at a time, such as those of one family; on paper all are."""

    kind: ClassVar[str] = "choice"
    label: str  # what is chosen, such as "Family of distances"
    options: tuple[tuple[str, tuple[Block, ...]], ...]  # the first is shown first


Block = Paragraph | Items | Numbers | Code | Records | Choice | CellGrid | Chart | Table


@dataclass(frozen=True)
class Section:
    """A part of the report with a title of its own."""

    name: str  # its place in the page's address, such as ``who-leaks``
    title: str
    lead: str  # one sentence; of an empty section, which no page has, why it is empty
    blocks: tuple[Block, ...] = ()  # of quiet paragraphs the most important first: what limits a claim

    @property
    def notes(self) -> tuple[str, ...]:
        """List the notes of the section, each once, in the order of their importance."""
        return tuple(dict.fromkeys(one.text for one in self.blocks if _is_note(one)))

    @property
    def shown(self) -> tuple[Block, ...]:
        """List the blocks that are no notes."""
        return tuple(one for one in self.blocks if not _is_note(one))


def _is_note(block: Block) -> TypeGuard[Paragraph]:
    return isinstance(block, Paragraph) and block.quiet


@dataclass(frozen=True)
class Headline:
    """The sentences at the head of a document.

    The answer is ``above``, ``below`` or ``open``: the worst case beside what is tolerated; ``unknown`` where
    nothing is; ``compared`` of the maskings of a sweep.
    """

    answer: str
    verdict: str  # one sentence for whoever decides
    worst: str = ""  # "At worst between x and y of n records (p to q %) can be re-identified by ..."
    reasons: tuple[str, ...] = ()
    bar: tuple[float, float] | None = None  # shares: what was found, and what is not exceeded

    @property
    def sentences(self) -> tuple[str, ...]:
        """List verdict and worst case, each once and none that is empty."""
        return tuple(one for one in dict.fromkeys((self.verdict, self.worst)) if one)


@dataclass(frozen=True)
class Document(Result):
    """A report, or the answer in short that a terminal and a notebook show of a result.

    An answer in short, which no file keeps, has neither version nor date; only it says what was asked (the
    files with their sizes, and the way of linking), and how it was found (engine, seed and seconds).
    """

    kind: ClassVar[str] = "report"
    title: str  # of the files
    audience: Audience
    headline: Headline
    sections: tuple[Section, ...]
    linkrisk: str = ""  # its version
    made: str = ""  # when, ISO 8601 with the offset
    about: str = RISK  # which words stand around it: a name in `page.wording`
    asked: tuple[str, ...] = ()
    how: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """List the notes of all sections, each once."""
        return tuple(dict.fromkeys(note for one in self.sections for note in one.notes))

    def in_short(self) -> Document:
        """Draw itself, where it is shown."""
        return self

    def content(self) -> dict[str, Any]:
        """The JSON of `report --json`, without its format."""
        head = {name: value for name, value in vars(self.headline).items() if name != "bar"}
        return {
            "title": self.title,
            "audience": self.audience.value,
            "linkrisk": self.linkrisk,
            "made": self.made,
            **({} if self.about == RISK else {"about": self.about}),
            "headline": {**head, "reasons": list(self.headline.reasons)},
            "sections": [
                {**vars(one), "blocks": list(map(block_to_dict, one.blocks))} for one in self.sections
            ],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Document:
        """The report of a JSON.

        Raises UsageError when it is not what `report --json` wrote.
        """
        try:
            head = given["headline"]
            return cls(
                title=given["title"],
                audience=Audience(given["audience"]),
                headline=Headline(head["answer"], head["verdict"], head["worst"], tuple(head["reasons"])),
                sections=tuple(
                    Section(one["name"], one["title"], one["lead"], _blocks(one["blocks"]))
                    for one in given["sections"]
                ),
                linkrisk=given["linkrisk"],
                made=given["made"],
                about=given.get("about", RISK),
            )
        except LinkriskError:
            raise
        except _UNFIT as error:
            raise UsageError("this is no report: give the JSON that `report --json` wrote") from error


@contextmanager
def shown(source: str) -> Iterator[None]:
    """Refuse JSON with missing keys: `source` is what to give instead."""
    try:
        yield
    except LinkriskError:
        raise
    except _UNFIT as error:
        what = f"they lack {error}" if isinstance(error, KeyError) else "a part is not what it should be"
        raise UsageError(f"these results cannot be shown, {what}: give {source}") from error


def page(source: str) -> Callable[[Callable[P, Document]], Callable[P, Document]]:
    """Decorate a maker of documents: it dates them, and refuses JSON with missing keys.

    The `source` is what to give instead: "what `fit --json` wrote".
    """

    def of(maker: Callable[P, Document]) -> Callable[P, Document]:
        @wraps(maker)
        def dated(*given: P.args, **named: P.kwargs) -> Document:
            with shown(source):
                made = datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds")
                return replace(maker(*given, **named), made=made)

        return dated

    return of


def block_to_dict(block: Block) -> dict[str, Any]:
    """A block as JSON, with its kind."""
    match block:
        case Chart() | Table() | CellGrid():
            content = block.to_dict()
        case Choice():
            named = [{"name": name, "blocks": [*map(block_to_dict, inner)]} for name, inner in block.options]
            content = {"label": block.label, "options": named}
        case _:
            content = {name: _plain(value) for name, value in vars(block).items()}
    return {"kind": block.kind, **content}


def _plain(value: Any) -> Any:
    match value:
        case Chart() | Table():
            return value.to_dict()
        case Number():
            return vars(value)
        case tuple():
            return [_plain(one) for one in value]
    return value


def _blocks(given: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """The blocks of a JSON; KeyError, TypeError or ValueError where one is none."""
    return tuple(
        _READERS[one["kind"]]({name: value for name, value in one.items() if name != "kind"}) for one in given
    )


def _records(given: Mapping[str, Any]) -> Records:
    drawn = None if given["waterfall"] is None else Chart.from_dict(given["waterfall"])
    table, attributes = Table.from_dict(given["table"]), tuple(given["attributes"])
    return Records(table, attributes, given["partner"], given["rival"], drawn)


def _choice(given: Mapping[str, Any]) -> Choice:
    return Choice(given["label"], tuple((one["name"], _blocks(one["blocks"])) for one in given["options"]))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Block]] = {
    Chart.kind: Chart.from_dict,
    Table.kind: Table.from_dict,
    CellGrid.kind: CellGrid.from_dict,
    Choice.kind: _choice,
    Records.kind: _records,
    Numbers.kind: lambda given: Numbers(given["title"], tuple(Number(**one) for one in given["numbers"])),
    Items.kind: lambda given: Items(given["title"], tuple(given["items"])),
    Paragraph.kind: lambda given: Paragraph(**given),
    Code.kind: lambda given: Code(**given),
}
