"""Seconds and memory against records, both on scales of powers of ten, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 360, 64, 312, 40
_RIGHT = _WIDTH - 64

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}line{stroke:#ddd}path{fill:none;stroke-width:2}"
    ".s{stroke:#0b6e99}.m{stroke:#b3560f;stroke-dasharray:6 4}.q{stroke:#999;stroke-width:1}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#444}svg{background:#111}}"
)


def growth_picture(points: Sequence[tuple[int, float, float]]) -> str:
    """Draw `(records, seconds, megabytes)`, ascending.

    A thin line shows quadratic growth from a tenth of the largest size on, where starting costs little.
    """
    first, last = points[0], points[-1]
    values = [seconds for _, seconds, _ in points] + [megabytes for _, _, megabytes in points]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(records: float) -> float:
        span = math.log10(last[0] / first[0]) or 1.0
        return _LEFT + (_RIGHT - _LEFT) * math.log10(records / first[0]) / span

    def y(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (math.log10(value) - low) / ((high - low) or 1)

    def path(name: str, line: Sequence[tuple[float, float]]) -> str:
        steps = "L".join(f"{x(records):.1f},{y(value):.1f}" for records, value in line)
        return f'<path class="{name}" d="M{steps}"/>'

    tenth = max((point for point in points if 10 * point[0] <= last[0]), default=first)
    # Where quadratic growth leaves the picture.
    beyond = min(last[0], tenth[0] * math.sqrt(10.0**high / tenth[1]))
    levels = "".join(
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y(10.0**p):.1f}" y2="{y(10.0**p):.1f}"/>'
        f'<text x="{_LEFT - 8}" y="{y(10.0**p) + 4:.1f}" text-anchor="end">{10.0**p:,g}</text>'
        for p in range(low, high + 1)
    )
    sizes = "".join(
        f'<text x="{x(records):.1f}" y="{_BOTTOM + 22}" text-anchor="middle">{records:,}</text>'
        for records, _, _ in points[::2]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Counting links: seconds and megabytes against records">'
        f"<style>{_STYLE}</style>{levels}{sizes}"
        + path("q", [(tenth[0], tenth[1]), (beyond, tenth[1] * (beyond / tenth[0]) ** 2)])
        + path("s", [(records, seconds) for records, seconds, _ in points])
        + path("m", [(records, megabytes) for records, _, megabytes in points])
        + f'<text x="{_LEFT}" y="20">seconds (solid), megabytes (dashed), quadratic growth of seconds (thin)'
        f'</text><text x="{_RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">records</text></svg>\n'
    )
