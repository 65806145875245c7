"""Words, numbers and charts that the sections share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.document import Block, Number
from linkrisk.solver.documents.formats import count, significant
from linkrisk.solver.report.content.results import FamilyResult, Interval, Json, Results
from linkrisk.solver.report.words import state
from linkrisk.solver.run.counts import persons
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.worst_sentence import ends_said

_MANY = 10_000.0
"""From here on numbers are written without decimals."""

_DIRECTIONS = {"higher": "higher is worse", "lower": "lower is worse"}

_KINDS = {"certain": "for certain", "95 % confidence": "95 % confidence", "range": "range"}


def family_words(name: str) -> str:
    """A family of distances in words, as it follows "the"."""
    return words_of(name).title


def family_heading(name: str) -> str:
    """The same where it stands alone."""
    return sentence(words_of(name).title)


def sentence(text: str) -> str:
    """With a capital at its beginning."""
    return text[:1].upper() + text[1:]


def of_all(part: float, total: float, *, weighted: bool = False) -> str:
    """``324 of 400 (81.0 %)``; of sampling weights whole persons."""
    number = persons if weighted else count
    return f"{number(part)} of {number(total)} ({percent(part / total if total else 0.0)})"


def between(interval: Interval) -> str:
    """An interval of shares in words: ``81.0 %``, ``between 50.0 % and 81.0 %``, or ``50.0 % or more``."""
    low, high = (percent(end) for end in interval.shares)
    if not interval.bounded:
        return f"{low} or more"
    return low if low == high else f"between {low} and {high}"


def proof(family: FamilyResult) -> str:
    """How its search ended, in a word or two."""
    content = family.content
    return state(
        content["status"], content.get("limit"), content.get("confidence"), content.get("bound_from")
    )


def written(value: float | None, unit: str) -> str:
    """A number with its unit."""
    if value is None:
        return "not known"
    if unit == "share":
        return percent(value)
    if unit in ("records", "persons"):
        return f"{count(value if unit == 'records' else round(value))} {unit}"
    text = count(round(value)) if abs(value) >= _MANY else significant(value)
    return f"{text} {unit}" if unit == "percentage points" else text


def number_of(finding: Json, words: str, meaning: str = "") -> Number:
    """A finding of a measure as a line of the report."""
    unit, low, high = finding["unit"], finding["low"], finding["high"]
    interval, kind = "", finding["kind"]
    if kind is not None:
        interval = ends_said(
            low, high, str(_KINDS.get(kind, kind)), lambda end: written(end, unit),
            certain=kind == "certain", share=unit == "share",
        )  # fmt: skip
    direction = _DIRECTIONS.get(finding["worse"], "")
    return Number(sentence(words), written(finding["value"], unit), interval, direction, meaning)


def table(
    caption: str, columns: Sequence[tuple[str, str, Of]], rows: Sequence[Sequence[Any] | Json]
) -> Table:
    """A table from names, titles and kinds of its columns; a row may be a mapping that has these names."""
    names = [name for name, _, _ in columns]
    cells = [[row[name] for name in names] if isinstance(row, Mapping) else list(row) for row in rows]
    return Table(tuple(Column(*column) for column in columns), cells, caption)


def joined(names: Sequence[str], most: int = 12) -> str:
    """Names in a sentence: ``A, B and C``; of many the first ones and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def drawn(results: Results, *names: str, **options: Any) -> Iterator[Chart]:
    """Draw these charts, without those that have fewer than two points; `options` are those of the chart."""
    from linkrisk.solver.charts.gallery import draw

    for name in names:
        content = results.sweep if name == "risk-utility" else results.details
        chart = None if content is None else draw(name, content, **options)
        if chart is not None and len(chart.table.rows) > 1:
            yield chart


def drawn_or(charts: Iterator[Chart], blocks: Iterator[Block]) -> Iterator[Block]:
    """Charts, which have tables of their own; where there are none, other blocks."""
    first = next(charts, None)
    yield from blocks if first is None else chain((first,), charts)
