"""`WorstCaseLinkage`: scikit-learn's habits, and what is learned on some records judged on others."""

from __future__ import annotations

import inspect
import pickle
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CASES
from fit_runs import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from linkrisk import Cancel, WorstCaseLinkage, evaluate, fit
from linkrisk.datasets.errors import DataError
from linkrisk.solver.run.errors import UsageError

# ---------------------------------------------------------------- scikit-learn's habits


@pytest.mark.parametrize(
    "check",
    [
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_repr",
        "check_estimator_cloneable",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_valid_tag_types",
    ],
)
def test_scikit_learns_own_checks(check):
    getattr(estimator_checks, check)("WorstCaseLinkage", WorstCaseLinkage())


def test_parameters_are_those_of_fit():
    """With one name for one thing, and the same defaults; the seed goes by scikit-learn's name."""
    own = inspect.signature(WorstCaseLinkage.__init__).parameters
    of_fit = inspect.signature(fit).parameters
    for name, parameter in own.items():
        if name not in ("self", "random_state"):
            assert parameter.default == of_fit[name].default, name
    missing = set(of_fit) - set(own)
    who_is_who = {"original", "masked", "id", "row_by_row"}
    assert missing == who_is_who | {
        "certificate", "certificate_time_limit", "command", "drop_constant", "masking", "on_found",
        "on_progress", "reserve", "seed", "steering",
    }  # fmt: skip


def test_nothing_is_there_before_it_is_learned():
    files = frames(1, 12)
    estimator = WorstCaseLinkage(aggregator="owa")
    for ask in (estimator.predict, estimator.score):
        with pytest.raises(NotFittedError):
            ask(*files)
    assert estimator.fit(*files) is estimator
    learned = {name for name in vars(estimator) if name.endswith("_")}
    assert learned == {
        "attributes_", "feature_names_in_", "linked_", "linked_upper_bound_", "moments_", "n_features_in_",
        "parameters_", "result_",
    }  # fmt: skip
    assert (estimator.n_features_in_, list(estimator.feature_names_in_)) == (3, ["A", "B", "C"])
    with pytest.raises(NotFittedError):
        clone(estimator).predict(*files)


def test_arrays_have_no_feature_names():
    files = frames(2, 12)
    estimator = WorstCaseLinkage().fit(*files)
    estimator.fit(*(frame.to_numpy() for frame in files))
    assert not hasattr(estimator, "feature_names_in_")
    assert list(estimator.parameters_["weights"]) == ["V1", "V2", "V3"]
    with pytest.raises(ValueError, match="X has 2 features, but WorstCaseLinkage is expecting 3 features"):
        estimator.predict(*(frame.to_numpy()[:, :2] for frame in files))


def test_a_clone_learns_the_same_and_a_pickle_has_learned_it():
    files = frames(3, 14)
    estimator = WorstCaseLinkage(aggregator="choquet", random_state=5, time_limit=None).fit(*files)
    again = clone(estimator).fit(*files)
    kept = pickle.loads(pickle.dumps(estimator))
    assert again.parameters_ == estimator.parameters_ == kept.parameters_
    assert kept.score(*files) == estimator.score(*files)
    assert estimator.result_.details["seed"] == 5


def test_random_state_is_a_seed_a_generator_or_numpys_own():
    files = frames(3, 10)

    def seed(state):
        return WorstCaseLinkage(random_state=state).fit(*files).result_.details["seed"]

    generator = np.random.RandomState(4)
    assert seed(7) == seed(np.int64(7)) == 7
    assert seed(np.random.RandomState(4)) == seed(generator) != seed(generator)
    np.random.seed(11)  # noqa: NPY002 - what None stands for in scikit-learn
    first = seed(None)
    np.random.seed(11)  # noqa: NPY002 - what None stands for in scikit-learn
    assert seed(None) == first


def test_it_ends_a_pipeline_and_is_searched_over():
    files = frames(4, 30, noise=0.3)
    double = Pipeline([("units", FunctionTransformer(lambda X: 2.0 * X)), ("risk", WorstCaseLinkage())])
    double.fit(*files)
    plain = WorstCaseLinkage().fit(*files)
    assert double.score(*files) == plain.score(*files)  # the file's own moments take units away
    folds = KFold(3)
    families = ["weighted-mean", "owa"]
    search = GridSearchCV(WorstCaseLinkage(random_state=0), {"aggregator": families}, cv=folds)
    search.fit(*files)
    for family, mean in zip(families, search.cv_results_["mean_test_score"], strict=True):
        estimator = WorstCaseLinkage(aggregator=family, random_state=0)
        by_hand = [
            clone(estimator)
            .fit(*(frame.iloc[known] for frame in files))
            .score(*(frame.iloc[held] for frame in files))
            for known, held in folds.split(files[0])
        ]
        assert mean == pytest.approx(np.mean(by_hand))
        assert cross_val_score(estimator, *files, cv=folds).tolist() == by_hand
    assert search.best_estimator_.linked_ <= 30


# ---------------------------------------------------------------- what is learned


@pytest.mark.parametrize(
    ("case", "direction"),
    list(zip(CASES, cycle(["original-to-masked", "masked-to-original"]), strict=False)),
    ids=lambda value: getattr(value, "label", value),
)
def test_it_learns_what_fit_finds(case, direction):
    files = frames(5, 14)
    options = {"aggregator": case.name, "direction": direction, **case.options}
    found = fit(*files, **options)
    estimator = WorstCaseLinkage(**options, random_state=0).fit(*files)
    assert estimator.linked_ == found.linked
    assert estimator.linked_upper_bound_ == found.linked_upper_bound
    assert estimator.score(*files) == pytest.approx(found.linked / 14)
    again = evaluate(*files, parameters=estimator.result_)
    assert again.linked == estimator.linked_


@pytest.mark.parametrize("standardisation", ["own", "original", "pooled", "none"])
def test_other_records_are_seen_in_the_units_that_were_learned(standardisation):
    """Against the definition: the same numbers, standardised by hand with the moments of other records."""
    files = frames(6, 40, noise=0.4)
    known, held = (tuple(frame.iloc[part] for frame in files) for part in (slice(0, 25), slice(25, 40)))
    estimator = WorstCaseLinkage(standardisation=standardisation, random_state=0).fit(*known)
    original, masked = (frame.to_numpy() for frame in known)
    both = np.vstack([original, masked])
    sources = {"own": (original, masked), "original": (original, original), "pooled": (both, both)}
    scaled = [frame.to_numpy() for frame in held]
    if standardisation in sources:
        scaled = [
            (values - of.mean(axis=0)) / of.std(axis=0, ddof=1)
            for values, of in zip(scaled, sources[standardisation], strict=True)
        ]
    weights = np.array(list(estimator.parameters_["weights"].values()))
    distance = ((scaled[0][:, None] - scaled[1][None]) ** 2) @ weights
    assert estimator.predict(*held).tolist() == distance.argmin(axis=1).tolist()
    assert estimator.score(*held) == pytest.approx((distance.argmin(axis=1) == np.arange(15)).mean())


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), direction=st.sampled_from(["original-to-masked", "masked-to-original"]))
def test_whoever_is_linked_is_taken_for_its_partner(seed, direction):
    files = frames(seed, 9)
    partner = np.random.default_rng(seed).permutation(9)
    masked = files[1].iloc[np.argsort(partner)]
    estimator = WorstCaseLinkage(direction=direction, random_state=0).fit(files[0], masked, partner)
    nearest = estimator.predict(files[0], masked)
    truth = partner if direction == "original-to-masked" else np.argsort(partner)
    linked = estimator.result_.table.to_frame()["linked"].to_numpy()
    assert linked.sum() == estimator.linked_
    assert (nearest == truth)[linked].all()
    assert (nearest == truth).sum() >= estimator.linked_
    assert estimator.score(files[0], masked, partner) == pytest.approx(estimator.linked_ / 9)


def test_records_without_a_partner():
    original, masked = frames(8, 12)
    partner = np.arange(12)
    partner[[2, 5]] = -1
    fewer = masked.drop(index=[2, 5])
    partner[partner >= 0] = np.arange(10)
    estimator = WorstCaseLinkage().fit(original, fewer, partner)
    numbered = [frame.assign(id=[f"r{label}" for label in frame.index]) for frame in (original, fewer)]
    assert estimator.linked_ == fit(*numbered, id="id").linked
    assert estimator.result_.records == 10
    assert estimator.predict(original, fewer).shape == (12,)


def test_categories_are_those_that_were_learned():
    original = pd.DataFrame({"town": list("abcabcab"), "size": [1.0, 2, 3, 4, 5, 6, 7, 8]})
    masked = pd.DataFrame({"town": list("abcabcbb"), "size": [1.1, 2.2, 2.9, 4.3, 5.1, 5.8, 7.2, 8.1]})
    estimator = WorstCaseLinkage(nominal=["town"]).fit(original, masked)
    assert estimator.score(original, masked) == pytest.approx(estimator.linked_ / 8)
    assert estimator.predict(original.iloc[:2], masked).tolist() == [0, 1]
    with pytest.raises(DataError, match="'z'"):
        estimator.predict(pd.DataFrame({"town": ["z"], "size": [1.0]}), masked)


# ---------------------------------------------------------------- bad requests


NO_ROWS = "partner must be a list of masked rows, counted from 0, with -1 for none"
TWICE = "two original records have the same partner: give each a different masked row"
THREADS = "threads is not for the engine exact: leave that out, or use the engine milp"


@pytest.mark.parametrize(
    ("parameters", "partner", "message"),
    [
        ({}, [0, 1], "2 partners for 7 original records: give one for each, -1 for none"),
        ({}, [0, 1, 2, 3, 4, 5, 7], "partner 7 is not a row of the 7 masked records: rows count from 0"),
        ({}, [0, 1, 2, 3, 4, 5, 5], TWICE),
        ({}, [0.5] * 7, NO_ROWS),
        ({}, [-2] * 7, NO_ROWS),
        ({"aggregator": "all"}, None, "WorstCaseLinkage learns one family: name one aggregator"),
        ({"engine": "exact", "threads": 2}, None, THREADS),
    ],
)
def test_bad_requests_are_value_errors(parameters, partner, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared
        WorstCaseLinkage(**parameters).fit(*frames(1), partner)
    assert str(error.value) == message


def test_records_and_attributes_that_do_not_fit():
    original, masked = frames(1)
    with pytest.raises(UsageError, match="7 original and 5 masked records: without a partner for each"):
        WorstCaseLinkage().fit(original, masked.iloc[:5])
    with pytest.raises(DataError, match="'C'"):
        WorstCaseLinkage().fit(original, masked).predict(original, masked[["A", "B"]])


# ---------------------------------------------------------------- missing values and schemas


def squared(values, other, rule):
    """Squared differences of standardised values of one file to a missing one of another, by definition."""
    if rule == "nearest":
        return 0.0 * values
    if rule == "expected":
        return (values - other.mean()) ** 2 + other.var(ddof=1)
    return np.maximum((values - other.min()) ** 2, (values - other.max()) ** 2)


@pytest.mark.parametrize("standardisation", ["own", "none"])
@pytest.mark.parametrize("rule", ["nearest", "expected", "farthest"])
def test_a_missing_value_is_what_the_records_learned_from_say(rule, standardisation):
    """Also where they lack none: by hand, and for each record as if it were alone."""
    original, masked = frames(13, 20, noise=0.3)
    options = {"missing": rule, "standardisation": standardisation, "random_state": 0}
    estimator = WorstCaseLinkage(**options).fit(original, masked)
    asked = original.copy()
    asked.iloc[::3, 1] = np.nan
    scaled = [frame.to_numpy() for frame in (asked, masked)]
    learned = original.to_numpy()
    if standardisation == "own":
        moments = [(frame.mean().to_numpy(), frame.std().to_numpy()) for frame in (original, masked)]
        scaled = [(values - mean) / sd for values, (mean, sd) in zip(scaled, moments, strict=True)]
        learned = (learned - moments[0][0]) / moments[0][1]
    squares = (scaled[0][:, None] - scaled[1][None]) ** 2
    squares[::3, :, 1] = squared(scaled[1][:, 1], learned[:, 1], rule)
    weights = np.array(list(estimator.parameters_["weights"].values()))
    expected = (squares @ weights).argmin(axis=1).tolist()
    assert estimator.predict(asked, masked).tolist() == expected
    assert [estimator.predict(asked.iloc[[row]], masked)[0] for row in range(20)] == expected


def test_a_category_may_be_missing_that_never_was():
    original = pd.DataFrame({"town": list("abcabcab"), "size": [1.0, 2, 3, 4, 5, 6, 7, 8]})
    masked = original.assign(size=original["size"] + 0.1)
    estimator = WorstCaseLinkage(nominal=["town"], missing="nearest").fit(original, masked)
    asked = pd.DataFrame({"town": [None, "b"], "size": [3.0, 5.0]})
    assert estimator.predict(asked, masked).tolist() == [2, 4]


def test_a_schema_says_what_is_compared_what_is_missing_and_what_records_weigh(tmp_path):
    original, masked = frames(15, 24, noise=0.8)
    weight = np.arange(1.0, 25.0)
    names = ("id", "A", "B", "C", "weight")
    roles = ("record-id", "key", "key", "key", "weight")
    schema = {
        "attributes": [
            {"name": name, "role": role, **({"missing": ["99"]} if name == "A" else {})}
            for name, role in zip(names, roles, strict=True)
        ]
    }
    files = [
        frame.assign(id=[f"{row:03}" for row in range(24)], weight=weight) for frame in (original, masked)
    ]
    files[0].loc[[3, 7], "A"] = 99.0
    paths = tmp_path / "o.csv", tmp_path / "m.csv"
    for frame, path in zip(files, paths, strict=True):
        frame.to_csv(path, index=False)
    found = fit(*paths, schema=schema)
    estimator = WorstCaseLinkage(schema=schema, random_state=0).fit(*paths)
    assert estimator.attributes_ == ("A", "B", "C")
    linked = estimator.result_.table.to_frame()["linked"].to_numpy()
    assert estimator.result_.details["weighted_links"] == found.details["weighted_links"]
    for given_files in (paths, files):
        assert estimator.score(*given_files) == pytest.approx(weight[linked].sum() / weight.sum())


def test_a_token_is_shared_with_clones():
    cancel = Cancel()
    estimator = WorstCaseLinkage(cancel=cancel)
    assert clone(estimator).cancel is cancel
    cancel.cancel()
    assert clone(estimator).fit(*frames(1, 20)).result_.limit == "user"
