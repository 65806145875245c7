"""Logistic regression: scikit-learn without penalty, direct maximisation, the score equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from linkrisk.solver.measures.link_reliability import fit_logistic, separated


def drawn(seed, links=300, intercept=-2.0, slope=0.05, low=0.0, high=80.0):
    random = np.random.default_rng(seed)
    weight = random.uniform(low, high, links)
    return weight, random.random(links) < expit(intercept + slope * weight)


@pytest.mark.parametrize("seed", range(4))
def test_fit_is_that_of_scikit_learn_without_penalty(seed):
    weight, right = drawn(seed)
    other = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    other.fit(weight[:, None], right)
    fit = fit_logistic(weight, right)
    assert fit.intercept == pytest.approx(other.intercept_[0], rel=1e-6)
    assert fit.slope == pytest.approx(other.coef_[0, 0], rel=1e-6)


def test_likelihood_and_covariance_are_those_of_direct_maximisation():
    weight, right = drawn(7)

    def loss(beta):
        middle = beta[0] + beta[1] * weight
        return float(np.logaddexp(0.0, middle).sum() - middle[right].sum())

    found = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-7})
    fit = fit_logistic(weight, right)
    assert fit.log_likelihood == pytest.approx(-found.fun)
    p = expit(fit.intercept + fit.slope * weight)
    design = np.stack([np.ones_like(weight), weight], axis=1)
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None])))
    share = right.mean()
    constant = right.sum() * np.log(share) + (~right).sum() * np.log(1 - share)
    assert fit.constant_log_likelihood == pytest.approx(constant)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.booleans()), min_size=1, max_size=40),
    st.floats(0.01, 100.0),
    st.floats(-1000.0, 1000.0),
)
def test_there_is_a_fit_unless_a_threshold_separates(links, scale, shift):
    weight = shift + scale * np.array([float(each) for each, _ in links])
    right = np.array([each for _, each in links])
    fit = fit_logistic(weight, right)
    assert (fit is None) == separated(weight, right)
    if fit is not None:
        p = expit(fit.intercept + fit.slope * weight)
        assert p.sum() == pytest.approx(right.sum(), abs=1e-5)
        spread = weight - weight.mean()
        assert (p * spread).sum() == pytest.approx(
            (right * spread).sum(), abs=1e-4 * (1 + np.abs(spread).max())
        )
        assert 0.0 <= fit.p_value <= 1.0


@pytest.mark.parametrize(
    ("weight", "right", "expected"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], True),
        ([1, 2, 3, 4], [1, 1, 0, 0], True),
        ([1, 2, 2, 3], [0, 0, 1, 1], True),  # quasi-complete
        ([2, 2, 2, 2], [0, 1, 0, 1], True),  # no weight tells anything
        ([1, 2, 3], [1, 1, 1], True),
        ([1, 2, 3, 4], [0, 1, 0, 1], False),
    ],
)
def test_separation(weight, right, expected):
    arrays = np.array(weight, dtype=float), np.array(right, dtype=bool)
    assert separated(*arrays) is expected
    assert (fit_logistic(*arrays) is None) is expected


def test_the_likelihood_ratio_holds_its_level():
    refused = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        fit = fit_logistic(random.normal(size=60), random.random(60) < 0.6)
        refused += fit is not None and fit.p_value < 0.05
    assert 5 <= refused <= 28  # 15 are expected; 4 standard deviations are 15
