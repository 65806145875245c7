"""Seconds and memory against records, both on scales of powers of ten, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Point = tuple[int, float, float]
"""Records, seconds, megabytes."""

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 360, 64, 312, 40
_RIGHT = _WIDTH - 136

_COLOURS = (("#0b6e99", "#5bb8e0"), ("#b3560f", "#f0a060"), ("#5b4b9a", "#a99be0"))
"""Of each case, by day and by night."""

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}line{stroke:#ddd}path{fill:none;stroke-width:2}"
    ".m{stroke-dasharray:6 4}.q{stroke:#999;stroke-width:1}"
    + "".join(
        f".c{at}{{stroke:{day}}}text.c{at}{{stroke:none;fill:{day}}}" for at, (day, _) in enumerate(_COLOURS)
    )
    + "@media(prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#444}svg{background:#111}"
    + "".join(f".c{at}{{stroke:{night}}}text.c{at}{{fill:{night}}}" for at, (_, night) in enumerate(_COLOURS))
    + "}"
)


class _Scales:
    """Where records and values are in the picture."""

    def __init__(self, points: Sequence[Point]) -> None:
        sizes = [records for records, _, _ in points]
        values = [value for _, *both in points for value in both]
        self.first, self.last = min(sizes), max(sizes)
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(self, records: float) -> float:
        """Of records."""
        span = math.log10(self.last / self.first) or 1.0
        return _LEFT + (_RIGHT - _LEFT) * math.log10(records / self.first) / span

    def y(self, value: float) -> float:
        """Of seconds or megabytes."""
        return _BOTTOM - (_BOTTOM - _TOP) * (math.log10(value) - self.low) / ((self.high - self.low) or 1)

    def path(self, kinds: str, line: Sequence[tuple[float, float]]) -> str:
        """A line of `(records, value)`."""
        steps = "L".join(f"{self.x(records):.1f},{self.y(value):.1f}" for records, value in line)
        return f'<path class="{kinds}" d="M{steps}"/>'


def growth_picture(cases: Mapping[str, Sequence[Point]]) -> str:
    """Draw the points of up to three cases, ascending, by their names.

    A thin line shows quadratic growth of the first, from a tenth of its largest size on, where starting costs
    little.
    """
    scales = _Scales([point for points in cases.values() for point in points])
    first = next(iter(cases.values()))
    lines = "".join(_lines(scales, at, name, points) for at, (name, points) in enumerate(cases.items()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Counting links: seconds and megabytes against records">'
        f"<style>{_STYLE}</style>{_grid(scales, first)}{_quadratic(scales, first)}{lines}"
        f'<text x="{_LEFT}" y="20">seconds (solid), megabytes (dashed), quadratic growth of seconds (thin)'
        f'</text><text x="{_RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">records</text></svg>\n'
    )


def _lines(scales: _Scales, at: int, name: str, points: Sequence[Point]) -> str:
    records, seconds, _ = points[-1]
    return (
        scales.path(f"c{at}", [(records, seconds) for records, seconds, _ in points])
        + scales.path(f"c{at} m", [(records, megabytes) for records, _, megabytes in points])
        + f'<text class="c{at}" x="{scales.x(records) + 8:.1f}" y="{scales.y(seconds) + 4:.1f}">{name}</text>'
    )


def _quadratic(scales: _Scales, points: Sequence[Point]) -> str:
    last = points[-1][0]
    tenth, seconds, _ = max((point for point in points if 10 * point[0] <= last), default=points[0])
    beyond = min(last, tenth * math.sqrt(10.0**scales.high / seconds))  # where it leaves the picture
    return scales.path("q", [(tenth, seconds), (beyond, seconds * (beyond / tenth) ** 2)])


def _grid(scales: _Scales, points: Sequence[Point]) -> str:
    levels = "".join(
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{scales.y(10.0**p):.1f}" y2="{scales.y(10.0**p):.1f}"/>'
        f'<text x="{_LEFT - 8}" y="{scales.y(10.0**p) + 4:.1f}" text-anchor="end">{10.0**p:,g}</text>'
        for p in range(scales.low, scales.high + 1)
    )
    sizes = "".join(
        f'<text x="{scales.x(records):.1f}" y="{_BOTTOM + 22}" text-anchor="middle">{records:,}</text>'
        for records, _, _ in points[::2]
    )
    return levels + sizes
