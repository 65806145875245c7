"""Charts of a worst case: its interval beside simple attacks, and its bounds over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from linkrisk.solver.charts.chart import INK, Chart, Of, Table
from linkrisk.solver.charts.rows import Row, bars
from linkrisk.solver.charts.theme import (
    HELD_OUT,
    REFERENCE,
    SIMPLE,
    WORST,
    Level,
    Picture,
    chart,
    kept,
    name_of,
    named,
    ranged,
    share,
    tooltip,
    worst_said,
)
from linkrisk.solver.schemas.intervals import is_bound, meets
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import (
    Interval,
    findings,
    fit_of,
    fits,
    interval,
    measure,
    number,
    worst_cases,
)
from linkrisk.solver.schemas.risk import Finding

_SETTLED = 0.02
"""Part of the time after which the height of the picture counts; before, a search has hardly begun."""

Point = tuple[float, float, float]


class Line(NamedTuple):
    """One of the two lines: its field and what it is called, its colour, dashes and shape."""

    field: str
    words: str
    colour: str
    dash: Sequence[int]
    shape: str

    @classmethod
    def answer(cls, field: str, words: str) -> Line:
        """The best answer: solid, with discs."""
        return cls(field, words, WORST, (1, 0), "circle")

    @classmethod
    def bound(cls, field: str, words: str) -> Line:
        """What no answer exceeds: dashed, with squares."""
        return cls(field, words, SIMPLE, (6, 4), "square")


def bound(result: Json, family: str | None = None, *, live: bool = False) -> Chart | None:
    """The chart of one family; None where its search has left no trace.

    `result`: the JSON of a fit, or of risk. Of a search that runs, ``{"aggregator", "records", "trace"}`` do.
    `family`: by default the worst one. `live`: whether the data set ``trace`` will be replaced, with rows
    ``t`` (seconds), ``low`` and ``high``: then the axes follow the data, and the one of time reaches over the
    rows ``t`` of the data set ``span``.
    """
    fit = fit_of(result, family) if "parameters" in result or "trace" not in result else result
    trace = [] if fit is None else _points(fit)
    if fit is None or not trace:
        return None
    seconds, low, high = trace[-1]
    total, name = fit.get("total_weight") or fit["records"], name_of(fit["aggregator"])
    state = "they meet, so that the worst case is proven" if meets(low, high) else "the gap is open"
    at_most = f"none links more than {high:,.10g} ({share(high / total)}): {state}"
    if not is_bound(low, high, total):
        at_most = "no bound was found in time"
    after = f"{seconds:.3g}" if seconds < 1000 else f"{seconds:,.0f}"
    columns = (
        *Of.SECONDS.columns(seconds="Seconds"),
        *Of.COUNT.columns(attack="Attack", bound="Bound"),
        *Of.SHARE.columns(attack_share="Attack, share", bound_share="Bound, share"),
    )
    lines = Line.answer("low", "attack"), Line.bound("high", "bound")
    return chart(
        "bound",
        f"Attack and bound over time: {name}{', of what records stand for' if 'total_weight' in fit else ''}",
        "The solid line is the best attack found; the dashed line is what no attack of this kind exceeds. "
        "Where they meet, the worst case is proven.",
        f"After {after} seconds the best attack ({name}) links {low:,.10g} of {total:,.10g} "
        f"({share(low / total)}), and {at_most}.",
        _picture(trace, "re-identified", lines, live=live),
        Table(columns, [[t, low, high, low / total, high / total] for t, low, high in trace]),
    )


def costs(trace: Sequence[Point]) -> Chart:
    """The chart of a search for a pattern that runs; its data sets are those of a live chart of `bound`.

    `trace`: at least one.
    """
    seconds, least, cost = trace[-1]
    columns = (*Of.SECONDS.columns(seconds="Seconds"), *Of.COUNT.columns(bound="At least", cost="Cost"))
    lines = Line.bound("low", "at least"), Line.answer("high", "cost")
    return chart(
        "costs",
        "Cost and bound over time",
        "The solid line is the cost of the best pattern found, which protects; the dashed line is what every "
        "pattern that protects costs at least. Where they meet, the cost is proven least.",
        f"After {seconds:.3g} seconds the best pattern costs {cost:,.10g}, and none costs less than "
        f"{least:,.10g}.",
        _picture(trace, "cost of suppressed cells", lines, live=True),
        Table(columns, [list(point) for point in trace]),
    )


def _points(fit: Json) -> list[Point]:
    """Times, attacks and bounds; the last ones hold until the end of the search."""
    rows: list[Any] = [tuple(map(number, row)) for row in fit.get("trace") or ()]
    found: list[Point] = sorted(row for row in rows if None not in row)
    end = fit.get("seconds")
    if found and end is not None and end > found[-1][0]:
        found.append((end, *found[-1][1:]))
    return found


def _domain(trace: Sequence[Point]) -> list[float]:
    """From the lowest attack to the highest bound, without those of the very beginning."""
    begin = _SETTLED * trace[-1][0]
    first = max((at for at, point in enumerate(trace) if point[0] < begin), default=0)
    low, high = min(point[1] for point in trace[first:]), max(point[2] for point in trace[first:])
    room = 0.06 * (high - low) or max(1.0, 0.02 * high)
    return [max(0.0, low - room), high + room]


def _picture(trace: Sequence[Point], axis: str, lines: tuple[Line, Line], *, live: bool) -> Picture:
    """The lower and the upper line over time."""
    rows = [{"t": kept(t), "low": kept(low), "high": kept(high)} for t, low, high in trace]
    scale = alt.Scale(zero=False) if live else alt.Scale(domain=_domain(trace), nice=False)
    seconds = alt.X("t:Q", title="seconds", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6))
    base = named("trace").encode(x=seconds)
    whole = all(value == round(value) for _, *ends in trace for value in ends)
    y = alt.Y("low:Q", title=axis, scale=scale, axis=alt.Axis(tickMinStep=1) if whole else alt.Axis())
    pointed = tooltip({"t:Q": "seconds"}) + tooltip(
        {f"{one.field}:Q": one.words for one in lines}, format=",.10~g"
    )
    steps: Any = {"interpolate": "step-after", "clip": True}
    layers = [base.mark_area(opacity=0.14, color=INK, **steps).encode(y=y, y2="high:Q")]
    for one in lines:
        at = base.encode(y=f"{one.field}:Q")
        layers += [
            at.mark_line(strokeWidth=2.5, strokeDash=list(one.dash), color=one.colour, **steps),
            at.mark_point(shape=one.shape, size=45, color=one.colour, clip=True).encode(tooltip=pointed),
        ]
    order = alt.SortField("t", order="descending")
    last = base.transform_window(rank="rank()", sort=[order]).transform_filter("datum.rank == 1")
    layers += [
        last.mark_text(align="left", dy=below, dx=8, fontWeight="bold")
        .transform_calculate(said=f"'{one.words} ' + format(datum.{one.field}, ',.10~g')")
        .encode(y=f"{one.field}:Q", text="said:N")
        for one, below in zip(lines, (8, -8), strict=True)
    ]
    data = {"trace": rows}
    if live:  # rows that are not seen: charts side by side have one scale of time
        layers.append(named("span").mark_point(opacity=0, size=0).encode(x="t:Q"))
        data["span"] = [{"t": 0.0}, {"t": rows[-1]["t"]}]
    return Picture(layers, 260, data)


_BASELINES = {"euclid": "equal-weights", "mahalanobis": "classical-mahalanobis"}


def headline(result: Json, worst: Mapping[str, Interval] | None = None) -> Chart | None:
    """All that can be re-identified; None where no family has a result.

    `result`: the JSON of a fit, or of risk. `worst`: worst cases of several runs by their names, in place of
    those of the families.
    """
    groups = [
        ("Worst case, by family", [_worst(name_of(key), one) for key, one in worst_cases(result).items()]),
        ("Simple attacks", list(_simple(result))),
        (_known(result), list(_held_out(result))),
        ("For comparison", list(_references(result))),
    ]
    if worst is not None:
        groups = [("Worst case, by run", [_worst(name, one) for name, one in worst.items()])]
    if not any(row.value is not None for row in groups[0][1]):
        return None
    groups = [(heading, rows) for heading, rows in groups if rows]
    level = Level((result.get("verdict") or {}).get("tolerated"), "tolerated")
    of = "what records stand for" if any("total_weight" in one for one in fits(result)) else "records"
    columns = (
        *Of.TEXT.columns(group="Group", attack="Attack"),
        *Of.SHARE.columns(share=f"Share of {of}", low="At least", high="At most"),
        *Of.TEXT.columns(said="In words"),
    )
    cells = [
        [heading, row.label, row.value, row.low, row.upper, row.said]
        for heading, rows in groups
        for row in rows
    ]
    return chart(
        "headline",
        "What can be re-identified",
        f"Each bar is a share of {'the ' if of == 'records' else ''}{of}; of a worst case, the pale part is "
        "what is not excluded. Whiskers are 95 % intervals or ranges.",
        *bars(groups, f"share of {of}, %", level=level),
        Table(columns, cells),
    )


def _worst(label: str, one: Interval | None) -> Row:
    low, high = (None, None) if one is None else one.shares
    return Row(label, low, low, high, worst_said(one), colour=WORST, search=True)


def _simple(result: Json) -> Iterator[Row]:
    """The measure of simple attacks; without it, the distances that need no search."""
    if found := findings(result, "simple-attacks"):
        yield from (_found(one, one["words"], SIMPLE) for one in found)
        return
    records = measure(result, "records")
    attacks = {one["attack"]: one.get("linked") for one in records.get("attacks") or ()}
    rates = {}
    if records.get("weight") is None and all(map(attacks.get, _BASELINES.values())):
        rates = {name: sum(map(bool, attacks[name])) / len(attacks[name]) for name in _BASELINES.values()}
    else:
        for fit in fits(result)[:1]:
            counts, total = fit.get("baselines") or {}, interval(fit).total
            rates = {_BASELINES[name]: one / total for name, one in counts.items() if one is not None}
    for name, rate in rates.items():
        yield Row(name_of(name), rate, said=share(rate))


def _known(result: Json) -> str:
    """Above the rates of an intruder who knows some records."""
    shares = measure(result, "held-out").get("shares")
    return f"{f'{100.0 * shares[-1]:g} %' if shares else 'Some'} of records known"


def _held_out(result: Json) -> Iterator[Row]:
    for one in findings(result, "held-out"):
        first, second, *_ = [*one["words"].split(", "), ""]
        if one["key"].startswith("held_out_"):
            yield _found(one, name_of(first), HELD_OUT)
        elif one["key"] == "one_to_one":
            yield _found(one, f"{first}, {name_of(second)}", HELD_OUT)


def _references(result: Json) -> Iterator[Row]:
    for one in findings(result, "references"):
        yield _found(one, one["words"].replace("attributes shuffled", "shuffled"), REFERENCE)


def _found(finding: Finding, label: str, colour: str) -> Row:
    value, low, high = finding["value"], finding["low"], finding["high"]
    same = low is not None and high is not None and meets(low, high)
    said = ranged(value, None if same else low, high)
    return Row(label, value, low, high, said, share(value), colour, search=finding["kind"] == "certain")
