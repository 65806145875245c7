"""Simple attacks beside the functions that make them one by one, and what they are compared with."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from measure_runs import pair_task
from scipy.optimize import linear_sum_assignment
from small_files import NAMES, grouped, noisy, survey

from linkrisk import evaluate, link, risk
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures import references, simple_attacks
from linkrisk.solver.measures.references import SHUFFLES, chance_matches, shuffled, unmasked
from linkrisk.solver.measures.simple_attacks import SimpleAttacksMeasure
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock

EQUAL = {"parameters": {"weights": dict.fromkeys(NAMES, 1.0 / 3.0)}}


def frames(make=noisy, records=40):
    rows = survey(records)
    return tuple(pd.DataFrame(each, columns=list(NAMES)) for each in (rows, make(rows)))


def taken(files, clock=None, **options):
    return SimpleAttacksMeasure().take(pair_task(*files, **options), clock or Clock(None))


def linked(found):
    return {one.key: one.linked for one in found.attacks}


@pytest.mark.parametrize("ties", ["strict", "share"])
@pytest.mark.parametrize("make", [noisy, grouped])
def test_every_attack_is_the_same_as_alone(make, ties):
    files = frames(make)
    found = linked(taken(files, ties=ties))
    equal = evaluate(*files, parameters=EQUAL, row_by_row=True, ties=ties)
    prl = link(*files, method="prl", row_by_row=True, ties=ties, curve=False)
    counted = equal.details["expected_links"] if ties == "share" else equal.linked
    assert found["equal_weights"] == pytest.approx(counted)
    assert found["probabilistic"] == pytest.approx(prl.details["expected_links"])


def test_one_to_one_is_the_assignment_of_least_total_distance():
    files = frames()
    scaled = [(frame - frame.mean()) / frame.std(ddof=0) for frame in files]
    cost = ((scaled[0].to_numpy()[:, None] - scaled[1].to_numpy()[None]) ** 2).sum(axis=2)
    rows, columns = linear_sum_assignment(cost)
    assert linked(taken(files))["matched_equal_weights"] == (rows == columns).sum()


@pytest.mark.parametrize("attack", ["bayesian", "likelihood"])
def test_who_knows_others_beats_chance_and_learns_nothing_of_whom_he_attacks(attack):
    """On files without any relation he links as by chance; on noisy ones more."""
    random = np.random.default_rng(3)
    original, other, noise = (
        pd.DataFrame(random.normal(size=(120, 2)), columns=["A", "B"]) for _ in range(3)
    )
    assert (
        linked(taken((original, other)))[attack]
        <= 8
        < linked(taken((original, original + 0.05 * noise)))[attack]
    )
    # Of one value that all records share, and of noise beside it, the assignment is one of chance.
    original["B"], other["B"] = random.choice(["x", "y"], (2, 120))
    assert linked(taken((original, other), nominal=["B"]))[attack] <= 8


def test_what_cannot_be_used_says_why(monkeypatch):
    few = {one.key: one.reason for one in taken(frames(records=8)).attacks}
    assert few["bayesian"] == few["likelihood"] == "it learns from half of the records, and needs 20"
    monkeypatch.setattr(simple_attacks, "MOST_PAIRS", 100)
    monkeypatch.setattr(simple_attacks, "MATCHED", 10)
    monkeypatch.setattr(simple_attacks, "MOST_ATTRIBUTES", 2)
    found = taken(frames())
    reasons = {one.key: one.reason for one in found.attacks}
    assert reasons["probabilistic"].startswith("it compares all pairs of records, 2e+03 here")
    assert reasons["matched_equal_weights"] == "its time grows with the cube of the records; for at most 10"
    assert reasons["bayesian"] == "it searches graphs of attributes, for at most 2"
    assert reasons["equal_weights"] is None
    assert "simple attacks: Bayesian, half known not tried: it searches" in found.notes[-2]
    assert reasons["likelihood"] == reasons["probabilistic"]
    assert [one.key for one in found.findings] == [
        "equal_weights", "classical_mahalanobis", "other_units", "ranks", "ranks_mahalanobis",
    ]  # fmt: skip


def test_without_time_only_what_takes_a_moment_is_counted():
    found = taken(frames(), Clock(1e-9))
    reasons = {one.key: one.reason for one in found.attacks}
    assert reasons["equal_weights"] is None
    late = {reasons[key] for key in ("probabilistic", "bayesian", "likelihood")}
    assert late == {"no time was left for it"}


@pytest.mark.parametrize(("records", "candidates"), [(1, 1), (1, 4), (3, 3), (4, 6), (6, 6), (2, 7)])
def test_as_all_matchings_one_by_one(records, candidates):
    counts = np.zeros(records + 1)
    for matching in itertools.permutations(range(candidates), records):
        counts[sum(at == found for at, found in enumerate(matching))] += 1
    found = chance_matches(records, candidates)
    np.testing.assert_allclose(found.probability, counts / counts.sum(), atol=1e-15)
    assert found.mean == pytest.approx(records / candidates)


@pytest.mark.parametrize(("records", "candidates"), [(10**6, 10**6), (10**6, 2 * 10**6), (400, 401)])
def test_of_large_files_it_is_nearly_poisson(records, candidates):
    found, mean = chance_matches(records, candidates), records / candidates
    poisson = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(8)]
    np.testing.assert_allclose(found.probability[:8], poisson, atol=2.0 / records)
    assert found.probability.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.arange(found.probability.size) @ found.probability == pytest.approx(mean, abs=1e-12)
    quantiles = [found.quantile(share) for share in (0.0, 0.3, 0.5, 0.9, 0.95, 0.99)]
    assert records != candidates or quantiles == [0, 0, 1, 2, 3, 4]


def compared(files, **options):
    asked = {"measures": "references", "aggregator": "weighted-mean", "time_limit": None, **options}
    return risk(*files, **asked)["references"]


def problem_of_frames(original, masked, **options):
    return make_problem(original, masked, ProblemOptions(**options))


@pytest.mark.parametrize("ties", ["strict", "share"])
def test_no_masking_is_what_equal_weights_link_in_the_original_itself(ties):
    original, _ = frames(records=30)
    doubled = pd.concat([original, original.iloc[:4], original.iloc[:2]], ignore_index=True)
    found = unmasked(problem_of_frames(doubled, doubled, row_by_row=True, ties=ties))
    counted = evaluate(doubled, doubled, parameters=EQUAL, row_by_row=True, ties=ties)
    expected = counted.details["expected_links"] if ties == "share" else counted.linked
    assert found == pytest.approx(expected)
    assert found == (30 if ties == "share" else 26)


def test_shuffling_keeps_every_attribute_and_breaks_its_records():
    problem = problem_of_frames(*frames(records=30))
    mixed = shuffled(problem, np.random.default_rng(0))
    for name in NAMES:
        assert sorted(mixed.files.masked[name]) == sorted(problem.files.masked[name])
        assert (mixed.files.masked[name].to_numpy() != problem.files.masked[name].to_numpy()).any()
    np.testing.assert_array_equal(mixed.pair.queries, problem.pair.queries)
    np.testing.assert_array_equal(mixed.pair.partner, problem.pair.partner)


def test_shuffled_attributes_give_the_random_rate():
    """A shuffled record is anybody's: links are as many as by chance, here within five standard errors."""
    problem, random, links = problem_of_frames(*frames(records=60)), np.random.default_rng(7), []
    for _ in range(120):
        pair = shuffled(problem, random).pair
        distance = ((pair.queries[:, None] - pair.candidates[None]) ** 2).sum(axis=2)
        links.append((distance.argmin(axis=1) == pair.partner).sum())
    assert abs(np.mean(links) - 1.0) < 5.0 * np.std(links) / np.sqrt(120)


def test_the_measure_counts_all_of_them():
    found = compared(frames(records=30))
    assert found.shuffled.size == SHUFFLES
    assert 0 <= found.learned_on_shuffled <= found.learned_on_shuffled_bound <= 30
    assert found.learned_on_shuffled >= found.shuffled[-1]
    assert found.unmasked == 30
    assert found.to_frame()["probability"].sum() == pytest.approx(1.0)
    assert [finding.key for finding in found.findings] == [
        "unmasked",
        "learned_on_shuffled",
        "shuffled",
        "chance",
    ]


def test_without_the_weighted_mean_nothing_is_learned_on_shuffled_files():
    found = compared(frames(records=30), aggregator="owa")
    assert found.learned_on_shuffled is None
    assert "over-fitting" not in found.paragraph


def test_sampling_weights_count_in_the_population():
    original, masked = frames(records=30)
    original["w"] = np.arange(1.0, 31.0)
    schema = {"attributes": [{"name": "w", "role": "weight"}]}
    options = {"schema": schema, "measures": "references", "aggregator": "weighted-mean"}
    found = risk(original, masked, time_limit=None, **options)["references"]
    assert found.total == found.unmasked == 465


def test_of_many_records_some_are_counted(monkeypatch):
    problem = problem_of_frames(*frames(records=60))
    monkeypatch.setattr(references, "MOST_COUNTED", 20)
    counts = [references._by_equal_weights(problem, np.random.default_rng(seed)) for seed in range(60)]
    every = evaluate(*frames(records=60), parameters=EQUAL).linked
    assert len(set(counts)) > 1
    # Three times what they link of a third of the records.
    assert all(round(count / 3.0, 9) == int(round(count / 3.0, 9)) for count in counts)
    assert abs(np.mean(counts) - every) < 5.0 * np.std(counts) / np.sqrt(len(counts)) + 1e-9
    found = compared(frames(records=30))
    assert found.notes == ("references: of shuffled attributes 20 records were counted, by lot",)
