"""Reliability of links, and the logistic regression that it is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import pair_task
from refusals import refusal
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom

from linkrisk.solver.inputs.link_tasks import read_checked_links
from linkrisk.solver.measures.link_reliability import (
    ReliabilityLine,
    ReliabilityOfLinks,
    fit_logistic,
    link_reliability,
    proportion,
    separated,
)
from linkrisk.solver.run.clock import Clock


def drawn(seed, links=300, intercept=-2.0, slope=0.05, low=0.0, high=80.0):
    random = np.random.default_rng(seed)
    weight = random.uniform(low, high, links)
    return weight, random.random(links) < expit(intercept + slope * weight)


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
        p, spread = expit(fit.intercept + fit.slope * weight), weight - weight.mean()
        assert p.sum() == pytest.approx(right.sum(), abs=1e-5)
        assert ((p - right) * spread).sum() == pytest.approx(0.0, abs=1e-4 * (1 + np.abs(spread).max()))
        assert 0.0 <= fit.p_value <= 1.0


QUEBEC = ReliabilityLine(-2.82, 0.0165), 221, 304
WESTERN = ReliabilityLine(-12.70, 0.0665), 219, 258


def shown(share):
    return f"{share:.1%}"


@pytest.mark.parametrize(("rejected", "expected"), [(21, "97.9%"), (12, "98.8%")])
def test_table_2_of_the_paper_where_too_few_links_are_false(rejected, expected):
    """Eastern and Ontario: 2.1 % and 1.2 % of the grey area are rejected (Table 1)."""
    random = np.random.default_rng(rejected)
    right = np.arange(1000) >= rejected
    found = link_reliability(random.permutation(1000.0 + np.arange(1000)), right)
    assert found.at_upper is None
    assert "b = 0 is not refused" in found.fallback
    assert shown(found.share.value) == expected


def simulated(seed, links=1500, line=QUEBEC):
    (model, low, upp), random = line, np.random.default_rng(seed)
    weight = random.uniform(low, upp, links)
    return weight, random.random(links) < expit(model.intercept + model.slope * weight)


def test_links_made_by_the_model_of_the_paper_give_it_back_within_its_intervals():
    line, low, upp = QUEBEC
    true = line.at(low), line.at(upp), line.weight_at(0.9)
    inside = []
    for seed in range(40):
        found = link_reliability(*simulated(seed), lower=low, upper=upp)
        assert found.fallback is None
        estimates = found.at_lower, found.at_upper, found.weight_at_target
        inside += [one.low <= value <= one.high for one, value in zip(estimates, true, strict=True)]
    assert 0.85 <= np.mean(inside) <= 1.0  # 0.95 is expected; each seed has three that depend on each other


def test_midpoints_of_groups_have_nearly_the_same_line():
    """The appendix of the paper: the model of grouped midpoints is very close to that of single links."""
    found = link_reliability(*simulated(1, links=20_000))
    groups = found.grouped.groups
    assert len(groups) == 10
    assert groups["links"].sum() == 20_000
    assert found.grouped.line.slope == pytest.approx(found.model.slope, rel=0.02)
    assert found.grouped.p_value > 0.01
    np.testing.assert_allclose(groups["share"], groups["fitted"], atol=0.03)


def test_a_curve_that_is_no_line_is_refused():
    random = np.random.default_rng(5)
    weight = random.uniform(-3, 3, 5000)
    found = link_reliability(weight, random.random(5000) < 0.2 + 0.6 * (weight > 1.5))
    assert found.fallback.startswith("grouped links refuse a linear logit")
    assert found.model is not None


SEPARATED = "a threshold separates right from wrong links, or all weights are the same"


@pytest.mark.parametrize(
    ("scores", "right", "reason"),
    [
        ([1, 2, 3], [1, 1, 1], "all links are right"),
        ([1, 2, 3], [0, 0, 0], "all links are wrong"),
        ([1, 2, 3, 4], [0, 0, 1, 1], SEPARATED),
    ],
)
def test_where_there_is_no_model_the_share_stands(scores, right, reason):
    found = link_reliability(scores, right)
    assert found.fallback == reason
    assert found.share.value == np.mean(right)
    assert [finding.key for finding in found.findings] == ["right"]
    assert reason in found.paragraph
    assert len(found.to_frame()) == 1
    weight, right = simulated(2)
    assert link_reliability(-weight, right).fallback == "larger weights make wrong links likelier"
    found, inside = link_reliability(weight, right, lower=240, upper=280), (weight >= 240) & (weight <= 280)
    assert (found.links, found.right) == (inside.sum(), right[inside].sum())


@pytest.mark.parametrize(("right", "links"), [(0, 5), (3, 10), (99, 100), (40, 40)])
def test_the_bound_of_a_share_is_exact(right, links):
    """Clopper and Pearson: at the bound, as many right links or more have a probability of 5 %."""
    bound = proportion(right, links).low
    assert bound == 0.0 if right == 0 else binom.sf(right - 1, links, bound) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1]), {}, "there are 2 weights and 1 judgements of links; give one of each"),
        (([], []), {}, "there is no checked link; reliability needs some"),
        (([1, np.inf], [1, 0]), {}, "a weight is not finite; leave out pairs that cannot be links"),
        (([1, 2], [1, 2]), {}, "a judgement is neither true nor false; leave out links that are still open"),
        (([1, 2], [1, 0]), {"target": 1.0}, "the reliability is 1; it must be between 0 and 1"),
        (([1, 2], [1, 0]), {"lower": 5}, "no link has a weight from 5 to 2; choose other thresholds"),
    ],
)
def test_bad_links(arguments, options, message):
    assert refusal(lambda: link_reliability(*arguments, **options)) == message


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"decision": ["link"]}, "decisions has no column 'weight'; checked links need the columns weight"),
        ({"weight": ["high"], "decision": ["link"]}, "decisions, row 1: the weight 'high' is no finite"),
        ({"weight": [1.0], "decision": ["maybe"]}, "decisions, row 1: the decision 'maybe' is neither"),
    ],
)
def test_decisions_of_people_are_checked_links(table, message, tmp_path):
    assert refusal(lambda: read_checked_links(pd.DataFrame(table))).startswith(message)
    file = tmp_path / "clerical.csv"
    rows = "original,masked,weight,decision\n1,1,3.5,link\n2,5,-1,non-link\n3,3,2,\n"
    file.write_text(rows, encoding="utf-8")
    weight, right = read_checked_links(file)
    assert (weight.tolist(), right.tolist()) == ([3.5, -1.0], [True, False])


def pair(records=120, noise=4.0, seed=6):
    random = np.random.default_rng(seed)
    original = pd.DataFrame({name: random.normal(0, 10, records).round(1) for name in ("x", "y", "z")})
    return original, original + random.normal(0, noise, original.shape).round(1)


def test_on_a_pair_it_calibrates_the_weights_of_prl():
    task, measure = pair_task(*pair()), ReliabilityOfLinks()
    assert measure.lacking(task) is None
    found = measure.take(task, Clock(None))
    assert found.links == 120
    assert found.unchecked == 0
    assert 0 < found.right < 120
    again = measure.take(task, Clock(None))
    assert found.to_json() == again.to_json()
    read = json.loads(found.to_json())
    assert read["scored_by"] == "prl"
    assert read["slope_p_value"] == pytest.approx(found.model.p_value)
    assert read["links"] == sum(row[3] for row in read["grouped"]["groups"]["rows"])
    assert repr(found).startswith("link-reliability: ")


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_on_a_pair_the_best_candidates_are_those_of_link(direction):
    """Where no weights tie, what is right is what `link` counts."""
    from linkrisk import link

    original, masked = pair(noise=0.4)
    found = ReliabilityOfLinks().take(pair_task(original, masked, direction=direction), Clock(None))
    counted = link(original, masked, method="prl", row_by_row=True, direction=direction)
    assert found.right >= counted.linked  # the others are ties, which chance may decide rightly
    assert found.right <= counted.linked + sum(ties > 0 for ties in counted.table.ties)


def test_when_time_runs_out_the_first_records_are_checked(virtual_time, monkeypatch):
    del virtual_time
    monkeypatch.setattr("linkrisk.solver.measures.linker_attacks._SCORES_AT_ONCE", 1200)
    found = ReliabilityOfLinks().take(pair_task(*pair()), Clock(0.0))
    assert found.links == 10
    assert found.notes == ("link reliability: there was no time for 110 further records",)
    monkeypatch.setattr("linkrisk.solver.measures.link_reliability.MOST_PAIRS", 100)
    reason = ReliabilityOfLinks().lacking(pair_task(*pair()))
    assert reason == "it compares all pairs of records, 1e+04 here; take a sample of the files"


def test_table_2_of_the_paper():
    """98.8 % at UPP of the west is 98.9 % by the printed coefficients: it lies within their rounding."""
    for (line, low, upp), at_low, at_upp, target in (
        (QUEBEC, "69.6%", "90.0%", 304), (WESTERN, "86.6%", "98.9%", 224),
    ):  # fmt: skip
        assert (shown(line.at(low)), shown(line.at(upp))) == (at_low, at_upp)
        assert round(line.weight_at(0.9)) == target
    least = ReliabilityLine(line.intercept - 0.005, line.slope - 0.00005).at(upp)
    assert shown(least) == "98.8%"
