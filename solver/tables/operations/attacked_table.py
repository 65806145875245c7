"""A table with those who attack it: outsiders, singletons, contributors, coalitions, insiders of a file."""

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
from linkrisk.solver.tables.attackers.by_insider import CrowdAudit, audit_by_everybody
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError, Unmet
from linkrisk.solver.tables.operations.counts import Counting, in_reach, lowered_and_refused
from linkrisk.solver.tables.operations.source import cell_table, check_adds_up
from linkrisk.solver.tables.suppression.reachability import kept_from_nobody, unreachable


@dataclass(frozen=True, eq=False)
class CrowdResult:
    """What everybody finds out.

    Attributes
    ----------
    audit : CrowdAudit
    beyond : tuple of Unmet
        Levels that no pattern could reach, and that were lowered.
    """

    audit: CrowdAudit
    beyond: tuple[Unmet, ...]

    def to_dict(self) -> dict[str, Any]:
        """The part `insiders` of the JSON."""
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
        """The cells with the narrowest interval that anybody finds, and who it is."""
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
"""Why respondents were not looked at."""

_SHARE = 0.25
"""Of the time: in which it must be known what can be kept from insiders that nobody asked for."""


@dataclass(frozen=True, kw_only=True)
class Attackers(WhoAttacks):
    """Who attacks besides the outsider, as it is asked for.

    Attributes
    ----------
    beside : bool
        Whether the values that are attacked are numbers of respondents: to each a contributor adds 1. Those
        who are listed know nothing of them.
    """

    beside: bool = False

    @property
    def usual(self) -> bool:
        """Whether nobody said who attacks."""
        return self.insiders is None and self.coalitions is None

    def who(self, stored: StoredTable) -> tuple[str, ...]:
        """The kinds of insiders that are looked at."""
        known = self.contributors is not None or _counted(stored)
        if self.usual:
            return (SINGLETONS,) if known else ()
        named = isinstance(self.insiders, str) and self.insiders in (SINGLETONS, CONTRIBUTORS, NOBODY)
        kind = str(self.insiders) if named else LISTED
        kinds = [] if self.insiders is None or kind == NOBODY else [kind]
        return (*kinds, *([] if self.coalitions is None else [COALITIONS]))

    def read(self, cells: int) -> Self:
        """The same with the contributions in a frame: files are read before any clock runs.

        Raises
        ------
        DataError
            If they cannot be read.
        """
        if self.contributors is None:
            return self
        return replace(self, contributors=read_contributions(self.contributors, cells))

    def of(self, table: CellTable, stored: StoredTable, clock: Clock | None = None) -> CellTable:
        """The table with its insiders.

        Raises
        ------
        UsageError, DataError
            If a file cannot be used, what is needed is not there, or nobody looks at what is given.
        OutOfTimeError
            If the clock is out before all are known.
        """
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
    """Whether it says of each cell how many respondents it has."""
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
    """The table with levels that can be reached against every insider, and those that cannot.

    Raises
    ------
    UsageError
        If one cannot, and it was not said to go as far as possible.
    OutOfTimeError
        If it was, and there was no time to see how far.
    """
    try:
        beyond = [one for one in unreachable(table, clock) if one.owner]
    except OutOfTimeError:
        if as_far_as_possible:
            raise
        return table, []  # the audit of the pattern says it where one cannot
    if not beyond:
        return table, []
    soft, hard = lowered_and_refused(table, beyond) if table.counts else ([], beyond)
    if hard and not as_far_as_possible:
        raise UsageError(kept_from_nobody(_lowered(table, soft)))
    return _lowered(table, beyond), beyond


def _lowered(table: CellTable, beyond: Sequence[Unmet]) -> CellTable:
    """The table with levels of insiders as far as they can be reached."""
    insiders = list(table.insiders)
    for one in beyond:
        at, key = one.owner - 1, (one.demand.cell, one.demand.up, one.demand.down)
        insiders[at] = replace(insiders[at], lowered={**insiders[at].lowered, key: max(one.found, 0.0)})
    return replace(table, insiders=tuple(insiders))


@dataclass(frozen=True, eq=False)
class Attacked:
    """A table with those who attack it.

    Attributes
    ----------
    table : CellTable
        With insiders, against whom levels that cannot be reached are lowered.
    beyond : list of Unmet
        These levels.
    who : tuple of str
        The kinds of insiders that are looked at, even where there are none of them.
    left_out : str or None
        Why respondents who are alone in a cell are not looked at.
    """

    table: CellTable
    beyond: list[Unmet]
    who: tuple[str, ...]
    left_out: str | None

    def to_dict(self) -> dict[str, Any]:
        """What the JSON says of them."""
        return {"who": list(self.who), "left_out": self.left_out, "in_part": bool(self.beyond)}


def with_insiders(
    table: CellTable,
    stored: StoredTable,
    attackers: Attackers,
    clock: Clock | None = None,
) -> Attacked:
    """The table with those who attack it, and the levels that cannot be reached against some.

    Where nobody said who attacks, these levels are lowered, and insiders are left out for want of time only.

    Raises
    ------
    UsageError, DataError
        If a file cannot be used; if a level cannot be reached, unless it was said to go as far as possible.
    """
    who = attackers.who(stored)
    part = clock.part_of_left(_SHARE) if clock is not None and attackers.usual else clock
    try:
        made = attackers.of(table, stored, part if attackers.usual else None)  # who is asked for is there
    except OutOfTimeError:
        return _without(attackers, table)
    if not who:
        return Attacked(made, [], who, NOT_COUNTED if attackers.usual else NOT_ASKED)
    alone = SINGLETONS in who or CONTRIBUTORS in who
    if not made.insiders:
        return Attacked(made, [], who, None if alone else NOT_ASKED)
    try:
        lowered, beyond = _reachable(made, attackers.as_far_as_possible or attackers.usual, part)
    except OutOfTimeError:
        return _without(attackers, table)
    return Attacked(lowered, beyond, who, None if alone else NOT_ASKED)


def _without(attackers: Attackers, table: CellTable) -> Attacked:
    """The table without insiders, for want of time.

    Raises
    ------
    UsageError
        If somebody asked for them.
    """
    if not attackers.usual:
        raise UsageError(_NO_TIME) from None
    return Attacked(table, [], (), TOO_LATE)


def crowd_result(
    table: CellTable,
    suppressed: BoolArray,
    beyond: Sequence[Unmet],
    clock: Clock | None = None,
    report: Reporter | None = None,
) -> CrowdResult | None:
    """What insiders find out of a pattern (see `audit_by_everybody`); None where there are none."""
    if not table.insiders:
        return None
    return CrowdResult(audit_by_everybody(table, suppressed, clock, report), tuple(beyond))


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """A table and its attackers.

    Attributes
    ----------
    stored : StoredTable
    table : CellTable
        With insiders; levels are those that can be reached.
    counting : Counting or None
        What is known of it because its values are counts.
    who : Attacked
    """

    stored: StoredTable
    table: CellTable
    counting: Counting | None
    who: Attacked

    @classmethod
    def of(
        cls,
        stored: StoredTable,
        table: CellTable,
        attackers: Attackers,
        clock: Clock | None,
        reach: tuple[Clock, bool],
    ) -> Self:
        """With insiders, and levels that can be reached.

        Parameters
        ----------
        stored : StoredTable
        table : CellTable
        attackers : Attackers
        clock : Clock or None
            For what can be kept from insiders.
        reach : tuple of Clock, bool
            For what can be reached in whole numbers, and whether anything else is refused.
        """
        stored, table, counting = in_reach(stored, table, reach[0], refuse=reach[1])
        who = with_insiders(table, stored, attackers, clock)
        return cls(stored, who.table, counting, who)


def opened_system(stored: StoredTable, cost: str) -> list[tuple[StoredTable, CellTable]]:
    """The table of the values, and where they are published beside them that of numbers of respondents.

    What a cell costs in one it costs in the other.

    Raises
    ------
    UsageError, DataError, FormulationError
        If one is none, or does not add up.
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
    system: list[tuple[StoredTable, CellTable]],
    attackers: Attackers,
    clock: Clock | None,
    reach: tuple[Clock, bool],
) -> list[AttackedTable]:
    """The tables of a system with those who attack them (`AttackedTable.of`)."""
    found = [
        AttackedTable.of(stored, table, replace(attackers, beside=at > 0), clock, reach)
        for at, (stored, table) in enumerate(system)
    ]
    if len(found) > 1:
        found[0] = replace(found[0], stored=with_thresholds(found[0].stored, found[1].stored))
    return found
