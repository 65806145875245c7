"""No masking, shuffled attributes, matching at random."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from small_files import NAMES, noisy, survey

from linkrisk import evaluate, risk
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures import references
from linkrisk.solver.measures.references import SHUFFLES, chance_matches, shuffled, unmasked
from linkrisk.solver.options.pair import ProblemOptions


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


def test_quantiles_hold_their_share():
    found = chance_matches(400, 400)
    assert [found.quantile(share) for share in (0.3, 0.5, 0.9, 0.95, 0.99)] == [0, 1, 2, 3, 4]
    assert found.quantile(0.0) == 0


EQUAL = {"parameters": {"weights": dict.fromkeys(NAMES, 1.0 / 3.0)}}


def frames(records=30):
    rows = survey(records)
    return tuple(pd.DataFrame(each, columns=list(NAMES)) for each in (rows, noisy(rows)))


def problem_of_frames(original, masked, **options):
    return make_problem(original, masked, ProblemOptions(**options))


@pytest.mark.parametrize("ties", ["strict", "share"])
def test_no_masking_is_what_equal_weights_link_in_the_original_itself(ties):
    original, _ = frames()
    doubled = pd.concat([original, original.iloc[:4], original.iloc[:2]], ignore_index=True)
    found = unmasked(problem_of_frames(doubled, doubled, row_by_row=True, ties=ties))
    counted = evaluate(doubled, doubled, parameters=EQUAL, row_by_row=True, ties=ties)
    expected = counted.details["expected_links"] if ties == "share" else counted.linked
    assert found == pytest.approx(expected)
    assert found == (30 if ties == "share" else 26)


def test_shuffling_keeps_every_attribute_and_breaks_its_records():
    problem = problem_of_frames(*frames())
    mixed = shuffled(problem, np.random.default_rng(0))
    for name in NAMES:
        assert sorted(mixed.files.masked[name]) == sorted(problem.files.masked[name])
        assert (mixed.files.masked[name].to_numpy() != problem.files.masked[name].to_numpy()).any()
    np.testing.assert_array_equal(mixed.pair.queries, problem.pair.queries)
    np.testing.assert_array_equal(mixed.pair.partner, problem.pair.partner)


def test_shuffled_attributes_give_the_random_rate():
    """A shuffled record is anybody's: links are as many as by chance, here within five standard errors."""
    problem, random, links = problem_of_frames(*frames(60)), np.random.default_rng(7), []
    for _ in range(120):
        pair = shuffled(problem, random).pair
        distance = ((pair.queries[:, None] - pair.candidates[None]) ** 2).sum(axis=2)
        links.append((distance.argmin(axis=1) == pair.partner).sum())
    assert abs(np.mean(links) - 1.0) < 5.0 * np.std(links) / np.sqrt(120)


def test_the_measure_counts_all_of_them():
    found = risk(*frames(), measures="references", aggregator="weighted-mean", time_limit=None)["references"]
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
    found = risk(*frames(), measures="references", aggregator="owa", time_limit=None)["references"]
    assert found.learned_on_shuffled is None
    assert "over-fitting" not in found.paragraph


def test_sampling_weights_count_in_the_population():
    original, masked = frames()
    original["w"] = np.arange(1.0, 31.0)
    schema = {"attributes": [{"name": "w", "role": "weight"}]}
    options = {"schema": schema, "measures": "references", "aggregator": "weighted-mean"}
    found = risk(original, masked, time_limit=None, **options)["references"]
    assert found.total == found.unmasked == 465


def test_of_many_records_some_are_counted(monkeypatch):
    problem = problem_of_frames(*frames(60))
    monkeypatch.setattr(references, "MOST_COUNTED", 20)
    counts = [references._by_equal_weights(problem, np.random.default_rng(seed)) for seed in range(60)]
    every = evaluate(*frames(60), parameters=EQUAL).linked
    assert len(set(counts)) > 1
    # Three times what they link of a third of the records.
    assert all(round(count / 3.0, 9) == int(round(count / 3.0, 9)) for count in counts)
    assert abs(np.mean(counts) - every) < 5.0 * np.std(counts) / np.sqrt(len(counts)) + 1e-9
    found = risk(*frames(), measures="references", aggregator="weighted-mean", time_limit=None)["references"]
    assert found.notes == ("references: of shuffled attributes 20 records were counted, by lot",)
