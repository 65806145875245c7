"""Files of hierarchies: codes with their parents, trees of ARGUS (.hrc), tables with columns of levels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.delimited import plain_rows
from linkrisk.datasets.microdata.formats.registry import DELIMITED, check_readable
from linkrisk.datasets.microdata.hierarchies import TREE, is_row
from linkrisk.datasets.microdata.hierarchy_trees import DEEPER, tree_lines
from linkrisk.datasets.microdata.tables import load_table

TreeSource = str | Path | pd.DataFrame
"""A hierarchy as a file, or as a frame (pandas; of another library, if it has `to_pandas`)."""

_PAIRS = ("code", "parent")

TOP = "*"
"""What stands for all codes together in files of levels, as in mu-ARGUS and sdcMicro."""


def parents_in(source: TreeSource, total: str, deeper: str = DEEPER, *, name: str = "") -> dict[str, str]:
    """The parent of each code of a hierarchy.

    Parameters
    ----------
    source : path or frame
        A tree of ARGUS (.hrc); or a table with the columns `code` and `parent`; or one with a column for each
        level, where a code that stands in two neighbouring columns is one, and ``*`` is the total. A text
        file whose first line has a cell of another one has no header; its two columns are codes and parents
        where all that stands in the second one is a code, or the total.
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
    if isinstance(source, str | Path) and (bare := _without_header(Path(source))) is not None:
        parent = {*bare.iloc[:, -1]} - {*bare.iloc[:, 0], total, TOP}
        if bare.shape[1] == len(_PAIRS) and not parent:
            return _of_pairs(bare.set_axis(list(_PAIRS), axis=1), total, str(source))
        return _of_levels(bare, total, str(source))
    table = load_table(source, name, text_columns=_PAIRS)
    if "parent" in table.columns or len(table.columns) == 1:
        return _of_pairs(table.frame, total, table.source)
    table = load_table(source, name, text_columns=table.columns)
    return _of_levels(table.frame, total, table.source)


def _without_header(path: Path) -> pd.DataFrame | None:
    """A text file whose first line is one like the others; None where it is a header."""
    if path.suffix.lower() not in DELIMITED.suffixes or not path.is_file():
        return None
    check_readable(path)
    first, *others = plain_rows(path)
    rows = [tuple(row) for row in others]
    if set(first) & set(_PAIRS) or not rows or not is_row(first, rows, -1):
        return None
    return pd.DataFrame([tuple(first), *rows]).replace("", pd.NA)


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
        if word == TOP:
            continue
        if word in parents or word == total:
            raise DataError(f"{path}, row {row}: the code {word!r} stands twice; a code has one parent")
        parents[word] = total if spelled(parent) == TOP else spelled(parent)
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
            if code in (chain[-1], total, TOP):
                continue
            if parents.setdefault(code, chain[-1]) != chain[-1]:
                raise DataError(
                    f"{path}, row {row}: the code {code!r} is below {parents[code]!r} and below "
                    f"{chain[-1]!r}; a code has one parent"
                )
            chain.append(code)
    return parents
