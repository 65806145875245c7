"""Relations that follow from codes: each is the sum of those right below it, for all codes of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.tables.code_trees import TOTAL, Codes, CodeTree, Hierarchies, codes_of
from linkrisk.errors import called

ABSENT = -1
"""The number of a cell that a table does not have."""


def product_terms(number: LongArray, trees: Sequence[Codes]) -> pd.DataFrame:
    """The relations of a table with a cell for each combination of codes.

    Parameters
    ----------
    number : ndarray of int64, one axis for each tree
        Of each cell; `ABSENT` where there is none: it counts as a cell of 0, and without its sum or without
        any of its parts there is no relation.
    trees : sequence of Codes

    Returns
    -------
    DataFrame
        `relation`, `cell`, `coefficient`: a line for each term.
    """
    parts, count = [], 0
    for axis, tree in enumerate(trees):
        for line in tree.inner:
            cells = np.moveaxis(np.take(number, line, axis=axis), axis, -1).reshape(-1, line.size)
            cells = cells[(cells[:, 0] != ABSENT) & (cells[:, 1:] != ABSENT).any(axis=1)]
            relation = np.repeat(np.arange(count, count + len(cells)), line.size)
            sign = np.tile([-1, *[1] * (line.size - 1)], len(cells))
            terms = np.column_stack([relation, cells.ravel(), sign])
            parts.append(terms[terms[:, 1] != ABSENT])
            count += len(cells)
    whole = np.concatenate(parts) if parts else np.empty((0, 3), dtype=np.int64)
    return pd.DataFrame(whole, columns=["relation", "cell", "coefficient"])


def trees_of_cells(
    frame: pd.DataFrame,
    by: Sequence[str],
    hierarchies: Mapping[str, Hierarchies],
    totals: Mapping[str, str],
    source: str,
) -> list[Codes]:
    """The codes of each variable of a ready table: of its hierarchy, or all below its total.

    Raises
    ------
    DataError
        If a hierarchy is of no column, cannot be read, or a column has no total.
    """
    for name in (*hierarchies, *totals):
        if name not in by:
            raise DataError(f"{source}: {name!r} is no column of codes; these are {', '.join(by)}")
    trees: list[Codes] = []
    for name in by:
        total = totals.get(name, TOTAL)
        codes = frame[name].map(spelled, na_action="ignore").dropna().unique()
        if total not in codes:
            near = [one for one in codes if one.strip().casefold() == total.strip().casefold()]
            raise DataError(
                f"{source}, column {name!r}: no cell has the code {total!r} of the total; say which code is "
                f"the total of {name!r} ({called('totals', {name: near[0] if near else 'CODE'})})",
                option="totals",
            )
        if name in hierarchies:
            trees.append(codes_of(name, hierarchies[name], total))
        else:
            trees.append(CodeTree.flat(name, codes, total))
    return trees


def relations_of_cells(frame: pd.DataFrame, trees: Sequence[Codes], source: str) -> pd.DataFrame:
    """The relations between the cells of a ready table (see `product_terms`).

    Raises
    ------
    DataError
        If a code is in no hierarchy, or two cells have the same codes.
    """
    sizes = [len(tree.codes) for tree in trees]
    flat = np.zeros(len(frame), dtype=np.int64)
    for tree, size in zip(trees, sizes, strict=True):
        flat = flat * size + positions(frame[tree.variable], tree, source)
    twins = pd.Series(flat).duplicated().to_numpy()
    if twins.any():
        row = int(np.argmax(twins))
        first = int(np.argmax(flat == flat[row]))
        shown = ", ".join(f"{tree.variable}={spelled(frame[tree.variable].iloc[row])}" for tree in trees)
        raise DataError(f"{source}, row {row + 1}: the cell {shown} stands in row {first + 1} already")
    number = np.full(int(np.prod(sizes)), ABSENT, dtype=np.int64)
    number[flat] = np.arange(len(frame))
    return product_terms(number.reshape(sizes), trees)


def positions(column: pd.Series, tree: Codes, source: str) -> LongArray:
    """The position of each code of a column among those of its tree.

    Raises
    ------
    DataError
        If one is missing, or not in the tree.
    """
    at = {code: position for position, code in enumerate(tree.codes)}
    texts = column.map(spelled, na_action="ignore")
    found = texts.map(at)
    wrong = found.isna().to_numpy(dtype=bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        code = texts.iloc[row]
        what = f"{code!r} is in no hierarchy of {tree.variable!r}; correct it, or the hierarchy"
        if texts.isna().iloc[row]:
            what = "the code is missing; fill it in"
        raise DataError(f"{source}, column {column.name!r}, row {row + 1}: {what}")
    return np.asarray(found.to_numpy(), dtype=np.int64)
