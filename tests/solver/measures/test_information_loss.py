"""Information loss by hand, by R's formulas and by other optimisers; what was changed column by column."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measure_runs import attribute, pair_task, released_table
from scipy.optimize import minimize
from scipy.special import expit

from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.measures import information_loss as propensity_module
from linkrisk.solver.measures.information_loss import Terms, design, information_loss, propensity
from linkrisk.solver.measures.interval_disclosure import interval_disclosure
from linkrisk.solver.measures.released import ChangesOfColumns, Triangle, regression, released, unreadable
from linkrisk.solver.run.clock import Clock

NUMBERS = (
    "il1s",
    "mean",
    "variance",
    "covariance",
    "correlation",
    "eigenvalues",
    "regression",
    "overlap_lost",
)


def noisy(records=60, attributes=3, seed=1):
    random = np.random.default_rng(seed)
    original = random.normal(size=(records, attributes)) @ random.normal(size=(attributes, attributes))
    return original, original + 0.5 * random.normal(size=original.shape)


def test_il1s_by_hand():
    """Mateo-Sanz et al. (2004): 1, 2, 3 has s = 1, so moves of 0, 1 and 3 are (0 + 1 + 3) / (3 sqrt 2)."""
    lost = information_loss([attribute("a", [1, 2, 3], [1, 3, 6])])
    assert lost.numeric.il1s == pytest.approx(4.0 / (3.0 * math.sqrt(2.0)))
    # Means 2 and 10/3, variances 1 and 19/3.
    assert lost.numeric.mean == pytest.approx(4.0 / 3.0)
    assert lost.numeric.variance == pytest.approx(19.0 / 3.0 - 1.0)
    assert lost.numeric.eigenvalues is None
    assert lost.numeric.regression is None


def test_il1s_is_the_mean_over_masked_attributes_and_known_values():
    kept = attribute("kept", [1, 2, 3], [1, 2, 3])
    one = attribute("one", [1, 3, 2], [2, np.nan, 2])
    lost = information_loss([kept, one])
    assert lost.numeric.il1s == pytest.approx(0.5 / math.sqrt(2.0))
    assert (lost.masked, lost.unchanged) == (("one",), ("kept",))
    assert lost.suppressed == pytest.approx(1.0 / 3.0)
    assert lost.notes == ("information loss is that of masked attributes; left as they are: kept",)


def test_eigenvalues_as_sdcmicro_computes_them():
    """dUtility(method = "eigen"): sum(abs(e1 - e2) / e1) of the eigenvalues of var(scale(x))."""
    original, masked = noisy()
    first, second = (np.sort(np.linalg.eigvalsh(np.corrcoef(x.T)))[::-1] for x in (original, masked))
    lost = information_loss(released_table(original, masked)).numeric
    assert lost.eigenvalues == pytest.approx((np.abs(first - second) / first).sum())
    upper = np.triu_indices(3, 1)
    changed = np.abs(np.corrcoef(original.T) - np.corrcoef(masked.T))[upper].mean()
    assert lost.correlation == pytest.approx(changed)


def test_dependent_attributes_have_no_eigenvalues_and_no_coefficients():
    original, masked = noisy()
    original[:, 2] = original[:, 0] + original[:, 1]
    lost = information_loss(released_table(original, masked))
    assert lost.numeric.eigenvalues is None
    assert lost.numeric.dependent == ("c",)
    two = information_loss(released_table(original[:, :2], masked[:, :2]))
    assert lost.numeric.regression == pytest.approx(two.numeric.regression)
    assert "regressions leave out linear combinations of other attributes: c" in lost.notes


def test_regression_against_scikit_learn_and_the_normal_equations():
    from sklearn.linear_model import LinearRegression

    values, _ = noisy()
    found = regression(Triangle.of(values), 1)
    fit = LinearRegression().fit(values[:, [0, 2]], values[:, 1])
    np.testing.assert_allclose(found.coefficients, fit.coef_)
    design_matrix = np.column_stack([np.ones(60), values[:, [0, 2]]])
    residual = values[:, 1] - fit.predict(values[:, [0, 2]])
    variance = residual @ residual / 57 * np.diag(np.linalg.inv(design_matrix.T @ design_matrix))[1:]
    # 2.0024655: the 97.5 % point of t with 57 degrees of freedom.
    np.testing.assert_allclose(found.half_width, 2.0024655 * np.sqrt(variance), rtol=1e-6)
    np.testing.assert_allclose(found.overlap(found), 1.0)


def test_frequencies_by_hand():
    """Shares 1/2, 1/2, 0 and 1/4, 1/2, 1/4: total variation 1/4, Hellinger from the definition."""
    lost = information_loss([attribute("c", [0, 0, 1, 1], [0, 2, 1, 1], Scale.NOMINAL, "xyz")])
    (found,) = lost.categories
    assert (found.changed, found.total_variation) == (0.25, 0.25)
    assert found.hellinger == pytest.approx(math.sqrt(((math.sqrt(0.5) - 0.5) ** 2 + 0.25) / 2.0))
    assert lost.numeric.il1s is None
    # Missing is a category of its own.
    lost = information_loss([attribute("c", [0, 0], [0, np.nan], Scale.NOMINAL, "x")])
    assert (lost.categories[0].total_variation, lost.suppressed) == (0.5, 0.5)


def test_pmse_against_a_maximum_of_the_likelihood_found_otherwise():
    """Snoke et al. (2018): the logistic regression by SciPy's optimiser on the terms as they are."""
    original, masked = noisy(records=200)
    attributes = released_table(original, masked)
    found = propensity(attributes)
    assert found.terms is Terms.SECOND_ORDER
    columns = np.column_stack([np.ones(400), design(attributes, Terms.SECOND_ORDER)])
    sign = np.repeat([-1.0, 1.0], 200)

    def loss(beta):
        return np.logaddexp(0.0, -sign * (columns @ beta)).sum()

    def slope(beta):
        return columns.T @ (-sign * expit(-sign * (columns @ beta)))

    best = minimize(loss, np.zeros(columns.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-7})
    score = expit(columns @ best.x)
    assert found.pmse == pytest.approx(((score - 0.5) ** 2).mean(), rel=1e-5)
    # k = 1 + 3 + 3 + 3 parameters, c = 1/2, N = 400.
    assert found.expected == pytest.approx(9.0 * 0.125 / 400.0)
    assert found.standardised == pytest.approx((found.pmse / found.expected - 1.0) * 9.0 / math.sqrt(18.0))


@pytest.mark.parametrize(("again", "ratio"), [(True, 1.0), (False, 2.0)])
def test_the_null_expectation_by_simulation(again, ratio):
    """A file drawn from the original has 1; another sample of the population has 1 / (1 - c) = 2.

    So the expectation of Snoke et al. holds where the original file is given, as for synthesis from a right
    model. The mean of 60 ratios is within 4 standard errors.
    """
    random = np.random.default_rng(5)
    ratios = []
    for _ in range(60):
        original = random.normal(size=(150, 2))
        other = original[random.integers(150, size=150)] if again else random.normal(size=(150, 2))
        ratios.append(propensity(released_table(original, other)).ratio)
    assert abs(np.mean(ratios) - ratio) < 4.0 * np.std(ratios) / math.sqrt(60)


@pytest.mark.parametrize(
    ("records", "terms"), [(30, Terms.SECOND_ORDER), (29, Terms.SQUARES), (15, Terms.MAIN)]
)
def test_terms_get_fewer_with_few_records(records, terms):
    """Two attributes: 6, 5 or 3 parameters, at most one for ten records of the two files."""
    assert propensity(released_table(*noisy(records, 2))).terms is terms
    assert propensity(released_table(*noisy(14, 2))) is None


def test_nothing_masked_has_no_loss():
    original, _ = noisy()
    lost = information_loss(
        [*released_table(original, original), attribute("c", [0, 1] * 30, [0, 1] * 30, Scale.NOMINAL, "xy")]
    )
    assert [getattr(lost.numeric, name) for name in NUMBERS] == [0.0] * 8
    assert lost.categories[0].total_variation == 0.0
    assert lost.propensity is None
    assert {finding.value for finding in lost.findings} == {0.0}
    assert repr(lost) == "information-loss: nothing was masked: all 4 attributes are as they were."


def test_no_numbers_and_one_record_in_a_sample():
    """A masked file of one of three records: distributions differ although no value was changed."""
    lost = information_loss([attribute("a", [1, 2, 3], [2], partner=[-1, 0, -1])])
    assert lost.masked == ()
    assert lost.numeric.il1s == 0.0
    assert lost.numeric.mean == 0.0
    lost = information_loss([attribute("a", [1, 2, 3], [3], partner=[-1, -1, 0])])
    assert lost.numeric.mean == pytest.approx(1.0)


GAPS = arrays(np.float64, (8, 2), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan]))


@settings(max_examples=80, deadline=None)
@given(GAPS, GAPS, st.integers(0, 8))
def test_whatever_is_missing_or_constant_there_are_numbers_and_no_warnings(original, masked, partners):
    original[0] = [0.0, 1.0]  # an attribute without any value is left out before
    partner = np.where(np.arange(8) < max(partners, 1), np.arange(8), -1)
    both = [
        attribute("a", original[:, 0], masked[:, 0], partner=partner),
        attribute("b", original[:, 1], masked[:, 1], Scale.ORDINAL, "xyz", partner=partner),
    ]
    lost, found = information_loss(both), interval_disclosure(both)
    for result in (lost, found):
        assert all(finding.value >= 0.0 for finding in result.findings)
        json.loads(result.to_json(), parse_constant=pytest.fail)
        assert result.paragraph
        assert isinstance(result.to_frame(), pd.DataFrame)


def test_of_many_records_some_make_the_propensity_model(monkeypatch):
    original, masked = noisy(400)
    attributes = released_table(original, masked)
    whole = propensity(attributes)
    monkeypatch.setattr(propensity_module, "MOST_RECORDS", 300)
    some = propensity(attributes)
    assert (whole.records, some.records) == (800, 300)
    assert (some.share, some.parameters) == (0.5, whole.parameters)
    assert some == propensity(attributes)
    note = "the propensity model is that of 300 records of both files, by lot"
    assert note in information_loss(attributes).notes


ORIGINAL = pd.DataFrame(
    {
        "person": [1, 2, 3, 4],
        "age": [20.0, 30.0, np.nan, 50.0],
        "town": ["x", "y", "x", "y"],
        "grade": ["low", "high", "low", None],
        "debt": [5.0, 6.0, 7.0, 8.0],
        "note": ["a", "b", "c", "d"],
        "lost": [1.0, 2.0, 3.0, 4.0],
    }
)
MASKED = pd.DataFrame(
    {
        "person": [4, 2, 3],
        "age": [50.0, 35.0, 45.0],
        "town": ["y", "y", "x"],
        "grade": ["high", "high", "low"],
        "debt": [8.0, 6.0, 7.0],
        "note": ["d", "b", "e"],
    }
)


def of_roles(**roles):
    return {"attributes": [{"name": name, "role": role} for name, role in roles.items()]}


CONFIDENTIAL = dict.fromkeys(("grade", "debt", "note", "lost"), "confidential")
ROLES = of_roles(person="record-id", age="key", town="key", **CONFIDENTIAL)
ROLES["attributes"][2]["scale"] = "nominal"
ROLES["attributes"][3] |= {"scale": "ordinal", "categories": ["low", "high"]}
SCHEMA = Schema.from_dict(ROLES)


def task(original=ORIGINAL, masked=MASKED, schema=SCHEMA):
    files = make_file_pair(original, masked, schema=schema)
    return SimpleNamespace(files=files, schema=schema, confidential=schema.select(role=Role.CONFIDENTIAL))


def test_compared_attributes_first_then_the_confidential_ones_of_both_files():
    found = {each.name: each for each in released(task())}
    assert list(found) == ["age", "town", "grade", "debt", "note"]
    assert [each.scale for each in found.values()] == [
        Scale.NUMERIC, Scale.NOMINAL, Scale.ORDINAL, Scale.NUMERIC, Scale.NOMINAL
    ]  # fmt: skip
    assert found["grade"].categories == ("low", "high")
    np.testing.assert_array_equal(found["grade"].original, [0.0, 1.0, 0.0, np.nan])
    np.testing.assert_array_equal(found["town"].masked, [1.0, 1.0, 0.0])
    assert found["note"].categories == ("a", "b", "c", "d", "e")


def test_partners_are_compared_and_other_records_make_distributions_differ():
    found = {each.name: each for each in released(task())}
    before, after = found["age"].paired
    np.testing.assert_array_equal(before, [30.0, np.nan, 50.0])
    np.testing.assert_array_equal(after, [35.0, 45.0, 50.0])
    # The last person has no grade in the original file, but in the masked one.
    assert [each.is_masked for each in found.values()] == [True, False, True, False, True]
    assert all(each.differs for each in found.values())
    whole = ORIGINAL.assign(debt=[5.0, 6.0, 7.0, 9.0])
    assert [each.name for each in released(task(masked=whole)) if each.differs] == ["debt"]


BEFORE = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [10.0, 20.0, 30.0, 40.0],
        "sex": ["m", "f", "f", "m"],
        "town": ["X", "X", "X", "Z"],
        "left": [1.0, 2.0, 3.0, 4.0],
        "gone": [1.0, 1.0, 2.0, 3.0],
    }
)
AFTER = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [12.0, 22.0, 32.0, np.nan],
        "sex": ["m", "m", "m", "m"],
        "town": ["X", "X", "X", "Z"],
        "left": [1.0, 2.0, 3.0, 4.0],
        "new": [0.0, 0.0, 0.0, 1.0],
    }
)


def test_codes_with_two_spellings_are_one_category_and_a_wrong_cell_is_told():
    schema = of_roles(age="key", code="confidential")
    schema["attributes"][1]["scale"] = "nominal"
    original = pd.DataFrame({"age": [1.0, 2.0], "code": ["1", "2"]})
    masked = pd.DataFrame({"age": [1.0, 3.0], "code": [1.0, 2.0]})
    found = released(task(original, masked, Schema.from_dict(schema)))
    assert (found[1].categories, found[1].is_masked) == (("1", "2"), False)
    schema["attributes"][1]["scale"] = "numeric"
    wrong = original.assign(code=["1", "x"])
    assert unreadable(task(wrong, wrong, Schema.from_dict(schema))) == (
        "original, column 'code', row 2: 'x' is not a number; fix it or choose other attributes"
    )
    assert unreadable(task()) is None


def test_changes_are_those_that_one_counts():
    roles = {
        "id": "record-id",
        **dict.fromkeys(("age", "sex", "left"), "key"),
        **dict.fromkeys(("town", "new", "gone"), "ignored"),
    }
    schema = of_roles(**roles)
    schema["attributes"][2]["scale"] = "nominal"
    found = ChangesOfColumns().take(pair_task(BEFORE, AFTER, schema=schema), Clock(None))
    of = {one.column: one for one in found.columns}
    assert list(of) == [*BEFORE.columns, "new"]
    assert [one.column for one in found.columns if one.compared] == ["age", "sex", "left"]
    assert (of["age"].changed, of["age"].missing, of["age"].role) == (1.0, 0.25, "key")
    assert of["age"].shift == pytest.approx(2.0 / np.std([10.0, 20.0, 30.0], ddof=1))
    assert (of["sex"].changed, of["sex"].missing, of["sex"].shift) == (0.5, 0.0, None)
    assert of["sex"].most_frequent == "f to m (2 records)"
    assert (of["left"].changed, of["left"].shift, of["town"].changed) == (0.0, 0.0, 0.0)
    assert of["id"].note == "names records"
    assert (of["gone"].note, of["new"].note) == ("in the original file only", "in the masked file only")
    assert of["gone"].changed is None
    assert found.unchanged == ("left",)
    assert [finding.key for finding in found.findings] == ["values_changed", "left_alone"]
    assert [finding.value for finding in found.findings] == [pytest.approx(0.5), 1.0]
    assert "2 of 4 columns were changed, most of all age (100.0 % of the values)." in found.paragraph
    assert "left exactly as they are: left." in found.paragraph
    frame = pd.DataFrame({"A": [1.0, 2.0, 3.0]})
    same = ChangesOfColumns().take(pair_task(frame, frame), Clock(None))
    assert same.paragraph == "nothing was changed in any of 1 columns."
    assert same.columns[0].shift == 0.0
