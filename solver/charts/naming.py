"""Where the names of points stand on a map, so that no name covers another one, a point or its bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
    """Choose for each point, the most important first, where its name stands; None where there is no room.

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
