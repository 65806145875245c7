"""Charts of intervals side by side: each series has a colour, a shape and a place of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import altair as alt

from linkrisk.solver.charts.reading import kept
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.theme import REFERENCE, SERIES, SHAPES, Picture, named

HEIGHT = 280


@dataclass(frozen=True)
class Place:
    """A value of a series, in per cent, with its interval where there is one; `joined` to the one before."""

    series: str
    at: float
    value: float
    low: float | None
    high: float | None
    said: str
    joined: bool = True


def picture(
    places: Sequence[Place],
    ticks: Sequence[tuple[float, str]],
    titles: tuple[str, str],
    level: tuple[float, str] | None = None,
    most: float | None = None,
) -> Picture:
    """Draw series.

    Parameters
    ----------
    places : sequence of Place
    ticks : sequence of (float, str)
        Where values are on the axis across, and what is written there.
    titles : (str, str)
        Of the axes, across first.
    level : (float, str), optional
        A value to compare with, and what it is.
    most : float, optional
        Highest value of the other axis.
    """
    names = list(dict.fromkeys(place.series for place in places))
    apart = _apart(ticks) / max(len(names), 1)
    data = [
        {
            "a": place.at + apart * (names.index(place.series) - (len(names) - 1) / 2.0),
            "b": kept(place.value),
            "c": kept(place.low),
            "d": kept(place.high),
            "e": place.series,
            "f": place.said,
            "g": place.joined,
        }
        for place in places
    ]
    written = " : ".join([*(f"datum.value == {at} ? '{words}'" for at, words in ticks), "''"])
    room = 0.8 * _apart(ticks)
    across = alt.X(
        "a:Q", title=titles[0],
        scale=alt.Scale(domain=[ticks[0][0] - room, ticks[-1][0] + room], nice=False, zero=False),
        axis=alt.Axis(values=[at for at, _ in ticks], labelExpr=written, grid=False),
    )  # fmt: skip
    scale = alt.Scale(zero=True, nice=True) if most is None else alt.Scale(domain=[0, most], nice=False)
    y = alt.Y("b:Q", title=titles[1], scale=scale)
    legend = alt.Legend(title=None, columns=3, symbolOpacity=1)
    colour = alt.Color("e:N", scale=alt.Scale(domain=names, range=_cycled(SERIES, names)), legend=legend)
    shape = alt.Shape("e:N", scale=alt.Scale(domain=names, range=_cycled(SHAPES, names)), legend=legend)
    told = [alt.Tooltip("e:N", title=" "), alt.Tooltip("f:N", title=titles[1])]
    base = named().encode(x=across)
    layers: list[alt.Chart] = [] if level is None else _level()
    data_sets = {"rows": data}
    if level is not None:
        data_sets["level"] = [{"b": kept(level[0]), "e": level[1]}]
    layers += [
        base.mark_line(strokeWidth=1.4, opacity=0.55).transform_filter("datum.g").encode(y=y, color=colour),
        base.mark_rule(strokeWidth=2).transform_filter("isValid(datum.c) && isValid(datum.d)").encode(
            y=alt.Y("c:Q"), y2=alt.Y2("d:Q"), color=colour, tooltip=told
        ),
        base.mark_point(filled=True, size=75, opacity=1).encode(y=y, color=colour, shape=shape, tooltip=told),
    ]  # fmt: skip
    return Picture(alt.layer(*layers).properties(height=HEIGHT), data_sets)


def _apart(ticks: Sequence[tuple[float, str]]) -> float:
    """Part of the smallest distance of two ticks that series may take."""
    gaps = [after[0] - before[0] for before, after in pairwise(ticks)]
    return 0.45 * min(gaps, default=1.0)


def _cycled(values: Sequence[str], names: Sequence[str]) -> list[str]:
    return [values[at % len(values)] for at in range(len(names))]


def _level() -> list[alt.Chart]:
    base = named("level")
    text = base.mark_text(align="right", baseline="bottom", dy=-3, fontStyle="italic", color=INK)
    return [
        base.mark_rule(strokeDash=[5, 3], color=REFERENCE, strokeWidth=1.5).encode(y=alt.Y("b:Q")),
        text.encode(x=alt.XValue("width"), y=alt.Y("b:Q"), text=alt.Text("e:N")),
    ]
