"""The fast audit against the plain one, its limits, and its processes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_pattern, random_table
from scipy import sparse
from small_tables import bench_folder, bench_table, plain_intervals, plain_short

from linkrisk.formulations.tables.cell_table import CellTable, Insider
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.pieces import known_exactly

SHAPES = [((4, 4), (5, 5)), ((6, 3), (4, 2)), ((3, 3), (3, 3), (2, 2)), ((8, 2),), ((4, 2), (3, 3), (2, 2))]


def agrees(table, suppressed):
    """Whether the audit finds the intervals of plain programs, and which cells are short."""
    found = audit(table, suppressed)
    shown = np.isin(found.cells, np.flatnonzero(suppressed))
    expected = plain_intervals(table, suppressed)
    scale = np.maximum(np.abs(table.value[suppressed]), 1.0)[:, None]
    ends = np.column_stack([found.low, found.high])[shown]
    assert np.abs((ends - expected) / scale).max(initial=0.0) < 1e-6
    assert found.audited.all()
    assert not found.undecided.any()
    assert found.cells[found.short > 0].tolist() == plain_short(table, suppressed)
    return found


@settings(max_examples=20, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 10_000),
    share=st.floats(0.0, 0.9),
    decimals=st.integers(0, 2),
    most=st.sampled_from([5, 100, 10_000_000]),
)
def test_it_is_the_plain_audit(shape, seed, share, decimals, most):
    generator = np.random.default_rng(seed)
    table = random_table(generator, shape, decimals=decimals, most=most)
    suppressed = random_pattern(generator, table, share)
    found = agrees(table, suppressed)
    short = {demand.cell for demand in unmet(table, suppressed).unmet}
    assert short == set(found.cells[found.short > 0].tolist())
    alone = known_exactly(table, suppressed)
    assert found.exact[np.isin(found.cells, np.flatnonzero(alone))].all()


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_it_is_that_of_an_insider(seed):
    generator = np.random.default_rng(seed)
    table = random_table(generator, SHAPES[1])
    suppressed = random_pattern(generator, table, 0.4)
    cells = generator.choice(len(table), 4, replace=False)
    spread = generator.random((2, 4))
    known = table.value[cells]
    insider = Insider("somebody", cells, known * (1.0 - spread[0].round()), known * (1.0 + spread[1]))
    whole = agrees(table.seen_by(insider), suppressed)
    wanted = np.zeros(len(table), dtype=bool)
    wanted[whole.cells[::3]] = True
    part = audit(table.seen_by(insider), suppressed, wanted=wanted)
    asked = wanted[part.cells]
    assert part.audited[asked].all()
    assert part.low[asked] == pytest.approx(whole.low[asked], abs=1e-6)
    assert part.high[asked] == pytest.approx(whole.high[asked], abs=1e-6)


def test_what_was_not_audited_is_not_protected():
    generator = np.random.default_rng(1)
    table = random_table(generator, ((6, 3), (6, 3)))
    suppressed = ~table.fixed
    clock = Clock(None)
    clock.stop()
    found = audit(table, suppressed, clock)
    assert not found.audited.any()
    assert not found.passed
    assert not (found.short > 0).any()
    assert not found.exact.any()
    assert found.undecided.tolist() == table.primary[found.cells].tolist()
    met = unmet(table, suppressed, clock)
    assert not met.unmet
    assert set(met.undecided) == set(table.demands)
    shown = audit(table, np.zeros(len(table), dtype=bool))  # also what is sensitive
    assert shown.cells.tolist() == np.flatnonzero(table.primary).tolist()
    assert shown.exact.all()
    assert not shown.passed


def test_several_processes_find_the_same():
    generator = np.random.default_rng(2)
    table = random_table(generator, ((9, 3), (9, 3)))
    suppressed = random_pattern(generator, table, 0.6)
    told = []
    alone, shared = audit(table, suppressed, report=told.append), audit(table, suppressed, workers=2)
    for name in ("cells", "low", "high", "short", "exact", "audited"):
        assert getattr(alone, name) == pytest.approx(getattr(shared, name), abs=1e-6)
    assert told[-1].done == 1.0


def test_cells_in_no_relation_and_bounds_on_one_side():
    table = CellTable(
        value=np.array([5.0, 3.0, 3.0]),
        relations=sparse.csr_array([[0.0, 1.0, -1.0]]),
        lower=np.array([5.0, 3.0, 0.0]),
        upper=np.array([9.0, 7.0, 6.0]),
        primary=np.array([True, True, False]),
        fixed=np.zeros(3, dtype=bool),
        cost=np.ones(3),
        lower_level=np.zeros(3),
        upper_level=np.array([4.0, 3.0, 0.0]),
        sliding_level=np.zeros(3),
    )
    found = audit(table, np.ones(3, dtype=bool))
    assert found.low.tolist() == [5.0, 3.0, 3.0]
    assert found.high.tolist() == [9.0, 6.0, 6.0]
    assert found.passed


def test_patterns_of_the_reference_program():
    folder = bench_folder() / "ref"
    for cells in sorted(folder.glob("t[23]_*_cells.csv")):
        frame = pd.read_csv(cells)
        if len(frame) > 500:  # others take longer than they tell more
            continue
        name = "_".join(cells.name.split("_")[:2])
        table = bench_table(frame, pd.read_csv(folder / f"{name}_equations.csv.gz"))
        for column in [name for name in frame.columns if name.startswith(("opt", "mod"))]:
            suppressed = table.primary | (frame[column] == 1).to_numpy()
            assert audit(table, suppressed).passed, (cells.name, column)
            assert unmet(table, suppressed).all, (cells.name, column)
            if len(table) < 150:
                agrees(table, suppressed)


@pytest.mark.slow
def test_every_table_of_the_benchmarks():
    folder = bench_folder()
    for equations in sorted(
        [*folder.glob("csplib/*_equations.csv.gz"), *folder.glob("random/*_equations.csv.gz")]
    ):
        cells = equations.with_name(equations.name.replace("_equations.csv.gz", "_cells.csv"))
        table = bench_table(pd.read_csv(cells), pd.read_csv(equations))
        generator = np.random.default_rng(len(table))
        suppressed = random_pattern(generator, table, min(0.5, 60 / len(table)))
        suppressed[np.flatnonzero(table.primary)[60:]] = False
        primary = table.primary & suppressed
        levels = {name: getattr(table, name) * primary for name in ("lower_level", "upper_level")}
        agrees(replace(table, primary=primary, **levels), suppressed)
