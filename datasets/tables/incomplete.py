"""Records without a code of some variable, or without what is summed: what becomes of them in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.code_trees import Codes, CodeTree, JoinedTrees

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
    """

    how: str = REFUSE
    code: str = USUAL_CODE
    beside: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Incomplete:
        """Read ``refuse``, ``leave-out``, ``code`` or ``code=NAME``.

        Raises
        ------
        DataError
            If it is none of these.
        """
        how, mark, code = text.partition("=")
        if how not in (REFUSE, LEAVE_OUT, CODE) or (mark and (how != CODE or not code.strip())):
            raise DataError(
                f"records without a code: {text!r} is not known; choose {REFUSE}, {LEAVE_OUT}, {CODE} or "
                f"{CODE}=NAME"
            )
        return cls(how, code.strip() or USUAL_CODE)


@dataclass(frozen=True, eq=False)
class Settled:
    """Records of which each is known to be in the table or not.

    Attributes
    ----------
    frame : DataFrame
        With codes for those without one, where they get one.
    kept : ndarray of bool, shape (r,)
        Which records are in the table.
    coded, left_out : dict of str to int
        By column, how many records had no code and got one; how many are left out because they have nothing
        there.
    """

    frame: pd.DataFrame
    kept: npt.NDArray[np.bool_]
    coded: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


def settled(
    frame: pd.DataFrame, by: Sequence[str], amounts: Sequence[str], what: Incomplete, source: str
) -> Settled:
    """Decide for each record without a code or an amount whether it is in the table.

    Parameters
    ----------
    frame : DataFrame
        A record for each respondent.
    by, amounts : sequence of str
        The columns of codes, and those whose values are summed or looked at by rules.
    what : Incomplete
    source : str
        What to call the records in messages.

    Raises
    ------
    DataError
        If a code for those without one is a code already, or no record is left.
    """
    kept = np.ones(len(frame), dtype=np.bool_)
    if what.how == REFUSE:
        return Settled(frame, kept)
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
    return Settled(with_columns(frame, made), kept, coded, left_out)


def with_code(codes: Codes, code: str) -> Codes:
    """The codes of a variable with one more right below the total, where it is not among them."""
    if code in codes.codes:
        return codes
    if isinstance(codes, JoinedTrees):
        return replace(codes, trees=tuple(_with_leaf(tree, code) for tree in codes.trees))
    assert isinstance(codes, CodeTree)
    return _with_leaf(codes, code)


def _with_leaf(tree: CodeTree, code: str) -> CodeTree:
    return replace(tree, codes=(*tree.codes, code), parent=np.append(tree.parent, 0))
