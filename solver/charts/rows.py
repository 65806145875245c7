"""Bar charts with intervals, and the number beside each bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from linkrisk.solver.charts.chart import INK, Chart, Of, Table
from linkrisk.solver.charts.reach import Reach
from linkrisk.solver.charts.theme import (
    NO_LEVEL,
    OWN,
    SIMPLE,
    WHOLE,
    WORST,
    Level,
    Picture,
    chart,
    cut,
    kept,
    lines,
    listed,
    named,
    tooltip,
)
from linkrisk.solver.schemas.reading import upper_end

_STEP = 23
"""Height of a line."""

MOST = 60
"""Lines that are drawn; the table has all."""

_FURTHEST = 300.0
"""Per cent of a level up to which intervals are drawn; an arrow says that one goes on."""


@dataclass(frozen=True)
class Row:
    """One line."""

    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    said: str = ""  # the number, for people, with its interval
    short: str = ""  # what stands beside the line; empty where that is `said`
    colour: str = SIMPLE
    # whether the interval is that of a search, which is drawn as a pale bar; others are whiskers
    search: bool = False

    @property
    def upper(self) -> float | None:
        """The upper end; None of a search that has found no bound."""
        return upper_end(self.low, self.high) if self.search else self.high


def bars(
    groups: Sequence[tuple[str, Sequence[Row]]], axis: str, of: Of = Of.SHARE, level: Level = NO_LEVEL
) -> tuple[str, Picture]:
    """Lines in groups, in words, a sentence for each group, and as a picture.

    `groups`: a group of no name has no heading. `axis`: what the numbers are. `of`: shares and points are
    drawn in per cent, shares up to all.
    """
    said = [
        f"{heading}{': ' if heading else ''}{listed([f'{row.label} {row.said}' for row in rows])}."
        for heading, rows in groups
    ]
    every = [one for heading, rows in groups for one in ([heading] if heading else []) + list(rows)][:MOST]
    shown = [Row(one) if isinstance(one, str) else one for one in every]
    headings = [at for at, one in enumerate(every) if isinstance(one, str)]
    scale = WHOLE if of is Of.SHARE else alt.Scale()
    x = alt.X("b:Q", title=axis, axis=alt.Axis(tickCount=5), scale=scale)
    pointed = tooltip({"e": " ", "f": axis})
    heads, search, whiskers = (
        named().transform_filter(which) for which in ("datum.h", "datum.i && datum.d > datum.c", "!datum.i")
    )
    layers = [
        heads.mark_rect(fill=INK, opacity=0.07).encode(x=alt.value(0), x2=alt.value("width")),
        named().mark_bar(opacity=0.9).encode(x=x, tooltip=pointed, **OWN),
        search.mark_bar(fillOpacity=0.3, strokeDash=[3, 2], strokeWidth=1.2).encode(
            x="c:Q", x2="d:Q", stroke=alt.Stroke("g:N", scale=None), tooltip=pointed, **OWN
        ),
        whiskers.mark_rule(strokeWidth=1.6).encode(x="c:Q", x2="d:Q", tooltip=pointed),
        *(whiskers.mark_tick(thickness=1.6, size=9).encode(x=f"{end}:Q") for end in "cd"),
    ]
    factor = 1.0 if of is Of.NUMBER else 100.0
    data = [_datum(row, factor, heading=at in headings) for at, row in enumerate(shown)]
    beside = [(row.label, row.short or row.said) for row in shown]
    return " ".join(said) + level.sentence, _lined(layers, beside, headings, data, level)


def _datum(row: Row, factor: float, *, heading: bool) -> dict[str, Any]:
    whole = row.low is not None and row.high is not None
    low, high = (kept(end, factor) if whole else None for end in (row.low, row.high))
    return {
        "b": kept(row.value, factor), "c": low, "d": high, "e": row.label, "f": row.said, "g": row.colour,
        "h": heading, "i": row.search,
    }  # fmt: skip


def _lined(
    layers: Sequence[alt.Chart],
    beside: Sequence[tuple[str, str]],
    bold: Sequence[int],
    data: Sequence[Mapping[str, Any]],
    level: Level = NO_LEVEL,
) -> Picture:
    """Layers on lines, with texts at the left and at the right of each line."""
    weight: Any = {
        "condition": {"test": f"indexof({list(bold)}, datum.value) >= 0", "value": "bold"},
        "value": "normal",
    }
    left, right = zip(*beside, strict=True)
    axes = (
        lines(list(map(cut, left)), 0.3, labelFontWeight=weight),
        lines(right, 0.3, orient="right", labelPadding=8),
    )
    on_lines = [one.encode(y=alt.Y("a:O", scale=axes[0]["scale"], axis=None)) for one in layers]
    on_lines += [named().mark_point(opacity=0).encode(y=alt.Y("a:O", **axis)) for axis in axes]
    on_lines += level.layers("x", {"y": alt.value(_STEP / 2)}, align="left", dx=5)
    rows = [{"a": at, **row} for at, row in enumerate(data)]
    return Picture(on_lines, _STEP * max(len(rows), 1), {"rows": rows, **level.rows}, by_layer=True)


def _reach_datum(one: Reach) -> dict[str, Any]:
    """What is drawn, in per cent of the levels."""
    sliding = one.lower_level == one.upper_level == 0
    down, up = (100.0 * one.below / one.units[0], 100.0 * one.above / one.units[1])
    return {
        "b": -100.0 if one.lower_level > 0 or sliding else 0.0,
        "h": 100.0 if one.upper_level > 0 or sliding else 0.0,
        "c": kept(-min(down, _FURTHEST)), "d": kept(min(up, _FURTHEST)),
        "l": down > _FURTHEST, "r": up > _FURTHEST,
        "e": one.label, "f": one.said, "g": WORST if one.short else SIMPLE,
    }  # fmt: skip


def intervals(cells: Sequence[Reach], table: Table) -> Chart:
    """Draw what attackers find of sensitive cells beside what must remain possible, all on one scale.

    `cells`: the worst first. `table`: the numbers behind it.
    """
    shown = cells[:MOST]
    first = "" if shown == cells else f" The worst {len(shown)} of {len(cells):,} are drawn."
    x = alt.X(
        "b:Q", title="distance from the value, in % of the level",
        scale=alt.Scale(domain=[-_FURTHEST * 1.04, _FURTHEST * 1.04], nice=False),
        axis=alt.Axis(values=[-300, -200, -100, 0, 100, 200, 300]),
    )  # fmt: skip
    with debug_mode(False):
        pointed = named().encode(tooltip=tooltip({"e": " ", "f": "interval"}))
        layers = [
            pointed.mark_bar(color=INK, opacity=0.2, height=_STEP * 0.8).encode(x=x, x2="h:Q"),
            pointed.mark_bar(height=_STEP * 0.32).encode(x="c:Q", x2="d:Q", **OWN),
            named().mark_tick(thickness=2, size=_STEP * 0.8).encode(x=alt.datum(0)),
            *(
                named().transform_filter(f"datum.{flag}").mark_point(shape=shape).encode(x=f"{end}:Q", **OWN)
                for flag, shape, end in (("l", "triangle-left", "c"), ("r", "triangle-right", "d"))
            ),
        ]
        picture = _lined(layers, [(one.label, one.said) for one in shown], (), list(map(_reach_datum, shown)))
        return chart(
            "intervals",
            "What attackers find of the sensitive cells",
            "The grey field is what must remain possible, 100 % of the level on either side of the value; "
            f"the bar is what an attacker cannot exclude. A bar inside of its field is too short.{first}",
            f"{len(cells):,} sensitive cells, {sum(one.short for one in cells):,} of them short of a level. "
            f"The worst is {cells[0].label}: {cells[0].said}.",
            picture,
            table,
        )
