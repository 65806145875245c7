"""Whether a table is protected, checked from its cells and relations in fractions alone.

Nothing here optimises, rounds or trusts: numbers of the files are their decimal texts, a witness is added up
relation by relation, and a bound is summed over the cells that can move. What a certificate does not prove,
its table does not have.

A witness is a vector d of deviations with ``M d = 0`` that moves suppressed cells only, each within what
everybody knows of it: the attacker cannot exclude the values plus d, nor plus any part of it; of counts, d is
whole, and no part of it counts. For multipliers
u of the relations, whatever they are, cell p goes up by no more than ``sum_i max (e_p - u M)_i d_i`` over
these bounds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from linkrisk.datasets.tables.beside import split_beside
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.solver.certificates.checking.exact_table import ExactTable, Sparse
from linkrisk.solver.certificates.checking.fields import listed, whole, wholes
from linkrisk.solver.certificates.checking.rejection import RejectedError, demand
from linkrisk.solver.run.errors import UsageError

FORMAT = "linkrisk table certificate 1"
BESIDE = "respondents"
"""What holds the certificate of the numbers of respondents that are published beside the values."""

_NUMBER = re.compile(r"-?[0-9]{1,1000}(/[1-9][0-9]{0,1000})?")


@dataclass(frozen=True)
class TableVerdict:
    """What a certificate proves about a table.

    Attributes
    ----------
    demands, met, missed, undecided : int
        Levels that sensitive cells have; those that hold, that do not, and of which nothing is proven.
    exact : int
        Suppressed cells that relations give away one after the other.
    witnesses : int
    defect : Fraction
        The most by which a relation of the files misses 0; 0 where all add up exactly.
    """

    demands: int
    met: int
    missed: int
    undecided: int
    exact: int
    witnesses: int
    defect: Fraction

    @property
    def protected(self) -> bool:
        """Whether every level holds."""
        return self.met == self.demands

    def beside(self, other: TableVerdict) -> TableVerdict:
        """What is proven of two tables of the same cells."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in ("demands", "met", "missed", "undecided", "exact", "witnesses")
        }
        return TableVerdict(**sums, defect=max(self.defect, other.defect))


def check_table(stored: StoredTable, certificate: Mapping[str, Any], where: str) -> TableVerdict:
    """Check all that a certificate claims, of values and of what is published beside them.

    Parameters
    ----------
    stored : StoredTable
        Its status says which cells are suppressed: ``u`` or ``m``.
    certificate : mapping
    where : str
        Its file, for messages.

    Raises
    ------
    UsageError
        If it is no certificate of a table.
    RejectedError
        If a claim is false or not proven; the message says which.
    """
    values, counts = split_beside(stored)
    verdict, more = _check_one(values, certificate, where), certificate.get(BESIDE)
    demand(
        (counts is None) == (more is None),
        "numbers of respondents are published beside the values, and it says nothing of them"
        if more is None
        else "it is about numbers of respondents beside the values, and none are published",
    )
    if counts is None:
        return verdict
    if not isinstance(more, Mapping):
        raise UsageError(f"{where}, {BESIDE}: it is no certificate of a table")
    try:
        return verdict.beside(_check_one(counts, more, f"{where}, {BESIDE}"))
    except RejectedError as error:
        raise RejectedError(f"numbers of respondents: {error}") from None


def _check_one(stored: StoredTable, certificate: Mapping[str, Any], where: str) -> TableVerdict:
    """Check all that a certificate claims of one table, as `check_table` does."""
    if certificate.get("format") != FORMAT:
        raise UsageError(
            f"{where} is no certificate of a table; give what `tables audit --certificate` wrote"
        )
    table = ExactTable(stored)
    suppressed = set(wholes(certificate.get("suppressed"), f"{where}, suppressed"))
    _check_pattern(table, suppressed)
    _check_levels(table)
    _check_kind(table, certificate)
    for cell, value in enumerate(table.value):
        if not table.lower[cell] <= value <= table.upper[cell]:
            raise RejectedError(f"{table.named(cell)} is outside its bounds")
    reach: dict[tuple[int, int], Fraction] = {}
    witnesses = listed(certificate.get("witnesses"), f"{where}, witnesses")
    for number, one in enumerate(witnesses):
        _check_witness(table, suppressed, _sparse(one, f"{where}, witness {number}"), number, reach)
    unknown = table.unknown(suppressed)
    limits = _limits(table, unknown, listed(certificate.get("bounds"), f"{where}, bounds"), where)
    met, missed, open_ = [], [], []
    for ways, levels in table.levels.items():
        for cell in (at for at in table.sensitive if levels[at] > 0):
            reached = sum((reach.get((cell, way), Fraction(0)) for way in ways), Fraction(0))
            known = cell not in unknown
            most = None if known else _most(limits, cell, ways)
            if reached >= levels[cell]:
                met.append(cell)
            elif known or (most is not None and most < levels[cell]):
                missed.append(cell)
            else:
                open_.append((cell, reached, levels[cell]))
    _check_claims(table, certificate, where, missed, open_)
    return TableVerdict(
        demands=len(met) + len(missed) + len(open_),
        met=len(met),
        missed=len(missed),
        undecided=len(open_),
        exact=len(suppressed - unknown),
        witnesses=len(witnesses),
        defect=table.defect(),
    )


def _check_pattern(table: ExactTable, suppressed: set[int]) -> None:
    for cell in sorted(suppressed ^ table.hidden):
        state = "suppressed" if cell in table.hidden else "published"
        raise RejectedError(
            f"the certificate is about other suppressed cells: {table.named(cell)} is {state} here"
        )


def _check_kind(table: ExactTable, certificate: Mapping[str, Any]) -> None:
    """Refuse what is said of amounts where the table is one of counts, and the other way round."""
    kinds, said = ("amounts", "counts"), certificate.get("counts", False) is True
    if said is not table.counts:
        raise RejectedError(
            f"the certificate is about {kinds[said]}, and the table is of {kinds[table.counts]}"
        )


def _check_levels(table: ExactTable) -> None:
    """Refuse levels that ask for nothing: whatever is proven of them protects nobody."""
    sensitive = set(table.sensitive)
    for cell in range(len(table.value)):
        levels = [of_way[cell] for of_way in table.levels.values()]
        if min(levels) < 0:
            raise RejectedError(f"a protection level of {table.named(cell)} is below 0")
        if cell in sensitive and max(levels) <= 0:
            raise RejectedError(f"{table.named(cell)} is sensitive, and has no protection level")
    if not sensitive:
        alone = (at for of_way in table.levels.values() for at, one in enumerate(of_way) if one)
        for cell in alone:
            raise RejectedError(f"{table.named(cell)} has a protection level, but no cell is sensitive")


def _check_witness(
    table: ExactTable,
    suppressed: set[int],
    moved: Sparse,
    number: int,
    reach: dict[tuple[int, int], Fraction],
) -> None:
    """Add up a witness, and note how far it goes."""
    rows: set[int] = set()
    for cell, by in moved.items():
        sign = 1 if by > 0 else -1
        if cell not in suppressed or abs(by) > table.room(cell, sign):
            why = " beyond its bounds" if cell in suppressed else ", which is published"
            raise RejectedError(f"witness {number} moves {table.named(cell)}{why}")
        if table.counts and by.denominator != 1:
            raise RejectedError(f"witness {number} moves {table.named(cell)} by {by}, and counts are whole")
        reach[cell, sign] = max(reach.get((cell, sign), Fraction(0)), abs(by))
        rows.update(table.of_cell.get(cell, ()))
    for row in sorted(rows):
        total = sum(factor * moved.get(at, Fraction(0)) for at, factor in table.relations[row].items())
        if total != 0:
            said = table.stored.describe(row)
            raise RejectedError(f"witness {number} breaks {said}: its terms sum to {total}")


def _limits(
    table: ExactTable, unknown: set[int], bounds: Sequence[Any], where: str
) -> dict[tuple[int, int], Fraction]:
    """How far cells go at most, by multipliers."""
    limits: dict[tuple[int, int], Fraction] = {}
    for number, one in enumerate(bounds):
        place = f"{where}, bound {number}"
        parts = listed(one, place)
        if len(parts) != 4:
            raise UsageError(f"{place} must hold a cell, a sign, relations and multipliers")
        cell, sign = whole(parts[0], place), whole(parts[1], place)
        demand(sign in (1, -1), f"bound {number} has the sign {sign}, which is none")
        reduced: Sparse = {cell: Fraction(sign)}
        for row, multiplier in _sparse(parts[2:], place).items():
            demand(row in table.relations, f"bound {number} uses relation {row}, which is not there")
            for at, factor in table.relations[row].items():
                reduced[at] = reduced.get(at, Fraction(0)) - multiplier * factor
        limits[cell, sign] = sum(
            (
                abs(worth) * table.room(at, 1 if worth > 0 else -1)
                for at, worth in reduced.items()
                if at in unknown
            ),
            Fraction(0),
        )
    return limits


def _most(limits: Mapping[tuple[int, int], Fraction], cell: int, ways: Sequence[int]) -> Fraction | None:
    found = [limits.get((cell, way)) for way in ways]
    known = [one for one in found if one is not None]
    return sum(known, Fraction(0)) if len(known) == len(ways) else None


def _check_claims(
    table: ExactTable,
    certificate: Mapping[str, Any],
    where: str,
    missed: Sequence[int],
    open_: Sequence[tuple[int, Fraction, Fraction]],
) -> None:
    """Compare what is claimed with what was found."""
    claimed = set(wholes(certificate.get("undecided"), f"{where}, undecided"))
    for cell, reached, level in open_:
        if cell not in claimed:
            said = f"nothing proves its level of {level}; witnesses reach {reached}"
            raise RejectedError(f"{table.named(cell)}: {said}")
    for cell in sorted(set(missed) ^ set(wholes(certificate.get("missed"), f"{where}, missed"))):
        state = "is short of a level" if cell in missed else "is not proven to be short of a level"
        raise RejectedError(f"{table.named(cell)} {state}, and the certificate says something else")
    protected = certificate.get("protected")
    if not isinstance(protected, bool):
        raise UsageError(f"{where}, protected must be true or false")
    demand(protected == (not missed and not open_), "it claims to be protected otherwise than it is")


def _sparse(value: Any, where: str) -> Sparse:
    """Positions and numbers; each position once."""
    parts = listed(value, where)
    if len(parts) != 2:
        raise UsageError(f"{where} must hold positions and numbers")
    at, numbers = wholes(parts[0], where), listed(parts[1], where)
    if len(at) != len(numbers) or len(set(at)) != len(at):
        raise UsageError(f"{where} must hold a number for each position, each once")
    return {place: _fraction(one, where) for place, one in zip(at, numbers, strict=True)}


def _fraction(value: Any, where: str) -> Fraction:
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if not isinstance(value, str) or _NUMBER.fullmatch(value) is None:
        raise UsageError(f"{where}: {str(value)[:20]!r} is no fraction such as -7/2")
    return Fraction(value)
