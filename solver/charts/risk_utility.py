"""The map of a sweep: what each masking costs, and what is certain of its risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.naming import AWAY, HEIGHT, LETTER, LINE, SIDES, Point, sides
from linkrisk.solver.charts.reading import (
    Result,
    held_out_of,
    kept,
    listed,
    loss_words,
    number,
    run_ends,
    share,
    tolerated_of,
    upper_end,
    worst_between,
    written,
)
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import HELD_OUT, REFERENCE, WORST, Picture, chart, named

PICKED = "picked"
"""Parameter that holds the masking a reader has picked (field ``masking``)."""

FRONT = "on the front"
_TOPS = (0.1, 0.2, 0.5)
"""Ends of the axis of shares where all points are below."""

_NAMED = 16
"""Maskings whose names are written beside them, those of the front first."""

_LONGEST = 28
"""Characters of such a name; a longer one loses its middle."""

_NARROW = 420
"""Pixels; a narrower map has names on its front alone."""


def risk_utility(result: Result, tolerated: float | None = None) -> Chart | None:
    """The map of a sweep; None where no masking has a loss and a worst case.

    Parameters
    ----------
    result : mapping
        The JSON of a sweep.
    tolerated : float, optional
        The share of the records at which the line is; by default that beside which its maskings were judged.
    """
    runs = [_run(one) for one in result.get("runs") or ()]
    points = [run for run in runs if run["loss"] is not None and run["low"] is not None]
    if not points:
        return None
    points.sort(key=lambda run: (run["loss"], run["masking"]))
    columns = (
        Column("masking", "Masking"),
        Column("place", "Place"),
        Column("loss", "Information loss", Of.NUMBER),
        Column("low", "Worst case at least", Of.SHARE),
        Column("high", "Worst case at most", Of.SHARE),
        Column("held_out", "Held-out rate", Of.SHARE),
    )
    front = [run for run in points if run["place"] == FRONT]
    said = [f"{run['masking']}, loss {written(run['loss'])}, worst case {_said(run)}" for run in front]
    left = len(runs) - len(points)
    more = f" {left:,} maskings without a loss or a worst case are not drawn." if left else ""
    triangles = "" if all(run["held_out"] is None for run in points) else "Triangles: the held-out attack. "
    allowed = tolerated_of(result) if tolerated is None else tolerated
    rule = "" if allowed is None else f" Tolerated: {share(allowed)}."
    return chart(
        "risk-utility",
        "Risk and information loss of the maskings",
        "Left is less loss, down is less risk; each bar goes from the best attack to what no attack exceeds. "
        f"Filled diamonds are on the front: no other is better in both. {triangles}"
        "Below the dashed line is what is tolerated.",
        f"{len(points):,} maskings. On the front: {listed(said)}.{more}{rule}",
        _picture(points, loss_words(result.get("loss")), allowed),
        Table(columns, [[one[column.name] for column in columns] for one in map(_listed, points)]),
    )


def _run(run: Result) -> dict[str, Any]:
    """One masking: its loss, the worst that is known of it, its strongest held-out rate."""
    low, high = run_ends(run) or (None, None)
    return {
        "masking": str(run.get("masking")),
        "place": run.get("pareto") or "not known",
        "loss": number(run.get("loss")),
        "low": low,
        "high": high,
        "held_out": held_out_of(run),
    }


def _listed(run: dict[str, Any]) -> dict[str, Any]:
    """The same for a table, without an upper end that is none."""
    return {**run, "high": upper_end(run["low"], run["high"])}


def _said(run: dict[str, Any]) -> str:
    low, high = run["low"], run["low"] if run["high"] is None else run["high"]
    return worst_between(low, high)


def _datum(run: dict[str, Any]) -> dict[str, Any]:
    high = run["low"] if run["high"] is None else run["high"]
    return {
        "masking": run["masking"], "a": kept(run["loss"]), "b": kept(run["low"], 100.0),
        "c": kept(high, 100.0),
        "d": kept(run["held_out"], 100.0), "e": run["place"], "f": _said(run),
        "g": "none" if run["held_out"] is None else share(run["held_out"]), "h": run["place"] == FRONT,
        "i": written(run["loss"]),
    }  # fmt: skip


def _labels(points: list[dict[str, Any]], allowed: float | None, top: float) -> list[dict[str, Any]]:
    """The points with names, each with the place of its name."""
    most = 1.1 * max(run["loss"] for run in points) or 1.0
    order = sorted(points, key=lambda run: run["place"] != FRONT)[:_NAMED]
    short = _short([run["masking"] for run in points])
    places = [_place(run, run["loss"] / most, short[run["masking"]], top) for run in order]
    found = sides(places, () if allowed is None else (allowed / top,))
    return [
        {**_datum(run), "j": one.name, "k": place[1], "l": kept(place[0], 100.0 * top)}
        for run, one, place in zip(order, places, found, strict=True)
        if place is not None
    ]


def _place(run: dict[str, Any], x: float, name: str, top: float) -> Point:
    low, held_out = run["low"] / top, run["held_out"]
    high = low if run["high"] is None else run["high"] / top
    return Point(x, low, high, _cut(name), () if held_out is None else (held_out / top,))


def _top(points: list[dict[str, Any]], allowed: float | None) -> float:
    """The end of the axis of shares: all of them, or the least of a few that is above all points."""
    shares = [run[key] for run in points for key in ("low", "high", "held_out") if run[key] is not None]
    most = max([*shares, allowed or 0.0])
    return next((top for top in _TOPS if most <= top), 1.0)


def _short(names: Sequence[str]) -> dict[str, str]:
    """Of each masking what tells it from the others: its name without the parameters that all have."""
    shared = set.intersection(*({word for word in name.split() if "=" in word} for name in names))
    return {name: " ".join(word for word in name.split() if word not in shared) or name for name in names}


def _cut(name: str) -> str:
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[: half - 1]}…{name[-half:]}"


def _names(base: alt.Chart) -> list[alt.Chart]:
    """A layer of names for each side of the end of a bar."""
    seen = f"(width < {_NARROW} && !datum.h) ? 0 : 1"
    return [
        base.transform_filter(f"datum.k == {at}")
        .mark_text(align="left" if right > 0 else "right", dx=AWAY * right, dy=0.5 * LINE * down,
                   fontSize=11, color=INK, limit=LETTER * _LONGEST * 1.2, opacity=alt.ExprRef(seen))
        .encode(y=alt.Y("l:Q"), text=alt.Text("j:N"))
        for at, (right, down) in enumerate(SIDES)
    ]  # fmt: skip


def _rule() -> list[alt.LayerChart | alt.Chart]:
    """A line at what is tolerated."""
    level = named("tolerated").encode(y=alt.Y("b:Q"))
    return [
        level.mark_rule(strokeDash=[5, 3], color=INK, opacity=0.8),
        level.mark_text(align="left", dx=4, dy=-7, fontSize=11, color=INK).encode(
            x=alt.value(0), text=alt.Text("j:N")
        ),
    ]


def _picture(points: list[dict[str, Any]], loss: str, allowed: float | None) -> Picture:
    top = _top(points, allowed)
    x = alt.X("a:Q", title=f"{loss}, more is worse", scale=alt.Scale(zero=True, nice=True))
    base = named().encode(x=x)
    y = alt.Y("b:Q", title="re-identified at worst, %", scale=alt.Scale(domain=[0, 100.0 * top], nice=False))
    told = [
        alt.Tooltip("masking:N", title="masking"),
        alt.Tooltip("f:N", title="worst case"),
        alt.Tooltip("g:N", title="held-out"),
        alt.Tooltip("i:N", title="loss"),
        alt.Tooltip("e:N", title="place"),
    ]
    picked = alt.selection_point(name=PICKED, fields=["masking"], on="click", empty=False)
    wide = alt.condition(picked, alt.value(7), alt.value(3.5))
    colour = alt.condition("datum.h", alt.value(WORST), alt.value(REFERENCE))
    inside = alt.condition("datum.h", alt.value(WORST), alt.value("transparent"))
    kinds = alt.Shape(
        "e:N", title=None,
        scale=alt.Scale(domain=[FRONT, *sorted({run["place"] for run in points} - {FRONT})],
                        range=["diamond", "circle", "square", "cross"]),
    )  # fmt: skip
    held = base.transform_filter("isValid(datum.d)").mark_point(shape="triangle-down", size=55, filled=False)
    drawing = alt.layer(
        base.mark_rule(opacity=0.75).encode(y=y, y2=alt.Y2("c:Q"), color=colour, size=wide, tooltip=told),
        held.encode(y=alt.Y("d:Q"), color=alt.ColorValue(HELD_OUT), tooltip=told),
        base.mark_point(size=110, opacity=1)
        .encode(y=y, shape=kinds, color=colour, fill=inside, tooltip=told)
        .add_params(picked),
        *_names(named("names").encode(x=x)),
        *(_rule() if allowed is not None else ()),
    ).properties(height=HEIGHT)  # fmt: skip
    data = {"rows": [_datum(run) for run in points], "names": _labels(points, allowed, top)}
    if allowed is not None:
        data["tolerated"] = [{"b": kept(allowed, 100.0), "j": f"tolerated: {share(allowed)}"}]
    return Picture(drawing, data)
