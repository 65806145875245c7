"""The theme of charts: colours, axes, marks and tooltips; and how numbers and names are written in them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from linkrisk.datasets.microdata.names import Labels, names_in_words
from linkrisk.solver.charts.chart import INK, Chart, Of, Table
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, fits

_SPELLED = {
    "owa": "OWA",
    "choquet": "Choquet integral",
    "mahalanobis": "Mahalanobis-type",
    "classical-mahalanobis": "Mahalanobis, classical",
    "euclid": "equal weights",
}


def name_of(key: str) -> str:
    """A family or an attack, for people."""
    return _SPELLED.get(key, key.replace("-", " "))


def in_words(result: Json, names: Iterable[str]) -> list[str]:
    """What attributes are called for a reader: their labels, where a file or schema has them."""
    given = list(map(str, names))
    known = list(dict.fromkeys(given))
    labels: Labels = next((one["labels"] for one in (result, *fits(result)) if one.get("labels")), {})
    words = dict(zip(known, names_in_words(known, labels), strict=True))
    return [words[name] for name in given]


def kept(value: float | None, factor: float = 1.0) -> float | None:
    """A number of the data, without the digits that only rounding has made."""
    return None if value is None else float(f"{factor * value:.10g}")


def written(value: float | None) -> str:
    """A number that is no share, for people."""
    if value is None:
        return "none"
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(digits, 4)}f}".replace("-", "\N{MINUS SIGN}")


def share(value: float | None) -> str:
    """A share, for people."""
    return "none" if value is None else percent(value).replace("-", "\N{MINUS SIGN}")


def points(value: float | None) -> str:
    """A difference of shares, in percentage points."""
    return "none" if value is None else f"{100.0 * value:.1f} points".replace("-", "\N{MINUS SIGN}")


_WRITTEN = {Of.SHARE: (share, " %"), Of.POINTS: (points, " points"), Of.NUMBER: (written, "")}


def between(low: float, high: float, of: Of = Of.SHARE) -> str:
    """Spell an interval, with one unit; one share where both are spelled alike."""
    write, unit = _WRITTEN[of]
    first, last = write(low), write(high)
    if first == last and of is Of.SHARE:
        return first
    return f"{first if first[:1] in '<>' else first.removesuffix(unit)} to {last}"


def ranged(value: float | None, low: float | None, high: float | None, of: Of = Of.SHARE) -> str:
    """A number, with its interval where it has both ends."""
    said = _WRITTEN[of][0](value)
    return said if low is None or high is None else f"{said} ({between(low, high, of)})"


def worst_said(one: Interval | None) -> str:
    """A worst case: what is proven, or its ends, as far as there are some."""
    if one is None:
        return "no result"
    if one.proven:
        return f"{share(one.shares[0])}, proven"
    if one.upper is None:
        return f"{share(one.shares[0])} or more, no bound in time"
    sure = "" if one.confidence is None else f", {100.0 * one.confidence:.10g} % sure"
    return between(*one.shares) + sure


def cut(text: str, most: int = 26, kept: int = 10) -> str:
    """A text that is not too long, of which its ends are kept: there names often differ."""
    return text if len(text) <= most else f"{text[:kept]}…{text[-kept:]}"


def labelled(texts: Sequence[str], at: str = "datum.value") -> str:
    """Vega's expression for texts as labels, quoted as JSON; `at` is that for the number of a text."""
    return f"{json.dumps(list(texts))}[{at}]"


def listed(parts: Sequence[str], most: int = 12) -> str:
    """Parts of a sentence, the first of very many."""
    more = f"; and {len(parts) - most:,} more" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more


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
"""Put into every definition at its end: Altair copies a drawing for everything that it is tooltip."""


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


def tooltip(fields: Mapping[str, str], **more: Any) -> list[alt.Tooltip]:
    """Make the tooltip of a mark from fields and their titles."""
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
            base.mark_rule(strokeDash=[5, 3], strokeWidth=1.5, opacity=0.8).encode(
                tooltip=tooltip({"e": " "})
            ),
            base.mark_text(fontStyle="italic", **text).encode(text="e:N", **beside),
        ]


NO_LEVEL = Level()
