"""The big-C block-indicator model: with its parameters fixed it counts, and its constants cut off nothing."""

from __future__ import annotations

import pickle
from dataclasses import replace

import brute_force as plain
import brute_optimum
import numpy as np
import pytest
from aggregator_cases import CASES, LABELS, POLYTOPES
from pairwise import pairwise
from scipy.optimize import Bounds, LinearConstraint, milp

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import (
    IndicatorOptions,
    block_system,
    indicator_model,
    paper_options,
)
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.formulations.programs import Cuts

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def pair_of(seed, n=10, attributes=3, **options):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    return make_pair(original, original + 0.8 * random.normal(size=(n, attributes)), **options)


def solve(model):
    """The optimum by a solver of the test's own choice; None when the model has no solution."""
    answer = milp(
        model.objective,
        integrality=model.integer.astype(int),
        bounds=Bounds(model.column_lower, model.column_upper),
        constraints=LinearConstraint(model.matrix, model.row_lower, model.row_upper),
        options={"mip_rel_gap": 0.0},
    )
    assert answer.status in (0, 2), answer.message
    return None if answer.x is None else model.value(answer.x)


def fixed(model, theta):
    """The model with the parameters fixed at a point."""
    lower, upper = model.milp.column_lower.copy(), model.milp.column_upper.copy()
    lower[: theta.size] = upper[: theta.size] = theta
    return replace(model.milp, column_lower=lower, column_upper=upper)


def comfortable(system, theta, margin):
    """Whether no row lies where the margin or a solver's tolerance could decide."""
    return (np.abs(system.matrix @ theta) > 10 * margin).all()


@pairwise(case=CASES, ties=list(Ties), direction=list(Direction))
def test_with_parameters_fixed_the_optimum_is_the_count(case, ties, direction):
    pair = pair_of(1, direction=direction, ties=ties)
    aggregator = case.make(3)
    system = block_system(pair, aggregator)
    model = indicator_model(system)
    reference = plain.of_pair(pair)
    checked = 0
    for theta in aggregator.domain.sample(12, np.random.default_rng(3)):
        if not comfortable(system, theta, model.options.margin):
            continue
        define = case.define(aggregator, aggregator.decode(theta))
        linked = plain.outcome(reference, define, aggregator.differences.value).linked
        weight = float(pair.weight[linked].sum())
        assert model.linked_weight(solve(fixed(model, theta))) == pytest.approx(weight, abs=1e-6)
        point = model.point(theta)
        assert model.milp.violation(point) <= 1e-9
        assert model.linked_weight(model.milp.value(point)) == pytest.approx(weight, abs=1e-9)
        checked += 1
    assert checked >= 6


@everywhere
@pytest.mark.parametrize("options", [IndicatorOptions(), IndicatorOptions(scale=False, margin=1e-3)])
@pytest.mark.parametrize("seed", range(2))
def test_the_tight_constant_cuts_off_no_parameter(case, options, seed):
    aggregator = case.make(3)
    model = indicator_model(block_system(pair_of(seed, n=25), aggregator), options)
    assert model.valid
    relative = aggregator.simpler()
    points = [aggregator.domain.sample(200, np.random.default_rng(seed)), aggregator.equal()[None, :]]
    if relative is not None:  # the corners: all weight on one attribute
        points.append(np.array([relative[1](corner) for corner in np.eye(3)]))
    for theta in np.vstack(points):
        point = model.point(theta)
        assert model.milp.violation(point) <= 1e-9
        # Giving a block up switches its rows off altogether.
        point[model.dimension :] = 1.0
        assert model.milp.violation(point) <= 1e-9


@everywhere
def test_the_tight_constant_is_tight(case):
    """A hundredth less of it cuts off parameters somewhere, unless the data rows of the bilinear form do."""
    aggregator = case.make(3)
    system = block_system(pair_of(4, n=8), aggregator)
    model = indicator_model(system)
    dimension, domain = model.dimension, aggregator.domain.rows
    constants = model.milp.matrix[-system.rows :, dimension:].toarray().max(axis=1)
    np.testing.assert_allclose(constants, np.maximum(system.excess, 0.0) + model.options.margin)
    assert model.needed_c == pytest.approx(constants.max())
    worst = int(np.argmax(system.excess))
    answer = milp(
        system.matrix[[worst]].toarray()[0],
        bounds=Bounds(domain.column_lower, domain.column_upper),
        constraints=LinearConstraint(domain.matrix, domain.row_lower, domain.row_upper),
    )
    assert -answer.fun == pytest.approx(system.excess[worst], abs=1e-8)


def outlier_pair():
    """An outlier whose distances are in the hundreds: no constant of 10 is enough for its rows."""
    original = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [3.0, 30.0], [4.0, 2.0]])
    masked = np.array([[0.4, 30.0], [1.5, 2.0], [2.2, 1.5], [2.5, 0.0], [4.4, 2.5]])
    return make_pair(original, masked, standardisation=Standardisation.NONE)


def test_the_constant_of_the_paper_is_called_invalid_where_it_cuts_off_parameters():
    aggregator = make_aggregator("weighted-mean", ("A", "B"))
    system = block_system(outlier_pair(), aggregator, reduce=False)
    model = indicator_model(system, paper_options())
    assert model.options == IndicatorOptions(margin=1e-4, big_c=10.0, scale=False)
    assert not model.valid
    # Indeed: weight on the second attribute is cut off, although only that file makes it a bad idea.
    assert model.milp.violation(model.point(np.array([0.0, 1.0]))) > 100.0
    assert indicator_model(system, paper_options(model.needed_c)).valid
    assert not indicator_model(system, paper_options(model.needed_c * 0.999)).valid
    # And the optimum is hurt for it, not only the model.
    assert solve(model.milp) >= solve(indicator_model(system).milp)


def test_the_paper_model_has_the_rows_of_equations_6_to_9():
    """Unreduced: a row per open block and rival, the row of the weights, and the sum of K to minimise."""
    pair = pair_of(6, n=7)
    system = block_system(pair, make_aggregator("weighted-mean", pair.attributes), reduce=False)
    model = indicator_model(system, paper_options()).milp
    opened = system.open_blocks.size
    assert model.shape == (1 + 6 * opened, 3 + opened)
    assert model.objective.tolist() == [0.0] * 3 + [1.0] * opened
    assert model.constant == pair.blocks - opened
    assert model.integer.tolist() == [False] * 3 + [True] * opened
    dense = model.matrix.toarray()
    assert dense[0].tolist() == [1.0] * 3 + [0.0] * opened
    assert (model.row_lower[0], model.row_upper[0]) == (1.0, 1.0)
    assert (model.row_lower[1:] == 1e-4).all()
    assert np.isinf(model.row_upper[1:]).all()
    reference = plain.of_pair(pair)
    expected = []
    for constants, block in zip(10.0 * np.eye(opened), system.open_blocks, strict=True):
        c = np.array(reference.distances(block, "squared"))
        expected += [[*(c[j] - c[pair.partner[block]]), *constants] for j in reference.rivals(block)]
    np.testing.assert_allclose(dense[1:], expected, atol=1e-12)


def test_names_say_which_records():
    original = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [3.0, 3.0]])
    masked = np.array([[0.4, 3.0], [9.0, 9.0], [1.5, 2.0], [2.2, 1.5]])
    partner = np.array([0, -1, 2, 3])
    pair = make_pair(original, masked, partner, columns=Columns(names=("age", "income")))
    model = indicator_model(block_system(pair, make_aggregator("weighted-mean", pair.attributes))).milp
    rows, columns = model.names()
    assert [*columns[:2], rows[0]] == ["p_age", "p_income", "sum_to_one"]
    blocks = {name.removeprefix("K_") for name in columns[2:]}
    assert {"1", "3", "4"} >= blocks > set()
    assert all(name.split("_")[0] == "block" and name.split("_")[2] == "rival" for name in rows[1:])
    assert {name.split("_")[1] for name in rows[1:]} == blocks


@everywhere
def test_names_fit_the_model(case):
    model = indicator_model(block_system(pair_of(2), case.make(3))).milp
    model = model.with_rows(Cuts(model.matrix[:2], model.row_lower[:2], model.row_upper[:2]))
    rows, columns = model.names()
    assert (len(rows), len(columns)) == (len(set(rows)), len(set(columns))) == model.shape
    parameters = list(case.make(3).parameter_names)
    assert columns[: len(parameters)] == parameters


def test_the_model_separates_what_is_not_semidefinite():
    aggregator = make_aggregator("mahalanobis", ("A", "B"))
    model = indicator_model(block_system(pair_of(3, attributes=2), aggregator))
    separator = pickle.loads(pickle.dumps(model.milp.separator))
    indefinite = model.point(np.array([0.5, 0.8, 0.5]))
    cuts = separator(indefinite)
    assert cuts.count == 1
    assert cuts.violation(indefinite) > 0.1
    assert model.milp.violation(indefinite) >= cuts.violation(indefinite)
    for theta in aggregator.domain.sample(50, np.random.default_rng(0)):
        assert separator(model.point(theta)).count == 0
        assert cuts.violation(model.point(theta)) <= 1e-12


@pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_of_the_model_is_the_exact_one(case, seed):
    """Tiny pairs: every set of blocks is asked for by linear programs that share nothing with the model.

    The model of the bilinear form is a relaxation, which the engine cuts: see the engine's tests.
    """
    n, attributes = (6, 3) if seed % 2 else (5, 2)
    ties = Ties.SHARE if seed % 3 == 0 else Ties.STRICT
    pair = pair_of(seed + 100, n, attributes, ties=ties)
    reference = plain.of_pair(pair)
    model = indicator_model(block_system(pair, case.make(attributes)))
    exact = brute_optimum.optimum(reference, case.family(attributes), 1e-9)
    assert exact == brute_optimum.optimum(reference, case.family(attributes), 1e-4)  # no margin decides
    assert model.linked_weight(solve(model.milp)) == pytest.approx(exact, abs=1e-6)
