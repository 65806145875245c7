"""Cell suppression: optima against all patterns of tiny tables; the audit against plain programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_table
from scipy import sparse
from small_tables import bench_folder, bench_table, cheapest, insider, plain_interval, protects, table_of

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_table import CellTable, Insider
from linkrisk.formulations.tables.reach import reach
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.attackers.attacks import Attacker
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.operations.suppress_and_audit import from_insiders_too
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large
from linkrisk.solver.tables.suppression.primal_heuristics import Witnesses
from linkrisk.solver.tables.suppression.reachability import unreachable

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
@given(inner=cells, seed=st.integers(0, 1000))
def test_any_multipliers_bound_the_attacker(inner, seed):
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
        ({"value": [10.0, 2, 3, 4]}, "relation 0 does not add up: its terms sum to 0?-?"),
        ({"lower": [0.0, 0, 5, 0]}, "cell 2: its value is outside its bounds"),
        ({"fixed": [False, True, False, False]}, "cell 1: it is both sensitive and always published"),
        ({"cost": [1.0, 1, -1, 1]}, "cell 2: its cost is below 0"),
        ({"upper_level": [0.0, -1, 0, 0]}, "cell 1: a protection level is below 0"),
        ({"upper_level": [0.0, 1, 1, 0]}, "cell 2: it has a protection level, but is not sensitive"),
        ({"lower_level": [0.0, 3, 0, 0]}, "cell 1: its lower protection level is beyond what everybody"),
        ({"upper_level": [0.0, 30, 0, 0]}, "cell 1: its upper protection level is beyond what everybody"),
        ({"sliding_level": [0.0, 30, 0, 0]}, "cell 1: its sliding level is beyond what everybody knows"),
    ],
)
def test_tables_that_are_none(change, message):
    zeros = ("lower", "lower_level", "upper_level", "sliding_level")
    given_ = {"value": [9.0, 2, 3, 4], "upper": [20.0] * 4, "cost": [1.0] * 4, "fixed": [False] * 4}
    arrays = {**dict.fromkeys(zeros, [0.0] * 4), **given_, **change}
    with pytest.raises(FormulationError, match=message):
        CellTable(
            relations=sparse.csr_array([[-1.0, 1, 1, 1]]),
            primary=np.array([False, True, False, False]),
            **{key: np.array(one) for key, one in arrays.items()},
        )


def test_tables_of_the_reference():
    folder = bench_folder() / "tiny"
    frames = [pd.read_csv(folder / f"tiny_{what}.csv") for what in ("cells", "equations")]
    for _, row in pd.read_csv(folder / "tiny_optima.csv").iterrows():
        own, terms = (one[one["table"] == row["table"]].reset_index(drop=True) for one in frames)
        table = bench_table(own, terms)
        cost = np.maximum(table.value, 1.0) if row["cost"] == "value" else table.cost
        table = replace(table, cost=cost, fixed=(own["status"] == "z").to_numpy())
        found = suppress_cells(table, get_backend("highs"), Clock(None))
        assert (found.cost, found.bound) == (row["optimum"], row["optimum"])
        assert audit(table, found.suppressed).passed


# Sliding levels that ask for all the way that there is: met by cells that go to both ends


def table(inner, insiders=()) -> CellTable:
    """A cell that may be anything up to 1000: how far it goes is what the others of its relations let it."""
    made = table_of(inner, {(0, 0): (1, 1)})
    made = replace(
        made,
        upper=np.where(made.primary, 1000.0, made.upper),
        lower_level=np.zeros(len(made)),
        upper_level=np.zeros(len(made)),
        fixed=made.fixed | (np.arange(len(made)) == 0),
    )
    made = replace(made, insiders=tuple(insider(made, known) for known in insiders))
    (cell,) = np.flatnonzero(made.primary)
    views = (made, *(made.seen_by(one) for one in made.insiders))
    ends = [plain_interval(view, ~made.fixed, cell) for view in views]
    all_the_way = min(high - low for low, high in ends) * (1.0 - 1e-12)
    return replace(made, sliding_level=np.where(made.primary, all_the_way, 0.0))


INNER = [
    [[22, 31, 9], [17, 8, 40], [25, 12, 6]],
    [[90, 7, 6], [5, 8, 40], [3, 12, 6]],
    [[50, 7.3, 6.1], [5.7, 8.9, 40.3], [3.1, 12.7, 6.9]],
]


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("insiders", [[], [{10: None}]], ids=["outsiders", "insiders"])
@pytest.mark.parametrize("method", ["optimal", "modular", "heuristic"])
def test_all_the_way(inner, insiders, method):
    asked, clock = table(inner, insiders), Clock(None)
    if method == "optimal":
        found = suppress_cells(asked, None, clock)
    else:
        found = suppress_large(asked, method, clock)
        found = from_insiders_too(asked, found, clock) if insiders else found
    assert protects(replace(asked, sliding_level=asked.sliding_level * (1.0 - 1e-5)), found.suppressed)


@pytest.mark.parametrize("seed", [108, 114])
def test_a_level_that_was_lowered_as_far_as_it_goes(seed):
    generator = np.random.default_rng(seed)
    made = random_table(generator, ((3, 3), (3, 3)), share=0.2)
    known = np.sort(generator.choice(len(made), 4, replace=False))
    someone = Insider("a", known, made.value[known], made.value[known])
    beyond = [one for one in unreachable(replace(made, insiders=(someone,))) if one.owner]
    assert any(one.demand.up and one.demand.down for one in beyond)
    levels = {(one.demand.cell, one.demand.up, one.demand.down): one.found for one in beyond}
    asked = replace(made, insiders=(replace(someone, lowered=levels),))
    found = suppress_cells(asked, None, Clock(None))
    short = {key: level * (1.0 - 1e-5) for key, level in levels.items()}
    assert protects(replace(made, insiders=(replace(someone, lowered=short),)), found.suppressed)
