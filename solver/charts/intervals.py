"""What attackers find of sensitive cells, beside what must remain possible; all on one scale."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import kept, labelled
from linkrisk.solver.charts.rows import MOST, STEP
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Table
from linkrisk.solver.charts.theme import LABEL_WIDTH, SIMPLE, WORST, Picture, chart, named

FURTHEST = 300.0
"""Per cent of a level up to which intervals are drawn; an arrow says that one goes on."""


@dataclass(frozen=True)
class Reach:
    """A sensitive cell.

    Attributes
    ----------
    label : str
    below, above : float
        How far an attacker must think that the value could be below and above.
    lower_level, upper_level, sliding_level : float
        How far that must be: each way, and both together.
    said : str
        Its interval, for people.
    short : bool
        Whether a level is missed.
    """

    label: str
    below: float
    above: float
    lower_level: float
    upper_level: float
    sliding_level: float
    said: str
    short: bool

    @property
    def units(self) -> tuple[float, float]:
        """What is 100 % below and above."""
        usual = max(self.lower_level, self.upper_level) or self.sliding_level / 2.0 or 1.0
        return self.lower_level or usual, self.upper_level or usual

    @property
    def share(self) -> float:
        """The worst of its levels: 1 where it is just reached."""
        pairs = (
            (self.below, self.lower_level),
            (self.above, self.upper_level),
            (self.below + self.above, self.sliding_level),
        )
        return min((reach / level for reach, level in pairs if level > 0), default=float("inf"))


def intervals(cells: Sequence[Reach], table: Table) -> Chart:
    """Draw the intervals of sensitive cells, the worst first.

    Parameters
    ----------
    cells : sequence of Reach
        Sorted.
    table : Table
        The numbers behind it.
    """
    short = sum(one.short for one in cells)
    shown = min(len(cells), MOST)
    first = "" if shown == len(cells) else f" The worst {shown} of {len(cells):,} are drawn."
    with debug_mode(False):
        return chart(
            "intervals",
            "What attackers find of the sensitive cells",
            "The grey field is what must remain possible, 100 % of the level on either side of the value; "
            "the "
            f"bar is what an attacker cannot exclude. A bar inside of its field is too short.{first}",
            f"{len(cells):,} sensitive cells, {short:,} of them short of a level. The worst is "
            f"{cells[0].label}: "
            f"{cells[0].said}.",
            _picture(cells[:MOST]),
            table,
        )


def _picture(cells: Sequence[Reach]) -> Picture:
    scale = alt.Scale(domain=list(range(len(cells))), paddingInner=0.3, paddingOuter=0.15)
    left = alt.Axis(
        title=None, ticks=False, domain=False, labelExpr=labelled([one.label for one in cells]),
        labelLimit=LABEL_WIDTH, labelPadding=6,
    )  # fmt: skip
    right = alt.Axis(
        title=None, ticks=False, domain=False, orient="right", labelPadding=8, labelLimit=LABEL_WIDTH,
        labelExpr=f"{json.dumps([one.said for one in cells])}[datum.value]",
    )  # fmt: skip
    span = [-FURTHEST * 1.04, FURTHEST * 1.04]
    ticks = alt.Axis(values=[-300, -200, -100, 0, 100, 200, 300])
    title = "distance from the value, in % of the level"
    across = alt.Scale(domain=span, nice=False)
    base = named()
    told = [alt.Tooltip("e:N", title=" "), alt.Tooltip("f:N", title="interval")]

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=title, scale=across, axis=ticks)

    def y(shown: alt.Axis | None) -> alt.Y:
        return alt.Y("a:O", axis=shown, scale=scale)

    arrows = {"l": ("triangle-left", "c"), "r": ("triangle-right", "d")}
    layers: list[alt.Chart] = [
        base.mark_bar(color=INK, opacity=0.2, height=STEP * 0.8).encode(
            x=x("b"), x2=alt.X2("h:Q"), y=y(left), tooltip=told
        ),
        base.mark_bar(height=STEP * 0.32).encode(
            x=x("c"), x2=alt.X2("d:Q"), y=y(None), color=alt.Color("g:N", scale=None), tooltip=told
        ),
        base.mark_tick(color=INK, thickness=2, size=STEP * 0.8).encode(x=x("z"), y=y(None)),
        *(
            base.transform_filter(f"datum.{flag}")
            .mark_point(shape=shape, filled=True, size=70, opacity=1)
            .encode(x=x(end), y=y(None), color=alt.Color("g:N", scale=None))
            for flag, (shape, end) in arrows.items()
        ),
        base.mark_point(opacity=0).encode(y=y(right)),
    ]
    drawing = alt.layer(*layers).resolve_axis(y="independent").properties(height=STEP * max(len(cells), 1))
    return Picture(drawing, {"rows": [_datum(at, one) for at, one in enumerate(cells)]})


def _datum(at: int, one: Reach) -> dict[str, Any]:
    down, up = (100.0 * reach / unit for reach, unit in zip((one.below, one.above), one.units, strict=True))
    sliding = one.lower_level == one.upper_level == 0
    return {
        "a": at,
        "b": -100.0 if one.lower_level > 0 or sliding else 0.0,
        "h": 100.0 if one.upper_level > 0 or sliding else 0.0,
        "c": kept(-min(down, FURTHEST)),
        "d": kept(min(up, FURTHEST)),
        "z": 0.0,
        "l": down > FURTHEST,
        "r": up > FURTHEST,
        "e": one.label,
        "f": one.said,
        "g": WORST if one.short else SIMPLE,
    }
