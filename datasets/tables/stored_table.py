"""A table as it is stored: cells, relations, statuses, levels; read from one line for each cell and term."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.local_suppression import without_values
from linkrisk.datasets.microdata.names import Labels
from linkrisk.datasets.microdata.numeric import check_known, numeric_matrix
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.tables.code_trees import Codes
from linkrisk.datasets.tables.public_bounds import are_counts, usual_bounds
from linkrisk.errors import called

NUMBERS = (
    *("value", "cost", "lower_bound", "upper_bound"),
    *("lower_protection", "upper_protection", "sliding_protection", "threshold"),
)
"""Columns of numbers that mean something; `value` is needed."""

STATUS = "status"
CELL = "cell"
BESIDE = "respondents_published"
"""Numbers of respondents that are published beside the values (`beside.split_beside`)."""

OWN = frozenset(
    (
        *NUMBERS,
        *(STATUS, CELL, BESIDE, "respondents", "respondents_low", "respondents_high", "shadow"),
        *("low", "high", "narrowest_low", "narrowest_high", "narrowest_of", "relation"),
        *("rounded", "adjusted", "perturbed", "noise", "cell_key", "weighted", "perturbed_weighted"),
        *("sensitive", "published"),
    )
)
"""Columns that some file of a table has beside its codes."""

_NUMBERED = re.compile(r"largest_\d+")


def is_own(name: str) -> bool:
    """Tell whether a file of a table may have a column of this name that holds no codes."""
    return name in OWN or _NUMBERED.fullmatch(name) is not None


def names_of_codes(variables: Sequence[str], others: Iterable[str] = ()) -> dict[str, str]:
    """Name the column of codes of each variable: the variable, or e.g. `status_code`; `others` are taken."""
    taken, found = {*variables, *others}, {}
    for variable in variables:
        name = variable
        while is_own(name) or (name != variable and name in taken):
            name += "_code"
        found[variable] = name
        taken.add(name)
    return found


def numbers_of(
    frame: pd.DataFrame, columns: Sequence[str], source: str, *, allow_missing: bool = False
) -> npt.NDArray[np.float64]:
    """Read columns of numbers, shape (n, a); a message names column and row (`numeric_matrix`)."""
    return numeric_matrix(frame, columns, source, allow_missing=allow_missing, otherwise="")


def as_written(value: FloatArray) -> npt.NDArray[Any]:
    """Values as a column of a file: whole numbers, where all are."""
    whole = np.rint(value)
    return whole.astype(np.int64) if (value == whole).all() else value


def refuse_rows(
    wrong: BoolArray, where: str, why: str | Callable[[int], str], column: str | None = None
) -> None:
    """Refuse rows that are wrong, naming the first one, from 1; what `why` says may depend on it, from 0."""
    if wrong.any():
        row = int(np.argmax(wrong))
        within = "" if column is None else f", column {column!r}"
        raise DataError(f"{where}, row {row + 1}{within}: {why if isinstance(why, str) else why(row)}")


def joined_terms(
    relation: FloatArray, cell: LongArray, coefficient: FloatArray
) -> tuple[FloatArray, LongArray, FloatArray]:
    """Add up terms of the same cell in a relation, and leave out those with a coefficient of 0.

    A cell with a coefficient of 0 is in no relation: what counts the unknown cells of relations must not see
    it, or it would give away what nobody can compute.
    """
    order = np.lexsort((cell, relation))
    again = (np.diff(relation[order]) == 0) & (np.diff(cell[order]) == 0)
    made, kept = coefficient.copy(), np.ones(cell.size, dtype=np.bool_)
    for at in np.flatnonzero(again).tolist():  # the first of a run collects what comes after it
        first, later = order[at], order[at + 1]
        made[later] = float(_decimal(made[first]) + _decimal(made[later]))
        kept[first] = False
    kept &= made != 0
    return relation[kept], cell[kept], made[kept]


def distinct_relations(relations: Iterable[tuple[tuple[int, float], ...]]) -> pd.DataFrame:
    """List the terms of relations, cell and coefficient of each; equal relations once."""
    lines = [(number, *term) for number, terms in enumerate(dict.fromkeys(relations)) for term in terms]
    return pd.DataFrame(lines, columns=["relation", "cell", "coefficient"])


def _decimal(number: float) -> Fraction:
    """Return the shortest decimal of a float as a fraction: 0.1 + 0.2 - 0.3 is 0."""
    return Fraction(repr(float(number)))


SENSITIVE, SECONDARY, SAFE, FIXED = "u", "m", "s", "z"
STATUSES = (SENSITIVE, SECONDARY, SAFE, FIXED)

_SHOWN = 8
"""How many terms of a relation a message names."""


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table with all that its files say of it.

    Attributes
    ----------
    cells : DataFrame
        All columns of the file of cells, n rows.
    numbers : dict of str to ndarray of float64, shape (n,)
        Those of `NUMBERS` that are there; NaN where one is empty.
    status : ndarray of str, shape (n,)
        ``u`` sensitive, ``m`` suppressed with them, ``s`` safe, ``z`` always published.
    relation, cell : ndarray of int64, shape (k,)
        Of each term: its relation and its cell, both from 0.
    coefficient : ndarray of float64, shape (k,)
    name : str
        Of the file of cells, for messages.
    by : tuple of str
        Columns of codes, which say which cell it is; empty where there are none.
    trees : tuple of Codes
        Of these columns, where the relations follow from codes; empty where that is not known.
    rules : tuple of str
        That have said which cells are sensitive, for reports; empty where that is not known.
    counts : bool or None
        Whether the values are counts; None where nobody says it (see `counting`).
    labels : Labels
        What columns of codes and their codes mean, for reports.
    dataflow : str
        What SDMX calls it, ``AGENCY:ID(VERSION)``; empty where that is not known.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> stored = linkrisk.open_table(table)
    >>> stored.by, stored.status.tolist()[:2]
    (('region', 'size'), ['s', 's'])
    """

    cells: pd.DataFrame
    numbers: dict[str, FloatArray]
    status: npt.NDArray[np.str_]
    relation: LongArray
    cell: LongArray
    coefficient: FloatArray
    name: str
    by: tuple[str, ...] = ()
    trees: tuple[Codes, ...] = ()
    rules: tuple[str, ...] = ()
    counts: bool | None = None
    labels: Labels = field(default_factory=dict)
    dataflow: str = ""

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def codes(self) -> pd.DataFrame:
        """Columns of codes as text, n rows."""
        return pd.DataFrame({name: self.cells[name].map(spelled) for name in self.by}, index=self.cells.index)

    @property
    def relations(self) -> pd.DataFrame:
        """A line for each term: `relation`, `cell`, `coefficient`."""
        return pd.DataFrame({"relation": self.relation, "cell": self.cell, "coefficient": self.coefficient})

    @cached_property
    def guessed(self) -> bool | None:
        """Whether the values are counts, as guessed by `are_counts`."""
        return are_counts(self.cells, self.numbers, self.status)

    @property
    def counting(self) -> bool:
        """Whether the values are counts, as declared or guessed."""
        return bool(self.guessed if self.counts is None else self.counts)

    def terms_by_relation(self) -> list[LongArray]:
        """List where the terms of each relation stand."""
        order = np.argsort(self.relation, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.relation[order])) + 1) if order.size else []

    def usual_bounds(self) -> tuple[float, float]:
        """Return the public bounds of cells without bounds of their own (`usual_bounds`)."""
        return usual_bounds(self.numbers, self.status == SENSITIVE)

    def title(self, cell: int) -> str:
        """Name a cell in messages by its codes, or its number."""
        if not self.by:
            return f"cell {cell}"
        return ", ".join(f"{name}={self.codes[name].iloc[cell]}" for name in self.by)

    def named(self, cell: int) -> str:
        """Name a cell by its number and codes: ``cell 4 (region=N, size=a)``."""
        return f"cell {cell} ({self.title(cell)})" if self.by else f"cell {cell}"

    def describe(self, relation: int) -> str:
        """Describe a relation in messages: ``relation 3 (region/size: Total/big = N/big + S/big)``."""
        at = np.flatnonzero(self.relation == relation)
        order = at[np.argsort(self.coefficient[at], kind="stable")]
        shown = [self._term(float(self.coefficient[one]), int(self.cell[one])) for one in order[:_SHOWN]]
        if self.coefficient[order[0]] == -1:  # a sum and its parts
            said = f"{shown[0].removeprefix('- ')} = {' '.join(shown[1:]).removeprefix('+ ')}"
        else:
            said = " ".join(shown).removeprefix("+ ")
        more = f" and {at.size - _SHOWN} more" if at.size > _SHOWN else ""
        return f"relation {relation} ({'/'.join(self.by) or 'cells'}: {said}{more})"

    def _term(self, coefficient: float, cell: int) -> str:
        factor = "" if abs(coefficient) == 1 else f"{abs(coefficient):g} * "
        codes = "/".join(self.codes.iloc[cell]) if self.by else str(cell)
        return f"{'-' if coefficient < 0 else '+'} {factor}{codes}"


def read_cells_and_relations(
    cells: Any, relations: Any, by: Sequence[str] | None = None, value: str | None = None
) -> StoredTable:
    """Read a table of two files or frames.

    `cells` has a line for each cell: `value`, and where known the others of `NUMBERS` and `status`; other
    columns are kept, and a column `cell` holds the numbers of the lines, from 0. `relations` has columns
    `relation` (or `equation`), `cell` and `coefficient`: the terms of each relation sum to 0. Columns of
    codes are `by`, else those before `value` that have no name of ours (`is_own`).
    """
    frame, name, codes = read_cells(cells, by, value)
    table = load_table(relations, "the frame of relations")
    return stored_table(frame, table.frame, name, table.source, by and [codes[one] for one in by])


def read_cells(
    cells: Any, by: Sequence[str] | None = None, value: str | None = None, others: Iterable[str] = ()
) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """Read a frame of cells; return it with its name in messages, and the names of columns of codes in it.

    Codes are text as in the file, where ``NA`` and ``01`` are codes: the columns `by`, `others`, and those
    before the values. Columns `by` that have a name of ours get another one (`names_of_codes`).
    """
    texts = [STATUS, *(by or ()), *others]
    frame, source, names = _with_values(load_table(cells, "the frame of cells", texts), by or (), value)
    codes = code_columns(frame, None if by is None else list(names.values()))
    if by is None:
        _refuse_own_codes(frame, source)
    if isinstance(cells, str | Path) and not {*codes, *texts} <= {*texts, *names.values()}:
        # A file says only now which these are.
        return _with_values(load_table(cells, "the frame of cells", [*texts, *codes]), by or (), value)
    return frame, source, names


def _refuse_own_codes(frame: pd.DataFrame, source: str) -> None:
    """Refuse codes in a column before the values whose name says that it holds something else."""
    for name in list(frame.columns)[: list(frame.columns).index("value")]:
        if name not in (STATUS, *NUMBERS):
            continue
        given = frame[name].dropna().astype(str).str.strip()
        wrong = ~given.isin(STATUSES) if name == STATUS else pd.to_numeric(given, errors="coerce").isna()
        if wrong.any():
            what = name.replace("_", " ")
            raise DataError(
                f"{source}, column {name!r}: {given[wrong].iloc[0]!r} is no {what} of a cell; if the column "
                f"holds codes, name all columns of codes ({called('by', ['A', 'B'])})",
                option="by",
            )


def _with_values(
    table: Table, by: Sequence[str], value: str | None
) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """Name the column of values `value`; return the frame, its name in messages, and its columns of codes."""
    check_known(by, list(table.frame.columns), table.source, what="column")
    names = names_of_codes(by, table.frame.columns)
    frame = table.frame.rename(columns=names)
    name, columns = value or "value", list(frame.columns)
    if value is None and name not in columns:
        raise DataError(
            f"{table.source} has no column {name!r}: say which one holds the values "
            f"({called('value', 'COLUMN')}); there are: {', '.join(columns)}",
            option="value",
        )
    check_known([name], columns, table.source, what="column")
    if frame.empty:
        raise DataError(f"{table.source} has no cells")
    if name != "value" and "value" in columns:
        raise DataError(f"{table.source} has a column 'value' and {name!r} of values; leave one of them out")
    return frame.rename(columns={name: "value"}), table.source, names


def stored_table(
    frame: pd.DataFrame,
    terms: pd.DataFrame,
    name: str,
    terms_name: str = "the relations",
    by: Sequence[str] | None = None,
    trees: Sequence[Codes] = (),
) -> StoredTable:
    """Build a table of a frame of cells and one of terms (see `read_cells_and_relations`)."""
    present = [column for column in NUMBERS if column in frame.columns]
    matrix = numbers_of(frame, present, name, allow_missing=True)
    numbers = {column: matrix[:, at] for at, column in enumerate(present)}
    if "cell" in frame.columns:
        wrong = numbers_of(frame, ["cell"], name)[:, 0] != np.arange(len(frame))
        refuse_rows(wrong, name, "it is not the number of the line, from 0", "cell")
    if by is not None:
        check_known(by, list(frame.columns), name, what="column")
    columns = code_columns(frame, by)
    _refuse_empty(frame, numbers["value"], columns, name)
    made = _terms(terms, terms_name, len(frame))
    return StoredTable(frame, numbers, _status(frame, name), *made, name, tuple(columns), tuple(trees))


def code_columns(frame: pd.DataFrame, by: Sequence[str] | None = None) -> list[str]:
    """Return the columns of codes: `by`, or those before `value` that have no name of ours."""
    if by is not None:
        return list(by)
    before = list(frame.columns)[: list(frame.columns).index("value")]
    return [name for name in before if not is_own(name)]


def _status(frame: pd.DataFrame, name: str) -> npt.NDArray[np.str_]:
    if STATUS not in frame.columns:
        return np.full(len(frame), SAFE)
    found = frame[STATUS].fillna(SAFE).astype(str).str.strip().to_numpy(dtype=np.str_)
    refuse_rows(
        ~np.isin(found, STATUSES),
        name,
        lambda row: (
            f"there is no status {str(found[row])!r}; u is sensitive, m suppressed with it, s safe, z always "
            "published"
        ),
    )
    return found


def _terms(frame: pd.DataFrame, name: str, cells: int) -> tuple[LongArray, LongArray, FloatArray]:
    number = "equation" if "equation" in frame.columns else "relation"
    check_known([number, "cell", "coefficient"], list(frame.columns), name, what="column")
    terms = numbers_of(frame, [number, "cell", "coefficient"], name)
    for at, column in enumerate((number, "cell")):
        wrong = (terms[:, at] != np.floor(terms[:, at])) | (terms[:, at] < 0)
        refuse_rows(wrong, name, "it is no number from 0", column)
    refuse_rows(terms[:, 1] >= cells, name, f"it is no cell; they are 0 to {cells - 1}", "cell")
    relation, cell, coefficient = joined_terms(terms[:, 0], terms[:, 1].astype(np.int64), terms[:, 2])
    return np.unique(relation, return_inverse=True)[1].astype(np.int64), cell, coefficient


def _refuse_empty(frame: pd.DataFrame, value: FloatArray, by: Sequence[str], name: str) -> None:
    """Refuse cells without a value: most often it is the published table, not the internal one."""
    empty = np.isnan(value)
    if empty.any():
        row = int(np.argmax(empty))
        codes = ", ".join(f"{column}={spelled(frame[column].iloc[row])}" for column in by)
        raise DataError(
            f"{name}, row {row + 1}{f' ({codes})' if codes else ''}: its value is empty; give it one, or "
            "instead of a published table the internal one, which has all values"
        )


def published(
    frame: pd.DataFrame, suppressed: Sequence[bool], by: Sequence[str] | None = None
) -> pd.DataFrame:
    """Keep what may be published: codes, values and whether a cell is suppressed.

    Counts and largest contributions of a suppressed cell would help an intruder as its value does. Numbers of
    respondents are kept where they were protected with the values (`split_beside`).
    """
    kept = [name for name in ("cell", *code_columns(frame, by), "value", BESIDE) if name in frame.columns]
    gone = np.asarray(suppressed, dtype=np.bool_)
    made = frame[kept].copy()
    for name in ("value", BESIDE):
        if name in kept:
            made[name] = without_values(made[name], gone)
    made[STATUS] = np.where(gone, "suppressed", "published")
    return made.rename(columns={BESIDE: "respondents"})
