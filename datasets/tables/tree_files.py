"""Files of hierarchies: codes with their parents, trees of ARGUS (.hrc), tables with columns of levels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.microdata.hierarchy_trees import DEEPER, tree_lines
from linkrisk.datasets.microdata.tables import load_table

TreeSource = str | Path | pd.DataFrame
"""A hierarchy as a file, or as a frame (pandas; of another library, if it has `to_pandas`)."""

_PAIRS = ("code", "parent")


def parents_in(source: TreeSource, total: str, deeper: str = DEEPER, *, name: str = "") -> dict[str, str]:
    """The parent of each code of a hierarchy.

    Parameters
    ----------
    source : path or frame
        A tree of ARGUS (.hrc); or a table with the columns `code` and `parent`; or one with a column for each
        level, where a code that stands in two neighbouring columns is one.
    total : str
        The parent of those at the top.
    deeper : str
        What stands before a code in a tree of ARGUS once for each level down.
    name : str
        What to call a frame in messages.

    Raises
    ------
    DataError
        If it cannot be read, or a code stands twice.
    """
    if isinstance(source, str | Path) and Path(source).suffix.lower() == TREE:
        return _of_lines(tree_lines(source, deeper), total)
    table = load_table(source, name, text_columns=_PAIRS)
    if not set(_PAIRS).isdisjoint(table.columns):
        return _of_pairs(table.frame, total, table.source)
    table = load_table(source, name, text_columns=table.columns)
    return _of_levels(table.frame, total, table.source)


def _of_lines(lines: Sequence[tuple[int, str]], total: str) -> dict[str, str]:
    above, parents = [total], {}
    for depth, code in lines:
        if code != total:  # some trees of ARGUS name the total, which is there in any case
            parents[code] = above[depth]
        above[depth + 1 :] = [code]
    return parents


def _of_pairs(frame: pd.DataFrame, total: str, path: str) -> dict[str, str]:
    missing = next((name for name in _PAIRS if name not in frame.columns), None)
    if missing is not None:
        raise DataError(f"{path} has no column {missing!r}; there are: {', '.join(frame.columns)}")
    parents: dict[str, str] = {}
    for row, (code, parent) in enumerate(zip(frame["code"], frame["parent"], strict=True), start=1):
        if pd.isna(code) or pd.isna(parent):
            raise DataError(f"{path}, row {row}: a code or its parent is empty")
        word = spelled(code)
        if word in parents or word == total:
            raise DataError(f"{path}, row {row}: the code {word!r} stands twice; a code has one parent")
        parents[word] = spelled(parent)
    return parents


def _of_levels(frame: pd.DataFrame, total: str, path: str) -> dict[str, str]:
    """Of a column for each level, the coarsest first or last."""
    sizes = [frame[name].nunique() for name in frame.columns]
    names = list(frame.columns) if sizes == sorted(sizes) else list(frame.columns)[::-1]
    parents: dict[str, str] = {}
    for row, cells in enumerate(frame[names].itertuples(index=False), start=1):
        chain = [total]
        for cell in cells:
            if pd.isna(cell):
                raise DataError(f"{path}, row {row}: a code is empty; repeat the one above it")
            code = spelled(cell)
            if code == chain[-1] or code == total:
                continue
            if parents.setdefault(code, chain[-1]) != chain[-1]:
                raise DataError(
                    f"{path}, row {row}: the code {code!r} is below {parents[code]!r} and below "
                    f"{chain[-1]!r}; a code has one parent"
                )
            chain.append(code)
    return parents
