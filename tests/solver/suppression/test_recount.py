"""Recount: the output counted again, against brute force and code that knows only pandas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from linkrisk import suppress
from linkrisk.datasets.errors import DataError
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression import nodes
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.formulations.suppression.nodes import nodes_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.suppression import steering
from linkrisk.solver.suppression.audit import too_few_alike
from linkrisk.solver.suppression.heuristics import Assignment, completed, greedy
from linkrisk.solver.suppression.operations import suppress as suppression_run

OWN, ANYTHING = "own-category", "matches-anything"

small = st.tuples(st.integers(2, 5), st.integers(1, 3)).filter(lambda shape: shape[0] * shape[1] <= 10)
codes_of = small.flatmap(lambda shape: arrays.arrays(np.int32, shape, elements=st.integers(-1, 2)))


def frame_of(codes):
    names = list("abcd"[: codes.shape[1]])
    return pd.DataFrame(codes, columns=names).astype("Int64").mask(codes < 0)


def is_safe(codes, k, missing):
    for row in codes:
        same = codes == row
        if missing == ANYTHING:
            same |= (codes < 0) | (row < 0)
        if same.all(axis=1).sum() < k:
            return False
    return True


def least(codes, k, missing, cost, kept):
    """By trying everything; None where nothing will do."""
    places = [(row, at) for row, at in zip(*np.nonzero(codes >= 0), strict=True) if at not in kept]
    found = []
    for some in product([False, True], repeat=len(places)):
        trial, taken = codes.copy(), [place for place, gone in zip(places, some, strict=True) if gone]
        for place in taken:
            trial[place] = -1
        if is_safe(trial, k, missing):
            found.append(sum(cost[at] for _, at in taken))
    return min(found, default=None)


def some_frame(records, keys, levels=3):
    random = np.random.default_rng(3)
    codes = np.minimum(
        random.integers(0, levels, (records, keys)), random.integers(0, levels, (records, keys))
    )
    return pd.DataFrame(codes, columns=list("abcd")[:keys])


# What is best


@pytest.mark.parametrize("missing", [OWN, ANYTHING])
@settings(max_examples=40)
@given(codes=codes_of, k=st.integers(2, 3), chance=st.randoms(use_true_random=False))
def test_it_is_what_trying_everything_finds(missing, codes, k, chance):
    names = list("abcd"[: codes.shape[1]])
    cost = [chance.randint(0, 3) for _ in names]
    kept = [at for at in range(len(names)) if chance.random() < 0.2]
    asked = {
        "problem": "recount",
        "keys": names,
        "k": k,
        "missing": missing,
        "cost": "priority",
        "priorities": dict(zip(names, cost, strict=True)),
        "untouched": [names[at] for at in kept],
    }
    best = least(codes, k, missing, cost, kept)
    if best is None:
        with pytest.raises(FormulationError, match=r"fewer than \d records"):
            suppress(frame_of(codes), **asked)
        return
    result = suppress(frame_of(codes), **asked)
    assert (result.cost, result.bound, result.proven, result.recounted) == (best, best, True, 0)
    left = result.table.astype("Int64").fillna(-1).to_numpy(dtype=np.int32)
    assert is_safe(left, k, missing)
    assert ((left == codes) | (left < 0)).all()
    assert (left[:, kept] == codes[:, kept]).all()


@pytest.mark.parametrize("backend", ["highs", "scipy", "pulp"])
def test_every_backend_proves_the_same(backend):
    result = suppress(some_frame(60, 3), problem="recount", k=3, backend=backend)
    assert (result.cells, result.proven, result.recounted) == (18, True, 0)
    assert result.details["proof"] == "branch and bound"  # prices alone prove 17
    assert result.details["bound_by_prices"] <= result.bound


def test_a_shuffled_and_renamed_file_costs_the_same():
    frame = some_frame(60, 3)
    order = np.random.default_rng(4).permutation(60)
    other = pd.DataFrame(frame.to_numpy()[order][:, ::-1] + 7, columns=list("xyz"))
    assert len({suppress(each, problem="recount", k=3).cost for each in (frame, other)}) == 1


def test_recount_takes_no_fewer_values_than_k_minus_one_empty_records_where_missing_matches_anything():
    codes = np.arange(40).reshape(20, 2)  # all differ in everything
    frame = pd.DataFrame(codes, columns=["a", "b"])
    result = suppress(frame, keys=["a", "b"], problem="recount", k=3, missing=ANYTHING)
    assert (result.cells, result.proven, result.after) == (4, True, {OWN: 18, ANYTHING: 0})


def test_entropy_is_a_cost(tmp_path):
    frame = pd.DataFrame({"a": [0, 0, 0, 1], "b": list("wxyz")})
    result = suppress(frame, problem="recount", k=2, cost="entropy")
    assert result.proven
    assert result.cost == pytest.approx(4 * 2.0 + 2 * 0.811, abs=1e-9)  # two groups of two, or one of four
    result.write(tmp_path / "safe.csv")
    assert too_few_alike(pd.read_csv(tmp_path / "safe.csv"), ["a", "b"], 2, matches_anything=False) == 0


# Limits


def test_a_stop_leaves_an_answer_and_a_bound():
    codes = np.random.default_rng(5).integers(0, 6, (400, 5))
    frame, cancel = pd.DataFrame(codes, columns=list("abcde")), Cancel()
    cancel.cancel()
    for missing in (OWN, ANYTHING):
        result = suppress(frame, problem="recount", k=4, missing=missing, cancel=cancel)
        assert result.recounted == 0
        assert 0 <= result.bound <= result.cost
        assert result.limit == (None if result.proven else "user")


def test_progress_says_cost_and_bound():
    said = []
    suppress(some_frame(60, 3), problem="recount", k=3, on_progress=said.append)
    assert any("at least" in one.work for one in said)


def test_what_cannot_be_finished_by_then_is_placed_somehow():
    codes = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], dtype=np.int32)
    table = KeyTable(("a", "b"), codes)
    found = nodes_of(table.types, np.ones(2, dtype=np.int64), 3, 2)
    nothing = np.zeros(found.entries, dtype=np.int64)
    assert completed(found, nothing, found.count.copy()).allowed
    first = greedy(found)
    assert first.allowed
    assert not first.move(np.flatnonzero(first.records)[:1], np.array([-1]))  # a record without a place
    assert not Assignment(found, nothing * 0).allowed


def test_an_answer_that_is_not_safe_is_no_answer(monkeypatch):
    monkeypatch.setattr(suppression_run, "too_few_alike", lambda *_, **__: 2)
    with pytest.raises(AssertionError, match="2 records are not safe"):
        suppress(pd.DataFrame({"a": [1, 1, 2]}), problem="recount", k=2)


def test_neighbourhoods_find_what_diving_does_not(monkeypatch):
    frame = some_frame(80, 3)
    best = suppress(frame, problem="recount", k=3)
    monkeypatch.setattr(steering, "WHOLE_AT_ONCE", 0)  # the whole is not tried at once
    monkeypatch.setattr(steering, "FIRST_WHOLE_SECONDS", 0.2)
    around = suppress(frame, problem="recount", k=3)
    assert best.proven
    assert around.proven
    assert around.cost == best.cost


# What cannot be asked


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"dimension": 1}, "say k, not levels or tables"),
        (
            {"missing": "safe", "k": 2},
            "counts a missing value as own-category or matches-anything, not as safe",
        ),
        ({"missing": "alpha=0.5", "k": 2}, "not as alpha=0.5"),
        ({"weight": "w", "k": 2}, "knows no weights: leave 'w' out"),
        ({"household": "h", "household_keys": ["a"], "k": 2}, "knows no households: leave 'h' out"),
    ],
)
def test_what_cannot_be_asked(asked, message):
    frame = pd.DataFrame({"a": [1, 1, 2], "w": [1, 1, 1], "h": [1, 1, 1]})
    with pytest.raises((UsageError, DataError, FormulationError), match=message):
        suppress(frame, **{"problem": "recount", "keys": ["a"], **asked})


@pytest.mark.parametrize("missing", [OWN, ANYTHING])
def test_too_many_rows_and_patterns(missing, monkeypatch):
    monkeypatch.setattr(nodes, "MOST_ENTRIES", 100)
    with pytest.raises(FormulationError, match="choose fewer key variables, or recode some"):
        suppress(some_frame(60, 3), problem="recount", k=3, missing=missing)


@pytest.mark.parametrize("missing", [OWN, ANYTHING])
def test_fewer_records_than_k(missing):
    frame = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(FormulationError, match=r"record 1 .* fewer than 3 records"):
        suppress(frame, problem="recount", k=3, missing=missing)
