"""How often the best candidate is right, by its matching weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import Result, kept, measure, number, share, written
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import SIMPLE, WORST, Picture, chart, named

_POINTS = 60
_Z = 1.959963984540054


def reliability(result: Result) -> Chart | None:
    """The reliability of links by their weight; None where it was not measured.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    taken = measure(result, "link-reliability")
    table = (taken.get("grouped") or {}).get("groups") or {}
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table.get("rows") or ()]
    groups = [
        row
        for row in rows
        if number(row.get("share")) is not None and number(row.get("midpoint")) is not None
    ]
    if not groups:
        return None
    lower, upper = (number(taken.get(key)) for key in ("lower", "upper"))
    curve = [] if lower is None or upper is None else _curve(taken.get("model") or {}, lower, upper)
    columns = (
        Column("low", "Weight from", Of.NUMBER),
        Column("high", "Weight to", Of.NUMBER),
        Column("links", "Links", Of.COUNT),
        Column("right", "Right", Of.COUNT),
        Column("share", "Share right", Of.SHARE),
        Column("fitted", "Curve", Of.SHARE),
    )
    right, links = number(taken.get("right")) or 0.0, number(taken.get("links")) or 0.0
    target = number((taken.get("weight_at_target") or {}).get("value"))
    reached = (
        ""
        if target is None
        else f" The curve reaches {share(number(taken.get('target')))} at weight {written(target)}."
    )
    return chart(
        "reliability",
        "How reliable a link is, by its matching weight",
        "Points are links with similar weights, larger for more links; the line is the model with its 95 % "
        "band. To the right of where it is high, an intruder can trust his links.",
        f"{right:,.0f} of {links:,.0f} best candidates are right.{reached}",
        _picture(groups, curve, number(taken.get("target"))),
        Table(columns, [[number(row.get(column.name)) for column in columns] for row in groups]),
    )


def _curve(model: Mapping[str, Any], lower: float, upper: float) -> list[dict[str, Any]]:
    """The logistic curve with the band of its linear predictor (delta method)."""
    intercept, slope = number(model.get("intercept")), number(model.get("slope"))
    if intercept is None or slope is None:
        return []
    covariance = model.get("covariance") or [[0.0, 0.0], [0.0, 0.0]]
    points = []
    for step in range(_POINTS + 1):
        at = lower + (upper - lower) * step / _POINTS
        variance = covariance[0][0] + 2.0 * at * covariance[0][1] + at * at * covariance[1][1]
        wide = _Z * math.sqrt(max(variance, 0.0))
        middle = intercept + slope * at
        ends = zip("bcd", (middle, middle - wide, middle + wide), strict=True)
        points.append({"a": kept(at), **{key: kept(100.0 * _logistic(value)) for key, value in ends}})
    return points


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value > -700.0 else 0.0


def _picture(groups: list[dict[str, Any]], curve: list[dict[str, Any]], target: float | None) -> Picture:
    dots = [
        {
            "a": kept(number(row["midpoint"])),
            "b": kept(number(row["share"]), 100.0), "n": number(row.get("links")),
            "f": f"{number(row.get('right')) or 0:,.0f} of {number(row.get('links')) or 0:,.0f}",
        }
        for row in groups
    ]  # fmt: skip
    x = alt.X("a:Q", title="matching weight", scale=alt.Scale(zero=False))
    y = alt.Y("b:Q", title="right links, %", scale=alt.Scale(domain=[0, 100], nice=False))
    points = named("dots").mark_point(filled=True, color=WORST, opacity=0.9)
    layers = [
        points.encode(
            x=x, y=y, size=alt.Size("n:Q", scale=alt.Scale(range=[20, 140]), legend=None),
            tooltip=[alt.Tooltip("f:N", title="right"), alt.Tooltip("a:Q", title="weight", format=".3~g")],
        )
    ]  # fmt: skip
    if curve:
        base = named("curve").encode(x=x)
        layers[:0] = [
            base.mark_area(color=SIMPLE, opacity=0.18).encode(y=alt.Y("c:Q"), y2=alt.Y2("d:Q")),
            base.mark_line(color=SIMPLE, strokeWidth=2).encode(y=y),
        ]
    if target is not None:
        rule = named("rule")
        layers.append(rule.mark_rule(strokeDash=[5, 3], color=INK, opacity=0.6).encode(y=alt.Y("b:Q")))
    rules = [] if target is None else [{"b": 100.0 * target}]
    return Picture(alt.layer(*layers).properties(height=260), {"dots": dots, "curve": curve, "rule": rules})
