"""Counts that end before all records were counted: in order, honest, and right as often as they say."""

from __future__ import annotations

import threading
from itertools import combinations

import numpy as np
import pytest

from linkrisk import Cancel, evaluate, fit, link
from linkrisk.solver.commands.program import main
from linkrisk.solver.linkage.evaluator import Evaluation
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled import result as sampled_result
from linkrisk.solver.worst_case.sampled.result import StagedCount

RECORDS = 60
KEYS = {"counted", "status", "limit", "confidence", "linked_lower_limit", "linked_confidence_limit"}


def files():
    random = np.random.default_rng(3)
    original = random.normal(size=(RECORDS, 2))
    return original, original + random.normal(scale=0.4, size=original.shape)


@pytest.fixture(autouse=True)
def small_stages(monkeypatch):
    monkeypatch.setattr(sampled_result, "FIRST_STAGE", 8)


@pytest.fixture
def learned():
    return fit(*files(), work_limit=0.5)


def counted(linked, seen):
    settled = np.zeros(linked.size, dtype=bool)
    settled[list(seen)] = True
    nothing = np.zeros(linked.size)
    ranks = settled.astype(int)
    found = Evaluation(linked & settled, ranks, ranks, nothing, nothing, nothing + 1, ranks, settled)
    return StagedCount(found, np.asarray(seen), 1)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_of_all_samples_of_a_tiny_file_enough_are_right(confidence):
    for linked in range(8):
        truth = np.arange(7) < linked
        samples = combinations(range(7), 3)
        ends = [counted(truth, sample).limits(np.ones(7), confidence) for sample in samples]
        right = [low <= linked <= high for low, high in ends]
        assert np.mean(right) >= confidence
    assert counted(np.ones(9, dtype=bool), range(8)).limits(np.ones(9), confidence)[0] >= 8


def test_limits_of_weights_hold_and_are_within_what_is_certain():
    random, wrong = np.random.default_rng(5), 0
    weight = random.uniform(0.2, 1.0, size=200)
    linked = random.random(200) < 0.3
    truth = weight[linked].sum()
    for _ in range(200):
        found = counted(linked, random.permutation(200)[:80])
        (low, high), certain = found.limits(weight), found.certain(weight)
        assert certain[0] <= low <= high <= certain[1]
        wrong += not low <= truth <= high
    assert wrong <= 10


@pytest.mark.parametrize("limit", ["time", "user"])
def test_what_was_counted_says_what_all_are(learned, limit):
    cancel = Cancel()
    whole = evaluate(*files(), parameters=learned)
    assert not KEYS & set(whole.details)
    assert (whole.counted, whole.interval) == (RECORDS, (whole.linked, whole.linked))
    ends = {"time_limit": 1e-6} if limit == "time" else {"on_progress": lambda _: cancel.cancel()}
    part = evaluate(*files(), parameters=learned, cancel=cancel, **ends)
    assert set(part.details) >= KEYS
    assert part.details["limit"] == limit
    assert part.details["status"] == ("feasible" if limit == "time" else "interrupted")
    assert part.counted == int(part.table.settled.sum()) == 8
    low, high = part.interval
    assert part.linked <= low <= whole.linked <= high <= RECORDS - (8 - part.linked)
    assert part.details["baselines"] == {"euclid": None, "mahalanobis": None}
    # What was counted is what it is in the whole count, and of the others nothing is said.
    both = zip(part.table.rows, whole.table.rows, strict=True)
    assert all(one == other or one[1:4] == (None, None, None) for one, other in both)
    assert f"{part.linked} of 8 linked" in repr(part)
    assert "with 95 % confidence" in repr(part)
    assert "8 of 60 records, in random order, were compared" in part._repr_html_()


def test_a_count_that_goes_on_is_the_whole_count(learned):
    told = []
    found = evaluate(*files(), parameters=learned, time_limit=1e9, on_progress=told.append)
    assert found.to_dict() == evaluate(*files(), parameters=learned).to_dict()
    assert [one.work for one in told][-3:] == [f"{n} of 60 records" for n in (8, 16, 32)]


def test_shared_ties_and_weights_have_limits_of_their_own(learned):
    original, masked = files()
    masked[1] = masked[0]
    part = evaluate(original, masked, parameters=learned, ties="share", time_limit=1e-6)
    whole = evaluate(original, masked, parameters=learned, ties="share")
    low, high = (part.details[f"expected_links_{end}_limit"] for end in ("lower", "confidence"))
    assert part.details["expected_links"] <= low <= whole.details["expected_links"] <= high


def test_one_to_one_links_that_no_time_was_left_for(learned, monkeypatch):
    assert evaluate(*files(), parameters=learned, one_to_one=True, time_limit=1e9).one_to_one is not None

    def endless(*_):
        cancel.cancel()
        release.wait()

    cancel, release = Cancel(), threading.Event()
    monkeypatch.setattr("linkrisk.solver.linkage.operations.evaluate.assigned_blocks", endless)
    try:
        found = evaluate(*files(), parameters=learned, one_to_one=True, cancel=cancel)
    finally:
        release.set()
    assert (found.one_to_one, found.counted) == (None, RECORDS)
    assert "one to one: no time was left for it" in found.details["notes"][-1]


def test_the_command_says_what_was_counted(tmp_path, monkeypatch, capsys, learned):
    monkeypatch.chdir(tmp_path)
    for name, values in zip(("o.csv", "m.csv"), files(), strict=True):
        np.savetxt(name, values, delimiter=",", header="V1,V2", comments="")
    (tmp_path / "fit.json").write_text(learned.to_json())
    argv = ["evaluate", "--original", "o.csv", "--masked", "m.csv", "--parameters", "fit.json"]
    assert main([*argv, "--time-limit", "1e-6"]) == 0
    printed = capsys.readouterr().out
    assert "re-identified, at least" in printed
    assert (
        "8 of 60 records, in random order, were compared before the run was ended (the time limit" in printed
    )
    assert "Euclidean distance no time was left to count" in " ".join(printed.split())
    assert main([*argv, "--time-limit", "none"]) == 0


def test_what_a_linker_learned_has_no_limit():
    found = link(*files(), method="dbrl")
    message = r"^the parameters is the result of a linker, which takes no time limit: leave it out$"
    with pytest.raises(UsageError, match=message):
        evaluate(*files(), parameters=found, time_limit=5)
