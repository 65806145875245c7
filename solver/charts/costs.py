"""How the cost of suppressed cells and its bound close in on the least, while the search runs."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.solver.charts.bound import Lines, Point, picture
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import chart

_LINES = Lines("cost of suppressed cells", "at least", "cost", answer="high")


def costs(trace: Sequence[Point]) -> Chart:
    """The chart of a search that runs; its data sets are those of a live chart of `bound`.

    Parameters
    ----------
    trace : sequence of (seconds, bound, cost)
        At least one.
    """
    seconds, least, cost = trace[-1]
    columns = (
        Column("seconds", "Seconds", Of.SECONDS),
        Column("bound", "At least", Of.COUNT),
        Column("cost", "Cost", Of.COUNT),
    )
    return chart(
        "costs",
        "Cost and bound over time",
        "The solid line is the cost of the best pattern found, which protects; the dashed line is what every "
        "pattern that protects costs at least. Where they meet, the cost is proven least.",
        f"After {seconds:.3g} seconds the best pattern costs {cost:,.10g}, and none costs less than "
        f"{least:,.10g}.",
        picture(list(trace), None, _LINES),
        Table(columns, [list(point) for point in trace]),
    )
