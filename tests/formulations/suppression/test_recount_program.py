"""Nodes, prices and programs of the recount problem, against their definitions."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression import nodes as nodes_module
from linkrisk.formulations.suppression.coverage import ways_to_cover
from linkrisk.formulations.suppression.key_table import KeyTable, members
from linkrisk.formulations.suppression.node_prices import Volume, bound_of, penalties
from linkrisk.formulations.suppression.nodes import nodes_of
from linkrisk.formulations.suppression.recount_programs import recount_model
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Status

codes_of = st.tuples(st.integers(2, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays.arrays(np.int32, shape, elements=st.integers(-1, 2))
)


def table_of(codes):
    return KeyTable(tuple("abcdefgh"[: codes.shape[1]]), codes)


def listed(codes, k, cost=None, allowed=None):
    table, keys = table_of(codes), codes.shape[1]
    prices = np.ones(keys, dtype=np.int64) if cost is None else np.array(cost, dtype=np.int64)
    return table, nodes_of(table.types, prices, (1 << keys) - 1 if allowed is None else allowed, k)


def row_of(table, nodes, entry):
    gone = members(int(nodes.pattern[entry]))
    return tuple(
        -1 if at in gone else int(code) for at, code in enumerate(table.types.codes[nodes.row_type[entry]])
    )


def solved(nodes, unit=1):
    model = recount_model(nodes, np.arange(nodes.entries), nodes.count, unit)
    return get_backend("highs").solve(model.program, SolveOptions())


# Nodes


@given(codes=codes_of, k=st.integers(1, 4), allowed=st.integers(0, 15))
def test_nodes_are_the_closed_rows_that_k_records_can_become(codes, k, allowed):
    allowed &= (1 << codes.shape[1]) - 1
    table, nodes = listed(codes, k, allowed=allowed)
    free = members(allowed)
    can_be = {}
    for record, row in enumerate(codes):
        for size in range(len(free) + 1):
            for gone in combinations(free, size):
                kept = tuple(-1 if at in gone else int(code) for at, code in enumerate(row))
                can_be.setdefault(kept, set()).add(record)
    expected = {
        row
        for row, records in can_be.items()
        if len(records) >= k
        and not any(records == others and _keeps_more(other, row) for other, others in can_be.items())
    }
    found = {}
    for entry in range(nodes.entries):
        found.setdefault(int(nodes.of_entry[entry]), set()).add(row_of(table, nodes, entry))
    assert all(len(rows) == 1 for rows in found.values())
    assert {rows.pop() for rows in found.values()} == expected
    assert nodes.sums(nodes.count[nodes.row_type]).tolist() == [
        len(can_be[row_of(table, nodes, int(start))]) for start in nodes.start[:-1]
    ]


def _keeps_more(one, other):
    return one != other and all(
        mine == theirs or theirs == -1 for mine, theirs in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("wide", [False, True])
def test_too_much_to_list(monkeypatch, wide):
    monkeypatch.setattr(nodes_module, "MOST_ENTRIES", 3 if not wide else 10**9)
    codes = np.array([[0, 0, 0], [2**30, 2**30, 2**30]], dtype=np.int32)
    with pytest.raises(
        FormulationError, match="too many values together" if wide else "2 different rows times 8"
    ):
        listed(codes, 1)


# Prices


@given(codes=codes_of, k=st.integers(1, 4), chance=st.randoms(use_true_random=False))
def test_any_prices_prove_a_bound_and_the_program_reaches_what_is_best(codes, k, chance):
    cost = [chance.randint(0, 4) for _ in range(codes.shape[1])]
    _, nodes = listed(codes, k, cost)
    if np.unique(nodes.row_type).size < len(nodes.count):  # fewer than k records
        return
    best = solved(nodes)
    assert best.status is Status.OPTIMAL
    least = round(best.objective)
    volume = Volume(nodes, sum(cost))
    for _ in range(30):
        volume.advance()
        assert bound_of(nodes, volume.prices) == volume.bound <= least
    wild = np.array([chance.randint(0, 9) for _ in nodes.count], dtype=np.int64)
    assert bound_of(nodes, wild) <= least
    for prices in (volume.prices, wild):
        kept, _ = nodes.only(bound_of(nodes, prices) + penalties(nodes, prices) <= least)
        assert round(solved(kept).objective) == least  # penalties take no optimum away


# Programs


@pytest.mark.parametrize("name", ["highs", "scipy", "pulp"])
def test_the_program_of_a_part(name):
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 1]], dtype=np.int32)
    table, nodes = listed(codes, 2)
    whole = recount_model(nodes, np.arange(nodes.entries), nodes.count, 1)
    rows, columns = whole.program.names()
    assert (len(rows), len(columns)) == whole.program.shape
    found = get_backend(name).solve(whole.program, SolveOptions())
    assert (
        round(found.objective) == 2
    )  # the first two as they are, of the others one value each? no: both lose one
    opened = np.array([row_of(table, nodes, int(start)) == (-1, -1) for start in nodes.start[:-1]])
    single = np.array([0, 0, 1], dtype=np.int64)
    entries = np.flatnonzero((nodes.row_type == 2) & opened[nodes.of_entry])
    part = recount_model(nodes, entries, single, 1, opened)
    assert part.nodes.size == 0
    assert round(get_backend(name).solve(part.program, SolveOptions()).objective) == 2


# Ways to match


@given(codes=codes_of, allowed=st.integers(0, 15))
def test_ways_cover_what_they_come_to_match(codes, allowed):
    keys = codes.shape[1]
    allowed &= (1 << keys) - 1
    types = table_of(codes).types
    nothing, none = np.zeros(len(types), dtype=np.bool_), np.zeros((0, 2), dtype=np.int64)
    rows = types.codes[: max(1, len(types) // 2)]
    cost = np.ones(keys, dtype=np.int64)
    ways = ways_to_cover(types, rows, cost, allowed, nothing, none)
    covered = ways.covered(len(rows))
    found = {
        (int(one), int(two)): row for one, two, row in zip(ways.row_type, ways.pattern, covered, strict=True)
    }
    for at, size in product(range(len(types)), range(keys + 1)):
        for gone in combinations(members(allowed), size):
            if any(types.codes[at, place] < 0 for place in gone):
                continue
            mask = sum(1 << place for place in gone)
            left = types.codes[at].copy()
            before = _matches(left, rows)
            left[list(gone)] = -1
            gain = _matches(left, rows) & ~before
            smaller = [found.get((at, mask & ~(1 << place))) for place in gone]
            if (at, mask) in found:
                assert (found[at, mask] == gain).all()
                assert gain.any()
                assert not any(other is not None and (other == gain).all() for other in smaller)
            elif gain.any():  # a part of the pattern does the same
                assert any(
                    (row == gain).all()
                    for (one, part), row in found.items()
                    if one == at and part & mask == part
                )


def _matches(row, rows):
    return ((row == rows) | (row < 0) | (rows < 0)).all(axis=1)
