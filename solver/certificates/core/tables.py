"""Checks certificates of tables by fractions: whether suppressed cells stay uncertain enough.

A *witness* is a vector of deviations d with ``M d = 0`` that moves suppressed cells only, each within its
public bounds: readers of the table cannot exclude the values plus d. For *multipliers* u of the relations,
cell p goes up by at most ``sum_i max (e_p - u M)_i d_i`` over these bounds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from .claims import Claim, MalformedError, RejectedError, demand, require

FORMAT = "linkrisk table certificate 1"
# The certificate of respondent counts published beside the values, their column, and their name in messages.
BESIDE, PUBLISHED, KIND = "respondents", "respondents_published", "numbers of respondents"

Sparse = dict[int, Fraction]
Side = tuple[int, int]  # a cell, and 1 for up or -1 for down
Way = tuple[int, ...]  # of a level: up, down, or both together

WAYS: dict[Way, str] = {(1,): "upper_protection", (-1,): "lower_protection", (1, -1): "sliding_protection"}
SENSITIVE, SECONDARY, SAFE, FIXED = "u", "m", "s", "z"


@dataclass(frozen=True)
class Table:
    """Table as read from its two files.

    `numbers` are columns of cells, ``value`` among them, None for empty cells; `status` is ``u`` sensitive,
    ``m`` secondary suppression, ``s`` safe, ``z`` always published. The terms of each relation sum to 0.
    `counts` tells whether values are integral; `named` and `described` name cells and relations in messages.
    """

    numbers: dict[str, list[Fraction | None]]
    status: list[str]
    relations: dict[int, Sparse]
    counts: bool = False
    named: Callable[[int], str] = "cell {}".format
    described: Callable[[int], str] = "relation {}".format

    def column(self, name: str, usual: Fraction) -> list[Fraction]:
        """Return a column, with a default for empty cells."""
        given = self.numbers.get(name) or [None] * len(self.status)
        return [usual if one is None else one for one in given]


@dataclass(frozen=True)
class TableVerdict:
    """Numbers of protection levels that hold (`met`), do not (`missed`), or are `undecided`.

    `exact` counts suppressed cells that relations disclose one after the other; `defect` is the largest
    residual of a relation in the files.
    """

    met: int
    missed: int
    undecided: int
    exact: int
    witnesses: int
    defect: Fraction

    @property
    def demands(self) -> int:
        """Number of all levels."""
        return self.met + self.missed + self.undecided

    @property
    def protected(self) -> bool:
        """Whether every level holds."""
        return self.met == self.demands

    def beside(self, other: TableVerdict) -> TableVerdict:
        """Verdict on two tables of the same cells."""
        names = ("met", "missed", "undecided", "exact", "witnesses")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return TableVerdict(**sums, defect=max(self.defect, other.defect))


def read_table(columns: Mapping[str, list[str]], terms: Mapping[str, list[str]], counts: bool) -> Table:
    """Read a table from columns of cells (``value``, ``status``, ...) and of terms of relations."""
    known = ("value", "lower_bound", "upper_bound", "threshold", PUBLISHED, *WAYS.values())
    numbers = {name: [decimal(cell) for cell in columns[name]] for name in known if name in columns}
    demand(None not in numbers.get("value", [None]), "cells: every cell needs a value")
    status = [one or SAFE for one in columns.get("status", [SAFE] * len(numbers["value"]))]
    require(set(status) <= {SENSITIVE, SECONDARY, SAFE, FIXED}, "cells: a status is unknown")
    name = "equation" if "equation" in terms else "relation"
    require({name, "cell", "coefficient"} <= set(terms), "relations: a column is missing")
    made: defaultdict[float, Sparse] = defaultdict(lambda: defaultdict(Fraction))
    for row, at, factor in zip(terms[name], terms["cell"], terms["coefficient"], strict=True):
        demand(0 <= int(at) < len(status), f"relations: there is no cell {at}")
        made[float(row)][int(at)] += decimal(factor) or 0
    # A cell with coefficient 0 is in no relation, and a relation without cells is dropped.
    kept = [{at: factor for at, factor in made[row].items() if factor} for row in sorted(made)]
    return Table(numbers, status, dict(enumerate(terms for terms in kept if terms)), counts)


def decimal(cell: str | float) -> Fraction | None:
    """Return the shortest decimal number that rounds to the double."""
    if cell in ("", "NA", "NaN"):
        return None
    try:
        return Fraction(repr(float(cell)))
    except ValueError:
        raise MalformedError(f"{cell!r} is no number") from None


class Bounds:
    """Public bounds of cells, and the protection levels of sensitive ones (docs/methods/tables.md)."""

    def __init__(self, table: Table) -> None:
        self.value = table.column("value", Fraction(0))
        self.sensitive = [at for at, one in enumerate(table.status) if one == SENSITIVE]
        self.levels = {way: table.column(name, Fraction(0)) for way, name in WAYS.items()}
        least, most = self._usual()
        self.lower, self.upper = table.column("lower_bound", least), table.column("upper_bound", most)
        if table.counts:
            self._count(table)

    def room(self, cell: int, sign: int) -> Fraction:
        """Return how far a cell can go in one direction."""
        return self.upper[cell] - self.value[cell] if sign > 0 else self.value[cell] - self.lower[cell]

    def _usual(self) -> tuple[Fraction, Fraction]:
        """Return default bounds: the largest value, or more where a level would be out of reach."""
        high = most = max(map(abs, self.value))
        low = least = -most if min(self.value) < 0 else Fraction(0)
        needs = [(self.value[at], *(way[at] for way in self.levels.values())) for at in self.sensitive]
        if least < 0 and any(value - below < least for value, _, below, _ in needs):
            low = _rounded_sum(least, -max(below for _, _, below, _ in needs))
        if any(wide > most - least or value + above > most for value, above, _, wide in needs):
            high = _rounded_sum(most, max(max(above, wide) for _, above, _, wide in needs))
        return low, high

    def _count(self, table: Table) -> None:
        """Return bounds and levels of counts: integral, and at least 1 if empty cells are shown.

        The threshold of a rule gives a level above; a level below is cut to the room above the least count.
        """
        value, given = self.value, table.column("lower_bound", Fraction(-1))
        empty = {at for at, one in enumerate(value) if one == 0}
        hidden = any(table.status[at] in (SENSITIVE, SECONDARY) for at in empty)
        may = any(table.status[at] == SAFE for at in empty)
        hidden |= may and any(one == 0 for at, one in enumerate(given) if at not in empty)
        stated = [Fraction(ceil(one)) for one in self.lower]
        self.lower = [
            one if at in empty or hidden else max(one, Fraction(1)) for at, one in enumerate(stated)
        ]
        if any(one < 0 for way in self.levels.values() for one in way):
            return  # they are no levels
        up, down, wide = ([Fraction(ceil(one)) for one in way] for way in self.levels.values())
        threshold, most = table.column("threshold", Fraction(0)), list(up)
        for at in self.sensitive:
            asked = max(down[at], up[at], wide[at])
            if not (down[at] > 1 and down[at] > value[at] - stated[at]):
                down[at] = min(down[at], value[at] - self.lower[at])
            if asked > 0 and max(down[at], up[at], wide[at]) < 1:
                up[at] = Fraction(1)
            most[at] = max(up[at], threshold[at] - value[at])
        self.levels = {(1,): most, (-1,): down, (1, -1): wide}
        self.upper = [Fraction(floor(one)) for one in table.column("upper_bound", self._usual()[1])]
        for at in self.sensitive:
            most[at] = max(min(most[at], self.upper[at] - value[at]), up[at])


def _rounded_sum(one: Fraction, other: Fraction) -> Fraction:
    """Add in the digits of a double, as a file would."""
    return decimal(float(one + other)) or Fraction(0)


def check_table(table: Table, certificate: Mapping[str, Any], where: str = "the certificate") -> TableVerdict:
    """Check a certificate, for the values and for the respondent counts published beside them.

    RejectedError if a claim is false or not proven, MalformedError if it is no certificate of a table.
    """
    claim, counts = Claim(certificate, where), table.numbers.get(PUBLISHED)
    said = claim.has(BESIDE)
    demand(counts is not None or not said, f"it is about {KIND} beside the values, and none are published")
    demand(counts is None or said, f"{KIND} are published beside the values, and it says nothing of them")
    if counts is None:
        return _Check(table, claim).verdict()
    pairs = zip(table.status, counts, strict=True)
    status = [FIXED if count == 0 and one == SAFE else one for one, count in pairs]
    sensitive = [one == SENSITIVE for one in status]
    threshold = table.numbers.get("threshold", [None] * len(status))
    numbers: dict[str, list[Fraction | None]] = {
        "value": counts,
        "sliding_protection": [Fraction(one) for one in sensitive],
        "threshold": [one if here else None for one, here in zip(threshold, sensitive, strict=True)],
    }
    verdict = _Check(replace(table, status=status), claim).verdict()
    beside = replace(table, numbers=numbers, status=status, counts=True)
    try:
        return verdict.beside(_Check(beside, claim.inner(BESIDE)).verdict())
    except RejectedError as error:
        raise RejectedError(f"{KIND}: {error}") from None


class _Check:
    """Checks one table by its certificate."""

    def __init__(self, table: Table, claim: Claim) -> None:
        wrong = " is no certificate of a table; give what `tables audit --certificate` wrote"
        claim.require(claim.text("format") == FORMAT, wrong)
        self._table, self._claim, self._bounds = table, claim, Bounds(table)
        self._suppressed, self._open = set(claim.wholes("suppressed")), set(claim.wholes("undecided"))
        self._of_cell: defaultdict[int, list[int]] = defaultdict(list)
        for row, terms in table.relations.items():
            for cell in terms:
                self._of_cell[cell].append(row)

    def verdict(self) -> TableVerdict:
        """Decide the levels; reject a claim that differs."""
        table, claim, bounds = self._table, self._claim, self._bounds
        hidden = {at for at, one in enumerate(table.status) if one in (SENSITIVE, SECONDARY)}
        for cell in sorted(hidden ^ self._suppressed):
            state = "suppressed" if cell in hidden else "published"
            other = f"the certificate is about other suppressed cells: {{cell}} is {state} here"
            self._demand(False, other, cell)
        self._check_levels()
        kinds, counts = ("amounts", "counts"), claim.get("counts") is True
        said = f"the certificate is about {kinds[counts]}, and the table is of {kinds[table.counts]}"
        demand(counts is table.counts, said)
        for cell, value in enumerate(bounds.value):
            inside = bounds.lower[cell] <= value <= bounds.upper[cell]
            self._demand(inside, "{cell} is outside its bounds", cell)
        reach: defaultdict[Side, Fraction] = defaultdict(Fraction)
        witnesses = claim.each("witnesses")
        for number, item in enumerate(witnesses):
            for cell, by in self._witness(_sparse(item), number).items():
                place = cell, 1 if by > 0 else -1
                reach[place] = max(reach[place], abs(by))
        unknown = self._unknown()
        met, missed, undecided = self._levels(reach, unknown, self._limits(unknown))
        for cell in sorted(set(missed) ^ set(claim.wholes("missed"))):
            state = "is short of a level" if cell in missed else "is not proven to be short of a level"
            self._demand(False, f"{{cell}} {state}, and the certificate says something else", cell)
        protected = claim.inner("protected")
        protected.require(isinstance(protected.content, bool), " must be true or false")
        right = protected.content is not (bool(missed) or bool(undecided))
        demand(right, "it claims to be protected otherwise than it is")
        relations = table.relations.values()
        sums = (sum(factor * bounds.value[at] for at, factor in one.items()) for one in relations)
        defect = max((abs(Fraction(one)) for one in sums), default=Fraction(0))
        exact = len(self._suppressed - unknown)
        return TableVerdict(met, len(missed), len(undecided), exact, len(witnesses), defect)

    def _demand(self, holds: bool, message: str, cell: int) -> None:
        """Reject with the name of a cell; a certificate may contain any number."""
        if not holds:
            known = 0 <= cell < len(self._table.status)
            name = self._table.named(cell) if known else f"cell {cell} (there is none)"
            raise RejectedError(message.replace("{cell}", name))

    def _levels(
        self, reach: Mapping[Side, Fraction], unknown: set[int], limits: Mapping[Side, Fraction]
    ) -> tuple[int, list[int], list[int]]:
        """Return the number of met levels, and the cells of missed and of undecided ones."""
        met, missed, undecided = 0, [], []
        for way, levels in self._bounds.levels.items():
            for cell in (at for at in self._bounds.sensitive if levels[at] > 0):
                sides = [(cell, sign) for sign in way]
                bounded = all(side in limits for side in sides)
                reached = sum((reach.get(side, Fraction(0)) for side in sides), Fraction(0))
                if reached >= levels[cell]:
                    met += 1
                elif cell not in unknown or (bounded and sum(limits[one] for one in sides) < levels[cell]):
                    missed.append(cell)
                else:
                    undecided.append(cell)
                    open_ = cell in self._open
                    said = f"{{cell}}: nothing proves its level of {levels[cell]}; witnesses reach {reached}"
                    self._demand(open_, said, cell)
        return met, missed, undecided

    def _check_levels(self) -> None:
        """Refuse negative, missing and misplaced levels, whose proof would protect nobody."""
        sensitive = set(self._bounds.sensitive)
        for cell in range(len(self._bounds.value)):
            levels = [way[cell] for way in self._bounds.levels.values()]
            self._demand(min(levels) >= 0, "a protection level of {cell} is below 0", cell)
            some = cell not in sensitive or max(levels) > 0
            self._demand(some, "{cell} is sensitive, and has no protection level", cell)
            needed = bool(sensitive) or not any(levels)
            self._demand(needed, "{cell} has a protection level, but no cell is sensitive", cell)

    def _witness(self, moved: Sparse, number: int) -> Sparse:
        """Check that deviations satisfy all relations and move suppressed cells within their bounds."""
        moves = f"witness {number} moves {{cell}}"
        for cell, by in moved.items():
            self._demand(cell in self._suppressed, f"{moves}, which is published", cell)
            inside = abs(by) <= self._bounds.room(cell, 1 if by > 0 else -1)
            self._demand(inside, f"{moves} beyond its bounds", cell)
            whole = not self._table.counts or by.denominator == 1
            self._demand(whole, f"{moves} by {by}, and counts are whole", cell)
        for row in sorted({row for cell in moved for row in self._of_cell[cell]}):
            terms = self._table.relations[row].items()
            total = sum(factor * moved.get(at, Fraction(0)) for at, factor in terms)
            if total != 0:
                said = self._table.described(row)
                raise RejectedError(f"witness {number} breaks {said}: its terms sum to {total}")
        return moved

    def _unknown(self) -> set[int]:
        """Find suppressed cells that bounds and relations with one unknown cell do not disclose."""
        left = {at for at in self._suppressed if self._bounds.lower[at] < self._bounds.upper[at]}
        waiting = set(self._table.relations)
        while waiting:
            open_ = [at for at in self._table.relations[waiting.pop()] if at in left]
            if len(open_) == 1:
                left.discard(open_[0])
                waiting |= set(self._of_cell[open_[0]])
        return left

    def _limits(self, unknown: set[int]) -> dict[Side, Fraction]:
        """Bound the movements of cells by multipliers."""
        limits: dict[Side, Fraction] = {}
        for number, item in enumerate(self._claim.each("bounds")):
            cell, sign = (one.whole() for one in item.each(length=4)[:2])
            demand(sign in (1, -1), f"bound {number} has the sign {sign}, which is none")
            reduced: defaultdict[int, Fraction] = defaultdict(Fraction, {cell: Fraction(sign)})
            for row, multiplier in _sparse(Claim(item.content[2:], item.where)).items():
                known = row in self._table.relations
                demand(known, f"bound {number} uses relation {row}, which is not there")
                for at, factor in self._table.relations[row].items():
                    reduced[at] -= multiplier * factor
            worths = ((at, worth) for at, worth in reduced.items() if at in unknown)
            rooms = (abs(worth) * self._bounds.room(at, 1 if worth > 0 else -1) for at, worth in worths)
            limits[cell, sign] = sum(rooms, Fraction(0))
        return limits


def _sparse(claim: Claim) -> Sparse:
    """Read positions and numbers; each position may occur once."""
    at, content = claim.each(length=2)
    places, numbers = at.wholes(), content.each()
    right = len(places) == len(set(places)) == len(numbers)
    claim.require(right, " must hold a number for each position, each once")
    return {at: _fraction(one) for at, one in zip(places, numbers, strict=True)}


def _fraction(claim: Claim) -> Fraction:
    text, shown = claim.content, f": {str(claim.content)[:20]!r} is no fraction such as -7/2"
    known = isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,1000}(/[1-9][0-9]{0,1000})?", text)
    claim.require(type(text) is int or bool(known), shown)
    return Fraction(text)
