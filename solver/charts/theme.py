"""What all charts look like: few colours that colour-blind eyes tell apart, text as on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Table

WORST, SIMPLE, HELD_OUT, REFERENCE = "#d55e00", "#0072b2", "#009e73", "#858585"
"""Of the worst case, simple attacks, held-out attacks and what they stand beside: of the palette of Okabe and
Ito those that are seen on white and on black."""

SERIES = (WORST, SIMPLE, HELD_OUT, "#bd6b9b", REFERENCE, "#8b6fc9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Of lines side by side; a shape goes with each colour, so that nothing hangs on colour alone."""

FAINT = 0.16
"""Opacity of lines that only guide the eye."""

LABEL_WIDTH = 170
"""Of labels beside an axis; longer ones lose their middle, and are whole in the table and when pointed at."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": _FONT,
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": INK, "gridColor": INK, "domainColor": INK, "tickColor": INK,
        "gridOpacity": FAINT, "domainOpacity": 0.4, "tickOpacity": 0.4,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": LABEL_WIDTH,
        "labelSeparation": 5,
    },
    "legend": {
        "labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "orient": "top", "labelLimit": LABEL_WIDTH, "symbolSize": 90,
    },
    "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 15, "subtitleFontSize": 12},
    "text": {"color": INK, "fontSize": 12},
    "rule": {"color": INK},
    "bar": {"cornerRadiusEnd": 0},
}  # fmt: skip

_AUTOSIZE: Any = {"type": "fit-x", "contains": "padding"}

_EMBEDDED = {"embedOptions": {"renderer": "svg", "actions": False, "logLevel": 1}}


@dataclass(frozen=True)
class Picture:
    """What Altair has drawn, apart from the data, which it would copy and check again for every layer.

    Attributes
    ----------
    drawing : LayerChart
    data : mapping of str to list of mappings
        Rows of the data sets that layers name. Fields have neutral names: those of columns may be anything.
    """

    drawing: alt.LayerChart | alt.FacetChart
    data: Mapping[str, list[dict[str, Any]]]


def chart(name: str, title: str, reading: str, description: str, picture: Picture, table: Table) -> Chart:
    """The chart of a picture, as wide as its place on the page."""
    with alt.theme.enable("none"):
        spec: dict[str, Any] = picture.drawing.to_dict(validate=False)  # the tests do
    # What all have alike is put in here: Altair copies a drawing for everything that it is told.
    spec |= {
        "width": "container",
        "autosize": _AUTOSIZE,
        "description": description,
        "config": _CONFIG,
        "usermeta": _EMBEDDED,
    }
    spec["datasets"] = dict(picture.data)
    return Chart(name, title, reading, description, spec, table)


def named(name: str = "rows", **fixed: Any) -> alt.Chart:
    """The beginning of a layer on a data set of this name."""
    return alt.Chart(alt.NamedData(name), **fixed)
