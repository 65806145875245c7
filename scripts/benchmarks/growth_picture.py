"""Seconds and memory against records, both on scales of powers of ten, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair
import pandas as pd
import vl_convert

Point = tuple[int, float, float]
"""Records, seconds, megabytes."""


def growth_picture(cases: Mapping[str, Sequence[Point]]) -> str:
    """Draw the points of some cases, ascending, by their names.

    A thin line shows quadratic growth of the first, from a tenth of its largest size on, where starting costs
    little.
    """
    rows = [
        (name, kind, records, value)
        for name, points in cases.items()
        for records, *both in points
        for kind, value in zip(("seconds", "megabytes"), both, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["case", "of", "records", "value"])
    x = altair.X("records:Q", scale=altair.Scale(type="log"), axis=altair.Axis(format=","))
    y = altair.Y("value:Q", scale=altair.Scale(type="log"), title="seconds, megabytes")
    drawn = (
        altair.Chart(frame)
        .mark_line(point=True)
        .encode(x, y, altair.Color("case:N"), altair.StrokeDash("of:N"))
    )
    first = next(iter(cases.values()))
    begin, seconds, _ = max((point for point in first if 10 * point[0] <= first[-1][0]), default=first[0])
    squared = [(records, seconds * (records / begin) ** 2) for records in (begin, first[-1][0])]
    thin = altair.Chart(pd.DataFrame(squared, columns=["records", "value"]))
    chart = drawn + thin.mark_line(color="grey", strokeWidth=1, clip=True).encode(x, y)
    return str(vl_convert.vegalite_to_svg(chart.properties(width=480, height=260).to_dict()))
