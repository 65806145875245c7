"""One record: which attributes make its distance to the partner, and to the nearest rival."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import (
    Result,
    in_words,
    kept,
    labelled,
    listed,
    measure,
    name_of,
    numbers,
    written,
)
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import SIMPLE, WORST, Picture, chart, named

PICKED = "picked"
"""Data set with rows ``attribute``, ``to`` (`TO`) and ``contribution``, which a page puts in."""

TO = ("partner", "rival")

_STEP = 34
_COLUMNS = (
    Column("attribute", "Attribute"),
    Column("partner", "To the partner", Of.NUMBER),
    Column("rival", "To the nearest rival", Of.NUMBER),
)


def waterfall(result: Result, record: str | None = None, family: str | None = None) -> Chart | None:
    """The chart of one record; None where the parts of its distances are not known.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    record : str, optional
        By default the first that is re-identified.
    family : str, optional
        An attack of the measure ``records``; by default the one that links most.
    """
    taken = measure(result, "records")
    attacks = [one for one in taken.get("attacks") or () if family in (None, one["attack"])]
    if not attacks or not attacks[0].get("to_partner"):
        return None
    attack, records = attacks[0], [str(one) for one in taken["record"]]
    names = list(in_words(result, attack["attributes"]).values())
    linked = [bool(one) for one in attack["linked"]]
    at = linked.index(True) if record is None and True in linked else 0
    if record is not None:
        if record not in records:
            return None
        at = records.index(record)
    return filled(blank(names), names, attack["to_partner"][at], attack["to_rival"][at],
                  f"Distances of record {records[at]}: {name_of(attack['attack'])}")  # fmt: skip


def blank(attributes: Sequence[str]) -> Chart:
    """The chart before a record is picked."""
    return chart(
        "waterfall",
        "Distances of a record",
        "From left to right, each attribute adds its part to the distance. The record is re-identified when "
        "its partner's line ends before the rival's.",
        "No record is picked.",
        _picture(list(attributes)),
        Table(_COLUMNS, []),
    )


def filled(
    empty: Chart,
    attributes: Sequence[str],
    partner: Sequence[Any],
    rival: Sequence[Any],
    title: str = "",
) -> Chart:
    """The chart of a record, from what each attribute contributes to the two distances.

    Parameters
    ----------
    empty : Chart
        Of `blank`.
    attributes : sequence of str
    partner, rival : sequence of float or None
        Contributions; a rival that there is not has none.
    title : str, optional
    """
    both = [numbers(partner), numbers(rival)]
    rows = [
        {"attribute": name, "to": to, "contribution": kept(value)}
        for to, values in zip(TO, both, strict=True)
        for name, value in zip(attributes, values, strict=False)
        if value is not None
    ]
    sums = [
        f"to the {to} {written(sum(known))}"
        for to, values in zip(("partner", "nearest rival"), both, strict=True)
        if (known := [one for one in values if one is not None])
    ]
    padded = [[*values, *[None] * len(attributes)][: len(attributes)] for values in both]
    cells = [list(row) for row in zip(attributes, *padded, strict=True)]
    parts = [f"{name} {written(one)} and {written(other)}" for name, one, other in cells]
    description = (
        f"Distance {' and '.join(sums) or 'not known'}. By attribute, partner and rival: {listed(parts)}."
    )
    spec = {**empty.spec, "datasets": {PICKED: rows}, "description": description}
    table = Table(_COLUMNS, cells)
    return replace(empty, title=title or empty.title, description=description, spec=spec, table=table)


def _picture(attributes: list[str]) -> Picture:
    total = "distance"
    while total in attributes:
        total += " "
    lines = [*attributes, total]
    at = f"indexof({_quoted(lines)}, datum.value)"
    y = alt.Y(
        "attribute:N", title=None, sort=None,
        scale=alt.Scale(domain=lines, paddingInner=0.25),
        axis=alt.Axis(ticks=False, domain=False, labelExpr=labelled(lines, at)),
    )  # fmt: skip
    offset = alt.YOffset("to:N", scale=alt.Scale(domain=list(TO), paddingInner=0.1))
    legend = alt.Legend(title=None, labelExpr="datum.label == 'rival' ? 'nearest rival' : datum.label")
    colour = alt.Color("to:N", scale=alt.Scale(domain=list(TO), range=[WORST, SIMPLE]), legend=legend)
    dash = alt.StrokeDash("to:N", scale=alt.Scale(domain=list(TO), range=[[1, 0], [4, 2]]), legend=legend)
    parts = (
        named(PICKED)
        .transform_calculate(order=f"indexof({_quoted(attributes)}, datum.attribute)")
        .transform_window(
            end="sum(contribution)", groupby=["to"], sort=[alt.SortField("order", order="ascending")]
        )
        .transform_calculate(begin="datum.end - datum.contribution")
    )
    sums = (
        named(PICKED)
        .transform_aggregate(end="sum(contribution)", groupby=["to"])
        .transform_calculate(attribute=f"{_quoted([total])}[0]", begin="0", contribution="datum.end")
    )
    told = [
        alt.Tooltip("attribute:N", title="attribute"),
        alt.Tooltip("to:N", title="to the"),
        alt.Tooltip("contribution:Q", title="adds", format=".4~g"),
    ]
    x = alt.X("begin:Q", title="distance", axis=alt.Axis(tickCount=4, format=".2~g"))
    layers = []
    for base, opacity in ((parts, 0.55), (sums, 0.95)):
        bars = base.mark_bar(fillOpacity=opacity, strokeWidth=1.4).encode(
            x=x, x2=alt.X2("end:Q"), y=y, yOffset=offset, color=colour,
            stroke=alt.Stroke("to:N", scale=alt.Scale(domain=list(TO), range=[WORST, SIMPLE]), legend=legend),
            strokeDash=dash, tooltip=told,
        )  # fmt: skip
        layers.append(bars)
    texts = sums.mark_text(align="left", dx=5, color=INK).encode(
        x=alt.X("end:Q"), y=y, yOffset=offset, text=alt.Text("end:Q", format=".3~g")
    )
    drawing = alt.layer(*layers, texts).properties(height=_STEP * len(lines))
    return Picture(drawing, {PICKED: []})


def _quoted(texts: Sequence[str]) -> str:
    """Texts as Vega's expressions have them, which are those of JSON."""
    return json.dumps(list(texts))
