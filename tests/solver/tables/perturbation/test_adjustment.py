"""Controlled tabular adjustment: against brute force, in decimals, on the grid of all values."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_table
from scipy import sparse
from scipy.optimize import linprog, minimize
from small_tables import bench_folder, bench_table

from linkrisk import adjust_table, make_table, open_table
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.formulations.tables.units import Grid
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.perturbation.adjustment import adjust_cells


def grid(inner, levels, **more):
    """A table of two dimensions with its margins; levels are {inner cell: (lower, upper)}."""
    inner = np.asarray(inner, dtype=float)
    whole = np.block([[inner.sum(), inner.sum(axis=0)], [inner.sum(axis=1)[:, None], inner]])
    number, rows = np.arange(whole.size).reshape(whole.shape), []
    for line in [*number, *number.T]:
        row = np.zeros(whole.size)
        row[line] = [-1.0, *[1.0] * (line.size - 1)]
        rows.append(row)
    lower, upper = np.zeros(whole.size), np.zeros(whole.size)
    for cell, pair in levels.items():
        at = number[1:, 1:][cell]
        lower[at], upper[at] = pair
    return CellTable(
        value=whole.ravel(),
        relations=sparse.csr_array(np.array(rows)),
        lower=np.zeros(whole.size),
        upper=more.pop("upper", np.full(whole.size, 2.0 * whole.max() + 9.0)),
        primary=lower + upper > 0,
        fixed=more.pop("fixed", np.zeros(whole.size, dtype=bool)),
        cost=np.ones(whole.size),
        lower_level=lower,
        upper_level=upper,
        sliding_level=np.zeros(whole.size),
    )


def inner_to_all(rows, columns):
    """The matrix that sums the inner cells of a grid up to all its cells."""
    axis = [np.vstack([np.ones(size), np.eye(size)]) for size in (rows, columns)]
    return np.kron(*axis)


def by_hand(problem):
    """The least cost over all ways, each by an optimiser of its own; None where there is none."""
    costs = []
    for ways in itertools.product([False, True], repeat=problem.choices.size):
        low, high = problem.bounds(np.array(ways, dtype=bool))
        sums = problem.table.relations.toarray()
        first = linprog(
            np.tile(problem.weight, 2),
            A_eq=np.hstack([sums, -sums]),
            b_eq=np.zeros(len(sums)),
            bounds=np.column_stack([np.maximum(np.r_[low, -high], 0.0), np.maximum(np.r_[high, -low], 0.0)]),
        )
        if first.status != 0:
            continue
        if not problem.quadratic:
            costs.append(first.fun)
            continue
        # By inner cells alone: totals are sums of them, so that nothing but bounds is left.
        inner = inner_to_all(2, 3)
        start = (first.x[: len(problem)] - first.x[len(problem) :])[inner.sum(axis=1) == 1]
        found = minimize(
            lambda x, m=inner: problem.weight @ (m @ x) ** 2,
            start,
            jac=lambda x, m=inner: 2 * m.T @ (problem.weight * (m @ x)),
            method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": lambda x, m=inner, a=low: m @ x - a, "jac": lambda _, m=inner: m},
                {"type": "ineq", "fun": lambda x, m=inner, a=high: a - m @ x, "jac": lambda _, m=inner: -m},
            ],
            options={"ftol": 1e-13, "maxiter": 500},
        )
        costs.append(found.fun)
    return min(costs, default=None)


tables = st.builds(
    grid,
    st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=2, max_size=2),
    st.dictionaries(
        st.tuples(st.integers(0, 1), st.integers(0, 2)), st.just((0.0, 3.0)), min_size=1, max_size=3
    ),
)


def levelled(table, down):
    lower = np.where(table.primary, np.minimum(down, table.value), 0.0)
    return replace(table, lower_level=lower)


@settings(max_examples=40, deadline=None)
@given(
    table=tables, down=st.integers(0, 4), squares=st.booleans(), unit=st.booleans(), seed=st.integers(0, 9)
)
def test_the_optimum_is_that_of_all_ways(table, down, squares, unit, seed):
    """And any multipliers give a bound on it."""
    table = levelled(table, float(down))
    weight = np.ones(len(table)) if unit else 1.0 / np.maximum(table.value, 1.0)
    problem = TabularAdjustment(table=table, weight=weight, quadratic=squares)
    found = adjust_cells(problem, None if squares else get_backend("highs"), Clock(None))
    assert found.proven
    assert problem.wrong(found.change) is None
    best = by_hand(problem)
    assert found.bound <= best * (1 + 1e-6) + 1e-6
    assert found.cost == pytest.approx(best, rel=2e-5, abs=1e-6)
    least = problem.least(np.random.default_rng(seed).normal(size=table.relations.shape[0]))
    assert least <= best + 1e-6


@settings(max_examples=10, deadline=None)
@given(table=tables, up=st.booleans(), squares=st.booleans())
def test_whole_numbers(table, up, squares):
    table = levelled(table, 1.5)
    real = TabularAdjustment(table=table, weight=np.ones(len(table)), up=up, quadratic=squares)
    problem = replace(real, whole=True)
    found = adjust_cells(problem, get_backend("highs"), Clock(None))
    assert found.proven or squares
    assert (found.change == np.round(found.change)).all()
    assert problem.wrong(found.change) is None
    least = adjust_cells(real, None if squares else get_backend("highs"), Clock(None)).bound
    assert least - 1e-3 <= found.bound <= found.cost


def worked(**more):
    inner = [[20, 3, 10, 30], [15, 25, 35, 40], [45, 12, 28, 18], [32, 22, 16, 60]]
    table = grid(inner, {(0, 2): (3.0, 3.0), (2, 1): (4.0, 4.0)})
    return TabularAdjustment(table=table, weight=1.0 / np.maximum(table.value, 1.0), **more)


@pytest.mark.parametrize("name", available_backends())
def test_every_backend_finds_the_same(name):
    assert adjust_cells(worked(), get_backend(name), Clock(None)).cost == pytest.approx(0.820444417)


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_squares_by_tangents_and_by_our_own_search(name):
    problem = worked(quadratic=True)
    own, by = (adjust_cells(problem, one, Clock(None)) for one in (None, get_backend(name)))
    assert own.proven
    assert by.cost == pytest.approx(own.cost, rel=1e-4)
    assert by.bound <= own.cost * (1 + 1e-6)
    assert by.bound == pytest.approx(own.cost, rel=1e-3)


def test_without_time_there_is_a_bound_and_no_answer_or_one():
    clock = Clock(None)
    clock.stop()
    found = adjust_cells(worked(), get_backend("highs"), clock)
    assert worked().wrong(found.change) is None
    assert 0.0 <= found.bound <= found.cost


@pytest.mark.parametrize("squares", [False, True])
def test_what_is_fixed_or_safe(squares):
    backend, clock = None if squares else get_backend("highs"), Clock(None)

    def asked(levels, fixed=()):
        table = grid([[5, 6], [7, 8]], levels, fixed=np.isin(np.arange(9), fixed))
        return TabularAdjustment(table=table, weight=np.ones(9), quadratic=squares)

    found = adjust_cells(asked({}), backend, clock)
    assert (found.cost, found.bound, found.proven) == (0.0, 0.0, True)
    assert not found.change.any()
    fixed = [0, 1, 2, 3, 6]
    change = adjust_cells(asked({(0, 0): (2.0, 2.0)}, fixed), backend, clock).change
    assert not change[fixed].any()
    assert abs(change[4]) == pytest.approx(2.0)
    why = "no adjustment keeps all relations and bounds; lower a level, or widen the bounds"
    with pytest.raises(UsageError, match=why):
        adjust_cells(asked({(0, 0): (2.0, 2.0)}, [0, 1, 2, 3, 5, 6, 7, 8]), backend, clock)


@pytest.mark.parametrize(
    ("levels", "asked", "why"),
    [
        ((2.0, 0.0), {"up": True}, "cell 4: it has no upper protection level, so that it cannot go up only"),
        ((2.0, 2.0), {"weight": np.zeros(9)}, "cell 0: its weight is not above 0"),
        ((2.0, 24.5), {"whole": True}, "cell 4: no whole number is as far up as its level asks for"),
        ((0.0, 2.0), {"whole": True, "times": 0.25}, "cell 0: its value is not whole"),
        ((2.0, 2.0), {"sliding": True}, "cell 4: it has neither a lower nor an upper protection"),
    ],
)
def test_what_cannot_be_asked_for(levels, asked, why):
    table = grid([[5, 6], [7, 8]], {(0, 0): levels}, upper=np.full(9, 29.5))
    table = replace(table, value=table.value * asked.pop("times", 1.0))
    if asked.pop("sliding", False):
        none = np.zeros(9)
        table = replace(table, lower_level=none, upper_level=none, sliding_level=table.upper_level)
    with pytest.raises(FormulationError, match=why):
        TabularAdjustment(**{"table": table, "weight": np.ones(9), **asked})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ([9, 0, 0, 0, 0, 0, 0, 0, 0], "relation 0 does not add up"),
        ([0] * 9, "cell 4 is nearer than its level"),
        ([0, 0, 0, 0, -9, 9, 0, 9, -9], "cell 4 is outside its bounds"),
        ([2, 2, 0, 2, 2, 0, 0, 0, 0], "cell 0 is always published"),
    ],
)
def test_the_count_would_notice(change, why):
    fixed = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0], bool)
    table = grid([[5, 6], [7, 8]], {(0, 0): (2.0, 2.0)}, fixed=fixed)
    assert why in TabularAdjustment(table=table, weight=np.ones(9)).wrong(np.array(change, dtype=float))


def test_tables_of_the_reference():
    folder = bench_folder() / "csplib"
    rows = pd.read_csv(folder / "cta_reference.csv")
    for row in rows[rows["instance"].isin(["TARGUS", "TABLE7", "TABLE8"])].itertuples():
        cells = pd.read_csv(folder / f"{row.instance}_cells.csv").fillna(0.0)
        table = bench_table(cells, pd.read_csv(folder / f"{row.instance}_equations.csv.gz"))
        table = replace(table, fixed=np.zeros(len(table), dtype=bool))
        weight = table.cost if row.weight == "1" else 1.0 / np.maximum(table.value, 1.0)
        problem = TabularAdjustment(table=table, weight=weight, up="up" in row.directions.split())
        found = adjust_cells(problem, get_backend("highs"), Clock(None))
        assert found.proven
        assert found.cost == pytest.approx(row.l1_objective, rel=1e-6)


def frames(table, scale=1.0, cost=1.0):
    cells = pd.DataFrame(
        {
            "value": table.value * scale,
            "status": np.where(table.primary, "u", np.where(table.fixed, "z", "s")),
            "lower_protection": table.lower_level * scale,
            "upper_protection": table.upper_level * scale,
            "lower_bound": table.lower * scale,
            "upper_bound": table.upper * scale,
            "cost": cost,
        }
    )
    rows, columns = table.relations.tocoo().coords
    return cells, pd.DataFrame(
        {"relation": rows, "cell": columns, "coefficient": table.relations.tocoo().data}
    )


def table_of(seed, share=0.2):
    table = random_table(np.random.default_rng(seed), ((4, 2), (4, 2)), share=share)
    return replace(table, sliding_level=np.zeros(len(table)))


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize(("seed", "scale"), [(0, 1.0), (1, 1.0), (0, 0.05), (1, 1 / 3), (2, 1e-3), (2, 1e-6)])
def test_every_relation_adds_up_as_its_decimals_are_written(seed, squares, scale):
    cells, relations = frames(table_of(seed), scale)
    found = adjust_table(cells, relations, squares=squares)
    assert found.bound <= found.cost
    if not squares or found.details["step"] is None:
        assert found.status.value == "optimal"
    adjusted = [Fraction(repr(float(one))) for one in found.cells["adjusted"]]
    sums: dict[int, Fraction] = {}
    for relation, cell, factor in relations.itertuples(index=False):
        sums[relation] = sums.get(relation, Fraction(0)) + int(factor) * adjusted[cell]
    assert max(abs(one) for one in sums.values()) <= Fraction(1, 10**11)
    assert len(open_table(cells.assign(value=found.cells["adjusted"]), relations)) == len(cells)
    assert (found.cells["adjusted"] == cells["value"])[cells["status"] == "z"].all()


@pytest.mark.parametrize("squares", [False, True])
def test_small_costs_are_proven_like_others(squares):
    """The first answer is not the best one: a bound of 0 is below both, and proves neither."""
    table = table_of(21, share=0.3)
    weights = np.random.default_rng(0).choice([1.0, 3.0, 20.0], len(table))
    found = [
        adjust_table(*frames(table, cost=weights * unit), cost="given", squares=squares)
        for unit in (1.0, 1e-13)
    ]
    assert [one.status.value for one in found] == ["feasible" if squares else "optimal"] * 2
    assert found[1].cost == pytest.approx(found[0].cost * 1e-13, rel=1e-5)
    assert found[1].bound == pytest.approx(found[0].bound * 1e-13, rel=1e-5)


AMOUNTS = {
    "North": {"big": (9001, 20), "mid": (533, 612, 433), "small": (5, 7)},
    "South": {"big": (7703,), "mid": (399, 455, 388), "small": (111, 222, 303)},
    "East": {"big": (5107, 4207, 4309), "mid": (311, 267, 299), "small": (81, 92, 73, 64)},
}
FIRMS = {(region, size): each for region, sizes in AMOUNTS.items() for size, each in sizes.items()}


def firms(scale=Fraction(1)):
    """Firms with turnovers; all amounts times the scale."""
    lines = [(*cell, float(one * scale)) for cell, amounts in FIRMS.items() for one in amounts]
    return pd.DataFrame(lines, columns=["region", "size", "turnover"])


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 100), Fraction(1, 4), Fraction(1000)])
@pytest.mark.parametrize("squares", [False, True])
def test_no_value_shows_that_it_was_changed(scale, squares):
    made = make_table(firms(scale), ["region", "size"], response="turnover", rules=["p=10"])
    found = adjust_table(made, squares=squares)
    assert found.details["step"] == float(scale)
    for one in found.cells["adjusted"]:
        assert (Fraction(repr(float(one))) / scale).denominator == 1
    sensitive = (found.cells["status"] == "u").to_numpy()
    moved = (found.cells["adjusted"] - found.cells["value"]).abs().to_numpy()
    level = made.cells["upper_protection"].to_numpy()[sensitive]
    assert (moved[sensitive] >= level - 1e-9).all()
    assert (moved[sensitive] > level).any()  # rounded up


def test_levels_of_totals_are_rounded_up_beyond_the_usual_bounds():
    """A sensitive total can be as much more as its level says, in whole numbers, too."""
    cells = pd.DataFrame({"value": [3, 1, 2], "status": ["u", "s", "s"], "upper_protection": [0.6, 0, 0]})
    relations = pd.DataFrame({"relation": 0, "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})
    assert adjust_table(cells, relations).cells["adjusted"].iloc[0] == 4
    narrow = cells.assign(upper_bound=[3.7, 3, 3])
    message = "cell 0: no multiple of 1 within its bounds is as far from its value as its level asks for"
    with pytest.raises(FormulationError, match=message):
        adjust_table(narrow, relations)
    down = narrow.assign(lower_protection=[0.5, 0, 0])
    assert adjust_table(down, relations).cells["adjusted"].iloc[0] == 2


def test_the_grid_of_values():
    for values, found in (
        ([0, 0], Grid(1, 0)), ([1000, -3000, 24000], Grid(1000, 0)), ([7, 14, 21], Grid(1, 0)),
        ([0.25, -1.5], Grid(25, 2)), ([0.1 + 0.2, 0.7], Grid(1, 1)), ([1 / 3], None), ([1e16 + 2], None),
    ):  # fmt: skip
        assert Grid.of(np.array(values, dtype=float)) == found, values


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6),
    factor=st.sampled_from([1, 2, 5, 25, 100, 1000]),
    decimals=st.integers(0, 9),
)
def test_values_on_a_grid_are_the_floats_of_their_decimals(steps, factor, decimals):
    exact = [Fraction(one * factor, 10**decimals) for one in steps]
    values = np.array([float(one) for one in exact])
    grid = Grid.of(values)
    assert grid is not None
    step = Fraction(grid.factor, 10**grid.decimals)
    assert all((one / step).denominator == 1 for one in exact)
    assert grid.nearest(values).tolist() == values.tolist()
    up = [Fraction(repr(one)) for one in grid.above(np.abs(values) * 0.3).tolist()]
    assert all((one / step).denominator == 1 for one in up)
    for one, asked in zip(up, exact, strict=True):
        assert -step / 10**6 < one - abs(asked) * Fraction(3, 10) < step
