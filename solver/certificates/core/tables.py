"""Certificates of tables: whether suppressed cells stay uncertain enough, in fractions alone.

A *witness* is a vector of deviations d with ``M d = 0`` that moves suppressed cells only, each within what
everybody knows of it: whoever reads the table cannot exclude the values plus d. For *multipliers* u of the
relations, cell p goes up by no more than ``sum_i max (e_p - u M)_i d_i`` over these bounds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

from .claims import Claim, MalformedError, demand, items, whole, wholes
from .files import read_columns

FORMAT = "linkrisk table certificate 1"
BESIDE, PUBLISHED = "respondents", "respondents_published"
"""The certificate of numbers of respondents published beside the values, and their column."""

Sparse = dict[int, Fraction]
Way = tuple[int, ...]
"""Of a level: up, down, or both together."""

WAYS: dict[Way, str] = {(1,): "upper_protection", (-1,): "lower_protection", (1, -1): "sliding_protection"}
SENSITIVE, SECONDARY, SAFE, FIXED = "u", "m", "s", "z"

_NUMBER = re.compile(r"-?[0-9]{1,1000}(/[1-9][0-9]{0,1000})?")


@dataclass(frozen=True)
class Table:
    """A table as its two files say it.

    Attributes
    ----------
    numbers : dict of str to list of (Fraction or None)
        Columns of cells, ``value`` among them; None where a cell is empty.
    status : list of str
        ``u`` sensitive, ``m`` suppressed with them, ``s`` safe, ``z`` always published.
    relations : dict of int to Sparse
        Coefficients of cells; the terms of each relation sum to 0.
    counts : bool
        Whether the values are counts: whole numbers.
    """

    numbers: dict[str, list[Fraction | None]]
    status: list[str]
    relations: dict[int, Sparse]
    counts: bool = False

    def column(self, name: str, usual: Fraction) -> list[Fraction]:
        """A column, with the usual number where a cell has none."""
        given = self.numbers.get(name) or [None] * len(self.status)
        return [usual if one is None else one for one in given]


@dataclass(frozen=True)
class TableVerdict:
    """Levels of sensitive cells: how many there are, hold, do not hold, and are not decided."""

    demands: int
    met: int
    missed: int
    undecided: int


def read_table(cells: str | Path, relations: str | Path, counts: bool) -> Table:
    """A table from CSV files of cells (``value``, ``status``, ...) and of terms of relations."""
    columns, terms = read_columns(cells), read_columns(relations)
    known = ("value", "lower_bound", "upper_bound", "threshold", PUBLISHED, *WAYS.values())
    numbers = {name: [_decimal(cell) for cell in columns[name]] for name in known if name in columns}
    demand(None not in numbers.get("value", [None]), f"{cells}: every cell needs a value")
    status = [one or SAFE for one in columns.get("status", [SAFE] * len(numbers["value"]))]
    name = "equation" if "equation" in terms else "relation"
    demand({name, "cell", "coefficient"} <= terms.keys(), f"{relations} has no such columns")
    made: defaultdict[float, Sparse] = defaultdict(dict)
    for row, at, factor in zip(terms[name], terms["cell"], terms["coefficient"], strict=True):
        cell, coefficient = int(at), _decimal(factor) or Fraction(0)
        demand(0 <= cell < len(status), f"{relations}: there is no cell {cell}")
        made[float(row)][cell] = made[float(row)].get(cell, Fraction(0)) + coefficient
    return Table(numbers, status, dict(enumerate(made[row] for row in sorted(made))), counts)


def _decimal(cell: str | float) -> Fraction | None:
    """The shortest decimal number that stands for the double."""
    if cell in ("", "NA", "NaN"):
        return None
    try:
        return Fraction(repr(float(cell)))
    except ValueError:
        raise MalformedError(f"{cell!r} is no number") from None


class Bounds:
    """What everybody knows of cells, and the levels that sensitive ones need (docs/tables.md)."""

    def __init__(self, table: Table) -> None:
        self.value = table.column("value", Fraction(0))
        self.sensitive = [at for at, one in enumerate(table.status) if one == SENSITIVE]
        self.levels = {way: table.column(name, Fraction(0)) for way, name in WAYS.items()}
        least, most = self._usual()
        self.lower, self.upper = table.column("lower_bound", least), table.column("upper_bound", most)
        if table.counts:
            self._count(table)

    def room(self, cell: int, sign: int) -> Fraction:
        """How far a cell can go one way."""
        return self.upper[cell] - self.value[cell] if sign > 0 else self.value[cell] - self.lower[cell]

    def _usual(self) -> tuple[Fraction, Fraction]:
        """Of cells of which nothing is said: the largest value, more where a level would be out of reach."""
        most = max(map(abs, self.value))
        least = -most if min(self.value) < 0 else Fraction(0)
        above, below, wide = self.levels.values()
        high, low = most, least
        if least < 0 and any(self.value[at] - below[at] < least for at in self.sensitive):
            low = _rounded_sum(least, -max(below[at] for at in self.sensitive))
        if any(wide[at] > most - least or self.value[at] + above[at] > most for at in self.sensitive):
            high = _rounded_sum(most, max(max(above[at], wide[at]) for at in self.sensitive))
        return low, high

    def _count(self, table: Table) -> None:
        """Bounds and levels of counts: whole, and at least 1 where empty cells are shown.

        The threshold of a rule is a level above; a level below is cut to what the least count leaves.
        """
        value, given = self.value, table.column("lower_bound", Fraction(-1))
        empty = {at for at, one in enumerate(value) if one == 0}
        hidden = any(table.status[at] in (SENSITIVE, SECONDARY) for at in empty)
        may = any(table.status[at] == SAFE for at in empty)
        hidden |= may and any(one == 0 for at, one in enumerate(given) if at not in empty)
        told = [Fraction(ceil(one)) for one in self.lower]
        least = [one if at in empty or hidden else max(one, Fraction(1)) for at, one in enumerate(told)]
        self.lower = least
        if any(one < 0 for way in self.levels.values() for one in way):
            return  # they are no levels
        up, down, wide = ([Fraction(ceil(one)) for one in way] for way in self.levels.values())
        threshold = table.column("threshold", Fraction(0))
        for at in self.sensitive:
            asked = max(down[at], up[at], wide[at])
            if not (down[at] > 1 and down[at] > value[at] - told[at]):
                down[at] = min(down[at], value[at] - least[at])
            up[at] = Fraction(1) if asked > 0 and max(down[at], up[at], wide[at]) < 1 else up[at]
        most = list(up)
        for at in self.sensitive:
            most[at] = max(up[at], threshold[at] - value[at])
        self.levels = {(1,): most, (-1,): down, (1, -1): wide}
        self.upper = [Fraction(floor(one)) for one in table.column("upper_bound", self._usual()[1])]
        for at in self.sensitive:
            most[at] = max(min(most[at], self.upper[at] - value[at]), up[at])


def _rounded_sum(one: Fraction, other: Fraction) -> Fraction:
    """A sum in the digits of a double, as a file would say it."""
    return _decimal(float(one + other)) or Fraction(0)


def check_table(table: Table, certificate: Mapping[str, Any], where: str = "the certificate") -> TableVerdict:
    """Check all that a certificate claims, of the values and of what is published beside them.

    Raises
    ------
    RejectedError
        If a claim is false or not proven.
    MalformedError
        If it is no certificate of a table.
    """
    claim = Claim(certificate, where)
    counts = table.numbers.get(PUBLISHED)
    demand(
        (counts is None) == (claim.get(BESIDE) is None),
        f"{where}: numbers of respondents are published beside the values, or it is about such, not both",
    )
    if counts is None:
        return _Check(table, claim).verdict()
    pairs = list(zip(table.status, counts, strict=True))
    status = [FIXED if count == 0 and one == SAFE else one for one, count in pairs]
    sensitive = [one == SENSITIVE for one in status]
    threshold = table.numbers.get("threshold", [None] * len(status))
    numbers: dict[str, list[Fraction | None]] = {
        "value": counts,
        "sliding_protection": [Fraction(1 if one else 0) for one in sensitive],
        "threshold": [one if here else None for one, here in zip(threshold, sensitive, strict=True)],
    }
    beside = Table(numbers, status, table.relations, counts=True)
    first = _Check(replace(table, status=status), claim).verdict()
    second = _Check(beside, claim.inner(BESIDE)).verdict()
    return TableVerdict(
        first.demands + second.demands,
        first.met + second.met,
        first.missed + second.missed,
        first.undecided + second.undecided,
    )


class _Check:
    """The check of one table.

    Parameters
    ----------
    table : Table
    claim : Claim
        Its certificate.
    """

    def __init__(self, table: Table, claim: Claim) -> None:
        if claim.text("format") != FORMAT:
            raise MalformedError(f"{claim.where} is no certificate of a table")
        self._table, self._claim, self._bounds = table, claim, Bounds(table)
        self._suppressed = set(wholes(claim.get("suppressed"), f"{claim.where}, suppressed"))
        self._of_cell: defaultdict[int, list[int]] = defaultdict(list)
        for row, terms in table.relations.items():
            for cell in terms:
                self._of_cell[cell].append(row)

    def verdict(self) -> TableVerdict:
        """Which levels hold; rejected where the claim says something else."""
        table, claim, bounds = self._table, self._claim, self._bounds
        hidden = {at for at, one in enumerate(table.status) if one in (SENSITIVE, SECONDARY)}
        demand(hidden == self._suppressed, f"{claim.where} is about other suppressed cells")
        demand((claim.get("counts") is True) is table.counts, f"{claim.where}: of counts, or of amounts")
        self._check_levels()
        for cell, value in enumerate(bounds.value):
            demand(bounds.lower[cell] <= value <= bounds.upper[cell], f"cell {cell} is outside its bounds")
        reach: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for at, item in enumerate(claim.items("witnesses")):
            for cell, by in self._witness(item, f"{claim.where}, witnesses[{at}]").items():
                sign = 1 if by > 0 else -1
                reach[cell, sign] = max(reach[cell, sign], abs(by))
        unknown = self._unknown()
        limits = self._limits(unknown)
        met, missed, undecided = [], [], []
        for way, levels in bounds.levels.items():
            for cell in (at for at in bounds.sensitive if levels[at] > 0):
                limit = [limits.get((cell, sign)) for sign in way]
                most = None if None in limit else sum(one for one in limit if one is not None)
                if sum(reach[cell, sign] for sign in way) >= levels[cell]:
                    met.append(cell)
                elif cell not in unknown or (most is not None and most < levels[cell]):
                    missed.append(cell)
                else:
                    undecided.append(cell)
        told = {key: set(wholes(claim.get(key), f"{claim.where}, {key}")) for key in ("undecided", "missed")}
        demand(set(undecided) <= told["undecided"], f"nothing proves the levels of cells {undecided[:5]}")
        demand(set(missed) == told["missed"], f"other levels are missed: those of cells {missed[:5]}")
        protected = not missed and not undecided
        demand(claim.get("protected") is protected, f"{claim.where}: protected is {protected}")
        return TableVerdict(len(met) + len(missed) + len(undecided), len(met), len(missed), len(undecided))

    def _check_levels(self) -> None:
        """Refuse levels that ask for nothing: whatever is proven of them protects nobody."""
        sensitive = set(self._bounds.sensitive)
        for cell in range(len(self._bounds.value)):
            levels = [way[cell] for way in self._bounds.levels.values()]
            demand(min(levels) >= 0, f"a protection level of cell {cell} is below 0")
            demand(cell not in sensitive or max(levels) > 0, f"cell {cell} is sensitive and has no level")
            demand(bool(sensitive) or not any(levels), f"cell {cell} has a level, but no cell is sensitive")

    def _witness(self, item: Any, where: str) -> Sparse:
        """Check that deviations break no relation, and move suppressed cells within what is known."""
        moved = _sparse(item, where)
        for cell, by in moved.items():
            demand(cell in self._suppressed, f"{where} moves cell {cell}, which is published")
            room = self._bounds.room(cell, 1 if by > 0 else -1)
            demand(abs(by) <= room, f"{where} moves cell {cell} beyond its bounds")
            demand(not self._table.counts or by.denominator == 1, f"{where}: counts are whole")
        for row in {row for cell in moved for row in self._of_cell[cell]}:
            terms = self._table.relations[row].items()
            total = sum(factor * moved.get(at, Fraction(0)) for at, factor in terms)
            demand(total == 0, f"{where} breaks relation {row}")
        return moved

    def _unknown(self) -> set[int]:
        """Suppressed cells that bounds and relations with one unknown cell do not give away."""
        left = {at for at in self._suppressed if self._bounds.lower[at] < self._bounds.upper[at]}
        waiting = set(self._table.relations)
        while waiting:
            open_ = [at for at in self._table.relations[waiting.pop()] if at in left]
            if len(open_) == 1:
                left.discard(open_[0])
                waiting |= set(self._of_cell[open_[0]])
        return left

    def _limits(self, unknown: set[int]) -> dict[tuple[int, int], Fraction]:
        """How far cells go at most, by multipliers."""
        limits: dict[tuple[int, int], Fraction] = {}
        for number, item in enumerate(self._claim.items("bounds")):
            where = f"{self._claim.where}, bounds[{number}]"
            cell, sign, *parts = items(item, where, 4)
            whole(cell, where)
            demand(sign in (1, -1), f"{where}: {sign} is no sign")
            reduced: defaultdict[int, Fraction] = defaultdict(Fraction, {cell: Fraction(sign)})
            for row, multiplier in _sparse(parts, where).items():
                demand(row in self._table.relations, f"{where}: there is no relation {row}")
                for at, factor in self._table.relations[row].items():
                    reduced[at] -= multiplier * factor
            limits[cell, sign] = sum(
                (
                    abs(worth) * self._bounds.room(at, 1 if worth > 0 else -1)
                    for at, worth in reduced.items()
                    if at in unknown
                ),
                Fraction(0),
            )
        return limits


def _sparse(value: Any, where: str) -> Sparse:
    """Positions and numbers, each position once."""
    at, content = items(value, where, 2)
    places, numbers = wholes(at, where), items(content, where)
    if not len(places) == len(set(places)) == len(numbers):
        raise MalformedError(f"{where} must hold positions, each once, and a number for each")
    return {at: _fraction(one, where) for at, one in zip(places, numbers, strict=True)}


def _fraction(value: Any, where: str) -> Fraction:
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if not isinstance(value, str) or _NUMBER.fullmatch(value) is None:
        raise MalformedError(f"{where}: {str(value)[:20]!r} is no fraction such as -7/2")
    return Fraction(value)
