"""The charts of a report, each where its results have something for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.documents.document import Block
from linkrisk.solver.report.content.results import Results


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
