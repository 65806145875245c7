"""The recount problem, or a part of it, as a mixed-integer program.

Columns: x_e, the records that take entry e of a node, and y_g, whether a node is used that holds none yet.

    minimise    sum_e c_e x_e
    subject to  sum of x_e over the entries of type t  = n_t      each record has a place
                sum of x_e over the entries of node g >= k y_g    a node that is used holds k or more
                x_e <= n_t y_g                                    none is in a node that is not used

For given y the x are flows, and whole at every corner; only y needs to be declared whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import MilpModel, NamedBlock
from linkrisk.formulations.suppression.nodes import Nodes


@dataclass(frozen=True, eq=False)
class RecountModel:
    """The program, and what its columns are.

    Attributes
    ----------
    program : MilpModel
    entries : ndarray of int64, shape (m,)
        What the first m columns are.
    nodes : ndarray of int64, shape (h,)
        What the other columns are.
    """

    program: MilpModel
    entries: LongArray
    nodes: LongArray


def recount_model(
    nodes: Nodes, entries: LongArray, available: LongArray, unit: float, opened: BoolArray | None = None
) -> RecountModel:
    """Write the program.

    Parameters
    ----------
    nodes : Nodes
    entries : ndarray of int64, shape (m,)
        Those that may be taken.
    available : ndarray of int64, shape (T,)
        Records of each type that look for a place.
    unit : float
        What the objective counts in: one of it is so much cost.
    opened : ndarray of bool, shape (G,), optional
        Nodes that hold k other records already.
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
    """Rows from values with their rows and columns."""
    values, row, column = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((values.astype(np.float64), (row, column)), shape=(rows, columns))
