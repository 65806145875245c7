"""Adds attackers to a table: outsiders, singletons, contributors, coalitions, insiders from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.ready_tables import RESPONDENTS
from linkrisk.datasets.tables.linking import split_beside, with_thresholds
from linkrisk.datasets.tables.reading import read_coalitions, read_contributions, read_insiders
from linkrisk.datasets.tables.stored_table import StoredTable, numbers_of
from linkrisk.formulations.tables.cell_table import CellTable, Insider
from linkrisk.formulations.tables.own_knowledge import Shares, carried_up, singletons
from linkrisk.solver.options.tables import WhoAttacks
from linkrisk.solver.options.types import File
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError, Unmet
from linkrisk.solver.tables.attackers.insiders import InsiderAudit, audit_by_everybody
from linkrisk.solver.tables.operations.counts import Counting, lowered_and_refused, with_reachable_levels
from linkrisk.solver.tables.operations.source import cell_table, check_adds_up
from linkrisk.solver.tables.suppression.reachability import kept_from_nobody, unreachable


@dataclass(frozen=True, eq=False)
class InsiderResult:
    """Audit against insiders, with the levels that no pattern reaches and that were lowered."""

    audit: InsiderAudit
    beyond: tuple[Unmet, ...]  # unreachable levels, lowered

    def to_dict(self) -> dict[str, Any]:
        """Return the part `insiders` of the JSON."""
        found, names = self.audit, self.audit.names
        short = np.flatnonzero(found.short > 0)
        return {
            "attackers": len(names) - 1,
            "protected": found.passed,
            "audited": found.audited,
            "under_protected": found.cells[short].tolist(),
            "short_by": found.short[short].tolist(),
            "short_of": [names[int(found.short_of[at])] for at in short],
            "narrowest": [
                {"cell": int(cell), "low": float(low), "high": float(high), "attacker": names[int(who)]}
                for cell, low, high, who in zip(found.cells, found.low, found.high, found.who, strict=True)
                if not np.isnan(low)
            ],
            "without_interval": found.left,
            "unreachable": [
                {
                    "cell": one.demand.cell,
                    "attacker": names[one.owner],
                    "way": "sliding"
                    if one.demand.up and one.demand.down
                    else "up"
                    if one.demand.up
                    else "down",
                    "level": one.demand.level,
                    "reached": one.found,
                }
                for one in self.beyond
            ],
        }

    def columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add columns for the narrowest interval of each cell over all attackers, and its attacker."""
        low, high = (frame["value"].to_numpy(dtype=np.float64).copy() for _ in range(2))
        who = np.full(len(frame), "", dtype=object)
        low[self.audit.cells], high[self.audit.cells] = self.audit.low, self.audit.high
        who[self.audit.cells] = [
            "" if np.isnan(one) else self.audit.names[int(at)]
            for one, at in zip(self.audit.low, self.audit.who, strict=True)
        ]
        return frame.assign(narrowest_low=low, narrowest_high=high, narrowest_of=who)


_NO_TIME = (
    "the time was out before it was known which levels can be reached against whom; give a longer time limit"
)

SINGLETONS, CONTRIBUTORS, NOBODY = "singletons", "contributors", "none"
LISTED, COALITIONS = "listed", "coalitions"

NOT_ASKED = "that was not asked for"
NOT_COUNTED = "the table does not say how many respondents each of its cells has"
TOO_LATE = "the time was out before it was known what can be kept from them"
"""Reason for omitting respondents."""


@dataclass(frozen=True, kw_only=True)
class Attackers(WhoAttacks):
    """Attackers besides the outsider, as named by the options.

    If values are respondent counts published `beside` others, a contributor adds 1 to each; listed attackers
    know nothing of them.
    """

    # Whether the attacked values are respondent counts, to which each contributor adds 1; listed attackers
    # know nothing of them.
    beside: bool = False

    @property
    def usual(self) -> bool:
        """Tell whether no option names attackers."""
        return self.insiders is None and self.coalitions is None

    def who(self, stored: StoredTable) -> tuple[str, ...]:
        """Return the kinds of insiders that attack."""
        known = self.contributors is not None or _counted(stored)
        if self.usual:
            return (SINGLETONS,) if known else ()
        named = isinstance(self.insiders, str) and self.insiders in (SINGLETONS, CONTRIBUTORS, NOBODY)
        kind = str(self.insiders) if named else LISTED
        kinds = [] if self.insiders is None or kind == NOBODY else [kind]
        return (*kinds, *([] if self.coalitions is None else [COALITIONS]))

    def read(self, cells: int) -> Self:
        """Read the file of contributions, before any clock starts."""
        if self.contributors is None:
            return self
        return replace(self, contributors=read_contributions(self.contributors, cells))

    def of(self, table: CellTable, stored: StoredTable, clock: Clock | None = None) -> CellTable:
        """Add the insiders to a table; OutOfTimeError if the clock expires first."""
        who = self.who(stored)
        if self.contributors is not None and not {SINGLETONS, CONTRIBUTORS, COALITIONS} & set(who):
            raise UsageError(
                f"contributions are looked at for coalitions, {SINGLETONS} or {CONTRIBUTORS} as insiders, "
                "and neither is asked for; ask for one, or leave them out"
            )
        shares = (
            None if self.contributors is None else _shares(self.contributors, table.value, beside=self.beside)
        )
        found: list[Insider] = []
        for one in chain(self._single(table, stored, shares, who), self._together(table, shares)):
            if clock is not None and clock.expired:
                raise OutOfTimeError
            found += [one] if one.cells.size else []
        return replace(table, insiders=tuple(found))

    def _single(
        self, table: CellTable, stored: StoredTable, shares: Shares | None, who: Sequence[str]
    ) -> Iterable[Insider]:
        if LISTED in who and self.insiders is not None:
            if self.beside:
                return ()
            return carried_up(table, _of_file(read_insiders(self.insiders, len(table)), table))
        if SINGLETONS not in who and CONTRIBUTORS not in who:
            return ()
        if shares is not None:
            return shares.insiders(table.value, alone=CONTRIBUTORS not in who)
        if CONTRIBUTORS in who:
            raise UsageError("contributors as insiders need the file of contributions; give it")
        return carried_up(table, singletons(table, _respondents(stored)))

    def _together(self, table: CellTable, shares: Shares | None) -> list[Insider]:
        if self.coalitions is None:
            return []
        if shares is None:
            raise UsageError("coalitions need the file of contributions; give it")
        number = {name: at for at, name in enumerate(shares.names)}
        found = []
        for name, members in read_coalitions(self.coalitions).items():
            unknown = [one for one in members if one not in number]
            if unknown:
                raise DataError(
                    f"coalition {name!r}: {unknown[0]!r} contributes to no cell; correct the name"
                )
            found.append(shares.coalition(name, [number[one] for one in members], table.value))
        return found


def _shares(source: File, value: FloatArray, *, beside: bool) -> Shares:
    frame = source if isinstance(source, pd.DataFrame) else read_contributions(source, value.size)
    who, names = pd.factorize(frame["contributor"])
    cell = frame["cell"].to_numpy(dtype=np.int64)
    amount = frame["amount"].to_numpy(dtype=np.float64)
    if beside:
        alone = np.bincount(cell, minlength=value.size)[cell] == 1
        amount = np.where(alone, value[cell], 1.0)
    return Shares(cell, who.astype(np.int64), amount, [str(name) for name in names])


def _counted(stored: StoredTable) -> bool:
    """Tell whether a table has a respondent count for each cell."""
    if RESPONDENTS not in stored.cells.columns:
        return False
    found = numbers_of(stored.cells, [RESPONDENTS], stored.name, allow_missing=True)[:, 0]
    return not np.isnan(found).any()


def _respondents(stored: StoredTable) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if RESPONDENTS not in stored.cells.columns:
        raise UsageError(
            f"{stored.name} has no column 'respondents', which says who is alone in a cell; give it, or the "
            "file of contributions"
        )
    found = numbers_of(stored.cells, [RESPONDENTS], stored.name)[:, 0]
    return found.astype(np.int64)


def _of_file(frame: pd.DataFrame, table: CellTable) -> list[Insider]:
    wrong = (frame["lower"].to_numpy() > table.value[frame["cell"]]) | (
        frame["upper"].to_numpy() < table.value[frame["cell"]]
    )
    if wrong.any():
        row = frame.iloc[int(np.argmax(wrong))]
        raise DataError(
            f"insider {row['insider']!r}: the value {table.value[row['cell']]:g} of cell {row['cell']} is "
            "outside of what they know; correct it"
        )
    return [
        Insider(
            str(name),
            part["cell"].to_numpy(dtype=np.int64),
            part["lower"].to_numpy(dtype=np.float64),
            part["upper"].to_numpy(dtype=np.float64),
        )
        for name, part in frame.groupby("insider", sort=False)
    ]


def _reachable(
    table: CellTable, as_far_as_possible: bool, clock: Clock | None
) -> tuple[CellTable, list[Unmet]]:
    """Lower levels unreachable against insiders; without `as_far_as_possible` refuse them.

    OutOfTimeError is raised if the reachable levels are not known in time.
    """
    try:
        beyond = [one for one in unreachable(table, clock) if one.owner]
    except OutOfTimeError:
        if as_far_as_possible:
            raise
        return table, []  # the audit reports unreachable levels
    if not beyond:
        return table, []
    soft, hard = lowered_and_refused(table, beyond) if table.counts else ([], beyond)
    if hard and not as_far_as_possible:
        raise UsageError(kept_from_nobody(_lowered(table, soft)))
    return _lowered(table, beyond), beyond


def _lowered(table: CellTable, beyond: Sequence[Unmet]) -> CellTable:
    """Lower levels of insiders to reachable ones."""
    insiders = list(table.insiders)
    for one in beyond:
        at, key = one.owner - 1, (one.demand.cell, one.demand.up, one.demand.down)
        insiders[at] = replace(insiders[at], lowered={**insiders[at].lowered, key: max(one.found, 0.0)})
    return replace(table, insiders=tuple(insiders))


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """Table with its attackers, values and counts alike: the input of protection and audit."""

    stored: StoredTable
    table: CellTable  # with insiders; unreachable levels are lowered
    counting: Counting | None  # what attackers know because its values are counts
    beyond: tuple[Unmet, ...] = ()  # levels unreachable against insiders
    who: tuple[str, ...] = ()  # kinds of attacking insiders, even if there are none
    left_out: str | None = None  # why single respondents do not attack

    def to_dict(self) -> dict[str, Any]:
        """Return the part `from` of the JSON."""
        return {"who": list(self.who), "left_out": self.left_out, "in_part": bool(self.beyond)}

    def crowd_result(
        self, suppressed: BoolArray, clock: Clock, report: Reporter | None = None
    ) -> InsiderResult | None:
        """Audit a pattern against insiders (`audit_by_everybody`); None where there are none."""
        if not self.table.insiders:
            return None
        return InsiderResult(audit_by_everybody(self.table, suppressed, clock, report), self.beyond)


def _with_insiders(found: AttackedTable, attackers: Attackers, clock: Clock) -> AttackedTable:
    """Add insiders and lower levels unreachable against them.

    If no option names attackers, their levels may be lowered, and they are left out if time runs out.
    """
    who = attackers.who(found.stored)
    part = clock.part_of_left(steering.INSIDER_REACH_SHARE) if attackers.usual else clock
    alone = SINGLETONS in who or CONTRIBUTORS in who
    why = None if alone else NOT_COUNTED if attackers.usual else NOT_ASKED
    try:
        # insiders named by options are added, however long that takes
        made = attackers.of(found.table, found.stored, part if attackers.usual else None)
        if not made.insiders:
            return replace(found, table=made, who=who, left_out=why)
        lowered, beyond = _reachable(made, attackers.as_far_as_possible or attackers.usual, part)
    except OutOfTimeError:
        if not attackers.usual:
            raise UsageError(_NO_TIME) from None
        return replace(found, left_out=TOO_LATE)
    return replace(found, table=lowered, beyond=tuple(beyond), who=who, left_out=why)


def opened_system(stored: StoredTable, cost: str) -> list[tuple[StoredTable, CellTable]]:
    """Return the table of values, and that of respondent counts published beside them, if any.

    A cell costs the same in both.
    """
    values, counts = split_beside(stored)
    table = cell_table(values, cost)
    if counts is None:
        return [(values, table)]
    check_adds_up(counts)

    def title(cell: int) -> str:
        return f"the number of respondents of {values.named(cell)}"

    return [(values, table), (counts, replace(cell_table(counts, "unit"), cost=table.cost, title=title))]


def attacked_system(
    system: list[tuple[StoredTable, CellTable]], attackers: Attackers, clock: Clock, *, refuse: bool
) -> list[AttackedTable]:
    """Add attackers to the tables of a system; `refuse` levels unreachable in integers."""
    found = [
        _with_insiders(
            AttackedTable(*with_reachable_levels(stored, table, clock, refuse=refuse)),
            replace(attackers, beside=at > 0),
            clock,
        )
        for at, (stored, table) in enumerate(system)
    ]
    if len(found) > 1:
        found[0] = replace(found[0], stored=with_thresholds(found[0].stored, found[1].stored))
    return found
