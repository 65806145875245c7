"""Comparing attributes one after another: what weights in doubles may not reach is seen all the same."""

from __future__ import annotations

import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.lexicographic import Ordered, best_order, linked_in_order
from linkrisk.solver.options.pair import ProblemOptions

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
