"""Other numbers that a fit shows about its parameters: recomputed, so that all that is printed is checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.counting import SettledBlock, linked_blocks, settled_blocks
from linkrisk.solver.certificates.checking.families.base import Family
from linkrisk.solver.certificates.checking.families.weighted_mean import WeightedMean
from linkrisk.solver.certificates.checking.fields import Fields, listed, real, reals, whole
from linkrisk.solver.certificates.checking.records import Records
from linkrisk.solver.certificates.checking.units import total_weight
from linkrisk.solver.certificates.core.claims import demand

CLOSE = 1e-10
"""By how much a number that the fit computed in double precision may miss the exact one, relatively."""

COLUMNS = ["record", "linked", "rank", "distance", "nearest_other", "margin", "ties"]


def check_measure(
    parameters: Fields, theta: Sequence[Fraction], family: Family, names: Sequence[str]
) -> None:
    """Check the measure that is shown beside Moebius coefficients."""
    if "measure" not in family.keys[1:] or parameters.get("measure") is None:
        return  # the parameters themselves, or not there
    measure, told = family.measure(theta), parameters.inner("measure")
    demand(len(told.keys()) == len(measure) - 1, f"{told.where}: it must have {len(measure) - 1} values")
    for mask in range(1, len(measure)):
        name = ",".join(name for k, name in enumerate(names) if mask >> k & 1)
        _demand_close(told.real(name), float(measure[mask]), f"{told.where}, {name}")


def check_importance(fit: Fields, theta: Sequence[Fraction], family: Family, names: Sequence[str]) -> None:
    """Check the fit's importance of attributes and their interaction against its parameters."""
    importance, interaction = family.importance(theta), family.interaction(theta)
    if importance is None:
        demand(fit.value("importance") is None, f"{fit.where}, importance: the family has none")
    else:
        told = fit.inner("importance")
        demand(sorted(told.keys()) == sorted(names), f"{told.where}: it must name the attributes")
        for name, share in zip(names, importance, strict=True):
            _demand_close(told.real(name), float(share), f"{told.where}, {name}")
    if interaction is None:
        demand(fit.value("interaction") is None, f"{fit.where}, interaction: the family has none")
        return
    where = f"{fit.where}, interaction"
    rows = [reals(row, where, len(names)) for row in fit.listed("interaction")]
    demand(len(rows) == len(names), f"{where}: it must have {len(names)} rows")
    for k, row in enumerate(rows):
        for m, value in enumerate(row):
            _demand_close(value, float(interaction.get((min(k, m), max(k, m)), Fraction(0))), where)


def check_table(fit: Fields, rows: Rows, theta: list[Fraction]) -> tuple[list[bool], list[bool]]:
    """Check every cell of the table of records; an empty one says nothing, nor does a table left out.

    Returns
    -------
    linked, told : list of bool
        Whether each block is linked, and whether the table says so.
    """
    records = rows.records
    table = fit.inner("records_table")
    demand(table.listed("columns") == COLUMNS, f"{table.where}, columns: they must be {', '.join(COLUMNS)}")
    content = table.listed("rows")
    if left_out(fit):
        demand(not content, f"{table.where}: it has rows, and says that they were left out")
        linked = linked_blocks(rows, theta)
        return linked, linked
    demand(len(content) == records.blocks, f"{table.where}: there are {records.blocks} records")
    settled = settled_blocks(rows, theta)
    linked, told = settled.linked.tolist(), []
    for at, (item, block) in enumerate(zip(content, settled.blocks(), strict=True)):
        row, place = listed(item, table.where), f"{table.where}: row {at + 1}"
        right = len(row) == len(COLUMNS) and row[0] == records.labels[at]
        right = right and (row[1] is None or row[1] is block.linked)
        state = "linked" if block.linked else "not linked"
        demand(right, f"{place} should be record {records.labels[at]}, {state}")
        _check_row(row, block, place)
        told.append(row[1] is True)
    return linked, told


def left_out(fit: Fields) -> bool:
    """Whether a fit of many records lists none of them: then its table and its ties are not checked."""
    return fit.inner("records_table").get("left_out") is not None


def _check_row(row: list[object], block: SettledBlock, place: str) -> None:
    _, _, rank, distance, nearest, margin, ties = row
    for name, told, (least, most) in (("rank", rank, block.rank), ("ties", ties, block.ties)):
        right = told is None or least <= whole(told, place) <= most
        demand(right, f"{place}, {name}: {told}, but it is {least}")
    apart = block.nearest - block.distance if math.isfinite(block.distance) else math.inf
    sizes = [abs(value) for value in (block.distance, block.nearest) if math.isfinite(value)]
    slack = 2 * block.error + CLOSE * max(sizes, default=0.0)
    for name, value, here in (
        ("distance", distance, block.distance),
        ("nearest_other", nearest, block.nearest),
        ("margin", margin, apart),
    ):
        if value is None:
            demand(rank is None or not math.isfinite(here), f"{place}, {name}: it is {here:g}")
            continue
        demand(math.isfinite(here), f"{place}, {name}: there is none")
        off = abs(real(value, f"{place}, {name}") - here)
        demand(off <= slack, f"{place}, {name}: {value}, but it is {here:g}")


def check_tied(fit: Fields, rows: Rows) -> None:
    """Check whom a tie alone keeps from being linked, and what guessing adds, by the table."""
    if fit.get("tied") is None or left_out(fit):
        return
    records, alone, twins = rows.records, 0, 0
    table = fit.inner("records_table").listed("rows")
    for block, row in enumerate(table):
        _, _, rank, _, _, _, ties = row
        if rank is None or not ties:
            continue
        twin = not records.share and records.copies(block) > 1
        twins += twin
        alone += twin or rank == 1
    told = fit.inner("tied")
    for key, here in (("records", alone), ("with_twins", twins)):
        given = told.whole(key)
        demand(given == here, f"{told.where}, {key}: {given}, but by the table it is {here}")
    if twins:
        _check_guessed(told, rows.records, table)


def _check_guessed(told: Fields, records: Records, table: list[object]) -> None:
    """Check what guessing among equals is expected to link, and what it adds whatever the parameters."""
    expected, at_most = Fraction(0), Fraction(0)
    for block, row in enumerate(table):
        _, linked, rank, _, _, _, ties = listed(row, told.where)
        copies, weight = records.copies(block), records.weight(block)
        lot = weight / copies if copies > 1 and records.reachable(block) else Fraction(0)
        at_most += lot
        expected += weight if linked else lot if rank == 1 and ties == copies - 1 else 0
    for key, here in (("expected_links", float(expected)), ("guessed_at_most", float(at_most))):
        given = told.real(key)
        slack = CLOSE * (max(1.0, here) if records.sampling is None else here)
        demand(abs(given - here) <= slack, f"{told.where}, {key}: {given:g}, but by the table it is {here:g}")


def check_euclid(fit: Fields, rows: Rows) -> bool:
    """Check the count of the Euclidean distance; whether the fit shows one."""
    baselines = fit.get("baselines")
    if not isinstance(baselines, dict) or baselines.get("euclid") is None:
        return False
    told = fit.inner("baselines").real("euclid")
    own = rows.family.euclidean
    if own is not None:
        linked = linked_blocks(rows, own)
    else:
        mean = WeightedMean(rows.family.attributes)
        squared = Rows(replace(rows.records, differences="squared"), mean)
        linked = linked_blocks(squared, [Fraction(1)] * mean.dimension)
    weight = float(total_weight(rows.records, (block for block, is_linked in enumerate(linked) if is_linked)))
    # Sampling weights may be small, all of them.
    slack = CLOSE * (max(1.0, weight) if rows.records.sampling is None else weight)
    demand(abs(told - weight) <= slack, f"{fit.where}, baselines, euclid: {told:g}, but it is {weight:g}")
    return True


def _demand_close(told: float, here: float, where: str) -> None:
    demand(abs(told - here) <= CLOSE * max(1.0, abs(here)), f"{where}: {told:g}, but it is {here:g}")
