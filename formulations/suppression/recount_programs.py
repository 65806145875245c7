"""States the recount problem, or a part of it, as mixed-integer programs.

Where a missing value is a category of its own (`recount_model`), the columns are x_e, the records that take
entry e of a node, and y_g, whether a node is used that holds none yet:

    minimise    sum_e c_e x_e
    subject to  sum of x_e over the entries of type t  = n_t      each record has a place
                sum of x_e over the entries of node g >= k y_g    a node that is used holds k or more
                x_e <= n_t y_g                                    none is in a node that is not used

For given y the x are flows, and integral at every corner; only y needs to be declared integral.

Where it matches anything (`match_model`), x_w records of row type t go way w: a pattern is taken from them.
Some rows r (unsafe records that are left as they are, or ways whose own result is unsafe) lack d_r records
that match them:

    minimise    sum_w c_w x_w
    subject to  sum of x_w over the ways that come to match row r >= d_r z_r
                n_t z_r + sum of x_w over the ways of type t      >= n_t    row r is that of type t, untouched
                x_w <= n_t z_r                                             row r is what way w makes of type t
                sum of x_w over the ways of type t                <= n_t

Ways of different types that match the same rows at the same cost are one column, unless their types have
rows of their own. With all rows that can be unsafe it is the complete problem; with some of them, its optimum
is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import MilpModel, NamedBlock
from linkrisk.formulations.suppression.coverage import Ways
from linkrisk.formulations.suppression.nodes import Nodes


@dataclass(frozen=True, eq=False)
class RecountModel:
    """Program of the recount problem, with the meaning of its columns."""

    program: MilpModel
    entries: LongArray  # (m,): what the first m columns are
    nodes: LongArray  # (h,): what the other columns are


def recount_model(
    nodes: Nodes, entries: LongArray, available: LongArray, unit: float, opened: BoolArray | None = None
) -> RecountModel:
    """Program of the entries that may be taken, by the `available` records (T,) of each type.

    The objective counts in `unit`; `opened` nodes (G,) hold k other records already.
    """
    places = nodes.of_entry[entries]
    used, node_at = np.unique(places, return_inverse=True)
    fresh = np.ones(used.size, dtype=np.bool_) if opened is None else ~opened[used]
    closed = used[fresh].astype(np.int64)
    owners, type_at = np.unique(nodes.row_type[entries], return_inverse=True)
    gated = np.flatnonzero(fresh[node_at])  # entries of nodes that have to be opened
    gate = (np.cumsum(fresh) - 1)[node_at[gated]]
    capacity = available[nodes.row_type[entries]].astype(np.float64)
    demand = available[owners].astype(np.float64)
    columns, each, link = entries.size + closed.size, np.arange(entries.size), np.arange(gated.size)
    many, gates = np.arange(closed.size), entries.size + np.arange(closed.size)
    one = np.ones(gated.size)
    matrix = sparse.vstack(
        [
            _rows(owners.size, columns, [(np.ones(entries.size), type_at, each)]),
            _rows(closed.size, columns, [(one, gate, gated), (np.full(closed.size, -nodes.k), many, gates)]),
            _rows(gated.size, columns, [(one, link, gated), (-capacity[gated], link, gates[gate])]),
        ],
        format="csr",
    )
    nothing, unlimited = np.zeros(closed.size), np.full(closed.size, np.inf)
    program = MilpModel(
        objective=np.concatenate([nodes.cost[entries] / unit, nothing]),
        matrix=sparse.csr_array(matrix),
        row_lower=np.concatenate([demand, nothing, np.full(gated.size, -np.inf)]),
        row_upper=np.concatenate([demand, unlimited, np.zeros(gated.size)]),
        column_lower=np.zeros(columns),
        column_upper=np.concatenate([capacity, np.ones(closed.size)]),
        integer=np.arange(columns) >= entries.size,
        row_blocks=(
            NamedBlock("placed", owners.size, "placed_{}", (owners,)),
            NamedBlock("filled", closed.size, "filled_{}", (closed,)),
            NamedBlock("open", gated.size, "open_{}", (entries[gated],)),
        ),
        column_blocks=(
            NamedBlock("records", entries.size, "records_{}", (entries,)),
            NamedBlock("node", closed.size, "node_{}", (closed,)),
        ),
    )
    return RecountModel(program, entries, closed)


def _rows(rows: int, columns: int, parts: list[tuple[FloatArray, LongArray, LongArray]]) -> sparse.csr_array:
    """Sparse rows from values with their rows and columns."""
    values, row, column = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((values.astype(np.float64), (row, column)), shape=(rows, columns))


@dataclass(frozen=True, eq=False)
class MatchModel:
    """Program of some rows that lack matches, with the column of each way."""

    program: MilpModel
    column: LongArray  # (w,): the column of each way; -1 where another one serves better


@dataclass(frozen=True, eq=False)
class Lacking:
    """Rows that lack matches."""

    demand: LongArray  # (R,): how many matches each lacks
    row_type: LongArray  # (R,): the type whose untouched records it is; -1 where it is what ways make
    made: LongArray  # (b, 3): row, row type and pattern of every way that makes a row


def match_model(ways: Ways, lacking: Lacking, count: LongArray, unit: int) -> MatchModel:
    """Program of ways to cover rows, by the records (T,) of each type; the objective counts in `unit`."""
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
    """Rows of the program: lower <= matrix (x, z) <= upper."""

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
    """No type takes more ways than it has records; all of them if its untouched row is not used."""
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
    """A way that makes a row is only taken if the row is used."""
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
    """Column (w,) of each way, first way of each column, and records for each column."""
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
