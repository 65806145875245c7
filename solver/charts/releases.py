"""How the worst case rises from release to release."""

from __future__ import annotations

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.lines import Place, picture
from linkrisk.solver.charts.reading import (
    Result,
    listed,
    measure,
    name_of,
    number,
    upper_end,
    worst_between,
)
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import chart


def releases(result: Result) -> Chart | None:
    """Worst cases by the number of releases; None where there is one release only.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    taken = measure(result, "releases")
    found = [one for one in taken.get("risks") or () if number(one.get("low")) is not None]
    if not found:
        return None
    together = taken.get("way") == "together"
    times = sorted({int(one["number"]) for one in found})
    ticks = [(float(at), _tick(at, together)) for at in times]
    places = [
        Place(
            name_of(one["aggregator"]), float(one["number"]), 100.0 * float(one["low"]),
            100.0 * float(one["low"]), 100.0 * _high(one), _said(one),
        )
        for one in found
    ]  # fmt: skip
    said = [
        f"{name_of(one['aggregator'])} at {_tick(int(one['number']), together)} {_said(one)}" for one in found
    ]
    keys = ("low", "high", "rise", "rise_low", "rise_high")
    columns = (
        Column("release", "Release", Of.COUNT),
        Column("family", "Family"),
        Column("low", "Attack", Of.SHARE),
        Column("high", "Bound", Of.SHARE),
        Column("rise", "Rise since the first", Of.POINTS),
        Column("rise_low", "Rise at least", Of.POINTS),
        Column("rise_high", "Rise at most", Of.POINTS),
    )
    rows = [
        [int(one["number"]), name_of(one["aggregator"]), *(number(one.get(key)) for key in keys)]
        for one in (
            {**each, "high": upper_end(number(each.get("low")), number(each.get("high")))} for each in found
        )
    ]
    how = "the first releases together" if together else "each release by itself"
    return chart(
        "releases",
        "The worst case after each release",
        f"Points are the best attack found on {how}; bars go up to what no attack exceeds. A rise means that "
        "a release adds to what the earlier ones give away.",
        f"{listed(said)}.",
        picture(places, ticks, ("releases", "re-identified, %")),
        Table(columns, rows),
    )


def _tick(at: int, together: bool) -> str:
    return f"1 to {at}" if together and at > 1 else str(at)


def _high(risk: Result) -> float:
    high = number(risk.get("high"))
    return float(risk["low"]) if high is None else high


def _said(risk: Result) -> str:
    low, high = float(risk["low"]), _high(risk)
    return worst_between(low, high)
