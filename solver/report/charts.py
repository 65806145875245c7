"""Geometry of the report's inline SVG charts, in the units of their view boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrisk.solver.report.formats import count, duration

WIDTH = 400.0
TRACE_HEIGHT = 190.0
LEFT, RIGHT = 48.0, 396.0
_TOP, _BOTTOM = 14.0, 160.0


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class StepChart:
    """The linked count and the bound over time, as SVG path data."""

    linked: str
    bound: str
    between: str
    horizontal: tuple[Tick, ...]
    vertical: tuple[Tick, ...]


def bar_width(value: float | None, whole: float) -> float:
    """Return the width of a bar of `value` out of `whole`, cut to the chart."""
    return 0.0 if value is None or whole <= 0 else round(WIDTH * min(max(value / whole, 0.0), 1.0), 2)


def step_chart(trace: Sequence[tuple[float, float, float]]) -> StepChart | None:
    """Draw `(seconds, linked, bound)` as two step lines with the gap between them.

    Returns nothing for fewer than two points: there is no progress to show.
    """
    if len(trace) < 2:
        return None
    end = max(seconds for seconds, _, _ in trace) or 1.0
    low = min(linked for _, linked, _ in trace)
    high = max(max(linked, bound) for _, linked, bound in trace)
    room = (high - low) or 1.0

    def x(seconds: float) -> float:
        return LEFT + (RIGHT - LEFT) * seconds / end

    def y(value: float) -> float:
        return _TOP + (_BOTTOM - _TOP) * (high - value) / room

    linked = _steps([(x(seconds), y(value)) for seconds, value, _ in trace])
    bound = _steps([(x(seconds), y(value)) for seconds, _, value in trace])
    levels = sorted({low, high, trace[-1][1], trace[-1][2]})
    return StepChart(
        linked=_path(linked),
        bound=_path(bound),
        between=_path(linked + bound[::-1]) + "Z",
        horizontal=tuple(Tick(round(y(v), 2), count(v)) for v in _apart(levels, 14.0 * room / TRACE_HEIGHT)),
        vertical=tuple(Tick(round(x(t), 2), duration(t)) for t in (0.0, end / 2, end)),
    )


def _steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Hold each value until the time of the next one."""
    out = [points[0]]
    for right, level in points[1:]:
        out += [(right, out[-1][1]), (right, level)]
    return out


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _apart(levels: Sequence[float], distance: float) -> list[float]:
    """Leave out labels that would overlap one already kept; the last levels matter most."""
    kept: list[float] = []
    for level in levels[::-1]:
        if all(abs(level - other) >= distance for other in kept):
            kept.append(level)
    return kept
