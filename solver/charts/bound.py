"""How attack and bound close in on the worst case over time, or cost and bound on the cheapest pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from linkrisk.solver.charts.chart import INK, Chart
from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.charts.theme import SIMPLE, WORST, Picture, chart, named, told
from linkrisk.solver.charts.wording import kept, name_of, share
from linkrisk.solver.schemas.intervals import is_bound, meets
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import fit_of, number

_SETTLED = 0.02
"""Part of the time after which the height of the picture counts; before, a search has hardly begun."""

Point = tuple[float, float, float]


class Line(NamedTuple):
    """One of the two lines: its field and what it is called, its colour, dashes and shape."""

    field: str
    words: str
    colour: str
    dash: Sequence[int]
    shape: str

    @classmethod
    def answer(cls, field: str, words: str) -> Line:
        """The best answer: solid, with discs."""
        return cls(field, words, WORST, (1, 0), "circle")

    @classmethod
    def bound(cls, field: str, words: str) -> Line:
        """What no answer exceeds: dashed, with squares."""
        return cls(field, words, SIMPLE, (6, 4), "square")


def bound(result: Json, family: str | None = None, *, live: bool = False) -> Chart | None:
    """The chart of one family; None where its search has left no trace.

    `result`: the JSON of a fit, or of risk. Of a search that runs, ``{"aggregator", "records", "trace"}`` do.
    `family`: by default the worst one. `live`: whether the data set ``trace`` will be replaced, with rows
    ``t`` (seconds), ``low`` and ``high``: then the axes follow the data, and the one of time reaches over the
    rows ``t`` of the data set ``span``.
    """
    fit = fit_of(result, family) if "parameters" in result or "trace" not in result else result
    trace = [] if fit is None else _points(fit)
    if fit is None or not trace:
        return None
    seconds, low, high = trace[-1]
    total, name = fit.get("total_weight") or fit["records"], name_of(fit["aggregator"])
    state = "they meet, so that the worst case is proven" if meets(low, high) else "the gap is open"
    at_most = f"none links more than {high:,.10g} ({share(high / total)}): {state}"
    if not is_bound(low, high, total):
        at_most = "no bound was found in time"
    after = f"{seconds:.3g}" if seconds < 1000 else f"{seconds:,.0f}"
    columns = (
        *Of.SECONDS.columns(seconds="Seconds"),
        *Of.COUNT.columns(attack="Attack", bound="Bound"),
        *Of.SHARE.columns(attack_share="Attack, share", bound_share="Bound, share"),
    )
    lines = Line.answer("low", "attack"), Line.bound("high", "bound")
    return chart(
        "bound",
        f"Attack and bound over time: {name}{', of what records stand for' if 'total_weight' in fit else ''}",
        "The solid line is the best attack found; the dashed line is what no attack of this kind exceeds. "
        "Where they meet, the worst case is proven.",
        f"After {after} seconds the best attack ({name}) links {low:,.10g} of {total:,.10g} "
        f"({share(low / total)}), and {at_most}.",
        _picture(trace, "re-identified", lines, live=live),
        Table(columns, [[t, low, high, low / total, high / total] for t, low, high in trace]),
    )


def costs(trace: Sequence[Point]) -> Chart:
    """The chart of a search for a pattern that runs; its data sets are those of a live chart of `bound`.

    `trace`: at least one.
    """
    seconds, least, cost = trace[-1]
    columns = (*Of.SECONDS.columns(seconds="Seconds"), *Of.COUNT.columns(bound="At least", cost="Cost"))
    lines = Line.bound("low", "at least"), Line.answer("high", "cost")
    return chart(
        "costs",
        "Cost and bound over time",
        "The solid line is the cost of the best pattern found, which protects; the dashed line is what every "
        "pattern that protects costs at least. Where they meet, the cost is proven least.",
        f"After {seconds:.3g} seconds the best pattern costs {cost:,.10g}, and none costs less than "
        f"{least:,.10g}.",
        _picture(trace, "cost of suppressed cells", lines, live=True),
        Table(columns, [list(point) for point in trace]),
    )


def _points(fit: Json) -> list[Point]:
    """Times, attacks and bounds; the last ones hold until the end of the search."""
    rows: list[Any] = [tuple(map(number, row)) for row in fit.get("trace") or ()]
    found: list[Point] = sorted(row for row in rows if None not in row)
    end = fit.get("seconds")
    if found and end is not None and end > found[-1][0]:
        found.append((end, *found[-1][1:]))
    return found


def _domain(trace: Sequence[Point]) -> list[float]:
    """From the lowest attack to the highest bound, without those of the very beginning."""
    begin = _SETTLED * trace[-1][0]
    first = max((at for at, point in enumerate(trace) if point[0] < begin), default=0)
    low, high = min(point[1] for point in trace[first:]), max(point[2] for point in trace[first:])
    room = 0.06 * (high - low) or max(1.0, 0.02 * high)
    return [max(0.0, low - room), high + room]


def _picture(trace: Sequence[Point], axis: str, lines: tuple[Line, Line], *, live: bool) -> Picture:
    """The lower and the upper line over time."""
    rows = [{"t": kept(t), "low": kept(low), "high": kept(high)} for t, low, high in trace]
    scale = alt.Scale(zero=False) if live else alt.Scale(domain=_domain(trace), nice=False)
    seconds = alt.X("t:Q", title="seconds", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6))
    base = named("trace").encode(x=seconds)
    whole = all(value == round(value) for _, *ends in trace for value in ends)
    y = alt.Y("low:Q", title=axis, scale=scale, axis=alt.Axis(tickMinStep=1) if whole else alt.Axis())
    pointed = told({"t:Q": "seconds"}) + told({f"{one.field}:Q": one.words for one in lines}, format=",.10~g")
    steps: Any = {"interpolate": "step-after", "clip": True}
    layers = [base.mark_area(opacity=0.14, color=INK, **steps).encode(y=y, y2="high:Q")]
    for one in lines:
        at = base.encode(y=f"{one.field}:Q")
        layers += [
            at.mark_line(strokeWidth=2.5, strokeDash=list(one.dash), color=one.colour, **steps),
            at.mark_point(shape=one.shape, size=45, color=one.colour, clip=True).encode(tooltip=pointed),
        ]
    order = alt.SortField("t", order="descending")
    last = base.transform_window(rank="rank()", sort=[order]).transform_filter("datum.rank == 1")
    layers += [
        last.mark_text(align="left", dy=below, dx=8, fontWeight="bold")
        .transform_calculate(said=f"'{one.words} ' + format(datum.{one.field}, ',.10~g')")
        .encode(y=f"{one.field}:Q", text="said:N")
        for one, below in zip(lines, (8, -8), strict=True)
    ]
    data = {"trace": rows}
    if live:  # rows that are not seen: charts side by side have one scale of time
        layers.append(named("span").mark_point(opacity=0, size=0).encode(x="t:Q"))
        data["span"] = [{"t": 0.0}, {"t": rows[-1]["t"]}]
    return Picture(layers, 260, data)
