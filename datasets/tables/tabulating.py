"""Tabulation of microdata: sums, respondents and largest contributions of every cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.tables.code_trees import Codes
from linkrisk.datasets.tables.relations import positions, product_terms
from linkrisk.datasets.tables.stored_table import numbers_of, refuse_rows
from linkrisk.errors import called

EXPANDED, SAMPLE, KNOWN = "expanded", "sample", "known"
WEIGHTINGS = (EXPANDED, SAMPLE, KNOWN)
"""What rules make of sampling weights (`Concentration.of`)."""

_DECIMALS = 9
_WHOLE = 2.0**52


@dataclass(frozen=True, eq=False)
class Parts:
    """Contributions (n,), one for each cell and holder, sorted by cell, the largest of a cell first."""

    # cell, holder: (n,): Where it belongs, and whose it is.
    cell: LongArray
    holder: LongArray
    amount: FloatArray  # (n,): What was observed, not below 0.
    weighted: FloatArray  # (n,): What it adds to the cell.
    weight: FloatArray  # (n,)
    first: LongArray  # (n,): Where its cell begins.

    @classmethod
    def of(
        cls, cell: LongArray, holder: LongArray, amount: FloatArray, weighted: FloatArray, weight: FloatArray
    ) -> Parts:
        """Join what a holder contributes to a cell, and sort."""
        order = np.lexsort((holder, cell))
        new = np.ones(order.size, dtype=np.bool_)
        new[1:] = (np.diff(cell[order]) != 0) | (np.diff(holder[order]) != 0)
        starts = np.flatnonzero(new)
        sums = [
            np.add.reduceat(one[order], starts) if starts.size else np.zeros(0)
            for one in (amount, weighted, weight)
        ]
        cell, holder = cell[order][starts], holder[order][starts]
        order = np.lexsort((-sums[1], -sums[0], cell))  # of equal ones the one that makes up most comes first
        cell = cell[order]
        first = np.searchsorted(cell, cell).astype(np.int64)
        return cls(cell, holder[order], sums[0][order], sums[1][order], sums[2][order], first)

    @property
    def rank(self) -> LongArray:
        """Rank in its cell, from 0, shape (n,)."""
        return np.arange(self.cell.size, dtype=np.int64) - self.first


@dataclass(frozen=True, eq=False)
class Concentration:
    """Totals and largest contributions of each cell: the input of primary rules."""

    total: FloatArray  # (n,): X.
    largest: FloatArray  # (n, w): The w largest contributors, the largest first.
    first: FloatArray  # (n,): What the largest respondent contributed.
    units: FloatArray  # (n,): How many contributors there are.

    @classmethod
    def of(cls, parts: Parts, cells: int, width: int, weighting: str) -> Concentration:
        """Sum up contributions; weights count in one of three ways (Handbook on SDC, section 4.2.1).

        ``expanded``: a record of weight w is w contributors of its amount each; of the next largest, as much
        as fills up the number that a rule looks at, so that weights need not be whole (as τ-ARGUS does).
        ``sample``: an intruder is a respondent of the sample and does not know weights: the largest observed
        amounts, of the weighted total. ``known``: weights are known, so that a respondent subtracts w times
        its amount.
        """
        ones = np.ones(parts.cell.size)
        weight = parts.weight if weighting == EXPANDED else ones
        amount = parts.weighted if weighting == KNOWN else parts.amount
        end = np.cumsum(weight)
        begin = end - weight
        offset = begin[parts.first] if parts.cell.size else begin
        begin, end = begin - offset, end - offset  # along the contributors of a cell, the largest first
        largest = np.zeros((cells, width))
        for at in range(width):
            share = np.clip(np.minimum(end, at + 1.0) - np.maximum(begin, float(at)), 0.0, None)
            share = np.where(np.abs(share - np.round(share)) < 1e-9, np.round(share), share)
            largest[:, at] = np.bincount(parts.cell, share * amount, cells)
        first = np.zeros(cells)
        leading = parts.rank == 0
        first[parts.cell[leading]] = parts.amount[leading]
        total = exact_sums(parts.cell, parts.weighted, cells)
        return cls(total, largest, first, np.bincount(parts.cell, weight, cells).astype(np.float64))


def exact_sums(group: LongArray, amount: FloatArray, groups: int) -> FloatArray:
    """Sum each group, exactly where amounts have few decimals: sums of sums then are those of parts."""
    for decimals in range(_DECIMALS + 1):
        scaled = amount * 10.0**decimals
        whole = np.round(scaled)
        if not np.abs(whole).sum() < _WHOLE:
            break
        if (np.abs(scaled - whole) <= 1e-12 * np.abs(scaled)).all():
            return np.asarray(np.bincount(group, whole, groups) / 10.0**decimals, dtype=np.float64)
    return np.bincount(group, amount, groups).astype(np.float64)


MOST_CELLS = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which columns of the microdata mean what."""

    response: str | None = None  # What is summed; records are counted where absent.
    weight: str | None = None  # How many a record stands for.
    holding: str | None = None  # Who a respondent belongs to: contributions of a cell are those of holdings.
    shadow: str | None = None  # What rules look at instead of the response.
    cost: str | None = None  # What is summed to the cost of a cell.
    # Whether a respondent asked for protection: 1 or 2, two kinds; 0 or nothing where not.
    request: str | None = None
    respondent: str | None = None  # The name of a respondent, for the list of contributions.

    @property
    def columns(self) -> list[str]:
        """All columns that are given."""
        every = (self.response, self.weight, self.holding, self.shadow, self.cost, self.request)
        return list(dict.fromkeys(one for one in (*every, self.respondent) if one is not None))


@dataclass(frozen=True, eq=False, kw_only=True)
class Tabulated:
    """A table of microdata; cells are all combinations of codes, the last variable running fastest."""

    trees: tuple[Codes, ...]  # Of the explanatory variables.
    total: FloatArray  # (n,): Of all combinations of codes, the last variable running fastest.
    absolute: FloatArray  # (n,): The sum of absolute values; equal to the total where nothing is negative.
    respondents: LongArray  # (n,): Records, or holdings.
    seen: Concentration  # What rules look at.
    asked: LongArray  # (n,): What the largest respondent asked for: 0, 1 or 2.
    cost: FloatArray | None  # (n,)
    # cell, record: (k,): Which record is in which cell.
    cell: LongArray
    record: LongArray
    contributor: npt.NDArray[np.object_] | LongArray  # (r,): Whose each record is, by name.
    amount: FloatArray  # (r,): What a respondent knows to have contributed.

    def contributions(self) -> pd.DataFrame:
        """Return who contributes how much to each cell: `cell`, `contributor`, `amount`."""
        who, amount = self.contributor[self.record], self.amount[self.record]
        each = pd.DataFrame({"cell": self.cell, "contributor": who, "amount": amount})
        return each.groupby(["cell", "contributor"], sort=True)["amount"].sum().reset_index()

    def codes(self) -> pd.DataFrame:
        """Return the codes of each cell, a column for each variable."""
        lines = product(*(tree.codes for tree in self.trees))
        return pd.DataFrame(lines, columns=[tree.variable for tree in self.trees])

    def terms(self) -> pd.DataFrame:
        """Return the relations: a code is the sum of those right below it, for all codes of the others."""
        number = np.arange(self.total.size).reshape([len(tree.codes) for tree in self.trees])
        return product_terms(number, self.trees)


def tabulate(
    frame: pd.DataFrame,
    trees: Sequence[Codes],
    roles: Roles,
    width: int,
    *,
    weighting: str = EXPANDED,
    negative: bool = False,
    source: str = "the table",
    kept: npt.NDArray[np.bool_] | None = None,
) -> Tabulated:
    """Tabulate microdata with the `width` largest contributions of each cell.

    `frame` has a record for each respondent, the columns of the trees as text; `kept` says which records are
    in the table. Where contributions may be `negative`, rules look at absolute values.
    """
    cells = math.prod(len(tree.codes) for tree in trees)
    if cells > MOST_CELLS:
        raise DataError(
            f"{source}: a table of {cells:,} cells is too large; leave a variable out, or recode it"
        )
    if roles.holding is not None and roles.weight is not None and weighting == EXPANDED:
        raise DataError(
            f"{source}: with holdings, weights cannot stand for more respondents, whose holdings nobody "
            f"knows; choose the weighting {SAMPLE} or {KNOWN}"
        )
    amount = _amounts(frame, roles.response, negative, source)
    weight = _amounts(frame, roles.weight, False, source, "a weight")
    shadow = amount if roles.shadow is None else _amounts(frame, roles.shadow, negative, source)
    inside = np.arange(len(frame)) if kept is None else np.flatnonzero(kept)
    cell, record = _memberships(frame, trees, source, inside)
    holder = _holders(frame, roles.holding, source)
    one_each = KNOWN if weighting == KNOWN else SAMPLE  # of a holding
    size = np.abs(shadow)[record]
    parts = Parts.of(cell, holder[record], size, size * weight[record], weight[record])
    return Tabulated(
        trees=tuple(trees),
        total=exact_sums(cell, (amount * weight)[record], cells),
        absolute=exact_sums(cell, np.abs(amount * weight)[record], cells),
        respondents=np.bincount(parts.cell, minlength=cells).astype(np.int64),
        seen=Concentration.of(parts, cells, width, weighting if roles.holding is None else one_each),
        asked=_asked(frame, roles, source, parts, holder, cells),
        cost=None if roles.cost is None else _costs(frame, roles.cost, weight, cell, record, cells, source),
        cell=cell,
        record=record,
        contributor=_contributors(frame, roles.respondent or roles.holding, source),
        amount=amount * weight if weighting == KNOWN else amount,
    )


def _amounts(
    frame: pd.DataFrame, column: str | None, negative: bool, source: str, what: str = "a contribution"
) -> FloatArray:
    """Read a column of numbers; ones where there is none."""
    if column is None:
        return np.ones(len(frame))
    missing = frame[column].isna().to_numpy(dtype=bool)
    if missing.any() and what != "a weight":
        raise DataError(
            f"{source}, column {column!r}, row {int(np.argmax(missing)) + 1}: missing value; fill it in, or "
            f"leave such records out ({called('missing', 'leave-out')})",
            option="missing",
        )
    found = numbers_of(frame, [column], source)[:, 0]
    if not negative:
        other = f", or allow them ({called('negative', True)})" if what == "a contribution" else ""
        why = f"{what} is negative; correct it, or leave the record out{other}"
        refuse_rows(found < 0, f"{source}, column {column!r}", why)
    return found


def _costs(
    frame: pd.DataFrame,
    column: str,
    weight: FloatArray,
    cell: LongArray,
    record: LongArray,
    cells: int,
    source: str,
) -> FloatArray:
    each = _amounts(frame, column, False, source, "a cost") * weight
    return exact_sums(cell, each[record], cells)


def _asked(
    frame: pd.DataFrame, roles: Roles, source: str, parts: Parts, holder: LongArray, cells: int
) -> LongArray:
    """Return what the largest respondent of each cell asked for.

    A holding asks where one of its records does; where several are the largest, it is enough that one asked.
    """
    found = np.zeros(cells, dtype=np.int64)
    if roles.request is None:
        return found
    given = numbers_of(frame, [roles.request], source, allow_missing=True)[:, 0]
    kinds = np.nan_to_num(given)
    refuse_rows(
        ~np.isin(kinds, (0.0, 1.0, 2.0)),
        f"{source}, column {roles.request!r}",
        lambda row: f"there is no request {kinds[row]:g}; it is 1 or 2, or 0 where nothing was asked for",
    )
    of_holder = np.zeros(int(holder.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(of_holder, holder, kinds.astype(np.int64))
    leading = parts.amount == parts.amount[parts.first]
    np.maximum.at(found, parts.cell[leading], of_holder[parts.holder[leading]])
    return found


def _contributors(
    frame: pd.DataFrame, column: str | None, source: str
) -> npt.NDArray[np.object_] | LongArray:
    """Name respondents; by the numbers of records, from 1, where they have no names."""
    if column is None:
        return np.arange(1, len(frame) + 1, dtype=np.int64)
    missing = frame[column].isna().to_numpy(dtype=bool)
    refuse_rows(missing, f"{source}, column {column!r}", "no respondent; give each record one")
    return np.asarray(frame[column].map(spelled).to_numpy(), dtype=np.object_)


def _holders(frame: pd.DataFrame, holding: str | None, source: str) -> LongArray:
    """Number who counts as one; every record where there are no holdings."""
    if holding is None:
        return np.arange(len(frame), dtype=np.int64)
    numbers = pd.factorize(frame[holding])[0]
    refuse_rows(numbers < 0, f"{source}, column {holding!r}", "no holding; give each respondent one")
    return numbers.astype(np.int64)


def _memberships(
    frame: pd.DataFrame, trees: Sequence[Codes], source: str, inside: LongArray
) -> tuple[LongArray, LongArray]:
    """List every cell that each record inside belongs to: the cell, and the record."""
    cell, record = np.zeros(inside.size, dtype=np.int64), inside.astype(np.int64)
    numbered = frame.reset_index(drop=True)
    for tree in trees:
        leaf = np.full(len(frame), -1, dtype=np.int64)
        leaf[inside] = _positions(numbered[tree.variable].iloc[inside], tree, source)
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


def _positions(column: pd.Series, tree: Codes, source: str) -> LongArray:
    parts = {int(line[0]) for line in tree.inner}
    at = {code: position for position, code in enumerate(tree.codes) if position not in parts}

    def why(code: str | None) -> str:
        if code is not None:
            known = "has codes below it; a record has one of those" if code in tree.codes else None
            return f"{code!r} {known or 'is no code of its tree'}; correct it, or the tree"
        others = int(column.isna().sum()) - 1
        more = f" (and in {others:,} other {'row' if others == 1 else 'rows'})" if others else ""
        return (
            f"the code is missing{more}; fill it in, or leave such records out, or give them a code of "
            f"their own ({called('missing', 'leave-out')} or code)"
        )

    return positions(column, at, source, why)
