"""Tables from microdata: every cell of some explanatory variables, with its largest contributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.tables.code_trees import Codes
from linkrisk.datasets.tables.relations_of_codes import product_terms

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MOST_CELLS = 5_000_000


@dataclass(frozen=True, eq=False)
class Tabulated:
    """A table of microdata.

    Attributes
    ----------
    trees : tuple of Codes
        Of the explanatory variables.
    total : ndarray of float64, shape (n,)
        Of all combinations of codes, the last variable running fastest.
    largest : ndarray of float64, shape (n, w)
    respondents : ndarray of int64, shape (n,)
    """

    trees: tuple[Codes, ...]
    total: FloatArray
    largest: FloatArray
    respondents: IntArray

    def codes(self) -> pd.DataFrame:
        """The codes of each cell, a column for each variable."""
        lines = product(*(tree.codes for tree in self.trees))
        return pd.DataFrame(lines, columns=[tree.variable for tree in self.trees])

    def terms(self) -> pd.DataFrame:
        """The relations: a code is the sum of those right below it, for all codes of the other variables."""
        number = np.arange(self.total.size).reshape([len(tree.codes) for tree in self.trees])
        return product_terms(number, self.trees)


def tabulate(
    frame: pd.DataFrame,
    trees: Sequence[Codes],
    response: str | None,
    width: int,
    *,
    holding: str | None = None,
    source: str = "the table",
) -> Tabulated:
    """Make a table.

    Parameters
    ----------
    frame : DataFrame
        A record for each respondent; the columns of the trees as text.
    trees : sequence of Codes
    response : str, optional
        What is summed; a count of records where absent.
    width : int
        How many of the largest contributions are kept.
    holding : str, optional
        Column of who a respondent belongs to: contributions of a cell are those of holdings.
    source : str
        What to call the records in messages.

    Raises
    ------
    DataError
        If a code is in no tree, a contribution is negative, one is missing, or there are too many cells.
    """
    sizes = [len(tree.codes) for tree in trees]
    cells = int(np.prod(sizes))
    if cells > MOST_CELLS:
        raise DataError(
            f"{source}: a table of {cells:,} cells is too large; leave a variable out, or recode it"
        )
    amount = np.ones(len(frame)) if response is None else numeric_matrix(frame, [response], source)[:, 0]
    if (amount < 0).any():
        row = int(np.argmax(amount < 0)) + 1
        raise DataError(f"{source}, column {response!r}, row {row}: a contribution is negative; leave it out")
    cell, record = _memberships(frame, trees, source)
    holder = np.arange(len(frame), dtype=np.int64) if holding is None else _holders(frame, holding, source)
    each = pd.DataFrame({"cell": cell, "holder": holder[record], "amount": amount[record]})
    joined = each.groupby(["cell", "holder"], sort=False)["amount"].sum().reset_index()
    total = np.bincount(joined["cell"], joined["amount"], cells).astype(np.float64)
    respondents = np.bincount(joined["cell"], minlength=cells)
    return Tabulated(tuple(trees), total, _largest(joined, cells, width), respondents.astype(np.int64))


def _largest(joined: pd.DataFrame, cells: int, width: int) -> FloatArray:
    ordered = joined.sort_values(["cell", "amount"], ascending=[True, False], kind="stable")
    cell, amount = ordered["cell"].to_numpy(), ordered["amount"].to_numpy(dtype=np.float64)
    rank = np.arange(len(cell)) - np.searchsorted(cell, cell)
    kept = rank < width
    found = np.zeros((cells, width))
    found[cell[kept], rank[kept]] = amount[kept]
    return found


def _holders(frame: pd.DataFrame, holding: str, source: str) -> IntArray:
    numbers = pd.factorize(frame[holding])[0]
    if (numbers < 0).any():
        row = int(np.argmax(numbers < 0)) + 1
        raise DataError(f"{source}, column {holding!r}, row {row}: no holding; give each respondent one")
    return numbers.astype(np.int64)


def _memberships(frame: pd.DataFrame, trees: Sequence[Codes], source: str) -> tuple[IntArray, IntArray]:
    """Every cell that each record belongs to: the cell, and the record."""
    cell, record = np.zeros(len(frame), dtype=np.int64), np.arange(len(frame), dtype=np.int64)
    for tree in trees:
        leaf = _positions(frame[tree.variable], tree, source)
        above = tree.above()
        codes, members = np.nonzero(above.T)  # by code, who belongs to it
        order = np.argsort(members, kind="stable")
        codes, starts = codes[order], np.append(0, np.cumsum(above.sum(axis=1)))
        many = above.sum(axis=1)[leaf[record]]
        step = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        mine = codes[np.repeat(starts[leaf[record]], many) + step].astype(np.int64)
        cell = np.repeat(cell, many) * len(tree.codes) + mine
        record = np.repeat(record, many)
    return cell, record


def _positions(column: pd.Series, tree: Codes, source: str) -> IntArray:
    parts = {int(line[0]) for line in tree.inner}
    at = {code: position for position, code in enumerate(tree.codes) if position not in parts}
    texts = column.map(spelled, na_action="ignore")
    found = texts.map(at)
    wrong = found.isna().to_numpy(dtype=bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        code = texts.iloc[row]
        inner = code in tree.codes
        known = "has codes below it; a record has one of those" if inner else "is no code of its tree"
        what = "is missing" if pd.isna(code) else f"{code!r} {known}"
        raise DataError(f"{source}, column {column.name!r}, row {row + 1}: {what}; correct it, or the tree")
    return np.asarray(found.to_numpy(), dtype=np.int64)
