"""What nobody has to learn: Euclid, the classical Mahalanobis distance, and attributes one after another."""

from __future__ import annotations

import brute_force as plain
import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import Differences, Standardisation, nominal_table, ordinal_table
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.baselines import (
    KnownAttack,
    baselines,
    best_known,
    own_attacks,
)
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.lexicographic import Ordered, best_order, linked_in_order
from linkrisk.solver.options.pair import ProblemOptions


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


def counts(original, masked, **options):
    return baselines(Evaluator(make_pair(original, masked, **options)))


def test_collinear_attributes_count_once_and_few_records_fall_back_to_euclid():
    """The third attribute repeats the first two: their plane is all there is, and the count is theirs."""
    original, masked = files(9, attributes=2)
    change = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    pairs = (original, masked), (original @ change, masked @ change)
    flat, repeated = (counts(*pair, standardisation=Standardisation.NONE)["mahalanobis"] for pair in pairs)
    assert flat == repeated
    single = make_pair(*files(10), np.array([3] + [-1] * 29))
    found = baselines(Evaluator(single))
    assert found["euclid"] == found["mahalanobis"]


def test_a_sum_that_masking_left_as_it_is_is_exact_too():
    """Swapped amounts of two columns leave their sum, and no column alone is exact."""
    random = np.random.default_rng(6)
    original, moved = random.normal(size=(60, 2)), 2.0 * random.normal(size=60)
    masked = original + np.column_stack([moved, -moved])
    found = counts(original, masked, standardisation=Standardisation.NONE)
    assert found["mahalanobis"] >= 58 > 2 * found["euclid"]


def test_a_column_that_was_shifted_counts_as_a_difference_and_not_as_exact():
    """The distance does not take the shift back: were the column exact, it would lead everybody astray."""
    original, masked = exact_files(7)
    shifted = masked + np.array([0.0, 5.0, 0.0, 0.0])
    found = counts(original, shifted, standardisation=Standardisation.ORIGINAL)
    alone = counts(original[:, [0, 2, 3]], masked[:, [0, 2, 3]])
    assert found["mahalanobis"] >= 0.8 * alone["mahalanobis"]
    # With each file's own moments there is no shift.
    assert counts(original, masked)["mahalanobis"] == counts(original, shifted)["mahalanobis"]


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
    own, evaluator = own_attacks(aggregator, pair), Evaluator(pair)
    assert set(own) == FAMILIES[name]
    found, alone = baselines(evaluator, aggregator), baselines(evaluator)
    for baseline, theta in own.items():
        assert aggregator.domain.rows.violation(theta) < 1e-12
        counted = evaluator.count(aggregator.form(theta)).linked_weight
        assert counted == found[baseline] == alone[baseline]


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
    original = np.column_stack([random.integers(0, 4, 40), random.integers(0, 3, 40), random.normal(size=40)])
    masked = original.copy()
    masked[:20, 0], masked[10:30, 1] = random.integers(0, 4, 20), random.integers(0, 3, 20)
    masked[:, 2] += 0.3 * random.normal(size=40)
    pair = make_pair(original, masked, columns=Columns(tables=[nominal_table(4), ordinal_table(3), None]))
    aggregator = make_aggregator(name, pair.attributes, differences=differences, k_additive=k)
    theta, evaluator = own_attacks(aggregator, pair)["mahalanobis"], Evaluator(pair)
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
    found = {"euclid": 20, "mahalanobis": 10} | {attack: 25}
    known = best_known(aggregator, pair, found, linked=24)
    assert known == KnownAttack(attack, 25, options)
    assert best_known(aggregator, pair, found, linked=25) is None


def test_signed_numbers_beside_categories_are_in_no_family():
    random = np.random.default_rng(15)
    original = np.column_stack([random.integers(0, 4, 30), random.normal(size=(30, 2))])
    masked = original + np.column_stack([np.zeros(30), random.normal(size=(30, 2))])
    pair = make_pair(original, masked, columns=Columns(tables=[nominal_table(4), None, None]))
    aggregator = make_aggregator("weighted-mean", pair.attributes)
    known = best_known(aggregator, pair, {"euclid": 5, "mahalanobis": 9}, linked=6)
    assert known == KnownAttack("mahalanobis", 9, None)


NONE = Standardisation.NONE
WEIGHING = [("weighted-mean", {}), ("choquet", {}), ("choquet", {"k_additive": 2}), ("mahalanobis", {})]


def by_definition(pair, order, *, ranked=False):
    """One block after another, distances from the tables of the pair."""
    linked = []
    for block, own in enumerate(pair.partner):
        possible = pair.possible(np.intp(block), slice(None))
        away = pair.distances(np.intp(block), slice(None), Differences.ABSOLUTE)
        away = (-np.sort(-away, axis=1) if ranked else away)[:, order]
        rivals = [
            tuple(away[at])
            for at in range(len(pair.candidates))
            if at != own
            and possible[at]
            and (pair.ties is Ties.STRICT or pair.twin_group[at] != pair.twin_group[own])
        ]
        linked.append(bool(possible[own] and all(tuple(away[own]) < rival for rival in rivals)))
    return linked


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(list(Ties)),
    st.permutations(range(3)),
    st.integers(1, 3),
    st.booleans(),
)
def test_numbers_by_definition(seed, ties, order, length, ranked):
    random = np.random.default_rng(seed)
    original = random.integers(0, 4, size=(12, 3)).astype(float)
    masked = original + random.integers(-1, 2, size=original.shape)
    pair = make_pair(original, masked, ties=ties, standardisation=NONE)
    order = np.array(order[:length])
    assert linked_in_order(pair, order, ranked=ranked).tolist() == by_definition(pair, order, ranked=ranked)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_categories_by_definition(seed, aware):
    files = mixed.frames(seed, 24, numeric=1)
    asked = mixed.options(aware, ties=("strict", "share")[seed % 2])
    pair = make_problem(*files, ProblemOptions(aggregator="weighted-mean", **asked)).pair
    order = np.random.default_rng(seed).permutation(len(pair.attributes))
    for length in range(1, order.size + 1):
        assert linked_in_order(pair, order[:length]).tolist() == by_definition(pair, order[:length])


def test_what_rounding_leaves_open_is_not_linked():
    """Distances that are equal on paper: (0.1 + 0.2) - 0.3 is no reason to call a rival farther."""
    original, masked = np.array([[0.3], [5.0], [9.0]]), np.array([[0.1 + 0.2 + 0.3], [0.0], [9.0]])
    pair = make_pair(original, masked, standardisation=NONE)
    assert linked_in_order(pair, np.array([0])).tolist() == [False, False, True]


def test_the_best_order_is_found_among_few():
    """The first tells halves apart, the second who is who in them; the third says nothing."""
    names = np.arange(20)
    original = np.column_stack([names // 10, names % 10, np.roll(names, 3)]).astype(float)
    masked = original + np.column_stack(
        [np.zeros(20), 0.1 * np.ones(20), np.random.default_rng(0).normal(size=20)]
    )
    best = best_order(make_pair(original, masked, standardisation=NONE))
    assert (set(best.order[:2]), best.weight) == ({0, 1}, 20.0)


def test_nothing_is_counted_where_there_is_no_time():
    pair = make_pair(*np.random.default_rng(0).normal(size=(2, 20, 3)))
    found = best_order(pair, lambda: True)
    assert (found.order, found.weight, found.linked.any()) == ((), 0.0, False)


def paired(records):
    """Two records of each x in a third of the files, where y is as it was; a code stands for the rest."""
    random, third = np.random.default_rng(0), records // 3 // 2 * 2
    x = np.r_[np.repeat(np.arange(third / 2), 2), third + np.arange(records - third)]
    original = pd.DataFrame({"x": x, "y": random.permutation(records) + 10.0})
    return original, original.assign(y=np.where(np.arange(records) < third, original["y"], 1e13))


def test_large_files_are_counted_too():
    """Once nothing was counted of them, without a word: "at most 8,400, proven", where 12,600 are linked."""
    pair = make_problem(*paired(12_600), ProblemOptions(standardisation="pooled", row_by_row=True)).pair
    best = best_order(pair)
    assert (best.order, best.weight) == ((0, 1), 12_600.0)


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("ties", list(Ties))
def test_windows_leave_out_no_rival(ranked, ties):
    random = np.random.default_rng(5)
    original = np.round(random.normal(size=(60, 3)) * 10.0) / 10.0 * [1.0, 1e3, 1e-3] + [0.0, 1e6, 0.0]
    pair = make_pair(original, original + random.choice([-0.1, 0.0, 0.1], size=(60, 3)), ties=ties)
    for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1]):
        found, expected = (
            of(pair, np.array(order), ranked=ranked) for of in (linked_in_order, by_definition)
        )
        assert (found <= expected).all()
        assert found.sum() >= 0.9 * sum(expected)


def coded():
    """Ages of which a code has taken the place, beside an attribute that nothing was done to."""
    original = pd.DataFrame({"x": [0.0, 0, 1, 2, 3, 4], "y": [10.0, 11, 12, 13, 14, 15]})
    return original, original.assign(y=[10.0, 11, *[99999999.0] * 4])


def far_apart():
    """No codes: two clusters far from each other, whose values differ by little, beside mostly zeros."""
    random = np.random.default_rng(0)
    cluster = np.repeat([0.0, 1e6], 15)
    original = pd.DataFrame({"x": np.tile([0.0, 0.0, 3.0], 10), "y": cluster + random.permutation(30)})
    return original, original.assign(y=original["y"] + 0.3)


@pytest.mark.parametrize(("family", "options"), WEIGHING)
@pytest.mark.parametrize("files", [coded, far_apart])
def test_no_bound_is_below_an_order(family, options, files):
    original, masked = files()
    result = fit(original, masked, aggregator=family, standardisation="pooled", **options)
    pair = make_problem(original, masked, ProblemOptions(standardisation="pooled")).pair
    assert result.linked_upper_bound >= best_order(pair).weight


def nearly_half_way():
    """A tie beside values a million times as far apart."""
    original = pd.DataFrame({"x": [0.4999, 1.0, 1e6, 2e6, 3e6, 4e6]})
    return original, original.assign(x=[0.0, *original["x"][1:]])


@pytest.mark.parametrize(
    ("family", "options", "files", "linked", "said"),
    [
        *((name, {**more, "standardisation": "pooled"}, coded, 4, "x and then y") for name, more in WEIGHING),
        ("weighted-mean", {"standardisation": "none"}, nearly_half_way, 5, "x alone"),
    ],
)
def test_a_bound_that_ties_have_lowered_is_raised_and_said(family, options, files, linked, said):
    """Once 4 of 6 "optimal", verified, where y tells apart the two that are equal in x."""
    result = fit(*files(), aggregator=family, **options)
    assert (result.linked, result.linked_upper_bound) == (linked, 6)
    assert (result.status, result.limit, result.details["lost"]) == ("feasible", "ties", 0)
    assert "not proven: differences that count as ties keep the two numbers apart" in str(result)
    assert "out of reach" not in str(result)
    (note,) = [note for note in result.details["notes"] if "comparing" in note]
    assert note.startswith(f"6 are re-identified by comparing {said}")
    assert f"the bound of distances is {linked}" in note


def test_ranks_are_no_weights_of_attributes():
    """The smaller distance first, which is zero, and then the larger: all six are alone with theirs."""
    result = fit(*coded(), aggregator="owa", standardisation="pooled")
    pair = make_problem(*coded(), ProblemOptions(standardisation="pooled")).pair
    best = best_order(pair, ranked=True)
    assert (best.order, best.weight) == ((1, 0), 6.0)
    assert (result.linked, result.linked_upper_bound) == (1, 6)
    (said,) = [note for note in result.details["notes"] if "comparing" in note]
    assert "comparing the attribute distance of rank 2 and then" in said


def test_one_value_far_out_does_not_hide_what_ranks_say():
    """The smaller of two differences says who is who; a code makes those of y a millionth of those of x."""
    random = np.random.default_rng(3)
    original = random.normal(size=(20, 2))
    masked = original + np.where(np.arange(20)[:, None] % 2 == [0, 1], 0.0, random.normal(size=(20, 2)))
    both = (np.vstack([values, [0.0, 99999999.0]]) for values in (original, masked))
    frames = [pd.DataFrame(values, columns=["x", "y"]) for values in both]
    result = fit(*frames, aggregator="owa", standardisation="pooled")
    pair = make_problem(*frames, ProblemOptions(standardisation="pooled")).pair
    assert result.linked_upper_bound >= best_order(pair, ranked=True).weight
    assert any("rank 2" in note for note in result.details["notes"])


def test_ordinary_files_are_bounded_by_distances():
    random = np.random.default_rng(0)
    original = pd.DataFrame(random.normal(size=(40, 3)), columns=list("abc"))
    result = fit(original, original + 0.3 * random.normal(size=(40, 3)), aggregator="weighted-mean")
    assert result.linked == result.linked_upper_bound
    assert not any("comparing" in note for note in result.details["notes"])


def test_what_there_was_no_time_to_count_is_said(monkeypatch):
    def too_slow(pair, stop, *, ranked=False, **_):
        while not stop():
            pass
        return Ordered((), ranked, np.zeros(pair.blocks, dtype=bool), 0.0)

    monkeypatch.setattr("linkrisk.solver.worst_case.search.best_order", too_slow)
    result = fit(*coded(), aggregator="weighted-mean", standardisation="pooled", time_limit=2.0)
    assert result.linked_upper_bound == 4
    (said,) = [note for note in result.details["notes"] if "comparing" in note]
    assert said.startswith(
        "there was no time to count what comparing attributes (or ranks) one after another"
    )


@pytest.mark.parametrize("ranked", [False, True])
def test_candidates_that_are_kept_lead_to_the_same_order(ranked, monkeypatch):
    random = np.random.default_rng(5)
    original = random.integers(0, 12, (60, 4)).astype(float)
    masked = original + random.integers(-2, 3, (60, 4))
    pair = make_pair(original, masked, standardisation=NONE)
    kept = best_order(pair, ranked=ranked)
    monkeypatch.setattr("linkrisk.solver.linkage.lexicographic._PAIRS_KEPT", 0)
    again = best_order(pair, ranked=ranked)
    assert (kept.order, kept.weight) == (again.order, again.weight)
    assert 0 < kept.linked.sum() < 60
    assert kept.linked.tolist() == again.linked.tolist()
    assert kept.linked.tolist() == by_definition(pair, list(kept.order), ranked=ranked)
