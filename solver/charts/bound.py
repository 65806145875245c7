"""How attack and bound close in on the worst case over time, or cost and bound on the cheapest pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import Result, fit_of, kept, name_of, number, share, total_of
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import SIMPLE, WORST, Picture, chart, named
from linkrisk.solver.run.results import is_bound, meets

HEIGHT = 260
SETTLED = 0.02
"""Part of the time after which the height of the picture counts; before, a search has hardly begun."""

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Lines:
    """What the axis, the lower and the upper line are called; which of them is the best answer.

    The best answer is a solid line with discs, the bound a dashed one with squares.
    """

    axis: str = "re-identified"
    low: str = "attack"
    high: str = "bound"
    answer: str = "low"

    def style(self, field: str) -> tuple[str, list[int]]:
        """Colour and dashes of a line."""
        return (WORST, [1, 0]) if field == self.answer else (SIMPLE, [6, 4])


_COSTS = Lines("cost of suppressed cells", "at least", "cost", answer="high")


def bound(result: Result, family: str | None = None, *, live: bool = False) -> Chart | None:
    """The chart of one family; None where its search has left no trace.

    Parameters
    ----------
    result : mapping
        The JSON of a fit, or of risk. Of a search that runs, ``{"aggregator", "records", "trace"}`` do.
    family : str, optional
        By default the worst one.
    live : bool
        Whether the data set ``trace`` will be replaced, with rows ``t`` (seconds), ``low`` and ``high``: then
        the axes follow the data, and the one of time reaches over the rows ``t`` of the data set ``span``.
    """
    fit = fit_of(result, family) if "parameters" in result or "trace" not in result else result
    trace = [] if fit is None else _points(fit)
    if fit is None or not trace:
        return None
    low, high = trace[-1][1:]
    total, name = total_of(fit), name_of(str(fit.get("aggregator", "distance")))
    state = "they meet, so that the worst case is proven" if meets(low, high) else "the gap is open"
    at_most = f"none links more than {high:,.10g} ({share(high / total)}): {state}"
    if not is_bound(low, high, total):
        at_most = "no bound was found in time"
    return chart(
        "bound",
        f"Attack and bound over time: {name}{', of what records stand for' if 'total_weight' in fit else ''}",
        "The solid line is the best attack found; the dashed line is what no attack of this kind exceeds. "
        "Where they meet, the worst case is proven.",
        f"After {_seconds(trace[-1][0])} the best attack ({name}) links {low:,.10g} of {total:,.10g} "
        f"({share(low / total)}), and {at_most}.",
        picture(trace, None if live else _domain(trace), Lines()),
        _table(trace, total),
    )


def _points(fit: Result) -> list[Point]:
    """Times, attacks and bounds; the last ones hold until the end of the search."""
    rows = [[number(value) for value in row] for row in fit.get("trace") or () if len(row) == 3]
    found = sorted((t or 0.0, low or 0.0, high or 0.0) for t, low, high in rows if None not in (t, low, high))
    end = number(fit.get("seconds"))
    if found and end is not None and end > found[-1][0]:
        found.append((end, found[-1][1], found[-1][2]))
    return found


def _domain(trace: list[Point]) -> tuple[float, float]:
    """From the lowest attack to the highest bound, without those of the very beginning."""
    begin = SETTLED * trace[-1][0]
    after = [point for point in trace if point[0] >= begin]
    before = [point for point in trace if point[0] < begin][-1:]
    low, high = min(p[1] for p in after + before), max(p[2] for p in after + before)
    room = 0.06 * (high - low) or max(1.0, 0.02 * high)
    return max(0.0, low - room), high + room


def picture(trace: list[Point], domain: tuple[float, float] | None, words: Lines) -> Picture:
    """The two lines over time; without a domain the data can be given anew, see `bound`."""
    rows = [{"t": kept(t), "low": kept(low), "high": kept(high)} for t, low, high in trace]
    scale = alt.Scale(zero=False) if domain is None else alt.Scale(domain=list(domain), nice=False)
    base = named("trace").encode(
        x=alt.X("t:Q", title="seconds", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6))
    )
    whole = all(value == round(value) for _, *ends in trace for value in ends)
    y = alt.Y("low:Q", title=words.axis, scale=scale, axis=alt.Axis(tickMinStep=1) if whole else alt.Axis())
    told = [
        alt.Tooltip("t:Q", title="seconds"),
        alt.Tooltip("low:Q", title=words.low, format=",.10~g"),
        alt.Tooltip("high:Q", title=words.high, format=",.10~g"),
    ]
    lines: list[Any] = [
        base.mark_area(interpolate="step-after", opacity=0.14, color=INK, clip=True).encode(
            y=y, y2=alt.Y2("high:Q")
        )
    ]
    for field in ("low", "high"):
        colour, dash = words.style(field)
        line = base.mark_line(
            interpolate="step-after", strokeWidth=2.5, strokeDash=dash, color=colour, clip=True
        )
        lines.append(line.encode(y=alt.Y(f"{field}:Q")))
    other = "high" if words.answer == "low" else "low"
    lines += [
        base.mark_circle(size=45, color=WORST, opacity=1, clip=True).encode(
            y=alt.Y(f"{words.answer}:Q"), tooltip=told
        ),
        base.mark_square(size=40, color=SIMPLE, opacity=1, clip=True).encode(
            y=alt.Y(f"{other}:Q"), tooltip=told
        ),
        *_labels(base, words),
    ]
    data = {"trace": rows}
    if domain is None:
        # Rows that are not seen: charts side by side have one scale of time.
        lines.append(named("span").mark_point(opacity=0, size=0).encode(x=alt.X("t:Q")))
        data["span"] = [{"t": 0.0}, {"t": rows[-1]["t"]}]
    return Picture(alt.layer(*lines).properties(height=HEIGHT), data)


def _labels(base: alt.Chart, words: Lines) -> list[alt.Chart]:
    """Behind the last point: what the lower line is below it, what the upper one is above."""
    last = base.transform_window(
        rank="rank()", sort=[alt.SortField("t", order="descending")]
    ).transform_filter("datum.rank == 1")
    return [
        last.mark_text(align="left", dy=dy, dx=8, fontWeight="bold")
        .transform_calculate(said=f"'{name} ' + format(datum.{field}, ',.10~g')")
        .encode(y=alt.Y(f"{field}:Q"), text=alt.Text("said:N"))
        for field, name, dy in (("low", words.low, 8), ("high", words.high, -8))
    ]


def _table(trace: list[Point], total: float) -> Table:
    columns = (
        Column("seconds", "Seconds", Of.SECONDS),
        Column("attack", "Attack", Of.COUNT),
        Column("bound", "Bound", Of.COUNT),
        Column("attack_share", "Attack, share", Of.SHARE),
        Column("bound_share", "Bound, share", Of.SHARE),
    )
    return Table(columns, [[t, low, high, low / total, high / total] for t, low, high in trace])


def _seconds(value: float) -> str:
    return f"{value:.3g} seconds" if value < 1000 else f"{value:,.0f} seconds"


def costs(trace: Sequence[Point]) -> Chart:
    """The chart of a search that runs; its data sets are those of a live chart of `bound`.

    Parameters
    ----------
    trace : sequence of (seconds, bound, cost)
        At least one.
    """
    seconds, least, cost = trace[-1]
    columns = (
        Column("seconds", "Seconds", Of.SECONDS),
        Column("bound", "At least", Of.COUNT),
        Column("cost", "Cost", Of.COUNT),
    )
    return chart(
        "costs",
        "Cost and bound over time",
        "The solid line is the cost of the best pattern found, which protects; the dashed line is what every "
        "pattern that protects costs at least. Where they meet, the cost is proven least.",
        f"After {seconds:.3g} seconds the best pattern costs {cost:,.10g}, and none costs less than "
        f"{least:,.10g}.",
        picture(list(trace), None, _COSTS),
        Table(columns, [list(point) for point in trace]),
    )
