"""Tables joined in their common cells, and numbers of respondents published beside values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.code_trees import TOTAL
from linkrisk.datasets.tables.stored_table import (
    BESIDE,
    FIXED,
    NUMBERS,
    SAFE,
    SECONDARY,
    SENSITIVE,
    STATUS,
    StoredTable,
    distinct_relations,
    numbers_of,
    stored_table,
)
from linkrisk.errors import called

_CLOSE = 1e-9
"""Relative to a value: what two tables may differ in a common cell by the rounding of decimals."""

STRONGEST = (SENSITIVE, FIXED, SECONDARY, SAFE)
"""Where tables say something else of a common cell, the first of these holds."""

_JOINED = {"lower_bound": np.fmax, "upper_bound": np.fmin}
"""How numbers of a common cell become one; the others by the largest."""


def link(tables: Sequence[StoredTable], totals: Mapping[str, str] | None = None) -> StoredTable:
    """Join tables in their common cells.

    `totals` are codes of totals that no table says and that are not ``Total``. The cells of the first table
    come first, then those that each other one adds; relations that stand in several once. Of a common cell
    the stricter holds: ``u`` before ``z``, ``m`` and ``s``, the larger level, the narrower bounds, the larger
    cost.
    """
    for table in tables:
        if not table.by:
            raise DataError(f"{table.name} has no columns of codes, which say which cells it shares")
    by = list(dict.fromkeys(name for table in tables for name in table.by))
    known = _totals(tables, totals or {})
    keys = [keys_of(table, by, known) for table in tables]
    number = {key: at for at, key in enumerate(dict.fromkeys(key for one in keys for key in one))}
    places = [np.array([number[key] for key in one], dtype=np.int64) for one in keys]
    _check_twins(tables, places)
    _check_shared(tables, places, known)
    for column in ("value", BESIDE):
        _check_values(tables, places, len(number), column)
    frame = _cells(tables, places, pd.DataFrame(list(number), columns=by))
    name = " + ".join(table.name for table in tables)
    made = stored_table(frame, _terms(tables, places), name, by=by)
    return replace(made, counts=_counting(tables, made))


def _counting(tables: Sequence[StoredTable], made: StoredTable) -> bool | None:
    """Decide whether joined values are counts: where some are known to be, and none is declared not to be.

    A release in which no cell is sensitive, or other cells are, shows by itself nothing of it.
    """
    if False in {table.counts for table in tables}:
        return False
    known = any(table.counting for table in tables) or bool(made.guessed)
    value = made.numbers["value"]
    return (known and bool(((value == np.round(value)) & (value >= 0)).all())) or None


def link_publications(tables: Sequence[StoredTable]) -> tuple[StoredTable, npt.NDArray[np.bool_]]:
    """Join what was published of the same cells: tables, releases, classifications.

    Returns which cells are published at least once, too: everybody knows them, whatever other tables hide.
    """
    joined, known = link(tables), _totals(tables, {})
    number = {key: at for at, key in enumerate(keys_of(joined, joined.by, {}))}
    published = np.zeros(len(joined), dtype=np.bool_)
    for table in tables:
        shown = np.isin(table.status, (SAFE, FIXED))
        places = np.array([number[key] for key in keys_of(table, joined.by, known)], dtype=np.int64)
        published[places[shown]] = True
    return joined, published


def _totals(tables: Sequence[StoredTable], given: Mapping[str, str]) -> dict[str, str]:
    """Return the code of the total of each column: as given, or of tables whose relations follow from codes.

    That of a table of a part, such as a county, is a code of others and not the total.
    """
    trees = [tree for table in tables for tree in table.trees]
    inner = {(tree.variable, code) for tree in trees for code in tree.codes[1:]}
    tops = {tree.variable: tree.codes[0] for tree in trees if (tree.variable, tree.codes[0]) not in inner}
    return tops | dict(given)


def keys_of(table: StoredTable, by: Sequence[str], totals: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the codes of each cell by the columns of joined tables; a missing one stands at its total."""
    columns = [
        table.codes[name] if name in table.by else [totals.get(name, TOTAL)] * len(table) for name in by
    ]
    return list(zip(*columns, strict=True))


def _check_twins(tables: Sequence[StoredTable], places: Sequence[LongArray]) -> None:
    for table, place in zip(tables, places, strict=True):
        twins = pd.Series(place).duplicated().to_numpy()
        if twins.any():
            at = int(np.argmax(twins))
            raise DataError(f"{table.name}, row {at + 1}: the cell {table.title(at)} stands there twice")


def _check_shared(
    tables: Sequence[StoredTable], places: Sequence[LongArray], totals: Mapping[str, str]
) -> None:
    """Refuse a table without common cells: it would be protected as if the others were not there."""
    tables_of = np.bincount(np.concatenate(places))
    for table, place in zip(tables, places, strict=True):
        if len(tables) == 1 or (tables_of[place] > 1).any():
            continue
        strange = next((name for one in tables for name in _without_total(one, table, totals)), None)
        why = (
            f"no cell of it has the codes of another one ({table.title(0)}, ...)"
            if strange is None
            else f"it has no column {strange!r} and stands at its total, but no {strange!r} is "
            f"{totals.get(strange, TOTAL)!r}: say what that total is called, or rename it"
        )
        raise DataError(f"{table.name} shares no cell with the other tables, so nothing links them: {why}")


def _without_total(one: StoredTable, other: StoredTable, totals: Mapping[str, str]) -> list[str]:
    """List columns that only `one` has, and whose total is not among its codes."""
    return [
        name
        for name in one.by
        if name not in other.by and not (one.codes[name] == totals.get(name, TOTAL)).any()
    ]


def _check_values(
    tables: Sequence[StoredTable], places: Sequence[LongArray], cells: int, column: str
) -> None:
    """Refuse a common cell with different numbers in a column that is published."""
    known, first = np.full(cells, np.nan), np.zeros(cells, dtype=np.int64)
    name = "" if column == "value" else f", column {column!r}"
    for number, (table, place) in enumerate(zip(tables, places, strict=True)):
        if column not in table.cells.columns:
            continue
        value = table.numbers.get(column)
        if value is None:
            value = numbers_of(table.cells, [column], table.name, allow_missing=True)[:, 0]
        before = known[place]
        wrong = np.abs(value - before) > _CLOSE * np.abs(value)  # where nothing is known: False
        if wrong.any():
            at = int(np.argmax(wrong))
            other = tables[first[place[at]]]
            raise DataError(
                f"the common cell {table.title(at)} is {before[at]:.15g} in {other.name}{name} and "
                f"{value[at]:.15g} in {table.name}{name}, a difference of {value[at] - before[at]:g}; linked "
                f"tables have the same values in their common cells ({int(wrong.sum())} differ)"
            )
        new = np.isnan(before)
        known[place[new]], first[place[new]] = value[new], number


def _cells(tables: Sequence[StoredTable], places: Sequence[LongArray], codes: pd.DataFrame) -> pd.DataFrame:
    made = codes.copy()
    others: dict[str, pd.Series] = {}
    for table, place in zip(tables, places, strict=True):
        for name in table.cells.columns:
            if name not in (*made.columns, STATUS, "cell"):
                column = table.cells[name].set_axis(place).reindex(range(len(codes)))
                others[name] = _joined(name, others[name], column) if name in others else column
    rank = np.full(len(codes), len(STRONGEST) - 1)
    for table, place in zip(tables, places, strict=True):
        rank[place] = np.minimum(rank[place], [STRONGEST.index(one) for one in table.status])
    return with_columns(made, {**others, STATUS: np.array(STRONGEST)[rank]})


def _joined(name: str, one: pd.Series, other: pd.Series) -> pd.Series:
    if name in NUMBERS and name != "value":
        how = _JOINED.get(name, np.fmax)
        return pd.Series(how(one.to_numpy(dtype=np.float64), other.to_numpy(dtype=np.float64)))
    return one.where(one.notna(), other)


def _terms(tables: Sequence[StoredTable], places: Sequence[LongArray]) -> pd.DataFrame:
    """List the relations of all tables in the numbers of the joined cells, each once."""
    return distinct_relations(
        tuple(sorted(zip(place[table.cell[at]].tolist(), table.coefficient[at].tolist(), strict=True)))
        for table, place in zip(tables, places, strict=True)
        for at in table.terms_by_relation()
    )


def with_beside(cells: pd.DataFrame, least: int) -> pd.DataFrame:
    """Add numbers of respondents that are published, and the threshold that a reader must think possible.

    Fewer than `least` respondents are sensitive; 0 where there is no such rule.
    """
    count = cells["respondents"]
    made = with_columns(cells, {BESIDE: count})
    if least:
        below = (cells["status"] == SENSITIVE) & (count < least)
        made["threshold"] = np.where(below, float(least), np.nan)
    return made


def split_beside(stored: StoredTable) -> tuple[StoredTable, StoredTable | None]:
    """Split a table into that of values and that of the numbers of respondents published beside them.

    Both have the same cells, relations and statuses: what is suppressed in one is in the other. Empty cells
    are published in both, as their number says that their value is 0. Of a sensitive cell another number of
    respondents has to stay possible, and the threshold of a rule be reached.
    """
    if BESIDE not in stored.cells.columns:
        return stored, None
    count = _counts_of(stored)
    status = np.where((count == 0) & (stored.status == SAFE), FIXED, stored.status)
    sensitive = status == SENSITIVE
    numbers = {"value": count, "sliding_protection": np.where(sensitive, 1.0, 0.0)}
    if "threshold" in stored.numbers:
        numbers["threshold"] = np.where(sensitive, stored.numbers["threshold"], np.nan)
    codes = {name: stored.cells[name] for name in stored.by}
    cells = pd.DataFrame({**codes, **numbers, "respondents": count, STATUS: status})
    name = f"{stored.name}, {BESIDE}"
    counts = replace(stored, cells=cells, numbers=numbers, status=status, name=name, counts=True)
    return replace(stored, status=status, cells=with_columns(stored.cells, {STATUS: status})), counts


def _counts_of(stored: StoredTable) -> FloatArray:
    """The numbers of respondents of all cells."""
    if stored.counting:
        raise DataError(
            f"{stored.name}: the values are counts themselves; leave the column {BESIDE!r} out, or say that "
            f"they are none ({called('counts', False)})",
            option="counts",
        )
    count = numbers_of(stored.cells, [BESIDE], stored.name, allow_missing=True)[:, 0]
    for wrong, why in (
        (np.isnan(count), "is empty; give the numbers of all cells, or leave the column out"),
        ((count != np.round(count)) | (count < 0), "is no number of respondents; correct it"),
        ((count == 0) & (stored.numbers["value"] != 0), "is 0, and the value is not; correct one of them"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataError(f"{stored.name}, column {BESIDE!r}, row {at + 1} ({stored.title(at)}): it {why}")
    return count


def refuse_beside(stored: StoredTable, what: str) -> None:
    """Refuse numbers of respondents where only values are protected: they would be forgotten."""
    if BESIDE in stored.cells.columns:
        raise DataError(
            f"{stored.name} has numbers of respondents that are published beside its values, and {what} does "
            f"nothing to them; suppress cells instead (tables suppress), or leave the column {BESIDE!r} out"
        )


def with_thresholds(stored: StoredTable, counts: StoredTable) -> StoredTable:
    """Lower the thresholds of a table of values to those that the numbers of respondents can reach."""
    if "threshold" not in stored.numbers:
        return stored
    lowered = counts.numbers["threshold"]
    return replace(
        stored,
        cells=stored.cells.assign(threshold=lowered),
        numbers={**stored.numbers, "threshold": lowered},
    )
