"""Cells of ARGUS with what describes them: a line for each cell, its .rda, and the trees of its codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import METADATA
from linkrisk.datasets.microdata.formats.argus_metadata import Metadata, Variable, metadata_text
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.tables.argus.trees import tree_text
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.datasets.tables.code_trees import CodeTree

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
    """The cells with their codes and some columns; metadata and trees lie beside them.

    Parameters
    ----------
    table : StoredTable
        Whose relations follow from codes.
    path : path
        Of the cells.
    columns : sequence of Column
    left_out : ndarray of bool, shape (n,), optional
        Cells that are not written.
    quotes : bool
        Whether codes stand in quotes.

    Raises
    ------
    DataError
        If its relations do not follow from codes, each variable in one tree.
    """
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
    """Numbers with all their digits, missing ones empty."""
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
