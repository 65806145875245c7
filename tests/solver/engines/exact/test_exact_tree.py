"""Branch and bound on simplices: conflicts, and whole trees, against independent optima."""

from __future__ import annotations

from itertools import chain, combinations

import brute_optimum
import numpy as np
import pytest
from aggregator_cases import BY_LABEL
from exact_runs import files, optimum, reference, start, tree
from scipy.optimize import linprog

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.engines.exact.simplex_conflicts import clique_saving, matching_saving
from linkrisk.solver.engines.exact.simplex_tree import SimplexTree, _in_like_units
from linkrisk.solver.engines.steering import TreeSteering

on_simplex = pytest.mark.parametrize("label", ["weighted-mean", "owa", "2-additive"])


def undecided_rows(seed):
    """Values of the rows of some blocks at the vertices of a simplex: continuous, or a few whole numbers."""
    random = np.random.default_rng(seed)
    blocks, corners = int(random.integers(2, 8)), int(random.integers(2, 5))
    block = np.repeat(np.arange(blocks), random.integers(1, 4, size=blocks))
    shape = (block.size, corners)
    values = random.normal(size=shape) if seed % 2 else random.integers(-2, 3, size=shape).astype(float)
    values[np.arange(block.size), random.integers(corners, size=block.size)] = 1.0
    return values, block, random.choice([1.0, 1.0, 0.5, 1.0 / 3.0, 2.0], size=blocks)


def linked_somewhere(values):
    """Whether some point of the simplex makes all rows positive, by an independent program."""
    rows, corners = values.shape
    answer = linprog(
        np.append(np.zeros(corners), -1.0),
        A_ub=np.hstack([-values, np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(corners), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * corners + [(None, None)],
    )
    return -answer.fun > 1e-7


def most_linked(values, block, weight):
    blocks = range(weight.size)
    sets = chain.from_iterable(combinations(blocks, size) for size in range(weight.size + 1))
    for chosen in sorted(sets, key=lambda chosen: -weight[list(chosen)].sum()):
        rows = values[np.isin(block, chosen)]
        if not len(rows) or linked_somewhere(rows):
            return weight[list(chosen)].sum()
    raise AssertionError("the empty set can always be linked")


@pytest.mark.parametrize("seed", range(60))
def test_conflicts_save_no_more_than_is_out_of_reach(seed):
    values, block, weight = undecided_rows(seed)
    keep = np.arange(block.size, dtype=np.intp)
    most = weight.sum() - most_linked(values, block, weight)
    cliques = clique_saving(values, keep, block, weight, np.inf)
    assert cliques <= most + 1e-9
    for effort in (1, 1_000_000):
        assert matching_saving(values, keep, block, weight, np.inf, effort) <= most + 1e-9


def test_conflicts_are_found():
    """Opposite rows exclude each other, of three that do so in pairs two are given up."""
    values = np.array([[1.0, -1.1, -1.1], [-1.1, 1.0, -1.1], [-1.1, -1.1, 1.0]])
    keep = np.arange(3, dtype=np.intp)
    weight = np.array([3.0, 1.0, 2.0])
    assert clique_saving(values, keep, keep, weight, np.inf) == pytest.approx(3.0)
    assert matching_saving(values, keep, keep, weight, np.inf, 1000) > 0.0
    assert clique_saving(np.abs(values), keep, keep, weight, np.inf) == 0.0
    assert matching_saving(np.abs(values), keep, keep, weight, np.inf, 1000) == 0.0


@pytest.mark.parametrize("touch", [-1e-12, -1e-16, 0.0, 1e-16, 1e-12])
def test_rows_that_touch_conflict_only_beyond_rounding(touch):
    """Opposite rows meet where both vanish; only less than that is out of reach for sure."""
    values = np.array([[1.0, -1.0, 0.3], [-1.0, 1.0, -0.3]]) + touch
    keep = np.arange(2, dtype=np.intp)
    saving = clique_saving(values, keep, keep, np.ones(2), np.inf)
    assert saving == (1.0 if touch == -1e-12 else 0.0)


@pytest.mark.parametrize("label", ["weighted-mean", "owa"])
@pytest.mark.parametrize("seed", range(4))
def test_two_attributes_agree_with_overlapping_intervals(label, seed):
    pair = make_pair(*files(seed, 150, 2, 0.5))
    features = (lambda c: sorted(c, reverse=True)) if label == "owa" else list
    made = tree(pair, BY_LABEL[label].make(2))
    assert made.incumbent.proven
    assert made.incumbent.value == brute_optimum.overlap_optimum(reference(pair), features)


@on_simplex
@pytest.mark.parametrize("ties", list(Ties))
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("seed", range(3))
def test_trees_alone_reach_the_optimum(label, ties, direction, seed):
    attributes = 2 if label == "2-additive" else 2 + seed
    original, masked = files(seed, attributes=attributes)
    masked[1] = masked[0]
    pair = make_pair(original, masked, ties=ties, direction=direction)
    case = BY_LABEL[label]
    made = tree(pair, case.make(attributes))
    assert made.incumbent.proven
    assert made.incumbent.value == pytest.approx(optimum(pair, case))


@pytest.mark.usefixtures("virtual_time")
def test_a_tree_goes_on_where_it_stopped():
    pair = make_pair(*files(2, 80, 4, 0.9))
    made = start(pair, BY_LABEL["weighted-mean"].make(4))
    search = SimplexTree(made.system, made.incumbent, made.evaluator, TreeSteering(budget=50))
    bounds, nodes = [made.incumbent.bound], [0]
    while not made.incumbent.proven:
        search.run(made.incumbent.clock.seconds + 0.015)  # one question
        bounds.append(made.incumbent.bound)
        nodes.append(search.nodes)
    assert len(nodes) > 2
    assert bounds == sorted(bounds, reverse=True)
    assert nodes == sorted(nodes)


@pytest.mark.parametrize("label", ["weighted-mean", "owa"])
@pytest.mark.parametrize("seed", range(10))
def test_whole_numbers_full_of_ties(label, seed):
    """Rivals as near as the partner, opposite rows, records that are equal."""
    random = np.random.default_rng(seed)
    original = random.integers(0, 4, size=(7, 2)).astype(float)
    masked = original + random.integers(-1, 2, size=(7, 2))
    if any(np.ptp(values[:, k]) == 0 for values in (original, masked) for k in range(2)):
        masked[0] += 1.0
        original[0] += 2.0
    pair = make_pair(original, masked, standardisation=Standardisation.POOLED)
    case = BY_LABEL[label]
    made = tree(pair, case.make(2))
    assert made.incumbent.value == optimum(pair, case) == made.incumbent.bound


# ---------------------------------------------------------------- columns of very different sizes


@pytest.mark.parametrize("label", ["weighted-mean", "owa"])
@pytest.mark.parametrize("seed", range(4))
def test_units_far_apart_are_searched_as_if_they_were_not(label, seed):
    """An attribute in millionths of another's unit: once the tree went on for ever."""
    original, masked = files(seed, n=12, attributes=2)
    aggregator, options = BY_LABEL[label].make(2), {"standardisation": Standardisation.NONE}
    unit = np.array([1e-6, 1e6])
    apart = tree(make_pair(original * unit, masked * unit, **options), aggregator)
    assert apart.incumbent.bound == apart.incumbent.value
    if label == "weighted-mean":  # ranks compare distances of different attributes, so units matter to them
        alike = tree(make_pair(original, masked, **options), aggregator)
        assert apart.incumbent.bound == alike.incumbent.bound


def test_like_units_round_nothing_and_leave_signs_as_they_are():
    random = np.random.default_rng(0)
    rows = random.normal(size=(50, 3)) * [1e-9, 1.0, 1e-3]
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    scaled, unit = _in_like_units(rows)
    assert (np.frexp(unit)[0] == 0.5).all()
    assert unit.max() == 1.0
    lengths = np.linalg.norm(scaled, axis=1)
    assert ((lengths >= 1.0) & (lengths < 2.0)).all()
    factor = scaled / (rows * unit)
    np.testing.assert_array_equal(factor, np.broadcast_to(factor[:, :1], factor.shape))
    sizes = np.median(np.abs(scaled), axis=0)
    assert sizes.max() < 8.0 * sizes.min()


# ---------------------------------------------------------------- memory


def test_a_tree_that_is_over_can_be_asked_to_go_on():
    """What is left may be too small to be halved: then nothing waits, though nothing is proven."""
    made = start(make_pair(*files(3, 60, 4)), BY_LABEL["weighted-mean"].make(4))
    search = SimplexTree(made.system, made.incumbent, made.evaluator)
    search._waiting, search._stuck = [], made.incumbent.bound
    bound = made.incumbent.bound
    search.run(np.inf)
    assert (made.incumbent.proven, made.incumbent.bound) == (False, bound)
    assert not made.incumbent.clock.out_of_memory
