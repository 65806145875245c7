"""What people have decided on pairs left for clerical review, read back from the file that listed these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.pairs.cells import id_text
from linkrisk.errors import called
from linkrisk.solver.linkage.probabilistic.decisions import Reviewed

SIDES = ("original", "masked")
"""The columns with the labels of the records."""

DECISION = "decision"
"""The column with the decision: one of the two words, or nothing where it is still open."""

WEIGHT = "weight"
"""The column with the match weight of each pair."""

LINK, NON_LINK = "link", "non-link"


def read_decisions(
    table: Any, labels: tuple[Sequence[str], Sequence[str]], *, reverse: bool
) -> Reviewed | None:
    """Read decisions: a row for each pair, with the labels of its records and what it is.

    Parameters
    ----------
    table : path or frame
        With the columns of `SIDES` and `DECISION`; others are not looked at.
    labels : pair of sequence of str
        What the queries and the candidates are called.
    reverse : bool
        Whether the queries are the masked records.

    Returns
    -------
    Reviewed or None
        None where no decision has been made yet.

    Raises
    ------
    DataError
        If a column is missing, a record is unknown, a word is neither of the two, or one pair has both.
    """
    loaded = load_table(table, "decisions", (*SIDES, DECISION))
    for name in (*SIDES, DECISION):
        if name not in loaded.columns:
            raise DataError(
                f"{loaded.source} has no column {name!r}; decisions need the columns "
                f"{', '.join((*SIDES, DECISION))}, as {called('clerical')} writes them",
                option="decisions",
            )
    frame = loaded.frame
    word = _words(loaded)
    made = np.flatnonzero((word != "").to_numpy())
    if not made.size:
        return None
    rows: list[IndexArray] = []
    for name in reversed(SIDES) if reverse else SIDES:
        side = labels[len(rows)]
        place = pd.Index(side).get_indexer(pd.Index([_text(cell) for cell in frame[name].iloc[made]]))
        if (place < 0).any():
            row = int(made[np.argmax(place < 0)])
            raise DataError(
                f"{loaded.source}, row {row + 1}: {_text(frame[name].iloc[row])!r} is no record of the "
                f"{name} file; use the labels that {called('clerical')} writes",
                option="decisions",
            )
        rows.append(place.astype(np.intp))
    link = (word.iloc[made] == LINK).to_numpy()
    return _once(loaded.source, made, Reviewed(rows[0], rows[1], link))


def read_checked_links(table: Any) -> tuple[FloatArray, BoolArray]:
    """Weights of the links that people have decided on, and whether each was found to be right.

    Parameters
    ----------
    table : path or frame
        With the columns ``weight`` and `DECISION`, as ``link --clerical`` writes them; others are not looked
        at. Rows whose decision is still open are left out.

    Raises
    ------
    DataError
        If a column is missing, a word is neither of the two, or a weight is no finite number.
    """
    loaded = load_table(table, "decisions", (DECISION,))
    for name in (WEIGHT, DECISION):
        if name not in loaded.columns:
            raise DataError(
                f"{loaded.source} has no column {name!r}; checked links need the columns {WEIGHT} and "
                f"{DECISION}, as {called('clerical')} writes them",
                option="decisions",
            )
    word = _words(loaded)
    made = (word != "").to_numpy()
    weight = pd.to_numeric(loaded.frame[WEIGHT], errors="coerce").to_numpy(dtype=np.float64)
    wrong = made & ~np.isfinite(weight)
    if wrong.any():
        row = int(np.argmax(wrong))
        cell = str(loaded.frame[WEIGHT].iloc[row])
        raise DataError(f"{loaded.source}, row {row + 1}: the weight {cell!r} is no finite number; fix it")
    return weight[made], (word[made] == LINK).to_numpy(dtype=np.bool_)


def _words(loaded: Table) -> pd.Series:
    """The decisions, empty where they are open; a DataError where one is no word of the two."""
    cells = loaded.frame[DECISION]
    word = cells.map(lambda cell: "" if pd.isna(cell) else str(cell).strip().lower())
    wrong = ~word.isin(["", LINK, NON_LINK]).to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{loaded.source}, row {row + 1}: the decision {str(cells.iloc[row])!r} is neither "
            f"'{LINK}' nor '{NON_LINK}'; write one of them, or nothing where it is open"
        )
    return word


def _text(cell: Any) -> str:
    return "" if pd.isna(cell) else str(id_text(cell))


def _once(source: str, made: IndexArray, reviewed: Reviewed) -> Reviewed:
    """The decisions with every pair once; a DataError where a pair has both."""
    table = pd.DataFrame({"query": reviewed.query, "candidate": reviewed.candidate, "link": reviewed.link})
    twice = table.drop_duplicates().duplicated(["query", "candidate"]).to_numpy()
    table = table.drop_duplicates()
    if twice.any():
        row = int(made[table.index[int(np.argmax(twice))]])
        raise DataError(
            f"{source}, row {row + 1}: the pair was decided otherwise in a row before; leave one of the "
            "two out"
        )
    return Reviewed(*(table[name].to_numpy() for name in ("query", "candidate", "link")))
