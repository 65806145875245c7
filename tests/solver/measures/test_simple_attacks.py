"""Simple attacks beside the functions that make them one by one, and on files that they cannot be used on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from measure_runs import pair_task
from scipy.optimize import linear_sum_assignment
from small_files import NAMES, grouped, noisy, survey

from linkrisk import evaluate, link
from linkrisk.solver.measures import simple_attacks
from linkrisk.solver.measures.simple_attacks import SimpleAttacksMeasure
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
    original = pd.DataFrame(random.normal(size=(120, 2)), columns=["A", "B"])
    other = pd.DataFrame(random.normal(size=(120, 2)), columns=["A", "B"])
    near = original + 0.05 * random.normal(size=(120, 2))
    assert linked(taken((original, other)))[attack] <= 8
    assert linked(taken((original, near)))[attack] > 8


def test_places_say_nothing_where_values_do_not():
    """Of one value that all records share, and of noise beside it, the assignment is one of chance."""
    random = np.random.default_rng(5)
    original = pd.DataFrame({"A": random.normal(size=60), "B": random.choice(["x", "y"], 60)})
    masked = original.assign(A=random.normal(size=60), B=random.choice(["x", "y"], 60))
    assert linked(taken((original, masked), nominal=["B"]))["likelihood"] <= 5


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
