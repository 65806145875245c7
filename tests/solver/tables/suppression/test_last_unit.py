"""The last units between cost and bound are decided by an optimiser of programs in whole numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from plain_audit import plain_short
from random_tables import random_table

from linkrisk.formulations.tables.suppression_model import alone_rows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression import branch_and_cut
from linkrisk.solver.tables.suppression.capacity import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.last_unit import cheaper


def drawn(seed, shape=((3, 3), (3, 3), (2, 2))):
    table = random_table(np.random.default_rng(seed), shape, share=0.15, zeros=0.0)
    return replace(table, cost=np.ones(len(table)))


@pytest.mark.parametrize("seed", range(4))
def test_there_is_a_pattern_at_the_optimum_and_none_below(seed):
    table = drawn(seed)
    least = suppress_cells(table, None, Clock(None))
    limits = (table.primary.astype(float), (~table.fixed).astype(float))
    objective = np.where(table.free, 1.0, 0.0)
    asked = (alone_rows(table), limits, objective)
    rest = (CapacityCuts(table), Clock(None), lambda: False)
    below = cheaper(*asked, least.cost - 1.0, *rest)
    assert (below.pattern, below.none) == (None, True)
    there = cheaper(*asked, least.cost, *rest)
    assert not there.none
    assert table.cost_of(there.pattern) == least.cost
    assert not plain_short(table, there.pattern)


def test_who_stops_has_no_answer():
    table = drawn(0)
    limits = (table.primary.astype(float), (~table.fixed).astype(float))
    out = Clock(None)
    out.stop()
    objective = np.where(table.free, 1.0, 0.0)
    answer = cheaper(alone_rows(table), limits, objective, 1.0, CapacityCuts(table), out, lambda: True)
    assert answer.pattern is None


def test_a_search_that_asks_at_once_finds_the_same(monkeypatch):
    asked = []

    def noted(*arguments):
        asked.append(arguments)
        return cheaper(*arguments)

    tables = [drawn(seed, ((4, 4), (4, 4), (2, 2))) for seed in (1, 2, 5, 7)]
    before = [suppress_cells(table, None, Clock(None)) for table in tables]
    monkeypatch.setattr(branch_and_cut, "_LEVEL", 1)
    monkeypatch.setattr(branch_and_cut, "cheaper", noted)
    for table, least in zip(tables, before, strict=True):
        found = suppress_cells(table, None, Clock(None))
        assert (found.cost, found.bound) == (least.cost, least.bound)
        assert not plain_short(table, found.suppressed)
    assert asked
