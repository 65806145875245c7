"""Charts of series: learning curve, releases, interval disclosure, reliability of links."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

import altair as alt

from linkrisk.solver.charts.chart import Chart, Of, Table
from linkrisk.solver.charts.theme import (
    NO_LEVEL,
    SIMPLE,
    WHOLE,
    WORST,
    Level,
    Picture,
    chart,
    in_words,
    kept,
    listed,
    name_of,
    named,
    ranged,
    series,
    share,
    tooltip,
    worst_said,
    written,
)
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, measure

_HEIGHT = 260


class Place(NamedTuple):
    """A share of a series at a tick, with its interval where there is one; `joined` to the one before."""

    series: str
    at: str
    value: float
    low: float | None
    high: float | None
    said: str
    joined: bool = True


def _drawn(
    places: Sequence[Place], ticks: Sequence[str], titles: tuple[str, str], level: Level = NO_LEVEL
) -> Picture:
    """Series, beside each other at every tick; titles of the axes, across first."""
    data = [
        {
            "a": one.at, "b": kept(one.value, 100.0), "c": kept(one.low, 100.0), "d": kept(one.high, 100.0),
            "e": one.series, "f": one.said, "g": one.joined,
        }
        for one in places
    ]  # fmt: skip
    names = list(dict.fromkeys(one.series for one in places))
    apart, words = series("e", names), alt.Axis(labelAngle=0, labelExpr="split(datum.label, ': ')")
    base = named().encode(
        x=alt.X("a:N", title=titles[0], scale=alt.Scale(domain=list(ticks), padding=0.3), axis=words),
        xOffset=alt.XOffset("e:N", scale=alt.Scale(domain=names)),
        color=apart["color"],
    )
    pointed = tooltip({"e": " ", "f": titles[1]})
    y = alt.Y("b:Q", title=titles[1])
    layers = [
        *level.layers("y", {"x": alt.value("width")}, align="right", baseline="bottom", dy=-3),
        base.mark_line(strokeWidth=1.4, opacity=0.55).transform_filter("datum.g").encode(y=y),
        base.mark_rule(strokeWidth=2).encode(y="c:Q", y2="d:Q", tooltip=pointed),
        base.mark_point().encode(y=y, shape=apart["shape"], tooltip=pointed),
    ]
    return Picture(layers, 280, {"rows": data, **level.rows})


def learning_curve(result: Json) -> Chart | None:
    """Held-out rates by the share that an intruder knows; None where that was not measured."""
    taken = measure(result, "held-out")
    rates = [one for one in taken.get("rates") or () if one["held_out"] is not None]
    if not rates:
        return None
    known = sorted({one["share"] for one in rates})
    worst = {one["aggregator"]: one["worst"] for one in rates if one["worst"] is not None}
    places = [
        Place(
            name_of(one["aggregator"]),
            f"{100.0 * one['share']:g} %",
            one["held_out"],
            one["low"],
            one["high"],
            _said(one),
        )
        for one in rates
    ]
    last = "100 %" if 1.0 in known else "all: worst case"
    places += [
        Place(name_of(name), last, at, None, None, share(at), joined=False) for name, at in worst.items()
    ]
    ticks = [f"{100.0 * one:g} %" for one in known] + ([last] if worst else [])
    level = Level(taken.get("chance"), "random guess")
    said = [
        f"{name_of(one['aggregator'])} {_said(one)}, worst case {share(one['worst'])}"
        for one in rates
        if one["share"] == known[-1]
    ]
    columns = (
        *Of.TEXT.columns(family="Distance"),
        *Of.SHARE.columns(share="Records known", held_out="Re-identified of the others"),
        *Of.SHARE.columns(low="At least (95 %)", high="At most (95 %)"),
        *Of.POINTS.columns(gap="Over-fit gap"),
        *Of.SHARE.columns(one_to_one="One to one", worst="Worst case"),
    )
    names = {one["aggregator"]: name_of(one["aggregator"]) for one in rates}
    names["equal-weights"] = "equal weights, nothing learned"
    return chart(
        "learning-curve",
        "What an intruder gets who knows some of the records",
        "Each point is the share of the other records that are re-identified, with its 95 % interval; a rate "
        "far below the worst case means that the worst case takes the whole truth.",
        f"With {100.0 * known[-1]:g} % known: {listed(said)}.{level.sentence}",
        _drawn(places, ticks, ("records that the intruder knows", "re-identified of the others, %"), level),
        Table.of(columns, ({**one, "family": names[one["aggregator"]]} for one in rates)),
    )


def _said(rate: Json) -> str:
    return ranged(rate["held_out"], rate["low"], rate["high"])


def releases(result: Json) -> Chart | None:
    """Worst cases by the number of releases; None where there is one release only."""
    taken = measure(result, "releases")
    found = [one for one in taken.get("risks") or () if one["low"] is not None]
    if not found:
        return None
    together = taken.get("way") == "together"
    ticks = {
        at: f"1 to {at}" if together and at > 1 else str(at)
        for at in sorted({one["number"] for one in found})
    }
    worst = [Interval(one["low"], one["low"] if one["high"] is None else one["high"]) for one in found]
    places = [
        Place(
            name_of(one["aggregator"]), ticks[one["number"]], ends.low, ends.low, ends.high, worst_said(ends)
        )
        for one, ends in zip(found, worst, strict=True)
    ]
    columns = (
        *Of.COUNT.columns(release="Release"),
        *Of.TEXT.columns(family="Family"),
        *Of.SHARE.columns(low="Attack", high="Bound"),
        *Of.POINTS.columns(rise="Rise since the first", rise_low="Rise at least", rise_high="Rise at most"),
    )
    rows = [
        {**one, "release": one["number"], "family": place.series, "high": ends.upper}
        for one, place, ends in zip(found, places, worst, strict=True)
    ]
    how = "the first releases together" if together else "each release by itself"
    return chart(
        "releases",
        "The worst case after each release",
        f"Points are the best attack found on {how}; bars go up to what no attack exceeds. A rise means that "
        "a release adds to what the earlier ones give away.",
        f"{listed([f'{one.series} at {one.at} {one.said}' for one in places])}.",
        _drawn(places, list(ticks.values()), ("releases", "re-identified, %")),
        Table.of(columns, rows),
    )


_KINDS = {"ranks": "of the ranks", "deviations": "of a standard deviation"}


def disclosure(result: Json) -> Chart | None:
    """Interval disclosure by the width of the interval; None where it was not measured."""
    taken = measure(result, "interval-disclosure")
    rows: list[list[Any]] = []
    curves: list[dict[str, Any]] = []
    for words, part in ((words, taken.get(key) or {}) for key, words in _KINDS.items()):
        names = in_words(result, part.get("attributes") or ())
        for at, values in enumerate(part.get("each") or (), start=1):
            jointly = part["jointly"][at - 1]
            rows += [
                [words, at, *one] for one in zip([*names, "all attributes"], [*values, jointly], strict=True)
            ]
            if known := [value for value in values if value is not None]:
                ends = {"b": mean(known), "c": min(known), "d": max(known), "e": jointly}
                curves.append({"a": at, "g": words, **{key: kept(end, 100.0) for key, end in ends.items()}})
    if not curves:
        return None
    last = [one for one in curves if one["a"] == max(each["a"] for each in curves)]
    said = [
        f"within {one['a']} % {one['g']} lie {share(one['b'] / 100.0)} of the values on average"
        + ("" if one["e"] is None else f" and all values of {share(one['e'] / 100.0)} of the records")
        for one in last
    ]
    columns = (
        *Of.TEXT.columns(kind="Interval"),
        *Of.COUNT.columns(percent="Width, %"),
        *Of.TEXT.columns(attribute="Attribute"),
        *Of.SHARE.columns(share="Original inside"),
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
    apart = series("g", list(dict.fromkeys(one["g"] for one in curves)))
    axis, scale = alt.Axis(format="d"), alt.Scale(nice=False, zero=False)
    base = named().encode(
        x=alt.X("a:Q", title="width of the interval, %", axis=axis, scale=scale), color=apart["color"]
    )
    y = alt.Y("b:Q", title="original values inside, %", scale=WHOLE)
    parts = {"a:Q": "width", "b:Q": "mean", "c:Q": "least", "d:Q": "most", "e:Q": "all at once"}
    pointed = tooltip({"g": "interval"}) + tooltip(parts, format=".1f")
    layers = [
        base.mark_area().encode(y="c:Q", y2="d:Q"),
        base.mark_line().encode(y=y),
        base.mark_line(strokeWidth=1.6, strokeDash=[5, 3]).encode(y="e:Q"),
        base.mark_point(size=60).encode(y=y, shape=apart["shape"], tooltip=pointed),
    ]
    return Picture(layers, _HEIGHT, {"rows": curves})


def reliability(result: Json) -> Chart | None:
    """How often the best candidate is right, by its matching weight; None where that was not measured."""
    taken = measure(result, "link-reliability")
    table = (taken.get("grouped") or {}).get("groups") or {}
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table.get("rows") or ()]
    groups = [row for row in rows if row["share"] is not None and row["midpoint"] is not None]
    if not groups:
        return None
    columns = (
        *Of.NUMBER.columns(low="Weight from", high="Weight to"),
        *Of.COUNT.columns(links="Links", right="Right"),
        *Of.SHARE.columns(share="Share right", fitted="Curve"),
    )
    at, target = (taken.get("weight_at_target") or {}).get("value"), taken.get("target")
    reached = "" if at is None else f" The curve reaches {share(target)} at weight {written(at)}."
    return chart(
        "reliability",
        "How reliable a link is, by its matching weight",
        "Points are links with similar weights, larger for more links; the line is the model with its 95 % "
        "band. To the right of where it is high, an intruder can trust his links.",
        f"{taken['right']:,} of {taken['links']:,} best candidates are right.{reached}",
        _weighed(taken, groups, Level(target, "target")),
        Table.of(columns, groups),
    )


def _weighed(taken: Json, groups: list[dict[str, Any]], level: Level) -> Picture:
    """Groups of links, and the logistic curve with the band of its linear predictor (delta method)."""
    dots = [
        {
            "a": kept(one["midpoint"]), "b": kept(one["share"], 100.0), "n": one["links"],
            "f": f"{one['right']:,.0f} of {one['links']:,.0f}",
        }
        for one in groups
    ]  # fmt: skip
    x = alt.X("a:Q", title="matching weight", scale=alt.Scale(zero=False))
    y = alt.Y("b:Q", title="right links, %", scale=WHOLE)
    layers = level.layers("y", {"x": alt.value("width")}, align="right", baseline="bottom", dy=-3)
    data: dict[str, Any] = {"dots": dots, **level.rows}
    model, lower, upper = taken.get("model"), taken.get("lower"), taken.get("upper")
    if model and lower is not None and upper is not None:
        data["curve"] = [{"a": kept(lower + (upper - lower) * step / 60)} for step in range(61)]
        (first, both), (_, second) = model.get("covariance") or [[0.0, 0.0], [0.0, 0.0]]
        variance = f"max(0, {first} + 2 * datum.a * {both} + datum.a * datum.a * {second})"
        curve = (
            named("curve")
            .transform_calculate(middle=f"{model['intercept']} + {model['slope']} * datum.a")
            .transform_calculate(wide=f"1.959963984540054 * sqrt({variance})")
            .transform_calculate(
                b="100 / (1 + exp(-datum.middle))",
                c="100 / (1 + exp(datum.wide - datum.middle))",
                d="100 / (1 + exp(-datum.wide - datum.middle))",
            )
            .encode(x=x)
        )
        layers += [
            curve.mark_area(color=SIMPLE).encode(y="c:Q", y2="d:Q"),
            curve.mark_line(color=SIMPLE).encode(y=y),
        ]
    pointed = tooltip({"f": "right"}) + tooltip({"a:Q": "weight"}, format=".3~g")
    size = alt.Size("n:Q", scale=alt.Scale(range=[20, 140]), legend=None)
    points = named("dots").mark_point(color=WORST, opacity=0.9)
    layers.append(points.encode(x=x, y=y, size=size, tooltip=pointed))
    return Picture(layers, _HEIGHT, data)
