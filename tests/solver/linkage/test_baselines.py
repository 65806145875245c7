"""The distances that nobody has to learn: Euclid and the classical Mahalanobis distance."""

from __future__ import annotations

import brute_force as plain
import numpy as np
import pytest

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import Standardisation, nominal_table, ordinal_table
from linkrisk.formulations.linkage.pair import Direction, make_pair
from linkrisk.solver.linkage.baselines import (
    KnownAttack,
    baselines,
    best_known,
    mahalanobis_form,
    own_attacks,
)
from linkrisk.solver.linkage.evaluator import Evaluator


def files(seed, n=30, attributes=3):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    mixing = random.normal(size=(attributes, attributes))
    return original, original + 0.6 * random.normal(size=(n, attributes)) @ mixing


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("seed", range(4))
def test_both_counts_are_those_of_their_definitions(direction, seed):
    original, masked = files(seed)
    pair = make_pair(original, masked, direction=direction)
    reference = plain.records(original, masked, direction.value)
    euclid = plain.outcome(reference, sum).linked
    # Eq. 2 with the covariance of the differences between partners: Var(X) + Var(Y) - 2 Cov(X, Y).
    x, y = plain.standardised(original), plain.standardised(masked)
    together = np.cov(x, y, rowvar=False)
    covariance = together[:3, :3] + together[3:, 3:] - together[:3, 3:] - together[3:, :3]
    inverse = np.linalg.inv(covariance)
    classical = plain.outcome(reference, plain.Bilinear(inverse), "signed").linked
    assert baselines(Evaluator(pair)) == {"euclid": sum(euclid), "mahalanobis": sum(classical)}
    assert all(isinstance(count, int) for count in baselines(Evaluator(pair)).values())


def test_collinear_attributes_count_once():
    """The third attribute repeats the first two: their plane is all there is, and the count is theirs."""
    original, masked = files(9, attributes=2)
    change = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    options = {"standardisation": Standardisation.NONE}
    flat = make_pair(original, masked, **options)
    repeated = make_pair(original @ change, masked @ change, **options)
    counts = [Evaluator(pair).count(mahalanobis_form(pair)).linked.tolist() for pair in (flat, repeated)]
    assert counts[0] == counts[1]


def test_fewer_records_than_attributes_fall_back_to_euclid():
    original, masked = files(10)
    single = make_pair(original, masked, np.array([3] + [-1] * 29))
    found = baselines(Evaluator(single))
    assert found["euclid"] == found["mahalanobis"]


def exact_files(seed, n=200):
    """Two exact columns of few values, two noisy ones."""
    random = np.random.default_rng(seed)
    exact = np.column_stack([random.integers(0, 2, n), random.integers(0, 25, n)]).astype(float)
    noisy = random.normal(size=(n, 2))
    return np.hstack([exact, noisy]), np.hstack([exact, noisy + 0.4 * random.normal(size=(n, 2))])


def lexicographic(pair, exact, matrix):
    """Records whose partner is nearest by the exact columns and then by a quadratic form of the others."""
    found = 0
    for query, partner in zip(pair.queries, pair.partner, strict=True):
        z = query - pair.candidates
        alike = np.flatnonzero((z[:, exact] ** 2).sum(axis=1) < 1e-20)
        rest = np.delete(z, exact, axis=1)
        values = {int(at): rest[at] @ matrix @ rest[at] for at in alike}
        own = values.pop(int(partner))
        found += all(value > own for value in values.values())
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("standardisation", [Standardisation.OWN, Standardisation.ORIGINAL])
def test_exact_columns_decide_and_the_others_break_their_ties(seed, standardisation):
    original, masked = exact_files(seed)
    pair = make_pair(original, masked, standardisation=standardisation)
    found = baselines(Evaluator(pair))
    noise = (pair.queries - pair.candidates)[:, 2:]
    expected = lexicographic(pair, [0, 1], np.linalg.inv(noise.T @ noise))
    assert found["mahalanobis"] == expected > 140
    assert expected > found["euclid"]


def test_a_sum_that_masking_left_as_it_is_is_exact_too():
    """Swapped amounts of two columns leave their sum, and no column alone is exact."""
    random = np.random.default_rng(6)
    original = random.normal(size=(60, 2))
    moved = 2.0 * random.normal(size=60)
    masked = original + np.column_stack([moved, -moved])
    found = baselines(Evaluator(make_pair(original, masked, standardisation=Standardisation.NONE)))
    assert found["mahalanobis"] >= 58 > 2 * found["euclid"]


def test_a_column_that_was_shifted_counts_as_a_difference_and_not_as_exact():
    """The distance does not take the shift back: were the column exact, it would lead everybody astray."""
    original, masked = exact_files(7)
    shifted = masked + np.array([0.0, 5.0, 0.0, 0.0])
    found = baselines(Evaluator(make_pair(original, shifted, standardisation=Standardisation.ORIGINAL)))
    alone = make_pair(original[:, [0, 2, 3]], masked[:, [0, 2, 3]])
    assert found["mahalanobis"] >= 0.8 * baselines(Evaluator(alone))["mahalanobis"]
    # With each file's own moments there is no shift.
    own = [make_pair(original, values) for values in (masked, shifted)]
    counts = [baselines(Evaluator(pair))["mahalanobis"] for pair in own]
    assert counts[0] == counts[1]


FAMILIES = {
    "weighted-mean": {"euclid"},
    "owa": {"euclid"},
    "choquet": {"euclid"},
    "mahalanobis": {"euclid", "mahalanobis"},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_baselines_of_a_family_are_counted_as_its_members(name):
    pair = make_pair(*files(11))
    aggregator = make_aggregator(name, pair.attributes)
    own = own_attacks(aggregator, pair)
    assert set(own) == FAMILIES[name]
    evaluator = Evaluator(pair)
    found = baselines(evaluator, aggregator)
    for baseline, theta in own.items():
        assert aggregator.domain.rows.violation(theta) < 1e-12
        assert (
            evaluator.count(aggregator.form(theta)).linked_weight
            == found[baseline]
            == baselines(evaluator)[baseline]
        )


@pytest.mark.parametrize(
    ("name", "differences", "k"),
    [
        ("weighted-mean", None, None),
        ("choquet", None, None),
        ("choquet", None, 3),
        ("mahalanobis", "absolute", None),
    ],
)
def test_without_two_numeric_attributes_the_classical_form_is_diagonal(name, differences, k):
    """Then it is a weighted mean of squared differences, an attack of every family that contains those."""
    random = np.random.default_rng(13)
    n = 40
    original = np.column_stack([random.integers(0, 4, n), random.integers(0, 3, n), random.normal(size=n)])
    masked = original.copy()
    masked[:20, 0], masked[10:30, 1] = random.integers(0, 4, 20), random.integers(0, 3, 20)
    masked[:, 2] += 0.3 * random.normal(size=n)
    pair = make_pair(original, masked, columns=Columns(tables=[nominal_table(4), ordinal_table(3), None]))
    aggregator = make_aggregator(name, pair.attributes, differences=differences, k_additive=k)
    theta = own_attacks(aggregator, pair)["mahalanobis"]
    evaluator = Evaluator(pair)
    assert evaluator.count(aggregator.form(theta)).linked_weight == baselines(evaluator)["mahalanobis"]


@pytest.mark.parametrize(
    ("name", "differences", "attack", "options"),
    [
        ("weighted-mean", None, "mahalanobis", "aggregator='mahalanobis'"),
        ("choquet", "absolute", "mahalanobis", "aggregator='mahalanobis' differences='signed'"),
        ("mahalanobis", "absolute", "mahalanobis", "differences='signed'"),
        ("owa", "absolute", "euclid", "differences='squared'"),
    ],
)
def test_the_best_attack_of_other_families_and_where_to_find_it(name, differences, attack, options):
    pair = make_pair(*files(14))
    aggregator = make_aggregator(name, pair.attributes, differences=differences)
    counts = {"euclid": 20, "mahalanobis": 10} | {attack: 25}
    known = best_known(aggregator, pair, counts, linked=24)
    assert known == KnownAttack(attack, 25, options)
    assert best_known(aggregator, pair, counts, linked=25) is None


def test_signed_numbers_beside_categories_are_in_no_family():
    random = np.random.default_rng(15)
    original = np.column_stack([random.integers(0, 4, 30), random.normal(size=(30, 2))])
    masked = original + np.column_stack([np.zeros(30), random.normal(size=(30, 2))])
    pair = make_pair(original, masked, columns=Columns(tables=[nominal_table(4), None, None]))
    aggregator = make_aggregator("weighted-mean", pair.attributes)
    known = best_known(aggregator, pair, {"euclid": 5, "mahalanobis": 9}, linked=6)
    assert known == KnownAttack("mahalanobis", 9, None)
