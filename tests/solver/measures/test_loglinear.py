"""Log-linear models: the likelihood maximised directly, dense tables, closed forms."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from linkrisk.solver.measures.loglinear import CodedKeys, fit, possible_cells
from linkrisk.solver.run.clock import Clock


def keys_of(codes):
    names = [f"k{at}" for at in range(np.shape(codes)[1])]
    return CodedKeys.of(pd.DataFrame(np.asarray(codes), columns=names), names)


def drawn(seed, records, levels):
    """Records whose keys depend on each other."""
    random = np.random.default_rng(seed)
    first = random.integers(0, levels[0], records)
    columns = [first]
    for count in levels[1:]:
        moved = (columns[-1] + random.integers(0, 2, records)) % count
        columns.append(np.where(random.random(records) < 0.5, moved, random.integers(0, count, records)))
    return np.stack(columns, axis=1)


def all_pairs(levels):
    return tuple(itertools.combinations(range(len(levels)), 2))


def dense_design(levels, pairs):
    """Indicators of all categories, and of those of pairs of keys, of every cell of the whole table."""
    cells = np.array(list(itertools.product(*map(range, levels))))
    columns = [np.ones(len(cells))]
    for chosen in (*((key,) for key in range(len(levels))), *pairs):
        categories = itertools.product(*(range(1, levels[key]) for key in chosen))
        columns += [(cells[:, chosen] == values).all(axis=1).astype(float) for values in categories]
    return cells, np.stack(columns, axis=1)


def maximised(design, count):
    """Means that maximise the Poisson likelihood ``sum f log mu - mu``."""

    def loss(beta):
        mean = np.exp(design @ beta)
        return float((mean - count * (design @ beta)).sum()), design.T @ (mean - count)

    start = np.zeros(design.shape[1])
    start[0] = np.log(count.mean())
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    return np.exp(design @ found.x)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("levels", [(3, 4), (3, 2, 4), (2, 3, 2, 3)])
def test_fit_is_that_of_the_likelihood_maximised_directly(share, levels):
    codes = drawn(3, 400, levels)
    pairs = keys_of(codes).pairs
    pairs = pairs[: round(share * len(pairs))]
    fitted = fit(keys_of(codes), pairs, Clock(None), tolerance=1e-8)
    cells, design = dense_design(levels, pairs)
    count = np.array([(codes == cell).all(axis=1).sum() for cell in cells], dtype=float)
    assert fitted.whole
    assert fitted.mean.size == count.size  # no pair is missing, so all cells are there, in the same order
    np.testing.assert_array_equal(fitted.count, count)
    np.testing.assert_allclose(fitted.mean, maximised(design, count), atol=1e-5)


def test_independence_has_its_closed_form():
    codes = drawn(5, 60, (4, 3, 2))
    fitted = fit(keys_of(codes), (), Clock(None))
    shares = [np.bincount(column) / 60 for column in codes.T]
    expected = [60 * np.prod([shares[key][cell[key]] for key in range(3)]) for cell in codes]
    np.testing.assert_allclose(fitted.mean[fitted.cell], expected)


def test_independence_of_too_many_cells_is_the_same_for_those_of_the_sample():
    keys = keys_of(drawn(5, 60, (4, 3, 2)))
    whole = fit(keys, (), Clock(None))
    part = fit(keys, (), Clock(None), most=10)
    assert not part.whole
    np.testing.assert_allclose(part.mean[part.cell], whole.mean[whole.cell])
    np.testing.assert_array_equal(part.count[part.cell], keys.counts)
    assert fit(keys, keys.pairs, Clock(None), most=10) is None


def test_two_way_of_two_keys_is_the_sample():
    keys = keys_of(drawn(1, 50, (4, 5)))
    fitted = fit(keys, keys.pairs, Clock(None))
    np.testing.assert_allclose(fitted.mean, fitted.count, atol=1e-3)


def test_margins_of_the_fit_are_those_of_the_sample_where_pairs_are_missing():
    codes = drawn(8, 40, (6, 6, 6, 3))
    fitted = fit(keys_of(codes), all_pairs(codes[0]), Clock(None))
    assert fitted.mean.size < 6 * 6 * 6 * 3
    for group in fitted.groups:
        np.testing.assert_allclose(
            np.bincount(group, weights=fitted.mean), np.bincount(group, weights=fitted.count), atol=0.01
        )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(1, 30), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_possible_cells_are_those_of_the_dense_table(seed, records, levels):
    keys = keys_of(np.random.default_rng(seed).integers(0, levels, (records, len(levels))))
    table = np.zeros(keys.levels)
    np.add.at(table, tuple(keys.codes.T), 1.0)
    possible = np.ones(keys.levels, dtype=bool)
    for pair in itertools.combinations(range(len(levels)), 2):
        others = tuple(key for key in range(len(levels)) if key not in pair)
        possible &= table.sum(axis=others, keepdims=True) > 0
    np.testing.assert_array_equal(possible_cells(keys, all_pairs(levels), 10**6), np.argwhere(possible))
    assert len(possible_cells(keys, (), 10**6)) == table.size


def test_a_missing_value_is_a_category_of_its_own():
    frame = pd.DataFrame({"a": ["x", None, "x", None], "b": [1, 2, 1, 3]})
    keys = CodedKeys.of(frame, ["a", "b"])
    assert keys.levels == (2, 3)
    assert keys.counts.tolist() == [2, 1, 2, 1]


def test_a_clock_that_has_run_out_ends_the_fit_early(virtual_time):
    del virtual_time
    keys = keys_of(drawn(8, 200, (6, 6, 6, 3)))
    hurried = fit(keys, keys.pairs, Clock(0.0))
    assert hurried.gap > fit(keys, keys.pairs, Clock(None)).gap


def test_interactions_come_by_how_much_keys_depend_on_each_other():
    random = np.random.default_rng(2)
    first, second, third = (random.integers(0, 4, 500) for _ in range(3))
    copy = np.where(random.random(500) < 0.9, first, second)
    close = np.where(random.random(500) < 0.4, third, second)
    keys = keys_of(np.stack([first, third, copy, close], axis=1))
    assert keys.pairs[0] == (0, 2)
    assert keys.pairs[1] == (1, 3)
    assert sorted(keys.pairs) == list(all_pairs(range(4)))


@pytest.mark.parametrize("most", [10**6, 5])
def test_cells_of_other_records_are_found_by_their_categories(most):
    names = ["a", "b", "c"]
    sample = pd.DataFrame({"a": ["x", "x", "y"], "b": [1.0, 2.0, None], "c": ["u", "v", "u"]})
    others = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": [2.0, None, 1.0, None], "c": ["v", "u", "u", "u"]})
    keys = CodedKeys.of(sample, names)
    count, mean = fit(keys, (), Clock(None), most=most).at(keys.codes_of(others))
    assert count.tolist() == [1, 1, 0, 0]
    assert mean[:3] == pytest.approx([3 * (2 / 3) * (1 / 3) * (1 / 3), 3 * (1 / 3) * (1 / 3) * (2 / 3), 0.0])
    assert mean[3] == pytest.approx(3 * (2 / 3) * (1 / 3) * (2 / 3) if most > 5 else 0.0)
