"""Tables of numbers as maps of squares: interactions of attributes, the quadratic form, losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import (
    Result,
    fits,
    in_words,
    kept,
    labelled,
    listed,
    measure,
    name_of,
    number,
    written,
)
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import LABEL_WIDTH, SIMPLE, WORST, Picture, chart, named

STEP = 30
_WRITTEN = 9
"""Columns up to which numbers are written into the squares."""

_SHORT = 8
"""Letters of names that have their place above a square."""

Cell = tuple[int, int, float | None, float]
"""Row, column, value, and how dark it is, from -1 to 1; the sign is another colour."""


def interactions(result: Result, family: str | None = None) -> Chart | None:
    """Interaction indices of pairs of attributes; None where no family has them.

    Parameters
    ----------
    result : mapping
        The JSON of a fit, or of risk.
    family : str, optional
        By default the first that has interactions.
    """
    every = [*(measure(result, "attributes").get("families") or ()), *fits(result)]
    named = [one for one in every if family in (None, one.get("aggregator"))]
    found = next((one for one in named if one.get("interaction")), None)
    if found is None:
        return None
    names = list(in_words(result, found.get("owners") or found["attributes"]).values())
    square = found["interaction"]
    upper = [[square[j][i] if i < j else None for i in range(len(names))] for j in range(len(names))]
    return _square(
        "interactions",
        f"Interactions of attributes: {name_of(found['aggregator'])}",
        "Plus: together the two tell more than apart (they complement each other); minus: one can stand in "
        "for the other. Darker squares are stronger.",
        names,
        upper,
        "interaction",
    )


def matrix(result: Result, family: str | None = None) -> Chart | None:
    """The matrix of a quadratic form; None where no family is one.

    Parameters are those of `interactions`.
    """
    every = [*fits(result), *(measure(result, "attributes").get("families") or ())]
    named = [one for one in every if family in (None, one.get("aggregator"))]
    found = next((one for one in named if (one.get("parameters") or {}).get("matrix")), None)
    if found is None:
        return None
    names = list(in_words(result, found.get("owners") or found["attributes"]).values())
    return _square(
        "matrix",
        f"Matrix of the worst distance: {name_of(found['aggregator'])}",
        "On the diagonal, how much a difference counts; elsewhere, how much two differences of the same sign "
        "count more (plus) or less (minus) together. Darker squares are larger.",
        names,
        found["parameters"]["matrix"],
        "coefficient",
    )


def _square(
    name: str, title: str, reading: str, names: list[str], values: Sequence[Sequence[Any]], what: str
) -> Chart | None:
    found = [
        (i, j, value)
        for i, row in enumerate(values)
        for j, each in enumerate(row)
        if (value := number(each)) is not None
    ]
    if not found:
        return None
    most = max(abs(value) for _, _, value in found) or 1.0
    cells: list[Cell] = [(i, j, value, value / most) for i, j, value in found]
    by_size = sorted(found, key=lambda cell: -abs(cell[2]))
    said = [f"{names[i]} and {names[j]} {written(value)}" for i, j, value in by_size if i >= j]
    columns = (Column("one", "Attribute"), Column("other", "With"), Column("value", what, Of.NUMBER))
    table = Table(columns, [[names[i], names[j], value] for i, j, value in found])
    return chart(name, title, reading, f"Largest first: {listed(said)}.", squares(cells, names, names), table)


def squares(cells: Sequence[Cell], rows: Sequence[str], columns: Sequence[str]) -> Picture:
    """Draw squares whose opacity is the size of a number, and whose colour and text have its sign."""
    few = len(columns) <= _WRITTEN
    data = [
        {
            "a": i,
            "b": j,
            "c": kept(value),
            "d": abs(kept(dark) or 0.0),
            "e": rows[i],
            "f": columns[j],
            "g": WORST if dark < 0 else SIMPLE,
            "h": written(value),
        }
        for i, j, value, dark in cells
    ]
    base = named().encode(
        y=alt.Y("a:O", scale=_positions(rows), axis=_axis(rows)),
        x=alt.X(
            "b:O",
            scale=_positions(columns),
            axis=_axis(
                columns,
                orient="top",
                labelAngle=0 if few and all(len(name) <= _SHORT for name in columns) else -90,
            ),
        ),
    )
    told = [
        alt.Tooltip("e:N", title="row"),
        alt.Tooltip("f:N", title="column"),
        alt.Tooltip("h:N", title="value"),
    ]
    opacity = alt.FillOpacity("d:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.75]), legend=None)
    square = base.mark_rect(stroke=INK, strokeOpacity=0.2).encode(
        color=alt.Color("g:N", scale=None), fillOpacity=opacity, tooltip=told
    )
    layers = (
        [square, base.mark_text(fontSize=11).encode(text=alt.Text("h:N"), tooltip=told)] if few else [square]
    )
    step = STEP if len(rows) <= 12 else 18
    return Picture(alt.layer(*layers).properties(height=step * len(rows)), {"rows": data})


def _positions(names: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(range(len(names))), padding=0.03)


def _axis(names: Sequence[str], **more: Any) -> alt.Axis:
    """Labels by number: names may be anything."""
    return alt.Axis(
        title=None, ticks=False, domain=False, grid=False, labelPadding=5,
        labelExpr=labelled(names),
        labelLimit=LABEL_WIDTH if "orient" not in more else 110, **more,
    )  # fmt: skip
