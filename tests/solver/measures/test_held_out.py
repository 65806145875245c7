"""Held-out records: rates, splits, learning."""

from __future__ import annotations

import gc
from types import FunctionType, ModuleType

import numpy as np
import pytest
from fit_runs import frames
from hypothesis import given
from hypothesis import strategies as st
from measure_runs import task_of
from scipy import stats

from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.measures import held_out, held_out_trials
from linkrisk.solver.measures.held_out import (
    HeldOut,
    independent_records,
    mean_interval,
    rate_interval,
    wilson,
)
from linkrisk.solver.measures.held_out_trials import EQUAL, Learned, learn, split_blocks
from linkrisk.solver.run.clock import Clock


def test_wilson_as_published():
    """R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, Table I, method 3: 81 of 263, 15 of 148."""
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15 / 148, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1 / 29, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


def test_it_covers_the_mean_of_all_splits():
    random, missed = np.random.default_rng(1), 0
    linked = np.arange(200) < 30
    for _ in range(400):
        rates = np.array([linked[random.permutation(200)[:100]].mean() for _ in range(5)])
        low, high = rate_interval(rates, 200.0 * (1.0 - 0.5**5))
        missed += not low <= 0.15 <= high
    assert missed <= 20


def test_differences_within_splits():
    first, second = np.array([0.5, 0.7, 0.6, 0.9]), np.array([0.4, 0.4, 0.5, 0.6])
    found = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert mean_interval(first - second) == pytest.approx((found.low, found.high))
    assert mean_interval(np.array([0.2])) is None
    assert independent_records(np.ones(7)) == pytest.approx(7.0)
    assert independent_records(np.array([3.0, 1.0])) == pytest.approx(1.6)  # unequal weights say less
    assert rate_interval(np.full(5, 0.4), 80.0) == wilson(0.4, 80.0)


def taken(files, names=("weighted-mean",), learner=learn, clock=None, **options):
    task = task_of(files, names, **options)
    return task, HeldOut(learner).take(task, clock or Clock(None))


class Idle:
    """A learner that answers with the same weights, whatever it sees, and keeps what it was given."""

    def __init__(self, *weights):
        self.theta, self.seen = np.array(weights), []

    def __call__(self, known, request, clock, starts):  # noqa: ARG002
        self.seen.append(known)
        return Learned(self.theta, np.zeros(known.pair.blocks, dtype=bool), True)


class Leaking:
    """A learner that looks for the truth of records other than those it was given, wherever that may be."""

    def __init__(self):
        self.found = 0

    def __call__(self, known, request, clock, starts):
        most = max(pair.blocks for pair in reachable((known, starts, request, clock)))
        self.found = max(self.found, most)
        return learn(known, request, clock, starts)


def reachable(root):
    """Every pair that can be reached from an object by its attributes, items and arrays' bases."""
    pairs, seen, open_ = [], set(), [root]
    while open_:
        one = open_.pop()
        if id(one) not in seen and not isinstance(one, type | ModuleType | FunctionType):
            seen.add(id(one))
            pairs += [one] if isinstance(one, LinkagePair) else []
            open_ += gc.get_referents(one)
            open_ += [one.base] if isinstance(one, np.ndarray) and one.base is not None else []
    return pairs


def test_a_learner_can_reach_the_partners_of_known_records_alone():
    leaking, files = Leaking(), frames(0, 24)
    files[0].iloc[3, 0] = files[1].iloc[5, 1] = np.nan
    _, result = taken(files, learner=leaking)
    assert leaking.found == max(trial.known for trial in result.trials) == 12


@given(st.integers(2, 60), st.sampled_from(held_out.SHARES), st.integers(0, 9), st.integers(0, 2**32))
def test_splits_are_nested_seeded_and_whole(blocks, share, number, seed):
    split = split_blocks(blocks, share, number, seed)
    assert sorted([*split.known, *split.attacked]) == list(range(blocks))
    assert split.known.size == round(share * blocks)
    np.testing.assert_array_equal(split.known, split_blocks(blocks, share, number, seed).known)
    assert set(split.known) <= set(split_blocks(blocks, 0.5, number, seed).known)


def test_shares_with_too_few_records_are_left_out_and_said():
    assert HeldOut().lacking(task_of(frames(1, 3))) == "a split needs 2 known and 2 attacked records"
    assert HeldOut().lacking(task_of(frames(1, 4))) is None
    _, result = taken(frames(1, 8))
    assert result.shares == (0.25, 0.5)
    assert result.notes == ("held-out: with 10 % known, a side of the split has fewer than 2 records",)


def test_rates_are_those_of_brute_force():
    idle = Idle(0.5, 0.3, 0.2)
    task, result = taken(frames(3, 20, noise=0.6), learner=idle)
    pair = task.first.pair
    away = (pair.queries[:, None] - pair.candidates[None]) ** 2
    for trial in result.trials:
        split = split_blocks(20, trial.share, trial.split, 0)
        table = away.sum(axis=2) if trial.aggregator == EQUAL else away @ idle.theta
        linked = table.argmin(axis=1) == pair.partner
        assert trial.held_out == pytest.approx(linked[split.attacked].mean())
        if trial.aggregator == EQUAL:
            assert trial.trained == pytest.approx(linked[split.known].mean())
    assert [trial.known for trial in result.trials[::2]] == [10, 5, 2] * 5


def test_learning_trains_at_least_as_well_as_equal_weights():
    _, result = taken(frames(5, 10, noise=0.8), ("weighted-mean", "choquet"))
    rates = {(trial.aggregator, trial.share, trial.split): trial.trained for trial in result.trials}
    for (name, *which), trained in rates.items():
        if name == "weighted-mean":
            assert rates[(EQUAL, *which)] - 1e-12 <= trained <= rates[("choquet", *which)] + 1e-12


def test_what_was_not_masked_is_linked_altogether():
    _, result = taken(frames(2, 30, noise=0.0))
    for each in result.rates:
        assert 0.0 <= each.low <= each.held_out <= each.high <= 1.0
        assert each.low < each.high
        assert each.held_out == each.trained == each.one_to_one == 1.0


def test_identical_masked_records_are_linked_by_nobody_and_matched_by_chance():
    """A matching that goes by position would find everybody here."""
    original, masked = frames(4, 40)
    masked.iloc[:, :] = np.repeat(masked.iloc[:2].to_numpy(), 20, axis=0)
    _, result = taken((original, masked))
    for each in result.rates:
        assert each.held_out == 0.0
        assert each.one_to_one < 0.2


def test_shared_ties_count_as_expected_links():
    original, _ = frames(4, 40)
    masked = original.copy()
    masked.iloc[:, :] = np.repeat(original.to_numpy()[::2], 2, axis=0)
    _, result = taken((original, masked), ties="share")
    assert max(max(each.held_out, each.trained) for each in result.rates) <= 0.5


def test_a_clock_that_has_run_out_still_gives_one_split_of_equal_weights():
    _, result = taken(frames(8, 16), clock=Clock(0.0))
    assert [(trial.aggregator, trial.share, trial.split) for trial in result.trials] == [(EQUAL, 0.5, 0)]
    assert result.notes[0].startswith("held-out: 1 of 5 splits")
    assert "equal-weights" in result.paragraph


def test_of_many_records_some_are_looked_at(monkeypatch):
    for module in (held_out_trials, held_out):
        monkeypatch.setattr(module, "MOST_RECORDS", 6)
    _, result = taken(frames(3, 30), learner=Idle(0.2, 0.3, 0.5))
    assert {(trial.known, trial.attacked) for trial in result.trials} == {(3, 6), (6, 6)}
    assert "held-out: 6 records of a side of a split are looked at, by lot" in result.notes
    monkeypatch.undo()
    _, whole = taken(frames(3, 30), learner=Idle(0.2, 0.3, 0.5))
    # So few of 30 say less than all of them would.
    widths = [np.mean([rate.high - rate.low for rate in one.rates]) for one in (result, whole)]
    assert widths[0] > widths[1]
    assert result.records == whole.records == 30


def test_attacks_on_others_are_counted_by_what_they_stand_for_and_as_records():
    original, masked = frames(6, 30, attributes=2, noise=0.5)
    weight = np.where(np.arange(30) % 3, 1.0, 25.0)
    schema = {"attributes": [{"name": "w", "role": "weight"}]}
    task = task_of((original.assign(w=weight), masked), ("weighted-mean",), schema=schema)
    one, other = ((each - each.mean()) / each.std(ddof=0) for each in (original, masked))
    right = ((one.to_numpy()[:, None] - other.to_numpy()[None]) ** 2).sum(-1).argmin(1) == np.arange(30)
    split, pair = split_blocks(30, 0.5, 0, 0), task.first.pair
    counts = held_out_trials.record_counts(task.first)
    attacked = held_out_trials.Attacked(pair, counts, split, 0, assign=False)
    found, some = attacked.rate(baseline_forms(pair)["euclid"]), split.attacked
    assert found.share == pytest.approx(right[some] @ weight[some] / weight[some].sum())
    assert found.unweighted == pytest.approx(right[some].mean())
    assert found.share != pytest.approx(found.unweighted)
