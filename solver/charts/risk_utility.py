"""The map of a sweep: what each masking costs, and what is certain of its risk."""

from __future__ import annotations

from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import Result, between, kept, listed, number, run_ends, share, written
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import HELD_OUT, REFERENCE, WORST, Picture, chart, named

PICKED = "picked"
"""Parameter that holds the masking a reader has picked (field ``masking``)."""

FRONT = "on the front"
_NAMED = 12
"""Maskings of the front whose names are written beside them."""


def risk_utility(result: Result) -> Chart | None:
    """The map of a sweep; None where no masking has a loss and a worst case.

    Parameters
    ----------
    result : mapping
        The JSON of a sweep.
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
    loss = str(result.get("loss") or "information loss")
    return chart(
        "risk-utility",
        "Risk and information loss of the maskings",
        "Left is less loss, down is less risk; each bar goes from the best attack to what no attack exceeds. "
        "Filled diamonds are on the front: no other is better in both. Triangles: the held-out attack.",
        f"{len(points):,} maskings. On the front: {listed(said)}.{more}",
        _picture(points, loss),
        Table(columns, [[run[column.name] for column in columns] for run in points]),
    )


def _run(run: Result) -> dict[str, Any]:
    """One masking: its loss, the worst that is known of it, its strongest held-out rate."""
    low, high = run_ends(run) or (None, None)
    rates = [one for one in (run.get("findings") or {}).get("held-out") or ()
             if str(one["key"]).startswith("held_out_") and number(one.get("value")) is not None]  # fmt: skip
    learned = [one for one in rates if one["key"] != "held_out_equal_weights"] or rates
    return {
        "masking": str(run.get("masking")),
        "place": run.get("pareto") or "not known",
        "loss": number(run.get("loss")),
        "low": low,
        "high": high,
        "held_out": max((float(one["value"]) for one in learned), default=None),
    }


def _said(run: dict[str, Any]) -> str:
    low, high = run["low"], run["low"] if run["high"] is None else run["high"]
    return f"{share(low)}, proven" if low == high else between(low, high)


def _datum(run: dict[str, Any]) -> dict[str, Any]:
    high = run["low"] if run["high"] is None else run["high"]
    return {
        "masking": run["masking"], "a": kept(run["loss"]), "b": kept(run["low"], 100.0),
        "c": kept(high, 100.0),
        "d": kept(run["held_out"], 100.0), "e": run["place"], "f": _said(run),
        "g": "none" if run["held_out"] is None else share(run["held_out"]), "h": run["place"] == FRONT,
        "i": written(run["loss"]),
    }  # fmt: skip


def _picture(points: list[dict[str, Any]], loss: str) -> Picture:
    base = named().encode(
        x=alt.X(
            "a:Q",
            title=f"information loss ({loss.replace('_', ' ')}), more is worse",
            scale=alt.Scale(zero=True, nice=True),
        )
    )
    y = alt.Y("b:Q", title="re-identified at worst, %", scale=alt.Scale(domain=[0, 100], nice=False))
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
    few = sum(run["place"] == FRONT for run in points) <= _NAMED
    held = base.transform_filter("isValid(datum.d)").mark_point(shape="triangle-down", size=55, filled=False)
    texts = base.transform_filter(f"datum.h && {str(few).lower()}").mark_text(
        align="left", dx=8, dy=-6, fontSize=11, color=INK, limit=190
    )
    drawing = alt.layer(
        base.mark_rule(opacity=0.75).encode(y=y, y2=alt.Y2("c:Q"), color=colour, size=wide, tooltip=told),
        held.encode(y=alt.Y("d:Q"), color=alt.ColorValue(HELD_OUT), tooltip=told),
        base.mark_point(size=110, opacity=1)
        .encode(y=y, shape=kinds, color=colour, fill=inside, tooltip=told)
        .add_params(picked),
        texts.encode(y=alt.Y("b:Q"), text=alt.Text("masking:N")),
    ).properties(height=340)  # fmt: skip
    return Picture(drawing, {"rows": [_datum(run) for run in points]})
