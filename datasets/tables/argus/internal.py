"""Tables of ARGUS for the house: cells with statuses and levels (.tab with .rda and .hrc), SBS files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.tables.argus.described import Column, described_files, in_full
from linkrisk.datasets.tables.argus.ready_tables import EMPTY, RESPONDENTS
from linkrisk.datasets.tables.argus.safe_files import decimals_of
from linkrisk.datasets.tables.cells_and_relations import (
    FIXED,
    SAFE,
    SECONDARY,
    SENSITIVE,
    StoredTable,
)
from linkrisk.datasets.tables.code_trees import CodeTree

_LETTERS = {SAFE: "S", SENSITIVE: "U", SECONDARY: "M", FIXED: "P"}


def nobody_in(table: StoredTable) -> npt.NDArray[np.bool_]:
    """Cells in which nobody is: without respondents, or always published and 0; shape (n,)."""
    if RESPONDENTS in table.cells.columns:
        return np.asarray(table.cells[RESPONDENTS].to_numpy(dtype=np.float64) == 0, dtype=np.bool_)
    return np.asarray((table.status == FIXED) & (table.numbers["value"] == 0), dtype=np.bool_)


def shown_as_empty(table: StoredTable, suppressed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Cells in which nobody is, for a published table; none where a 0 is published in which somebody is.

    Beside a 0, the sign of empty cells would say that there are respondents, who all have nothing.

    Parameters
    ----------
    table : StoredTable
        With the values that are published.
    suppressed : ndarray of bool, shape (n,)
    """
    empty, zero = nobody_in(table), (table.numbers["value"] == 0) & ~suppressed
    return np.zeros(len(table), dtype=np.bool_) if (zero & ~empty).any() else empty


def tab_files(
    table: StoredTable,
    path: str | Path,
    *,
    brief: bool = False,
    audit: bool = False,
    without_empty: bool = False,
    quotes: bool = True,
) -> dict[Path, str]:
    """The cells with everything that is known of them, what the columns are, and the hierarchies.

    Parameters
    ----------
    table : StoredTable
        Whose relations follow from codes.
    path : path
        Of the cells; the others lie beside them.
    brief : bool
        Whether only values, counts, costs, statuses and levels are written.
    audit : bool
        Whether the columns `low` and `high` of the cells are there and written, too: of suppressed cells the
        ends and the width of what an attacker finds, and in percent of the value how far below it, above it,
        and how wide that is; 0 of others.
    without_empty : bool
        Whether cells in which nobody is are left out.
    quotes : bool
        Whether codes stand in quotes.

    Raises
    ------
    DataError
        If its relations do not follow from codes, each variable in one tree.
    """
    columns = [*_described(table, brief), *(_audited(table) if audit else [])]
    left_out = nobody_in(table) if without_empty else None
    return described_files(table, path, columns, left_out=left_out, quotes=quotes)


def _described(table: StoredTable, brief: bool) -> list[Column]:
    """The columns behind the codes."""
    numbers, frame = table.numbers, table.cells
    value = numbers["value"]
    digits = max(decimals_of(value), 0)
    made = [Column("value", in_full(value), {"numeric": "", "decimals": str(digits)})]
    if RESPONDENTS in frame:
        made.append(
            Column(RESPONDENTS, in_full(frame[RESPONDENTS].to_numpy(dtype=np.float64)), {"frequency": ""})
        )
    if "shadow" in frame and not brief:
        shadow = frame["shadow"].to_numpy(dtype=np.float64)
        made.append(Column("shadow", in_full(shadow), {"numeric": "", "shadow": ""}))
    if "cost" in numbers:
        made.append(Column("cost", in_full(numbers["cost"]), {"numeric": "", "cost": ""}))
    largest = [name for name in frame.columns if re.fullmatch(r"largest_\d+", name)]
    made += [
        Column(name, in_full(frame[name].to_numpy(dtype=np.float64)), {"maxscore": ""})
        for name in ([] if brief else largest)
    ]
    empty = nobody_in(table)
    letters = [
        EMPTY if none and word == FIXED else _LETTERS[word]
        for word, none in zip(table.status.tolist(), empty, strict=True)
    ]
    made.append(Column("status", letters, {"status": ""}))
    for side in ("lower", "upper"):
        level = np.nan_to_num(numbers.get(f"{side}_protection", np.zeros(value.size)))
        made.append(Column(f"{side}_protection", in_full(level), {"numeric": "", f"{side}pl": ""}))
    return [*made, *_without_place(table)]


def _without_place(table: StoredTable) -> list[Column]:
    """What ARGUS has no column for, where there is some: without it, other levels would be audited."""
    found = []
    for name, word in (
        ("sliding_protection", "slidingpl"),
        ("lower_bound", "lowerbound"),
        ("upper_bound", "upperbound"),
    ):
        given = table.numbers.get(name, np.zeros(0))
        if np.isfinite(given).any() and (word != "slidingpl" or np.nan_to_num(given).any()):
            found.append(Column(name, in_full(given), {"numeric": "", word: ""}))
    return found


def _audited(table: StoredTable) -> list[Column]:
    """What an attacker finds of suppressed cells."""
    value = table.numbers["value"]
    low, high = (table.cells[name].to_numpy(dtype=np.float64) for name in ("low", "high"))
    hidden = np.isin(table.status, (SENSITIVE, SECONDARY))
    size = np.abs(value)
    ends = {"audit_low": low, "audit_high": high, "audit_width": high - low}
    shares = {"percent_below": value - low, "percent_above": high - value, "percent_width": high - low}
    made = [Column(name, in_full(np.where(hidden, one, 0.0))) for name, one in ends.items()]
    for name, one in shares.items():
        percent = np.divide(100.0 * one, size, out=np.zeros(size.size), where=hidden & (size > 0))
        made.append(Column(name, [f"{each:.2f}" for each in percent]))
    return made


def sbs_text(
    table: StoredTable, suppressed: npt.NDArray[np.bool_], *, levels: bool = False, quotes: bool = True
) -> str:
    """Cells with values, counts and reasons, for Eurostat: ``V`` published, ``A``, ``F``, ``D`` not.

    ``D`` is suppressed with the unsafe ones. An unsafe cell whose largest contributions are known is ``F``,
    with the share of the two largest in percent, another one ``A``. Cells in which nobody is are left out.

    Parameters
    ----------
    table : StoredTable
        With columns of codes.
    suppressed : ndarray of bool, shape (n,)
    levels : bool
        Whether how deep a code is in its tree stands behind it.
    quotes : bool
        Whether codes stand in quotes.
    """
    frame, value = table.cells, table.numbers["value"]
    depth = {
        tree.variable: tree.depths()
        for tree in table.trees
        if isinstance(tree, CodeTree) and len(tree.inner) > 1
    }
    counts = frame[RESPONDENTS].tolist() if RESPONDENTS in frame else [""] * len(table)
    digits, empty, mark = decimals_of(value), nobody_in(table), '"' if quotes else ""
    lines = []
    for at, codes in enumerate(table.codes.itertuples(index=False, name=None)):
        if empty[at]:
            continue
        cells = []
        for name, code in zip(table.by, codes, strict=True):
            depths = [str(depth.get(name, {}).get(code, 0))] if levels else []
            cells += [f"{mark}{code}{mark}", *depths]
        shares = [
            f"{100 * frame[name].iloc[at] / value[at]:.1f}"
            for name in ("largest_1", "largest_2")
            if name in frame and value[at]
        ]
        unsafe = bool(suppressed[at]) and table.status[at] == SENSITIVE
        word = "V" if not suppressed[at] else "D" if not unsafe else "F" if shares else "A"
        cells += [f"{value[at]:.{digits}f}", str(counts[at]), word, *(shares if word == "F" else [])]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"
