"""Cell suppression: optima against all patterns of tiny tables; the audit against plain programs."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from small_tables import table_of

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.reach import reach
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.attackers.attacks import Attacker
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.patterns import Witnesses

BENCH = os.environ.get("LINKRISK_DATA")


def plain_interval(table, suppressed, cell):
    """The attacker's programs on values, not deviations, with dense rows."""
    low = np.where(suppressed, table.lower, table.value)
    high = np.where(suppressed, table.upper, table.value)
    goal = np.zeros(len(table))
    goal[cell] = 1.0
    rows = table.relations.toarray()
    bounds = list(zip(low, high, strict=True))
    ends = [linprog(sign * goal, A_eq=rows, b_eq=np.zeros(len(rows)), bounds=bounds) for sign in (1, -1)]
    return ends[0].fun, -ends[1].fun


def protects(table, suppressed):
    for cell in np.flatnonzero(table.primary):
        low, high = plain_interval(table, suppressed, cell)
        down, up = table.value[cell] - low, high - table.value[cell]
        levels = (table.lower_level[cell], table.upper_level[cell], table.sliding_level[cell])
        if down < levels[0] - 1e-7 or up < levels[1] - 1e-7 or up + down < levels[2] - 1e-7:
            return False
    return True


def cheapest(table):
    """Over all patterns, the cheapest first; None where there is none."""
    free = np.flatnonzero(table.free)
    inside = table.relations.toarray() != 0
    patterns = []
    for bits in product((False, True), repeat=free.size):
        suppressed = table.primary.copy()
        suppressed[free] = bits
        if not (inside[:, suppressed].sum(axis=1) == 1).any():
            patterns.append((table.cost[suppressed & table.free].sum(), suppressed))
    for cost, suppressed in sorted(patterns, key=lambda one: one[0]):
        if protects(table, suppressed):
            return cost
    return None


cells = st.lists(st.integers(0, 12), min_size=6, max_size=6)


@settings(max_examples=25, deadline=None)
@given(
    inner=cells,
    places=st.sets(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=2),
    levels=st.tuples(st.integers(1, 4), st.integers(0, 4)),
    cost=st.sampled_from(["value", "unit"]),
    sliding=st.booleans(),
)
def test_the_optimum_is_that_of_all_patterns(inner, places, levels, cost, sliding):
    grid = np.array(inner).reshape(2, 3)
    places = {place for place in places if grid[place] > 0}
    if not places:
        return
    table = table_of(grid, dict.fromkeys(places, levels), cost=cost, sliding=sliding)
    best = cheapest(table)
    if best is None:
        with pytest.raises(UsageError, match="cannot be protected: with all cells suppressed"):
            suppress_cells(table, get_backend("highs"), Clock(None))
        return
    for solver in (None, get_backend("highs")):  # our own branch and cut, and a backend
        found = suppress_cells(table, solver, Clock(None))
        assert found.proven
        assert found.cost == best
        assert protects(table, found.suppressed)
    start = Witnesses(table).pattern(CapacityCuts(table).open, Clock(None))
    assert protects(table, start)
    assert table.cost[start & table.free].sum() >= best


@settings(max_examples=25, deadline=None)
@given(inner=cells, bits=st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_audit_is_the_attackers_programs(inner, bits):
    grid = np.array(inner).reshape(2, 3)
    grid[0, 0] = max(grid[0, 0], 1)
    table = table_of(grid, {(0, 0): (2, 2)})
    suppressed = (np.array(bits) & ~table.fixed) | table.primary
    found = audit(table, suppressed)
    assert found.cells.tolist() == np.flatnonzero(suppressed).tolist()
    for at, cell in enumerate(found.cells):
        assert (found.low[at], found.high[at]) == pytest.approx(
            plain_interval(table, suppressed, cell), abs=1e-7
        )
    assert found.passed == protects(table, suppressed)


@settings(max_examples=25, deadline=None)
@given(inner=cells, seed=st.integers(0, 1000))
def test_any_multipliers_bound_the_attacker(inner, seed):
    """Whatever the multipliers are, no attack goes further than the constraint says."""
    generator = np.random.default_rng(seed)
    grid = np.array(inner).reshape(2, 3) + 1
    table = table_of(grid, {(1, 1): (1, 1)})
    suppressed = (generator.random(len(table)) < 0.7) | table.primary
    attacker = Attacker(table)
    attacker.knows(suppressed.astype(float))
    goal, cell = np.zeros(len(table)), int(np.flatnonzero(table.primary)[0])
    goal[cell] = 1.0
    found = attacker.attack(cell, 1.0)
    assert attacker.most(found) @ suppressed == pytest.approx(found.found, abs=1e-7)
    multipliers = generator.normal(size=table.relations.shape[0])
    wild = reach(goal - table.relations.T @ multipliers, table.above, table.below)
    assert wild @ suppressed >= found.found - 1e-7


def test_a_worked_example():
    """The cheapest rectangle fails, as 3 can only fall to 0: its cell moves by 3 and not by 4."""
    inner = [[20, 3, 10, 30], [15, 25, 35, 40], [45, 12, 28, 18], [32, 22, 16, 60]]
    table = table_of(inner, {(0, 2): (3, 3), (2, 1): (4, 4)})
    found = suppress_cells(table, get_backend("highs"), Clock(None))
    assert found.proven
    assert found.cost == 69.0
    assert np.flatnonzero(found.suppressed & table.free).tolist() == [7, 18, 22, 23]
    seen = audit(table, found.suppressed)
    interval = dict(zip(seen.cells.tolist(), zip(seen.low, seen.high, strict=True), strict=True))
    assert interval[8] == pytest.approx((7.0, 13.0))
    assert interval[17] == pytest.approx((0.0, 24.0))
    unit = table_of(inner, {(0, 2): (3, 3), (2, 1): (4, 4)}, cost="unit")
    assert suppress_cells(unit, get_backend("highs"), Clock(None)).cost == 4.0


@pytest.mark.parametrize("backend", ["highs", "scipy", "pulp", "cvxpy"])
def test_every_backend_finds_the_optimum(backend):
    table = table_of([[5, 9, 4], [7, 3, 8], [6, 2, 9]], {(0, 0): (2, 2), (1, 1): (1, 1)})
    model = suppression_model(table, CapacityCuts(table))
    found = get_backend(backend).solve(model, SolveOptions(absolute_gap=0.99))
    best = suppress_cells(table, get_backend("highs"), Clock(None))
    assert found.objective == pytest.approx(best.cost)
    assert protects(table, found.values > 0.5)


@pytest.mark.parametrize(("seed", "cost"), [(1, "value"), (2, "unit"), (5, "value")])
def test_our_own_search_finds_what_a_backend_finds(seed, cost):
    """Tables that take branches, with costs that are whole and with the same that are not."""
    generator = np.random.default_rng(seed)
    inner = generator.integers(1, 300, (7, 7))
    places = {tuple(place): (30, 20) for place in generator.integers(0, 7, (7, 2)).tolist()}
    places = {place: (min(30, inner[place]), 20) for place in places}
    table = table_of(inner, places, cost=cost)
    own = suppress_cells(table, None, Clock(None))
    other = suppress_cells(table, get_backend("highs"), Clock(None))
    assert own.proven
    assert own.cost == other.cost
    assert audit(table, own.suppressed).passed
    part = suppress_cells(replace(table, cost=table.cost / 7.0), None, Clock(None))
    assert part.bound <= own.cost / 7.0 * (1.0 + 1e-9)
    assert part.cost == pytest.approx(own.cost / 7.0)


@pytest.mark.parametrize("solver", [None, "highs"])
def test_interrupted_it_still_protects(solver):
    generator = np.random.default_rng(3)
    inner = generator.integers(1, 500, (12, 12))
    places = {tuple(place): (40, 40) for place in generator.integers(0, 12, (14, 2)).tolist()}
    table = table_of(inner, places)
    clock = Clock(None)
    clock.stop()
    found = suppress_cells(table, solver and get_backend(solver), clock)
    assert audit(table, found.suppressed).passed
    assert 0.0 <= found.bound <= found.cost


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": [9.0, 2, 3, 4]}, "relation 0 does not add up: its terms sum to 0?-?"),
        ({"lower": [0.0, 0, 5, 0]}, "cell 2: its value is outside its bounds"),
        ({"fixed": [False, True, False, False]}, "cell 1: it is both sensitive and always published"),
        ({"cost": [1.0, 1, -1, 1]}, "cell 2: its cost is below 0"),
        ({"upper_level": [0.0, -1, 0, 0]}, "cell 1: a protection level is below 0"),
        ({"upper_level": [0.0, 1, 1, 0]}, "cell 2: it has a protection level, but is not sensitive"),
        (
            {"lower_level": [0.0, 3, 0, 0]},
            "cell 1: its lower protection level is beyond what everybody knows",
        ),
        (
            {"upper_level": [0.0, 30, 0, 0]},
            "cell 1: its upper protection level is beyond what everybody knows",
        ),
        ({"sliding_level": [0.0, 30, 0, 0]}, "cell 1: its sliding level is beyond what everybody knows"),
    ],
)
def test_tables_that_are_none(change, message):
    given_ = {
        "value": [9.0, 2, 3, 4],
        "lower": [0.0] * 4,
        "upper": [20.0] * 4,
        "cost": [1.0] * 4,
        "lower_level": [0.0] * 4,
        "upper_level": [0.0] * 4,
        "sliding_level": [0.0] * 4,
    } | {key: value for key, value in change.items() if key != "fixed"}
    arrays = {key: np.array(value) for key, value in given_.items()}
    if "does not add up" in message:
        arrays["value"] = np.array([10.0, 2, 3, 4])
    with pytest.raises(FormulationError, match=message):
        CellTable(
            relations=sparse.csr_array([[-1.0, 1, 1, 1]]),
            primary=np.array([False, True, False, False]),
            fixed=np.array(change.get("fixed", [False] * 4)),
            **arrays,
        )


@pytest.mark.skipif(BENCH is None, reason="needs public data: set LINKRISK_DATA to its folder")
def test_tables_of_the_reference():
    """Tables that the reference program has protected: never dearer, and proven where it proved."""
    folder = Path(str(BENCH)).parent / "bench" / "tables"
    if not folder.is_dir():
        pytest.skip("there are no tables of the reference beside the public data")
    cells_, equations = (pd.read_csv(folder / "tiny" / f"tiny_{what}.csv") for what in ("cells", "equations"))
    for _, row in pd.read_csv(folder / "tiny" / "tiny_optima.csv").iterrows():
        own = cells_[cells_["table"] == row["table"]].reset_index(drop=True)
        terms = equations[equations["table"] == row["table"]]
        primary = (own["status"] == "u").to_numpy()
        value = own["value"].to_numpy(float)
        table = CellTable(
            value=value,
            relations=sparse.csr_array(
                (terms["coefficient"].astype(float), (terms["equation"], terms["cell"]))
            ),
            lower=own["lower_bound"].to_numpy(float),
            upper=own["upper_bound"].to_numpy(float),
            primary=primary,
            fixed=(own["status"] == "z").to_numpy(),
            cost=np.maximum(value, 1.0) if row["cost"] == "value" else np.ones(value.size),
            lower_level=np.where(primary, own["lower_protection"], 0.0),
            upper_level=np.where(primary, own["upper_protection"], 0.0),
            sliding_level=np.zeros(value.size),
        )
        found = suppress_cells(table, get_backend("highs"), Clock(None))
        assert (found.cost, found.bound) == (row["optimum"], row["optimum"])
        assert audit(table, found.suppressed).passed


def test_a_cell_in_part_counts_for_that_part_of_the_level():
    """By its bounds a tenth of each cell does for the level; a row that is cut to the level says not."""
    table = table_of([[5, 90, 90], [90, 90, 90], [90, 90, 90]], {(0, 0): (5, 5)})
    separator = CapacityCuts(table)
    point = np.where(table.primary, 1.0, 0.1)
    cuts = separator(point)
    assert cuts.count
    assert (cuts.matrix @ point < cuts.lower - 0.05).any()
    assert (cuts.matrix @ (~table.fixed).astype(float) >= cuts.lower).all()
