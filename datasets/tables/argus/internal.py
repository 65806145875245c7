"""Tables of ARGUS for the house: cells with statuses and levels (.tab with .rda and .hrc), SBS files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import METADATA
from linkrisk.datasets.microdata.formats.argus_metadata import Metadata, Variable, metadata_text
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.tables.argus.ready_tables import EMPTY, RESPONDENTS
from linkrisk.datasets.tables.argus.safe_files import decimals_of
from linkrisk.datasets.tables.argus.trees import tree_text
from linkrisk.datasets.tables.cells_and_relations import (
    FIXED,
    SAFE,
    SECONDARY,
    SENSITIVE,
    StoredTable,
)
from linkrisk.datasets.tables.code_trees import CodeTree

_LETTERS = {SAFE: "S", SENSITIVE: "U", SECONDARY: "M", FIXED: "P"}
_PLAIN = re.compile(r"[^\s\"<;][^\s\";]*")
_UNFIT = re.compile(r"[^\w.-]+")


def nobody_in(table: StoredTable) -> npt.NDArray[np.bool_]:
    """Cells in which nobody is: without respondents, or always published and 0; shape (n,)."""
    if RESPONDENTS in table.cells.columns:
        return np.asarray(table.cells[RESPONDENTS].to_numpy(dtype=np.float64) == 0, dtype=np.bool_)
    return np.asarray((table.status == FIXED) & (table.numbers["value"] == 0), dtype=np.bool_)


def tab_files(table: StoredTable, path: str | Path, *, brief: bool = False) -> dict[Path, str]:
    """The cells with everything that is known of them, what the columns are, and the hierarchies.

    Parameters
    ----------
    table : StoredTable
        Whose relations follow from codes.
    path : path
        Of the cells; the others lie beside them.
    brief : bool
        Whether only values, counts, costs, statuses and levels are written.

    Raises
    ------
    DataError
        If its relations do not follow from codes, each variable in one tree.
    """
    target = Path(path)
    trees = _trees(table, target)
    columns = [_codes(table, tree) for tree in trees]
    variables, lists = [], {}
    for tree in trees:
        words = {"recodable": "", "totcode": tree.codes[0]}
        if len(tree.inner) > 1:
            name = f"{target.stem}_{_UNFIT.sub('_', tree.variable)}{TREE}"
            lists[target.with_name(name)] = tree_text(tree)
            words.update(hierarchical="", hiercodelist=name, hierleadstring="@")
        variables.append(Variable(tree.variable, 0, 0, (), words))
    for name, words, cells in _described(table, brief):
        variables.append(Variable(name, 0, 0, (), words))
        columns.append(cells)
    text = "".join(";".join(row) + "\n" for row in zip(*columns, strict=True))
    metadata = metadata_text(Metadata(tuple(variables), ";"), cells=True)
    return {target: text, target.with_suffix(METADATA): metadata, **lists}


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
            if '"' in code or ";" in code:
                raise DataError(
                    f"{path}: the code {code!r} has quotes or semicolons, which ARGUS cannot hold"
                )
    return trees


def _codes(table: StoredTable, tree: CodeTree) -> list[str]:
    return [f'"{code}"' for code in table.codes[tree.variable]]


def _described(table: StoredTable, brief: bool) -> list[tuple[str, dict[str, str], list[str]]]:
    """Each further column: its name, what it is, and its cells."""
    numbers, frame = table.numbers, table.cells
    value = numbers["value"]
    digits = max(decimals_of(value), 0)
    made: list[tuple[str, dict[str, str], list[str]]] = [
        ("value", {"numeric": "", "decimals": str(digits)}, _written(value))
    ]
    if RESPONDENTS in frame:
        made.append((RESPONDENTS, {"frequency": ""}, _written(frame[RESPONDENTS].to_numpy(dtype=np.float64))))
    if "shadow" in frame and not brief:
        shadow = frame["shadow"].to_numpy(dtype=np.float64)
        made.append(("shadow", {"numeric": "", "shadow": ""}, _written(shadow)))
    if "cost" in numbers:
        made.append(("cost", {"numeric": "", "cost": ""}, _written(numbers["cost"])))
    largest = [name for name in frame.columns if re.fullmatch(r"largest_\d+", name)]
    made += [
        (name, {"maxscore": ""}, _written(frame[name].to_numpy(dtype=np.float64)))
        for name in ([] if brief else largest)
    ]
    empty = nobody_in(table)
    letters = [
        EMPTY if none and word == FIXED else _LETTERS[word]
        for word, none in zip(table.status.tolist(), empty, strict=True)
    ]
    made.append(("status", {"status": ""}, letters))
    for side in ("lower", "upper"):
        level = np.nan_to_num(numbers.get(f"{side}_protection", np.zeros(value.size)))
        made.append((f"{side}_protection", {"numeric": "", f"{side}pl": ""}, _written(level)))
    return made


def _written(numbers: npt.NDArray[np.float64]) -> list[str]:
    """Numbers with all their digits, missing ones empty."""
    return ["" if one != one else f"{one:.0f}" if one == int(one) else repr(one) for one in numbers.tolist()]


def sbs_text(table: StoredTable, suppressed: npt.NDArray[np.bool_], *, levels: bool = False) -> str:
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
    """
    frame, value = table.cells, table.numbers["value"]
    depth = {
        tree.variable: tree.depths()
        for tree in table.trees
        if isinstance(tree, CodeTree) and len(tree.inner) > 1
    }
    counts = frame[RESPONDENTS].tolist() if RESPONDENTS in frame else [""] * len(table)
    digits, empty = decimals_of(value), nobody_in(table)
    lines = []
    for at, codes in enumerate(table.codes.itertuples(index=False, name=None)):
        if empty[at]:
            continue
        cells = []
        for name, code in zip(table.by, codes, strict=True):
            cells += [f'"{code}"', *([str(depth.get(name, {}).get(code, 0))] if levels else [])]
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
