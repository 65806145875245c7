"""What masking costs and still gives away by attribute: information loss, interval disclosure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.pairs import Cell, squares
from linkrisk.solver.charts.reading import (
    Result,
    in_words,
    kept,
    listed,
    measure,
    number,
    numbers,
    share,
    written,
)
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import SIMPLE, WORST, Picture, chart, named

_KINDS = (
    ("ranks", "of the ranks", WORST, "circle"),
    ("deviations", "of a standard deviation", SIMPLE, "square"),
)


def loss(result: Result) -> Chart | None:
    """Information loss by attribute; None where nothing was masked or measured.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    found = list(_losses(measure(result, "information-loss")))
    if not found:
        return None
    said_so = in_words(result, (name for name, _, _ in found))
    found = [(said_so[name], kind, value) for name, kind, value in found]
    names = list(dict.fromkeys(name for name, _, _ in found))
    kinds = list(dict.fromkeys(kind for _, kind, _ in found))
    most = {kind: max(value for _, one, value in found if one == kind) or 1.0 for kind in kinds}
    cells: list[Cell] = [
        (names.index(name), kinds.index(kind), value, value / most[kind]) for name, kind, value in found
    ]
    worst = [max((each for each in found if each[1] == kind), key=lambda each: each[2]) for kind in kinds]
    said = [f"{kind}, most of {name}, {written(value)}" for name, kind, value in worst]
    columns = (
        Column("attribute", "Attribute"),
        Column("statistic", "Loss"),
        Column("loss", "Value", Of.NUMBER),
    )
    return chart(
        "loss",
        "What masking has cost each attribute",
        "0 is no loss, and more is worse; squares are darker the larger a loss is in its column.",
        f"{listed(said)}.",
        squares(cells, names, kinds),
        Table(columns, [list(each) for each in found]),
    )


def _losses(taken: Result) -> Iterator[tuple[str, str, float]]:
    """Attribute, statistic and value of those that belong to one attribute."""
    for statistic, name, other, _, _, value in (taken.get("numeric") or {}).get("rows") or ():
        if name is not None and other is None and (known := number(value)) is not None:
            yield str(name), str(statistic), known
    for one in taken.get("categories") or ():
        for key, words in (
            ("changed", "changed"),
            ("total_variation", "total variation"),
            ("hellinger", "Hellinger"),
        ):
            if (known := number(one.get(key))) is not None:
                yield str(one["attribute"]), words, known


def disclosure(result: Result) -> Chart | None:
    """Interval disclosure by the width of the interval; None where it was not measured.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    taken = measure(result, "interval-disclosure")
    rows: list[list[Any]] = []
    curves: list[dict[str, Any]] = []
    for key, words, _, _ in _KINDS:
        part = taken.get(key) or {}
        names = in_words(result, part.get("attributes") or ())
        for at, values in enumerate(part.get("each") or (), start=1):
            known = [value for value in numbers(values) if value is not None]
            rows += [
                [words, at, names[str(name)], number(value)]
                for name, value in zip(part["attributes"], values, strict=True)
            ]
            rows.append([words, at, "all attributes", number(part["jointly"][at - 1])])
            if known:
                ends = sum(known) / len(known), min(known), max(known), number(part["jointly"][at - 1])
                curves.append(
                    {
                        "a": at,
                        "g": words,
                        **dict(zip("bcde", (kept(end, 100.0) for end in ends), strict=True)),
                    }
                )
    if not curves:
        return None
    last = [one for one in curves if one["a"] == max(each["a"] for each in curves)]
    said = [
        f"within {one['a']} % {one['g']} lie {share(one['b'] / 100.0)} of the values on average"
        + ("" if one["e"] is None else f" and all values of {share(one['e'] / 100.0)} of the records")
        for one in last
    ]
    columns = (
        Column("kind", "Interval"),
        Column("percent", "Width, %", Of.COUNT),
        Column("attribute", "Attribute"),
        Column("share", "Original inside", Of.SHARE),
    )
    return chart(
        "disclosure",
        "How near masked values stay to the original ones",
        "Share of the original values that lie in an interval around the masked one: lines are means, bands "
        "go from the best to the worst protected attribute; dashed, all values of a record at once.",
        f"{listed(said)}.",
        _curves(curves),
        Table(columns, rows),
    )


def _curves(curves: list[dict[str, Any]]) -> Picture:
    used = [kind for kind in _KINDS if any(one["g"] == kind[1] for one in curves)]
    domain = [words for _, words, _, _ in used]
    base = named().encode(
        x=alt.X(
            "a:Q",
            title="width of the interval, %",
            axis=alt.Axis(format="d"),
            scale=alt.Scale(nice=False, zero=False),
        )
    )
    legend = alt.Legend(title=None, symbolOpacity=1)
    colour = alt.Color("g:N", scale=alt.Scale(domain=domain, range=[one[2] for one in used]), legend=legend)
    shape = alt.Shape("g:N", scale=alt.Scale(domain=domain, range=[one[3] for one in used]), legend=legend)
    y = alt.Y("b:Q", title="original values inside, %", scale=alt.Scale(domain=[0, 100], nice=False))
    told = [
        alt.Tooltip("g:N", title="interval"),
        *(
            alt.Tooltip(f"{field}:Q", title=words, format=".1f")
            for field, words in (
                ("a", "width"),
                ("b", "mean"),
                ("c", "least"),
                ("d", "most"),
                ("e", "all at once"),
            )
        ),
    ]
    drawing = alt.layer(
        base.mark_area(opacity=0.2).encode(y=alt.Y("c:Q"), y2=alt.Y2("d:Q"), color=colour),
        base.mark_line(strokeWidth=2).encode(y=y, color=colour),
        base.mark_line(strokeWidth=1.6, strokeDash=[5, 3]).encode(y=alt.Y("e:Q"), color=colour),
        base.mark_point(filled=True, size=60, opacity=1).encode(y=y, color=colour, shape=shape, tooltip=told),
    ).properties(height=260)
    return Picture(drawing, {"rows": curves})
