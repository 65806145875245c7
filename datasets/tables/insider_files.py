"""Files that say who knows what: contributions, coalitions, and what insiders know of cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.tables.numbers import numbers_of

Source = str | Path | pd.DataFrame


def read_contributions(source: Source, cells: int) -> pd.DataFrame:
    """Read who contributes how much to each cell: `cell` (from 0), `contributor`, `amount`.

    Raises
    ------
    DataError
        If it cannot be read, or a line is none.
    """
    frame, name = _read(source, ["contributor"], ["cell", "contributor", "amount"], "the contributions")
    amount = numbers_of(frame, ["amount"], name)[:, 0]
    who = _names(frame, "contributor", name)
    made = pd.DataFrame({"cell": _cells(frame, name, cells), "contributor": who, "amount": amount})
    twice = made.duplicated(["cell", "contributor"]).to_numpy(dtype=bool)
    if twice.any():
        row = int(np.argmax(twice))
        raise DataError(
            f"{name}, row {row + 1}: {who.iloc[row]} stands twice in cell {made['cell'].iloc[row]}; add its "
            "amounts"
        )
    return made


def read_coalitions(source: Source) -> dict[str, list[str]]:
    """Read who tells one another everything: `coalition`, `contributor`; the members of each.

    Raises
    ------
    DataError
        If it cannot be read, or a name is empty.
    """
    columns = ["coalition", "contributor"]
    frame, name = _read(source, columns, columns, "the coalitions")
    coalition, who = (_names(frame, column, name) for column in columns)
    found: dict[str, list[str]] = {}
    for group, member in zip(coalition, who, strict=True):
        found.setdefault(group, []).append(member)
    return found


def read_insiders(source: Source, cells: int) -> pd.DataFrame:
    """Read what insiders know: `insider`, `cell` (from 0), `lower`, `upper`; empty where they know no end.

    Several lines of an insider about one cell hold together, and come back as one.

    Raises
    ------
    DataError
        If it cannot be read, or a line is none.
    """
    frame, name = _read(source, ["insider"], ["insider", "cell", "lower", "upper"], "the insiders")
    ends = numbers_of(frame, ["lower", "upper"], name, allow_missing=True)
    lower = np.where(np.isnan(ends[:, 0]), -np.inf, ends[:, 0])
    upper = np.where(np.isnan(ends[:, 1]), np.inf, ends[:, 1])
    if (lower > upper).any():
        row = int(np.argmax(lower > upper))
        raise DataError(
            f"{name}, row {row + 1}: the lower end {lower[row]:g} is above the upper {upper[row]:g}"
        )
    made = pd.DataFrame(
        {
            "insider": _names(frame, "insider", name),
            "cell": _cells(frame, name, cells),
            "lower": lower,
            "upper": upper,
        }
    )
    each = made.groupby(["insider", "cell"], sort=False)
    joined = each.agg(lower=("lower", "max"), upper=("upper", "min")).reset_index()
    if (joined["lower"] > joined["upper"]).any():
        one = joined.loc[joined["lower"] > joined["upper"]].iloc[0]
        raise DataError(
            f"{name}: what {one['insider']} knows of cell {one['cell']} leaves nothing: at least "
            f"{one['lower']:g}, and at most {one['upper']:g}"
        )
    return joined


def _read(source: Source, text: list[str], columns: list[str], what: str) -> tuple[pd.DataFrame, str]:
    table = load_table(source, what, text_columns=text)
    check_known(columns, table.columns, table.source, what="column")
    return table.frame, table.source


def _names(frame: pd.DataFrame, column: str, name: str) -> pd.Series:
    missing = frame[column].isna().to_numpy(dtype=bool)
    if missing.any():
        raise DataError(f"{name}, row {int(np.argmax(missing)) + 1}, column {column!r}: it is empty")
    number, names = pd.factorize(frame[column])
    return pd.Series([spelled(one) for one in names], dtype=object).take(number).set_axis(frame.index)


def _cells(frame: pd.DataFrame, name: str, cells: int) -> npt.NDArray[np.int64]:
    found = numbers_of(frame, ["cell"], name)[:, 0]
    wrong = (found != np.floor(found)) | (found < 0) | (found >= cells)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{name}, row {row + 1}, column 'cell': {found[row]:g} is no cell; they are 0 to {cells - 1}"
        )
    return found.astype(np.int64)
