"""Suppression where a missing value matches anything, as a mixed-integer program of some of its rows.

Of each row type t, x_w records go way w: a pattern is taken from them. Some rows r (unsafe records that are
left as they are, or ways whose own result is unsafe) lack d_r records that match them.

    minimise    sum_w c_w x_w
    subject to  sum of x_w over the ways that come to match row r >= d_r z_r
                n_t z_r + sum of x_w over the ways of type t      >= n_t    row r is that of type t, untouched
                x_w <= n_t z_r                                             row r is what way w makes of type t
                sum of x_w over the ways of type t                <= n_t

Ways of different types that match the same rows at the same cost are one column, unless their types have
rows of their own. All rows that can be unsafe make it the whole problem; with some of them, its optimum is a
bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.formulations.suppression.coverage import Ways


@dataclass(frozen=True, eq=False)
class MatchModel:
    """The program, and what its columns are.

    Attributes
    ----------
    program : MilpModel
    column : ndarray of int64, shape (w,)
        The column of each way; -1 where another one serves better.
    """

    program: MilpModel
    column: LongArray


@dataclass(frozen=True, eq=False)
class Lacking:
    """Rows that lack matches.

    Attributes
    ----------
    demand : ndarray of int64, shape (R,)
        How many matches each lacks.
    row_type : ndarray of int64, shape (R,)
        The type whose untouched records it is; -1 where it is what ways make.
    made : ndarray of int64, shape (b, 3)
        Row, row type and pattern of every way that makes a row.
    """

    demand: LongArray
    row_type: LongArray
    made: LongArray


def match_model(ways: Ways, lacking: Lacking, count: LongArray, unit: int) -> MatchModel:
    """Write the program.

    Parameters
    ----------
    ways : Ways
    lacking : Lacking
    count : ndarray of int64, shape (T,)
        Records of each row type.
    unit : int
        What all costs are multiples of, and the objective counts in.
    """
    own = np.zeros(len(count), dtype=np.bool_)
    own[lacking.row_type[lacking.row_type >= 0]] = True
    own[lacking.made[:, 1]] = True
    column, first, cap = _columns(ways, own, count)
    rows, many = len(lacking.demand), len(first)
    blocks = [
        _demands(ways, lacking, first),
        *_supplies(ways, lacking, count, own, column, many),
        _gates(ways, lacking, count, column, many),
    ]
    program = MilpModel(
        objective=np.concatenate([ways.cost[first] / unit, np.zeros(rows)]),
        matrix=sparse.csr_array(sparse.vstack([block.matrix for block in blocks], format="csr")),
        row_lower=np.concatenate([block.lower for block in blocks]),
        row_upper=np.concatenate([block.upper for block in blocks]),
        column_lower=np.zeros(many + rows),
        column_upper=np.concatenate([cap, np.ones(rows)]),
        integer=np.ones(many + rows, dtype=np.bool_),
    )
    return MatchModel(program, column)


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows of the program: lower <= matrix (x, y) <= upper."""

    matrix: sparse.csr_array
    lower: FloatArray
    upper: FloatArray


def _demands(ways: Ways, lacking: Lacking, first: LongArray) -> _Block:
    """A row that is used has the matches that it lacks."""
    rows, many = len(lacking.demand), len(first)
    at, row = np.nonzero(ways.covered(rows)[first])
    each, demand = np.arange(rows), lacking.demand.astype(np.float64)
    matrix = _sparse([(np.ones(len(at)), row, at), (-demand, each, many + each)], rows, many + rows)
    return _Block(matrix, np.zeros(rows), np.full(rows, np.inf))


def _supplies(
    ways: Ways, lacking: Lacking, count: LongArray, own: BoolArray, column: LongArray, many: int
) -> tuple[_Block, _Block]:
    """No type takes more ways than it has records; one whose untouched row is not used takes all of them."""
    width = many + len(lacking.demand)
    special = np.flatnonzero(own[ways.row_type] & (column >= 0))
    owner, place, one = ways.row_type[special], column[special], np.ones(len(special))
    number = int(own.sum())
    most = _sparse([(one, (np.cumsum(own) - 1)[owner], place)], number, width)
    untouched = np.flatnonzero(lacking.row_type >= 0)
    size = count[lacking.row_type[untouched]].astype(np.float64)
    line = np.full(len(count), -1)
    line[lacking.row_type[untouched]] = np.arange(len(untouched))
    mine = line[owner] >= 0
    taken = (one[mine], line[owner[mine]], place[mine])
    kept = (size, np.arange(len(untouched)), many + untouched)
    return (
        _Block(most, np.full(number, -np.inf), count[own].astype(np.float64)),
        _Block(_sparse([taken, kept], len(untouched), width), size, np.full(len(untouched), np.inf)),
    )


def _gates(ways: Ways, lacking: Lacking, count: LongArray, column: LongArray, many: int) -> _Block:
    """A way that makes a row is only taken where the row is used."""
    gate, way = _made(ways, lacking.made, column)
    steps = np.arange(len(gate))
    capacity = count[ways.row_type[way]].astype(np.float64)
    matrix = _sparse(
        [(np.ones(len(gate)), steps, column[way]), (-capacity, steps, many + gate)],
        len(gate),
        many + len(lacking.demand),
    )
    return _Block(matrix, np.full(len(gate), -np.inf), np.zeros(len(gate)))


def _columns(ways: Ways, own: BoolArray, count: LongArray) -> tuple[LongArray, LongArray, FloatArray]:
    """The column of each way, the first way of each column, and how many records there are for it."""
    column = np.full(len(ways), -1, dtype=np.int64)
    alone = own[ways.row_type]
    special, shared = np.flatnonzero(alone), np.flatnonzero(~alone)
    column[special] = np.arange(len(special))
    covers = np.ascontiguousarray(ways.covers[shared])
    sets = np.unique(covers.view([("", covers.dtype)] * covers.shape[1]).ravel(), return_inverse=True)[1]
    order = np.lexsort((ways.cost[shared], sets))
    starts = np.flatnonzero(np.diff(sets[order], prepend=-1))
    least = np.zeros(len(starts), dtype=np.int64)
    least[:] = ways.cost[shared[order[starts]]]
    cheapest = ways.cost[shared] == least[sets]
    column[shared[cheapest]] = len(special) + sets[cheapest]
    first = np.concatenate([special, shared[order[starts]]])
    used = np.flatnonzero(column >= 0)
    cap = np.bincount(column[used], count[ways.row_type[used]], len(first)).astype(np.float64)
    return column, first, cap


def _made(ways: Ways, made: LongArray, column: LongArray) -> tuple[LongArray, LongArray]:
    """Row and way of every way that makes a row."""
    gates, found = [], []
    for row, row_type, pattern in made:
        same = np.flatnonzero((ways.row_type == row_type) & (ways.pattern == pattern) & (column >= 0))
        gates += [row] * len(same)
        found += same.tolist()
    return np.array(gates, dtype=np.int64), np.array(found, dtype=np.int64)


def _sparse(
    parts: list[tuple[FloatArray, LongArray, LongArray]], rows: int, columns: int
) -> sparse.csr_array:
    values, row, column = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((values.astype(np.float64), (row, column)), shape=(rows, columns))
