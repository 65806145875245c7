"""Cores: sets of blocks that no parameters link together, each proven by a combination of rows."""

from __future__ import annotations

from typing import Any

from linkrisk.solver.certificates.checking.families.base import Family, Row
from linkrisk.solver.certificates.checking.fields import Fields, listed, wholes
from linkrisk.solver.certificates.checking.records import Records
from linkrisk.solver.certificates.checking.ties import Partner
from linkrisk.solver.certificates.core.claims import demand

Core = frozenset[int]

MOST_KEPT = 1 << 22
"""Whole numbers of rows that are remembered; others are computed again when they are asked for."""


class Rows:
    """The exact rows of a linkage problem, computed when they are asked for.

    Parameters
    ----------
    records : Records
    family : Family
    """

    def __init__(self, records: Records, family: Family) -> None:
        self.records, self.family = records, family
        self._known: dict[tuple[int, int], Row] = {}
        self._partners: dict[int, Partner] = {}

    def row(self, block: int, rival: int) -> Row:
        """The row of a block and one of its rivals."""
        key = (block, rival)
        known = self._known.get(key)
        if known is not None:
            return known
        row = self.family.row(self._partner(block), self.records.distances(block, rival))
        if len(self._known) * self.family.dimension < MOST_KEPT:
            self._known[key] = row
        return row

    def never(self, block: int, rival: int) -> bool:
        """Whether the rival alone keeps the block from being linked, whatever the parameters."""
        return self.family.never(self._partner(block), self.records.distances(block, rival))

    def _partner(self, block: int) -> Partner:
        if block not in self._partners:
            self._partners[block] = self.records.partner_of(block, squares=self.family.squares)
        return self._partners[block]

    def combined(self, entries: list[tuple[int, int, int]]) -> Row:
        """The sum of multiplier times row over entries (block, rival, multiplier)."""
        total = [0] * self.family.dimension
        for block, rival, multiplier in entries:
            row = self.row(block, rival)
            total = [a + multiplier * b for a, b in zip(total, row, strict=True)]
        return total

    def check_rival(self, block: int, rival: int, where: str) -> None:
        """Reject ids unless they are a block whose partner is possible, and one of its rivals."""
        demand(0 <= block < self.records.blocks, f"{where}: there is no block {block}")
        demand(
            self.records.reachable(block),
            f"{where}: the partner of block {block} is impossible, so it has no rivals",
        )
        demand(
            self.records.is_rival(block, rival), f"{where}: candidate {rival} is not a rival of block {block}"
        )


def check_core(rows: Rows, content: Any, where: str) -> Core:
    """Check one core and return its blocks.

    The rows of linked blocks are all positive, so a sum of them with multipliers that are not negative, and
    not all zero, is positive too. It is shown to be nowhere positive on the domain.
    """
    fields = Fields(content, where)
    entries = []
    for item in fields.listed("rows"):
        block, rival, multiplier = wholes(item, f"{where}, rows", 3)
        rows.check_rival(block, rival, where)
        demand(multiplier > 0, f"{where}: multiplier {multiplier} of a row must be above zero")
        entries.append((block, rival, multiplier))
    demand(bool(entries), f"{where}: no rows")
    monotone = []
    for item in listed(fields.get("monotone") or [], f"{where}, monotone"):
        subset, attribute, multiplier = wholes(item, f"{where}, monotone", 3)
        monotone.append((subset, attribute, multiplier))
    total = fields.whole("total") if fields.get("total") is not None else 0
    demand(
        rows.family.nowhere_positive(rows.combined(entries), monotone, total),
        f"{where}: some parameters may link all its blocks: the combined row is not proved to be nowhere "
        "positive",
    )
    return frozenset(block for block, _, _ in entries)


def check_lost(rows: Rows, content: list[Any], where: str) -> frozenset[int]:
    """Check blocks that one rival alone keeps from being linked; pairs (block, rival).

    Where the partner itself stands for the rival, it must be impossible.
    """
    lost = set()
    for at, item in enumerate(content):
        place = f"{where}[{at}]"
        block, rival = wholes(item, place, 2)
        demand(block not in lost, f"{place}: block {block} is listed twice")
        if not _is_out_of_reach(rows.records, block, rival):
            rows.check_rival(block, rival, place)
            demand(rows.never(block, rival), f"{place}: some parameters may link block {block}")
        lost.add(block)
    return frozenset(lost)


def _is_out_of_reach(records: Records, block: int, partner: int) -> bool:
    """Whether `partner` is the block's own and cannot be."""
    mine = 0 <= block < records.blocks and partner == records.partner[block]
    return mine and not records.reachable(block)
