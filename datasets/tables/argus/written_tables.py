"""Tables written for ARGUS: safe files, cells with statuses and levels (.tab), SBS files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import METADATA, Metadata, Variable, metadata_text
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.microdata.numeric import decimals_of
from linkrisk.datasets.tables.argus.ready_tables import EMPTY, RESPONDENTS, tree_text
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.stored_table import (
    FIXED,
    SAFE,
    SECONDARY,
    SENSITIVE,
    StoredTable,
)

_PLAIN = re.compile(r"[^\s\"<;][^\s\";]*")
_UNFIT = re.compile(r"[^\w.-]+")
SEPARATOR = ";"


@dataclass(frozen=True)
class Column:
    """A column behind the codes: its name, the words of its metadata, and its cells as text."""

    name: str
    cells: Sequence[str]
    words: dict[str, str] = field(default_factory=lambda: {"numeric": ""})


def described_files(
    table: StoredTable,
    path: str | Path,
    columns: Sequence[Column],
    *,
    left_out: npt.NDArray[np.bool_] | None = None,
    quotes: bool = True,
) -> dict[Path, str]:
    """Write cells with their codes and some columns; metadata and trees lie beside them."""
    target = Path(path)
    trees = _trees(table, target)
    mark = '"' if quotes else ""
    variables, lists = [], {}
    for tree in trees:
        words = {"recodable": "", "totcode": tree.codes[0]}
        if len(tree.inner) > 1:
            name = f"{target.stem}_{_UNFIT.sub('_', tree.variable)}{TREE}"
            lists[target.with_name(name)] = tree_text(tree)
            words.update(hierarchical="", hiercodelist=name, hierleadstring="@")
        variables.append(Variable(tree.variable, 0, 0, (), words))
    variables += [Variable(one.name, 0, 0, (), one.words) for one in columns]
    rows = zip(
        *([f"{mark}{code}{mark}" for code in table.codes[tree.variable]] for tree in trees),
        *(one.cells for one in columns),
        strict=True,
    )
    gone = np.zeros(len(table), dtype=np.bool_) if left_out is None else left_out
    text = "".join(SEPARATOR.join(row) + "\n" for row, out in zip(rows, gone, strict=True) if not out)
    metadata = metadata_text(Metadata(tuple(variables), SEPARATOR), cells=True)
    return {target: text, target.with_suffix(METADATA): metadata, **lists}


def in_full(numbers: npt.NDArray[np.float64]) -> list[str]:
    """Write numbers with all their digits, missing ones empty."""
    return ["" if one != one else f"{one:.0f}" if one == int(one) else repr(one) for one in numbers.tolist()]


def _trees(table: StoredTable, path: Path) -> list[CodeTree]:
    trees = [tree for tree in table.trees if isinstance(tree, CodeTree)]
    if len(trees) != len(table.by) or not trees:
        raise DataError(
            f"{path}: cells of ARGUS have codes, each variable in one tree, and no other relations; write .jj"
        )
    for tree in trees:
        if _PLAIN.fullmatch(tree.variable) is None:
            raise DataError(
                f"{path}: {tree.variable!r} is no name in ARGUS: it has blanks or quotes; rename it"
            )
        for code in tree.codes:
            if '"' in code or SEPARATOR in code:
                raise DataError(
                    f"{path}: the code {code!r} has quotes or semicolons, which ARGUS cannot hold"
                )
    return trees


SUPPRESSED, NOBODY = "x", "-"
_SAFE_CODE, _SUPPRESSED_CODE, _EMPTY_CODE = "1", "3", "14"
"""Numbers of statuses in tau-ARGUS; that of a cell unsafe by a rule stands for all that are suppressed."""


def safe_cells(table: StoredTable, suppressed: BoolArray, nobody: BoolArray) -> list[str]:
    """Write each cell: its value, `SUPPRESSED`, or `NOBODY` where it is empty."""
    value = table.numbers["value"]
    digits = decimals_of(value[~suppressed])  # those of a suppressed one would say something of it
    return [
        SUPPRESSED if gone else NOBODY if empty else f"{one:.{digits}f}"
        for one, gone, empty in zip(value.tolist(), suppressed, nobody, strict=True)
    ]


def of_missing(table: StoredTable, suppressed: BoolArray, nobody: BoolArray) -> str:
    """Return the sign of a cell that the table does not have: `NOBODY`; 0 beside a published 0."""
    zero = (table.numbers["value"] == 0) & ~suppressed & ~nobody
    return "0" if zero.any() else NOBODY


def records(
    table: StoredTable,
    suppressed: BoolArray,
    nobody: BoolArray,
    *,
    heading: str | None = None,
    status: bool = False,
    without_empty: bool = False,
    quotes: bool = True,
) -> str:
    """Write a line for each cell: its codes and what is in it, as the formats 2 and 3 of tau-ARGUS."""
    _check_codes(table)
    lines = []
    if heading is not None:
        names = [*table.by, heading, *(["Status"] if status else [])]
        lines.append(",".join(_quoted(name, quotes) for name in names))
    shown = safe_cells(table, suppressed, nobody)
    for at, codes in enumerate(table.codes.itertuples(index=False, name=None)):
        if nobody[at] and without_empty:
            continue
        number = _SUPPRESSED_CODE if suppressed[at] else _EMPTY_CODE if nobody[at] else _SAFE_CODE
        cells = [*(_quoted(code, quotes) for code in codes), shown[at], *([number] if status else [])]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def matrix(table: StoredTable, suppressed: BoolArray, nobody: BoolArray, *, quotes: bool = True) -> str:
    """Write the last variable across and the one before it down, a block for each combination of the others.

    As the format 1 of tau-ARGUS; a cell that is not in the table is one without respondents (`of_missing`).
    """
    _check_codes(table)
    codes = list(table.codes.itertuples(index=False, name=None))
    shown = dict(zip(codes, safe_cells(table, suppressed, nobody), strict=True))
    across = list(dict.fromkeys(table.codes[table.by[-1]]))
    down = list(dict.fromkeys(code[-2:-1] for code in codes))
    missing = of_missing(table, suppressed, nobody)
    blocks = []
    for outer in dict.fromkeys(code[:-2] for code in codes):
        lines = [f"Var {at},{_quoted(code, quotes)}" for at, code in enumerate(outer, start=1)]
        lines.append("," + ",".join(_quoted(code, quotes) for code in across))
        for row in down:
            cells = [shown.get((*outer, *row, code), missing) for code in across]
            lines.append(",".join([_quoted(row[0], quotes) if row else "", *cells]))
        blocks.append("\n".join([*lines, "", ""]))
    return "".join(blocks)


def _quoted(text: str, quotes: bool) -> str:
    return f'"{text}"' if quotes else text


def _check_codes(table: StoredTable) -> None:
    if not table.by:
        raise DataError(f"{table.name} has no columns of codes; this format names cells by them")


_DIGITS = 9


def key_columns(shown: FloatArray, house: dict[str, FloatArray]) -> list[Column]:
    """Write values with noise, and columns that are never published: `original`, `difference`, `cell_key`."""
    digits = decimals_of(shown)
    value = Column(
        "value", [f"{one + 0.0:.{digits}f}" for one in shown], {"numeric": "", "decimals": str(digits)}
    )
    # Without the rounding errors of differences and of sums of keys, such as 0.9202729999998875.
    return [value, *(Column(name, in_full(one.round(_DIGITS))) for name, one in house.items())]


_LETTERS = {SAFE: "S", SENSITIVE: "U", SECONDARY: "M", FIXED: "P"}


def empty_cells(table: StoredTable) -> npt.NDArray[np.bool_]:
    """Find empty cells: without respondents, or always published and 0; shape (n,)."""
    if RESPONDENTS in table.cells.columns:
        return np.asarray(table.cells[RESPONDENTS].to_numpy(dtype=np.float64) == 0, dtype=np.bool_)
    return np.asarray((table.status == FIXED) & (table.numbers["value"] == 0), dtype=np.bool_)


def published_as_empty(table: StoredTable, suppressed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Find cells to be published as empty; none where a 0 is published in which there are respondents.

    Beside a 0, the sign of empty cells would say that there are respondents, who all have nothing.
    """
    empty, zero = empty_cells(table), (table.numbers["value"] == 0) & ~suppressed
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
    """Write cells with everything that is known of them, their metadata, and the hierarchies.

    A `brief` file has only values, counts, costs, statuses and levels. With `audit`, the columns `low` and
    `high` of suppressed cells are written with their width, and in percent of the value; 0 of others.
    """
    columns = [*_described(table, brief), *(_audited(table) if audit else [])]
    left_out = empty_cells(table) if without_empty else None
    return described_files(table, path, columns, left_out=left_out, quotes=quotes)


def _described(table: StoredTable, brief: bool) -> list[Column]:
    """Describe the columns behind the codes."""
    numbers, frame = table.numbers, table.cells
    value = numbers["value"]
    digits = decimals_of(value)
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
    empty = empty_cells(table)
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
    """Describe what ARGUS has no column for: without it, other levels would be audited."""
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
    """Describe the intervals of suppressed cells."""
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
    """Write cells with values, counts and reasons for Eurostat: ``V`` published, ``A``, ``F``, ``D`` not.

    ``D`` is suppressed with the unsafe ones. An unsafe cell whose largest contributions are known is ``F``,
    with the share of the two largest in percent, another one ``A``. Empty cells are left out. With `levels`,
    the depth of a code stands behind it.
    """
    frame, value = table.cells, table.numbers["value"]
    depth = {
        tree.variable: tree.depths()
        for tree in table.trees
        if isinstance(tree, CodeTree) and len(tree.inner) > 1
    }
    counts = frame[RESPONDENTS].tolist() if RESPONDENTS in frame else [""] * len(table)
    digits, empty, mark = decimals_of(value), empty_cells(table), '"' if quotes else ""
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
