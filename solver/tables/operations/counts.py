"""Tables of counts: protection levels reachable in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.stored_table import StoredTable
from linkrisk.errors import called
from linkrisk.formulations.tables.attacker_knowledge import OUTSIDER
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError, Unmet
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks
from linkrisk.solver.tables.suppression.reachability import short_of_its_level


@dataclass(frozen=True, eq=False)
class Counting:
    """Knowledge of attackers who know whether the values of a table are counts."""

    counts: bool
    guessed: bool  # whether this was guessed
    # cells whose interval cannot reach the threshold of their rule, whatever is suppressed: the cell, the
    # threshold, and the largest possible count for a reader
    below: tuple[tuple[int, float, float], ...] = ()
    least: int = 0  # public least value of suppressed counts: 1 where empty cells are shown
    thresholds: int = 0  # number of cells with a threshold
    # other levels unreachable in integers, lowered, with the reachable ones
    lowered: tuple[Unmet, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the part `counts` of the JSON; for possible amounts, that `counts` was not set."""
        if not self.counts:
            return {"counts_unsaid": True}
        below = [{"cell": at, "threshold": least, "reached": most} for at, least, most in self.below]
        lowered = [
            {"cell": one.demand.cell, "way": way_of(one), "level": one.demand.level, "reached": one.found}
            for one in self.lowered
        ]
        found = {
            "guessed": self.guessed,
            "threshold_out_of_reach": below,
            "least": self.least,
            "thresholds": self.thresholds,
            "lowered": lowered,
        }
        return {"counts": found}


def way_of(missed: Unmet) -> str:
    """Name the direction of a level."""
    both = missed.demand.up and missed.demand.down
    return "sliding" if both else "up" if missed.demand.up else "down"


def with_counts(stored: StoredTable, counts: bool | None) -> StoredTable:
    """Declare whether the values of a table are counts."""
    if counts is None:
        return stored
    value = stored.numbers["value"]
    wrong = (value != np.round(value)) | (value < 0)
    if counts and wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"{stored.name}, row {at + 1}: its value {value[at]:g} is no count, which is a whole number from "
            f"0; correct it, or say that they are none ({called('counts', False)})",
            option="counts",
        )
    return replace(stored, counts=counts)


def with_reachable_levels(
    stored: StoredTable, table: CellTable, clock: Clock | None = None, *, refuse: bool = True
) -> tuple[StoredTable, CellTable, Counting | None]:
    """Lower thresholds of counts that are unreachable in integers; refuse other such levels.

    If the clock expires, levels are those reachable in fractions. The last result is None for a table known
    to hold no counts.
    """
    if not table.counts:
        unsaid = stored.counts is None and stored.guessed is None
        return stored, table, Counting(counts=False, guessed=True) if unsaid else None
    known = _known(stored, table)
    missed = _out_of_reach(
        replace(table, insiders=()), (clock or Clock(None)).part_of_left(steering.COUNT_REACH_SHARE)
    )
    levels = {way: level.copy() for way, level in _levels(table).items()}
    soft, hard = lowered_and_refused(table, missed)
    if hard and refuse:
        one = hard[0]
        raise UsageError(_refused(table, one))
    below, others = [], []
    threshold = np.nan_to_num(stored.numbers.get("threshold", np.zeros(len(table))))
    rule = np.zeros(len(table)) if table.rule_level is None else table.rule_level
    for one in soft:
        cell, way = one.demand.cell, (one.demand.up, one.demand.down)
        value = float(table.value[cell])
        if way == (True, False) and (one.demand.level > rule[cell] or threshold[cell] > value + one.found):
            below.append((cell, value + float(levels[way][cell]), value + one.found))
        else:
            others.append(one)
        levels[way][cell] = one.found
    lowered = replace(
        table,
        upper_level=levels[True, False],
        lower_level=levels[False, True],
        sliding_level=levels[True, True],
    )
    if soft:
        stored = _lowered(stored, lowered, soft)
    return stored, lowered, replace(known, below=tuple(sorted(below)), lowered=tuple(others))


def _known(stored: StoredTable, table: CellTable) -> Counting:
    some = table.value > 0
    least = int(table.lower[some].min(initial=1.0)) if some.any() else 0
    rule = np.zeros(len(table)) if table.rule_level is None else table.rule_level
    thresholds = int((table.primary & (table.upper_level > rule)).sum())
    return Counting(counts=True, guessed=stored.counts is None, least=least, thresholds=thresholds)


def _out_of_reach(table: CellTable, clock: Clock) -> list[Unmet]:
    """List levels that no pattern reaches in integers; in fractions if time runs out."""
    everything, nothing = np.asarray(~table.fixed, dtype=np.bool_), np.zeros(0)
    attacks = IntegerAttacks(table, clock)
    fractions = attacks.in_fractions(everything)
    open_, reach = set(fractions.unmet), fractions.reach
    missed = []
    for _, demand, _ in attacks.unseen(everything):
        try:
            if attacks.cheapest(OUTSIDER, demand, everything, np.ones(len(table))) is None:
                reached = attacks.reached(OUTSIDER, demand, everything)
                missed.append(Unmet(OUTSIDER, demand, reached, nothing))
        except OutOfTimeError:
            if demand in open_:
                up, down = (side[demand.cell] for side in (reach.up, reach.down))
                reached = float(np.floor(up * demand.up + down * demand.down + tolerances.INTERVAL_END))
                missed.append(Unmet(OUTSIDER, demand, reached, nothing))
    return missed


def lowered_and_refused(table: CellTable, missed: Sequence[Unmet]) -> tuple[list[Unmet], list[Unmet]]:
    """Split unreachable levels into those that can be lowered, and those that cannot.

    A level rounded up to one count, or to a threshold, is lowered if another integer stays possible; so is
    one below the value without room.
    """
    found = {(one.owner, one.demand.cell, one.demand.up, one.demand.down): one.found for one in missed}
    rule = np.zeros(len(table)) if table.rule_level is None else table.rule_level
    soft: list[Unmet] = []
    hard: list[Unmet] = []
    for one in missed:
        cell, up = one.demand.cell, one.demand.up and not one.demand.down
        left = sum(
            found.get((one.owner, cell, *way), float(level[cell])) for way, level in _levels(table).items()
        )
        enough = left >= 1 and not (up and rule[cell] > 1 and one.found < rule[cell])
        (soft if enough else hard).append(one)
    return soft, hard


def _levels(table: CellTable) -> dict[tuple[bool, bool], FloatArray]:
    """Group levels by their directions."""
    return {
        (True, False): table.upper_level,
        (False, True): table.lower_level,
        (True, True): table.sliding_level,
    }


def _refused(table: CellTable, missed: Unmet) -> str:
    """Explain in a line why a cell cannot be protected."""
    if missed.found > 0:
        return short_of_its_level(table, missed.demand.cell, missed.demand.level - missed.found)
    return (
        f"{table.title(missed.demand.cell)} cannot be protected: counts are whole numbers, and with all "
        "cells suppressed it is known exactly; combine categories, or let more cells be suppressed"
    )


def _lowered(stored: StoredTable, table: CellTable, soft: Sequence[Unmet]) -> StoredTable:
    """Lower the levels of the stored table to the reachable ones."""
    numbers = dict(stored.numbers)
    for name, level in (
        ("threshold", table.value + table.upper_level),
        ("upper_protection", table.upper_level),
        ("lower_protection", table.lower_level),
        ("sliding_protection", table.sliding_level),
    ):
        if name in numbers:
            at = np.array(sorted({one.demand.cell for one in soft}))
            numbers[name] = numbers[name].copy()
            numbers[name][at] = np.minimum(numbers[name][at], level[at])
    changed = {name: numbers[name] for name in numbers if name in stored.cells.columns}
    kept = {name: one for name, one in changed.items() if one is not stored.numbers[name]}
    return replace(stored, numbers=numbers, cells=with_columns(stored.cells, kept))
