"""What all charts look like, and what several have in them: axes of lines, levels, what is told of a mark.

Few colours that colour-blind eyes tell apart; text as on the page around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import INK, Chart
from linkrisk.solver.charts.table import Table
from linkrisk.solver.charts.wording import kept, labelled, share

WORST, SIMPLE, HELD_OUT, REFERENCE = "#d55e00", "#0072b2", "#009e73", "#858585"
"""Of the worst case, simple attacks, held-out attacks and what they stand beside: of the palette of Okabe and
Ito those that are seen on white and on black."""

_SERIES = [WORST, SIMPLE, HELD_OUT, "#bd6b9b", REFERENCE, "#8b6fc9"]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
"""Of series side by side; a shape goes with each colour, so that nothing hangs on colour alone."""

_LABEL_WIDTH = 170
"""Of labels beside an axis; longer ones lose their middle, and are whole in the table and when pointed at."""

WHOLE = alt.Scale(domain=[0, 100], nice=False)
"""All per cent there are."""

OWN = {"color": alt.Color("g:N", scale=None)}
"""Each mark in the colour that its row has."""

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": INK, "gridColor": INK, "domainColor": INK, "tickColor": INK,
        "gridOpacity": 0.16, "domainOpacity": 0.4, "tickOpacity": 0.4,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": _LABEL_WIDTH,
        "labelSeparation": 5,
    },
    "axisBand": {"ticks": False, "domain": False, "labelPadding": 6},
    "legend": {
        "labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "orient": "top", "labelLimit": _LABEL_WIDTH, "symbolSize": 90,
        "symbolOpacity": 1, "columns": 3,
    },
    "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 15, "subtitleFontSize": 12},
    "range": {"category": _SERIES, "symbol": _SHAPES},
    "text": {"color": INK, "fontSize": 12},
    "rule": {"color": INK},
    "tick": {"color": INK},
    "area": {"opacity": 0.18},
    "line": {"strokeWidth": 2},
    "point": {"filled": True, "opacity": 1, "size": 75},
}  # fmt: skip

_ALIKE = {
    "width": "container",
    "autosize": {"type": "fit-x", "contains": "padding"},
    "config": _CONFIG,
    "usermeta": {"embedOptions": {"renderer": "svg", "actions": False, "logLevel": 1}},
}
"""Put into every definition at its end: Altair copies a drawing for everything that it is told."""


@dataclass(frozen=True)
class Picture:
    """What Altair has drawn, apart from the data, which it would copy and check again for every layer."""

    layers: Sequence[alt.Chart]
    height: float
    # rows of the data sets that layers name. Fields have neutral names: those of columns may be anything.
    data: Mapping[str, list[dict[str, Any]]]
    by_layer: bool = False  # whether each layer has an axis of its own on either side


def chart(name: str, title: str, reading: str, description: str, picture: Picture, table: Table) -> Chart:
    """The chart of a picture, as wide as its place on the page."""
    drawing = alt.layer(*picture.layers).properties(height=picture.height)
    with alt.theme.enable("none"):
        spec: dict[str, Any] = drawing.to_dict(validate=False)  # the tests do
    spec |= {**_ALIKE, "datasets": dict(picture.data), "description": description}
    if picture.by_layer:
        spec["resolve"] = {"axis": {"y": "independent"}}
    return Chart(name, title, reading, description, spec, table)


def named(name: str = "rows") -> alt.Chart:
    """The beginning of a layer on a data set of this name."""
    return alt.Chart(alt.NamedData(name))


def told(fields: Mapping[str, str], **more: Any) -> list[alt.Tooltip]:
    """What a reader is told who points at a mark: fields, and what they are called."""
    return [
        alt.Tooltip(field if ":" in field else f"{field}:N", title=title, **more)
        for field, title in fields.items()
    ]


def lines(texts: Sequence[str], padding: float = 0.0, **axis: Any) -> dict[str, Any]:
    """Scale and axis of lines that are known by their number, as names may be anything, or occur twice."""
    scale = alt.Scale(domain=list(range(len(texts))), paddingInner=padding, paddingOuter=padding / 2.0)
    return {"scale": scale, "axis": alt.Axis(title=None, grid=False, labelExpr=labelled(texts), **axis)}


def series(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Colour and shape by the name of a series."""
    scale = alt.Scale(domain=list(names))
    made = {"color": alt.Color, "shape": alt.Shape}
    return {channel: kind(f"{field}:N", title=None, scale=scale) for channel, kind in made.items()}


class Level:
    """A share to compare with, if there is one: a dashed line with its words."""

    def __init__(self, at: float | None = None, what: str = "") -> None:
        self.at = at
        words = f"{what}: {share(at)}"
        self.rows = {} if at is None else {"level": [{"b": kept(at, 100.0), "e": words}]}
        self.sentence = "" if at is None else f" {words.capitalize()}."

    def layers(self, axis: str, beside: Mapping[str, alt.Value], **text: Any) -> list[alt.Chart]:
        """The line across an axis, and its words at a place on the other one."""
        if not self.rows:
            return []
        base = named("level").encode(**{axis: "b:Q"})
        return [
            base.mark_rule(strokeDash=[5, 3], strokeWidth=1.5, opacity=0.8).encode(tooltip=told({"e": " "})),
            base.mark_text(fontStyle="italic", **text).encode(text="e:N", **beside),
        ]


NO_LEVEL = Level()
