"""Charts with a line for each number: its name, a bar with its interval, and the number itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import altair as alt

from linkrisk.solver.charts.reading import kept, labelled, listed
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.theme import LABEL_WIDTH, SIMPLE, Picture, named

STEP = 23
"""Height of a line."""

MOST = 60
"""Lines that are drawn; the table has all."""


class Ends(StrEnum):
    """How an interval is drawn: open ends of a search as a pale bar, all others as whiskers."""

    OPEN = "open"
    WHISKERS = "whiskers"


@dataclass(frozen=True)
class Row:
    """One line; of a heading only the label.

    Attributes
    ----------
    label : str
    value, low, high : float or None
        In the unit of the axis.
    said : str
        The number, for people, with its interval.
    short : str
        What stands beside the line; empty where that is `said`.
    colour : str
    ends : Ends
    heading : bool
    """

    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    said: str = ""
    short: str = ""
    colour: str = SIMPLE
    ends: Ends = Ends.WHISKERS
    heading: bool = False


def described(rows: Sequence[Row]) -> str:
    """All lines in words, each group a sentence."""
    parts: list[tuple[str, list[str]]] = []
    for row in rows:
        if row.heading or not parts:
            parts.append((row.label if row.heading else "", []))
        if not row.heading:
            parts[-1][1].append(f"{row.label} {row.said}")
    return " ".join(f"{head + ': ' if head else ''}{listed(said)}." for head, said in parts if said)


def picture(
    rows: Sequence[Row],
    axis: str,
    rule: tuple[float, str] | None = None,
    domain: Sequence[float] | None = None,
) -> Picture:
    """Draw lines, as many as `MOST`.

    Parameters
    ----------
    rows : sequence of Row
    axis : str
        What the numbers are.
    rule : (float, str), optional
        A value to compare with, and what it is.
    domain : sequence of float, optional
        Of the axis.
    """
    shown = rows[:MOST]
    base, labels = named(), [row.label for row in shown]
    headings = [at for at, row in enumerate(shown) if row.heading]
    # Lines are known by their number: names may occur twice, and may be anything.
    scale = alt.Scale(domain=list(range(len(shown))), paddingInner=0.3, paddingOuter=0.15)
    bold: Any = {
        "condition": {"test": f"indexof({headings}, datum.value) >= 0", "value": "bold"},
        "value": "normal",
    }
    left = alt.Axis(
        title=None, ticks=False, domain=False, labelExpr=labelled(labels), labelFontWeight=bold,
        labelLimit=LABEL_WIDTH, labelPadding=6,
    )  # fmt: skip
    right = alt.Axis(
        title=None, ticks=False, domain=False, orient="right", labelPadding=8,
        labelExpr=_texts([row.short or row.said for row in shown]), labelLimit=LABEL_WIDTH,
    )  # fmt: skip
    across = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=True, nice=True)
    x = alt.X("b:Q", title=axis, scale=across, axis=alt.Axis(tickCount=5))
    told = [alt.Tooltip("e:N", title=" "), alt.Tooltip("f:N", title=axis)]

    def y(shown_on: alt.Axis | None) -> alt.Y:
        return alt.Y("a:O", axis=shown_on, scale=scale)

    bands = base.transform_filter("datum.h").mark_rect(fill=INK, opacity=0.07)
    bars = base.mark_bar().encode(
        x=x, y=y(left), color=alt.Color("g:N", scale=None), tooltip=told, opacity=alt.OpacityValue(0.9)
    )
    layers: list[alt.Chart] = [
        bands.encode(y=y(None), x=alt.value(0), x2=alt.value("width")),
        bars,
        *_intervals(base, y(None), told),
        base.mark_point(opacity=0).encode(y=y(right)),
    ]
    data = {"rows": [_datum(at, row) for at, row in enumerate(shown)]}
    if rule is not None:
        layers += _rule()
        data["rule"] = [{"b": kept(rule[0]), "e": rule[1]}]
    drawing = alt.layer(*layers).resolve_axis(y="independent").properties(height=STEP * max(len(shown), 1))
    return Picture(drawing, data)


def _datum(at: int, row: Row) -> dict[str, Any]:
    return {
        "a": at,
        "b": kept(row.value),
        "c": kept(row.low),
        "d": kept(row.high),
        "e": row.label,
        "f": row.said,
        "g": row.colour,
        "h": row.heading,
        "i": row.ends.value,
    }


def _texts(texts: Sequence[str]) -> str:
    """Vega's expression for the text of a line; JSON is how its texts are quoted."""
    return f"{json.dumps(list(texts))}[datum.value]"


def _intervals(base: alt.Chart, y: alt.Y, told: Sequence[alt.Tooltip]) -> list[alt.Chart]:
    wide = base.transform_filter("isValid(datum.c) && isValid(datum.d)")
    between = wide.transform_filter(f"datum.i == '{Ends.OPEN}' && datum.d > datum.c")
    whiskers = wide.transform_filter(f"datum.i == '{Ends.WHISKERS}'")
    pale = between.mark_bar(fillOpacity=0.3, strokeDash=[3, 2], strokeWidth=1.2)
    colour = alt.Color("g:N", scale=None)
    stroke = alt.Stroke("g:N", scale=None)
    return [
        pale.encode(x=alt.X("c:Q"), x2=alt.X2("d:Q"), y=y, color=colour, stroke=stroke, tooltip=list(told)),
        whiskers.mark_rule(strokeWidth=1.6).encode(x=alt.X("c:Q"), x2=alt.X2("d:Q"), y=y, tooltip=list(told)),
        *(
            whiskers.mark_tick(color=INK, thickness=1.6, size=9).encode(x=alt.X(f"{end}:Q"), y=y)
            for end in ("c", "d")
        ),
    ]


def _rule() -> list[alt.Chart]:
    base = named("rule")
    told = [alt.Tooltip("e:N", title=" ")]
    text = base.mark_text(align="left", baseline="middle", dx=5, fontStyle="italic")
    return [
        base.mark_rule(strokeDash=[5, 3], strokeWidth=1.5).encode(x=alt.X("b:Q"), tooltip=told),
        text.encode(x=alt.X("b:Q"), y=alt.value(STEP / 2), text=alt.Text("e:N")),
    ]
