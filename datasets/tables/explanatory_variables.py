"""Explanatory variables before tabulation: dates at a level, records without a code, recoded codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.dates import LEVELS, at_level, read_dates
from linkrisk.datasets.microdata.formats.argus_metadata import read_text
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.recoding_files import RecodingFile
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.tables.code_trees import Codes, CodeTree, JoinedTrees

_Given = TypeVar("_Given")


def with_date_levels(
    frame: pd.DataFrame, hierarchies: Mapping[str, _Given], source: str, schema: Schema | None = None
) -> tuple[pd.DataFrame, dict[str, _Given | pd.DataFrame]]:
    """Recode dates to ``year``, ``quarter`` or ``month``, and build the hierarchy of that and coarser levels.

    Only variables whose hierarchy is the name of such a level are changed; the schema says which form dates
    have.
    """
    found: dict[str, _Given | pd.DataFrame] = {}
    for name, given in hierarchies.items():
        level = given[0] if isinstance(given, list | tuple) and len(given) == 1 else given
        if not isinstance(level, str) or level not in LEVELS:
            found[name] = given
            continue
        form = None if schema is None else schema.get(name).form
        days = read_dates([(frame[name], source)], form)[0].days
        known = np.unique(days[~np.isnan(days)]).tolist()
        levels = LEVELS[: LEVELS.index(level) + 1]
        found[name] = pd.DataFrame({one: [at_level(day, one) for day in known] for one in levels})
        codes = [None if np.isnan(day) else at_level(day, level) for day in days.tolist()]
        frame = with_columns(frame, {name: pd.Series(codes, frame.index, dtype=object)})
    return frame, found


REFUSE, LEAVE_OUT, CODE = "refuse", "leave-out", "code"
USUAL_CODE = "missing"
"""What the code of those without one is called where it is not said."""


@dataclass(frozen=True)
class Incomplete:
    """What becomes of records without a code or a response.

    Attributes
    ----------
    how : str
        `REFUSE`; `LEAVE_OUT`, of the whole table; or `CODE`: those without a code of a variable have one of
        their own right below its total, and those without a response are left out.
    code : str
        The code of those without one.
    beside : tuple of str
        Columns of codes of other tables that are made with this one: who is left out of one is out of all.

    Examples
    --------
    >>> from linkrisk.tables import Incomplete
    >>> Incomplete("code", code="unknown").how
    'code'
    """

    how: str = REFUSE
    code: str = USUAL_CODE
    beside: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Incomplete:
        """Read ``refuse``, ``leave-out``, ``code`` or ``code=NAME``."""
        how, mark, code = text.partition("=")
        if how not in (REFUSE, LEAVE_OUT, CODE) or (mark and (how != CODE or not code.strip())):
            raise DataError(
                f"records without a code: {text!r} is not known; choose {REFUSE}, {LEAVE_OUT}, {CODE} or "
                f"{CODE}=NAME"
            )
        return cls(how, code.strip() or USUAL_CODE)


@dataclass(frozen=True, eq=False)
class CompleteRecords:
    """Records with codes for missing ones, and which records are in the table."""

    frame: pd.DataFrame  # With codes for those without one, where they get one.
    kept: npt.NDArray[np.bool_]  # (r,): Which records are in the table.
    # coded, left_out: By column, how many records had no code and got one; how many are left out because they
    # have nothing there.
    coded: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


def complete_records(
    frame: pd.DataFrame, by: Sequence[str], amounts: Sequence[str], what: Incomplete, source: str
) -> CompleteRecords:
    """Decide for each record without a code or an amount whether it is in the table.

    `by` are columns of codes, `amounts` those whose values are summed or used by rules.
    """
    kept = np.ones(len(frame), dtype=np.bool_)
    if what.how == REFUSE:
        return CompleteRecords(frame, kept)
    codes = list(dict.fromkeys((*by, *what.beside))) if what.how == LEAVE_OUT else []
    missing = {name: frame[name].isna().to_numpy(dtype=bool) for name in (*codes, *amounts)}
    left_out = {name: int(each.sum()) for name, each in missing.items() if each.any()}
    for each in missing.values():
        kept &= ~each
    if len(frame) and not kept.any():
        raise DataError(f"{source}: every record lacks a code or a response; none is left for a table")
    made = {name: frame[name].where(kept, 0) for name in amounts if name in left_out}
    coded = {}
    for name in by if what.how == CODE else ():
        lacking = frame[name].isna()
        if not lacking.any():
            continue
        if (frame[name].dropna().map(spelled) == what.code).any():
            raise DataError(
                f"{source}, column {name!r}: {what.code!r} is a code already; name another one for records "
                f"without a code ({CODE}=NAME)"
            )
        coded[name] = int((lacking & kept).sum())
        made[name] = frame[name].map(spelled, na_action="ignore").astype(object).where(~lacking, what.code)
    return CompleteRecords(with_columns(frame, made), kept, coded, left_out)


def with_code(codes: Codes, code: str) -> Codes:
    """Add a code right below the total of a variable, where it is not among its codes."""
    if code in codes.codes:
        return codes
    if isinstance(codes, JoinedTrees):
        return replace(codes, trees=tuple(_with_leaf(tree, code) for tree in codes.trees))
    assert isinstance(codes, CodeTree)
    return _with_leaf(codes, code)


def _with_leaf(tree: CodeTree, code: str) -> CodeTree:
    return replace(tree, codes=(*tree.codes, code), parent=np.append(tree.parent, 0))


TREE_WORD = "<TREERECODE>"


def cut_at_level(tree: CodeTree, level: int) -> tuple[CodeTree, dict[str, str]]:
    """Cut a tree at a level (the total is at 0), and map its leaves to the codes that stay."""
    depth = tree.depths()
    if max(depth.values()) <= level:
        raise DataError(f"{tree.variable!r} has no codes below level {level}; leave its recoding out")
    return _cut(tree, {code for code, at in depth.items() if at == level})


def cut_at_codes(tree: CodeTree, path: Path) -> tuple[CodeTree, dict[str, str]]:
    """Cut a tree at the codes of a file, and map its leaves to the codes that stay."""
    wanted = [line.strip() for line in read_text(path)[0].splitlines()[1:] if line.strip()]
    inner = {tree.codes[line[0]] for line in tree.inner} - {tree.codes[0]}
    for code in wanted:
        if code not in inner:
            raise DataError(f"{path}: {code!r} is no code of {tree.variable!r} with others below it")
    return _cut(tree, set(wanted))


def _cut(tree: CodeTree, leaves: set[str]) -> tuple[CodeTree, dict[str, str]]:
    """Merge the codes below each of `leaves` into it."""
    becomes: dict[str, str] = {}
    for at, code in enumerate(tree.codes):
        above = becomes.get(tree.codes[tree.parent[at]]) if at else None
        becomes[code] = above if above in leaves else code
    kept = [at for at, code in enumerate(tree.codes) if becomes[code] == code]
    place = {at: number for number, at in enumerate(kept)}
    parent = np.array([place.get(int(tree.parent[at]), -1) for at in kept], dtype=np.int64)
    return CodeTree(tree.variable, tuple(tree.codes[at] for at in kept), parent), becomes


def recoded(tree: CodeTree, path: Path) -> tuple[CodeTree, dict[str, str]]:
    """Apply a recoding file: all new codes are right below the total, and leaves are mapped to them."""
    if read_text(path)[0].lstrip().upper().startswith(TREE_WORD):
        return cut_at_codes(tree, path)
    leaves = tree.leaves
    becomes = dict(zip(leaves, RecodingFile.read(tree.variable, path).becomes(leaves), strict=True))
    return CodeTree.flat(tree.variable, becomes.values(), tree.codes[0]), becomes
