"""The risk-utility map of a sweep, with labels that do not overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import altair as alt

from linkrisk.solver.charts.chart import Chart, Column, Of, Table
from linkrisk.solver.charts.theme import (
    HELD_OUT,
    REFERENCE,
    WORST,
    Level,
    Picture,
    chart,
    cut,
    kept,
    listed,
    named,
    share,
    tooltip,
    worst_said,
    written,
)
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, held_out_of, loss_words, run_ends, tolerated_of

WIDTH, HEIGHT = 560.0, 440.0
"""Of the map, in pixels; a wider one leaves more room between the same names."""

LETTER, LINE = 6.0, 13.0
"""Of a name: the width of a letter and the height of a line."""

SIDES = tuple((right, down) for down in (-1, 1, -3, -5) for right in (1, -1))
"""Right or left of an end of a bar, and how many half lines below it, the nearest first."""

AWAY = 9.0
"""Pixels between a point and its name."""

_POINT, _BAR = 5.0, 2.0


class Box(NamedTuple):
    """A rectangle in pixels, from the left and from above."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Tell whether the two have more than an edge in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Point(NamedTuple):
    """A point with a name: its place from 0 to 1, from the left and from below, and the end of its bar.

    `marks` are the heights of what else is drawn above or below it.
    """

    x: float
    low: float
    high: float
    name: str
    marks: tuple[float, ...] = ()


def sides(points: Sequence[Point], lines: Sequence[float] = ()) -> list[tuple[float, int] | None]:
    """Place the labels of points, the most important first; None where there is no room.

    `lines`: heights from 0 to 1 of lines across the map. Returns: the end of its bar beside which the name
    stands, that of the point before the other one, and which of `SIDES`.
    """
    taken = [box for one in points for box in _drawn(one)]
    taken += [Box(0.0, _down(at) - 1.0, WIDTH, _down(at) + 1.0) for at in lines]
    found: list[tuple[float, int] | None] = []
    for one in points:
        boxes = {
            (end, at): _name(one, end, *SIDES[at]) for end in (one.low, one.high) for at in range(len(SIDES))
        }
        free = [key for key, box in boxes.items() if _inside(box) and not any(map(box.meets, taken))]
        found.append(next(iter(free), None))
        taken += [boxes[key] for key in free[:1]]
    return found


def _down(share: float) -> float:
    return (1.0 - share) * HEIGHT


def _drawn(one: Point) -> Iterator[Box]:
    x = one.x * WIDTH
    for down in map(_down, (one.low, *one.marks)):
        yield Box(x - _POINT, down - _POINT, x + _POINT, down + _POINT)
    yield Box(x - _BAR, _down(one.high), x + _BAR, _down(one.low))


def _name(one: Point, end: float, right: int, down: int) -> Box:
    x, middle = one.x * WIDTH, _down(end) + 0.5 * down * LINE
    left, last = sorted((x + right * AWAY, x + right * (AWAY + len(one.name) * LETTER)))
    return Box(left, middle - 0.5 * LINE, last, middle + 0.5 * LINE)


def _inside(box: Box) -> bool:
    return box.left >= 0.0 and box.right <= WIDTH and box.top >= -LINE and box.bottom <= HEIGHT


PICKED = "picked"
"""Parameter that holds the masking a reader has picked (field ``masking``)."""

FRONT = "on the front"
_TOPS = (0.1, 0.2, 0.5, 1.0)
"""Ends of the axis of shares, the least that is above all points."""

_NAMED = 16
"""Maskings whose names are written beside them, those of the front first."""

_LONGEST = 28
"""Characters of such a name; a longer one loses its middle."""

_NARROW = 420
"""Pixels; a narrower map has names on its front alone."""


@dataclass(frozen=True)
class Masking:
    """A point of the map: its loss, the worst that is known of it, its strongest held-out rate."""

    name: str
    place: str
    loss: float
    worst: Interval
    held_out: float | None

    @property
    def on_front(self) -> bool:
        """Whether no other masking is better in both."""
        return self.place == FRONT

    def datum(self) -> dict[str, Any]:
        """What is drawn."""
        return {
            "masking": self.name, "a": kept(self.loss), "b": kept(self.worst.low, 100.0),
            "c": kept(self.worst.high, 100.0), "d": kept(self.held_out, 100.0), "e": self.place,
            "f": worst_said(self.worst), "g": share(self.held_out), "h": self.on_front,
            "i": written(self.loss),
        }  # fmt: skip


def risk_utility(result: Json, tolerated: float | None = None) -> Chart | None:
    """The map of a sweep; None where no masking has a loss and a worst case.

    `result`: the JSON of a sweep. `tolerated`: the share of the records at which the line is; by default that
    beside which its maskings were judged.
    """
    runs = result.get("runs") or ()
    every = [
        Masking(run["masking"], run["pareto"] or "not known", run["loss"], Interval(*ends), held_out_of(run))
        for run in runs
        if run["loss"] is not None and (ends := run_ends(run)) is not None
    ]
    if not every:
        return None
    every.sort(key=lambda one: (one.loss, one.name))
    said = [
        f"{one.name}, loss {written(one.loss)}, worst case {worst_said(one.worst)}"
        for one in every
        if one.on_front
    ]
    left = len(runs) - len(every)
    more = f" {left:,} maskings without a loss or a worst case are not drawn." if left else ""
    triangles = "" if all(one.held_out is None for one in every) else "Triangles: the held-out attack. "
    level = Level(tolerated_of(result) if tolerated is None else tolerated, "tolerated")
    columns = (
        *Of.TEXT.columns(masking="Masking", place="Place"),
        Column("loss", "Information loss", Of.NUMBER),
        *Of.SHARE.columns(low="Worst case at least", high="Worst case at most", held_out="Held-out rate"),
    )
    cells = [[one.name, one.place, one.loss, one.worst.low, one.worst.upper, one.held_out] for one in every]
    return chart(
        "risk-utility",
        "Risk and information loss of the maskings",
        "Left is less loss, down is less risk; each bar goes from the best attack to what no attack exceeds. "
        f"Filled diamonds are on the front: no other is better in both. {triangles}"
        "Below the dashed line is what is tolerated.",
        f"{len(every):,} maskings. On the front: {listed(said)}.{more}{level.sentence}",
        _picture(every, loss_words(result.get("loss")), level),
        Table(columns, cells),
    )


def _labels(every: Sequence[Masking], level: Level, top: float) -> list[dict[str, Any]]:
    """The points with names, each with the place of its name."""
    most = 1.1 * max(one.loss for one in every) or 1.0
    order = sorted(every, key=lambda one: not one.on_front)[:_NAMED]
    words = _short([one.name for one in every])
    points = [
        Point(
            one.loss / most, one.worst.low / top, one.worst.high / top, words[one.name],
            () if one.held_out is None else (one.held_out / top,),
        )
        for one in order
    ]  # fmt: skip
    found = sides(points, [] if level.at is None else [level.at / top])
    return [
        {**one.datum(), "j": point.name, "k": place[1], "l": kept(place[0], 100.0 * top)}
        for one, point, place in zip(order, points, found, strict=True)
        if place is not None
    ]


def _short(names: Sequence[str]) -> dict[str, str]:
    """Shorten names of maskings: without the parameters that all share, and cut."""
    shared = set.intersection(*({word for word in name.split() if "=" in word} for name in names))
    words = {name: " ".join(word for word in name.split() if word not in shared) or name for name in names}
    return {name: cut(one, _LONGEST, _LONGEST // 2 - 1) for name, one in words.items()}


def _names(base: alt.Chart) -> list[alt.Chart]:
    """A layer of names for each side of the end of a bar."""
    seen = alt.ExprRef(f"(width < {_NARROW} && !datum.h) ? 0 : 1")
    fixed: Any = {"fontSize": 11, "limit": LETTER * _LONGEST * 1.2, "opacity": seen}
    return [
        base.transform_filter(f"datum.k == {at}")
        .mark_text(align="left" if right > 0 else "right", dx=AWAY * right, dy=0.5 * LINE * down, **fixed)
        .encode(y="l:Q", text="j:N")
        for at, (right, down) in enumerate(SIDES)
    ]


def _picture(every: Sequence[Masking], loss: str, level: Level) -> Picture:
    most = max(level.at or 0.0, *(max(one.worst.high, one.held_out or 0.0) for one in every))
    top = next((top for top in _TOPS if most <= top), 1.0)
    x = alt.X("a:Q", title=f"{loss}, more is worse")
    y = alt.Y("b:Q", title="re-identified at worst, %", scale=alt.Scale(domain=[0, 100.0 * top], nice=False))
    pointed = tooltip({"masking": "masking", "f": "worst case", "g": "held-out", "i": "loss", "e": "place"})
    base = named().encode(x=x, tooltip=pointed)
    picked = alt.selection_point(name=PICKED, fields=["masking"], on="click", empty=False)
    wide = alt.condition(picked, alt.value(7), alt.value(3.5))
    colour, inside = (
        alt.condition("datum.h", alt.value(WORST), alt.value(other)) for other in (REFERENCE, "transparent")
    )
    places = [FRONT, *sorted({one.place for one in every} - {FRONT})]
    shapes = alt.Scale(domain=places, range=["diamond", "circle", "square", "cross"])
    held_out = base.transform_filter("isValid(datum.d)").mark_point(
        shape="triangle-down", size=55, filled=False
    )
    layers = [
        base.mark_rule(opacity=0.75).encode(y=y, y2="c:Q", color=colour, size=wide),
        held_out.encode(y="d:Q", color=alt.ColorValue(HELD_OUT)),
        base.mark_point(size=110, filled=False)
        .encode(y=y, shape=alt.Shape("e:N", title=None, scale=shapes), color=colour, fill=inside)
        .add_params(picked),
        *_names(named("names").encode(x=x)),
        *level.layers("y", {"x": alt.value(0)}, align="left", baseline="bottom", dx=4, dy=-3),
    ]
    data = {"rows": [one.datum() for one in every], "names": _labels(every, level, top), **level.rows}
    return Picture(layers, HEIGHT, data)
