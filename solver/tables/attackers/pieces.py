"""A suppressed table in pieces: what is known exactly at once, and the rest in parts that share no relation.

A relation with one unknown cell gives it away. The cells that are left fall into the connected components of
the graph of cells and relations; what an attacker finds out of one says nothing about another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable


@dataclass(frozen=True, eq=False)
class Piece:
    """Unknown cells that hang together, and the relations between them."""

    cells: LongArray  # (k,) their numbers in the table, ascending
    rows: LongArray  # (m,) the numbers of their relations in the table
    relations: sparse.csr_array  # (m, k)
    # `below`, `above`: (k,) how far each can go down and up by what everybody knows
    below: FloatArray
    above: FloatArray


def known_exactly(table: CellTable, suppressed: BoolArray) -> BoolArray:
    """Suppressed cells that bounds or relations give away one after the other, shape (n,)."""
    unknown = suppressed & ((table.below > 0) | (table.above > 0))
    part = sparse.csr_array(table.relations[:, np.flatnonzero(unknown)])
    pattern = sparse.csr_array((np.ones(part.nnz, dtype=np.int64), part.indices, part.indptr), part.shape)
    left = np.ones(part.shape[1], dtype=np.bool_)
    while True:
        alone = np.flatnonzero(pattern @ left.astype(np.int64) == 1)
        told = np.unique(pattern[alone].indices) if alone.size else alone
        told = told[left[told]]
        if not told.size:
            break
        left[told] = False
    known = suppressed.copy()
    known[np.flatnonzero(unknown)[left]] = False
    return known


def pieces_of(table: CellTable, unknown: BoolArray) -> Iterator[Piece]:
    """The connected components of cells that are not known, the largest first.

    `unknown` (n,).
    """
    cells = np.flatnonzero(unknown)
    part = sparse.csr_array(table.relations[:, cells])
    numbers = np.flatnonzero(np.diff(part.indptr))
    part = part[numbers]
    links = sparse.csr_array(abs(part).T @ abs(part))
    count, label = connected_components(links, directed=False)
    of_row = label[part.indices[part.indptr[:-1]]]
    by_cell, by_row = np.argsort(label, kind="stable"), np.argsort(of_row, kind="stable")
    cell_ends = np.searchsorted(label[by_cell], np.arange(count + 1))
    row_ends = np.searchsorted(of_row[by_row], np.arange(count + 1))
    sorted_part = sparse.csr_array(part[by_row][:, by_cell])
    below, above = table.below[cells], table.above[cells]
    for at in np.argsort(-np.diff(cell_ends), kind="stable"):
        columns = slice(int(cell_ends[at]), int(cell_ends[at + 1]))
        own = by_cell[columns]
        span = slice(int(row_ends[at]), int(row_ends[at + 1]))
        rows = sorted_part[span]
        relations = sparse.csr_array(
            (rows.data, rows.indices - columns.start, rows.indptr), shape=(rows.shape[0], own.size)
        )
        yield Piece(cells[own], numbers[by_row[span]], relations, below[own], above[own])
