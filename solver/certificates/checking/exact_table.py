"""The numbers of a table in fractions, as its files say them."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from math import floor

from linkrisk.datasets.tables.cells_and_relations import FIXED, SAFE, SECONDARY, SENSITIVE, StoredTable

Sparse = dict[int, Fraction]


class ExactTable:
    """The numbers of a table in fractions.

    Parameters
    ----------
    stored : StoredTable
    """

    def __init__(self, stored: StoredTable) -> None:
        self.stored = stored
        self.value = [_decimal(one) for one in stored.numbers["value"]]
        status = [str(one) for one in stored.status]
        count = len(self.value)
        self.sensitive = [at for at, one in enumerate(status) if one == SENSITIVE]
        self.hidden = {at for at, one in enumerate(status) if one in (SENSITIVE, SECONDARY)}
        self.published = {at for at, one in enumerate(status) if one in (SAFE, FIXED)}
        self.levels = {
            way: _column(stored, f"{name}_protection", Fraction(0), count)
            for way, name in (((1,), "upper"), ((-1,), "lower"), ((1, -1), "sliding"))
        }
        self.counts = stored.counting
        least, most = self._usual_bounds()
        self.lower = _column(stored, "lower_bound", least, count)
        self.upper = _column(stored, "upper_bound", most, count)
        if self.counts:
            self._count(status)
        self.relations: dict[int, Sparse] = {}
        for row, cell, factor in zip(
            stored.relation.tolist(), stored.cell.tolist(), stored.coefficient, strict=True
        ):
            terms = self.relations.setdefault(row, {})
            terms[cell] = terms.get(cell, Fraction(0)) + _decimal(factor)
        self.of_cell: dict[int, list[int]] = {}
        for row, terms in self.relations.items():
            for cell in terms:
                self.of_cell.setdefault(cell, []).append(row)

    def _count(self, status: list[str]) -> None:
        """Bounds and levels of counts (docs/tables.md): whole, and at least 1 where empty cells are shown.

        The threshold of a rule is a level above; a level below is cut to what the least count leaves.
        """
        stored = self.stored
        given = _column(stored, "lower_bound", Fraction(-1), len(self.value))
        empty = {at for at, one in enumerate(self.value) if one == 0}
        hidden = any(at in self.hidden for at in empty)
        may = any(status[at] == SAFE for at in empty)
        hidden |= may and any(one == 0 for at, one in enumerate(given) if at not in empty)
        told = [Fraction(-floor(-one)) for one in self.lower]
        self.lower = [
            max(one, Fraction(1)) if at not in empty and not hidden else one for at, one in enumerate(told)
        ]
        if any(one < 0 for way in self.levels.values() for one in way):
            return  # they are no levels
        down, up, wide = ([Fraction(-floor(-one)) for one in way] for way in self._ways())
        threshold = _column(stored, "threshold", Fraction(0), len(self.value))
        for at in self.sensitive:
            room, asked = self.value[at] - self.lower[at], max(down[at], up[at], wide[at])
            if not (down[at] > 1 and down[at] > self.value[at] - told[at]):
                down[at] = min(down[at], room)
            up[at] = Fraction(1) if asked > 0 and max(down[at], up[at], wide[at]) < 1 else up[at]
        most = [max(up[at], threshold[at] - self.value[at]) for at in range(len(up))]
        self.levels = {(1,): most, (-1,): down, (1, -1): wide}
        for at in set(range(len(up))) - set(self.sensitive):
            most[at] = up[at]
        usual = self._usual_bounds()[1]
        self.upper = [Fraction(floor(one)) for one in _column(stored, "upper_bound", usual, len(up))]
        for at in self.sensitive:
            most[at] = max(min(most[at], self.upper[at] - self.value[at]), up[at])

    def _ways(self) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
        return self.levels[-1,], self.levels[1,], self.levels[1, -1]

    def _usual_bounds(self) -> tuple[Fraction, Fraction]:
        """What everybody knows of cells of which nothing is said (docs/tables.md, the two files).

        The largest level is added where one would be out of reach of a cell as large as the largest.
        """
        most = max(abs(one) for one in self.value)
        negative = min(self.value) < 0
        least = -most if negative else Fraction(0)
        above, below, wide = self.levels.values()
        high, low = most, least
        if negative and any(self.value[at] - below[at] < least for at in self.sensitive):
            low = _sum(least, -max(below[at] for at in self.sensitive))
        if any(wide[at] > most - least or self.value[at] + above[at] > most for at in self.sensitive):
            high = _sum(most, max(max(above[at], wide[at]) for at in self.sensitive))
        return low, high

    def named(self, cell: int) -> str:
        """What to call a cell in messages; a certificate may name any number."""
        return self.stored.named(cell) if 0 <= cell < len(self.value) else f"cell {cell} (there is none)"

    def defect(self) -> Fraction:
        """The most by which a relation misses 0."""
        sums = (sum(factor * self.value[at] for at, factor in one.items()) for one in self.relations.values())
        return max((abs(Fraction(one)) for one in sums), default=Fraction(0))

    def room(self, cell: int, sign: int) -> Fraction:
        """How far a cell can go one way by what everybody knows."""
        return self.upper[cell] - self.value[cell] if sign > 0 else self.value[cell] - self.lower[cell]

    def unknown(self, suppressed: set[int]) -> set[int]:
        """Suppressed cells that bounds and relations with one unknown cell do not give away."""
        left = {at for at in suppressed if self.lower[at] < self.upper[at]}
        counts = {row: sum(at in left for at in terms) for row, terms in self.relations.items()}
        alone = deque(row for row, count in counts.items() if count == 1)
        while alone:
            told = [at for at in self.relations[alone.popleft()] if at in left]
            if len(told) != 1:
                continue
            left.discard(told[0])
            for row in self.of_cell[told[0]]:
                counts[row] -= 1
                if counts[row] == 1:
                    alone.append(row)
        return left


def _decimal(number: float) -> Fraction:
    """The shortest decimal text that stands for a float, as files have it."""
    return Fraction(repr(float(number)))


def _column(stored: StoredTable, name: str, usual: Fraction, count: int) -> list[Fraction]:
    """A column, with the usual number where a cell has none."""
    given = stored.numbers.get(name)
    if given is None:
        return [usual] * count
    return [usual if one != one else _decimal(one) for one in given]  # NaN is not itself


def _sum(one: Fraction, other: Fraction) -> Fraction:
    """A sum as a file would say it, in the digits of a float."""
    return _decimal(float(one + other))
