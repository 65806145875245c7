"""Recount: the output counted again, against brute force and code that knows only pandas."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from linkrisk import mask, risk, suppress, unsafe
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.formulations.errors import FormulationError
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
    codes = np.random.default_rng(3).integers(0, levels, (2, records, keys)).min(axis=0)
    return pd.DataFrame(codes, columns=list("abcd")[:keys])


# What is best


@pytest.mark.parametrize("missing", [OWN, ANYTHING])
@settings(max_examples=40)
@given(codes=codes_of, k=st.integers(2, 3), chance=st.randoms(use_true_random=False))
def test_it_is_what_trying_everything_finds(missing, codes, k, chance):
    names = list("abcd"[: codes.shape[1]])
    cost = [chance.randint(0, 3) for _ in names]
    kept = [at for at in range(len(names)) if chance.random() < 0.2]
    asked = {"problem": "recount", "keys": names, "k": k, "missing": missing, "cost": "priority"}
    asked |= {"priorities": dict(zip(names, cost, strict=True)), "untouched": [names[at] for at in kept]}
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
    assert best.proven is around.proven is True
    assert around.cost == best.cost


# Combinations of at most so many keys

FOUR = list("abcd")


def least_frequent(frame, dimension, *, anything):
    """How many records the rarest combination of a record has."""
    least = len(frame)
    for size in range(1, dimension + 1):
        for some in map(list, combinations(FOUR, size)):
            part = frame[some]
            if anything:
                codes = part.fillna(-1).to_numpy(dtype=int)
                like = [((codes == row) | (codes < 0) | (row < 0)).all(axis=1).sum() for row in codes]
                least = min(least, *like)
            else:
                least = min(least, int(part.groupby(some, dropna=False).size().min()))
    return least


@pytest.mark.parametrize("missing", ["own-category", "matches-anything"])
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 4), dimension=st.integers(1, 3))
def test_every_combination_of_so_many_keys_has_k_records(missing, seed, k, dimension):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.integers(0, 4, (25, 4)), columns=FOUR).astype("Int64")
    frame = frame.mask(random.random(frame.shape) < 0.05)
    asked = {"keys": FOUR, "k": k, "dimension": dimension, "problem": "recount", "missing": missing}
    found = suppress(frame, **asked, time_limit=None)
    assert least_frequent(found.table, dimension, anything=missing != "own-category") >= k
    assert found.recounted == 0
    gone = found.table.isna() & frame.notna()
    assert found.cells == int(gone.to_numpy().sum())
    assert found.table.mask(gone, frame).equals(frame)
    assert found.bound <= found.cost
    assert found.proven == (found.bound == found.cost)


def test_parts_of_a_file_that_has_k_of_the_largest_sets_only():
    """Pairs of keys are what is asked: all four would cost more."""
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 3, (60, 4)), columns=FOUR)
    pairs = suppress(frame, keys=FOUR, k=3, dimension=2, problem="recount")
    everything = suppress(frame, keys=FOUR, k=3, problem="recount", time_limit=5)
    assert pairs.cells < everything.cells
    same = suppress(frame, keys=FOUR, k=3, dimension=4, problem="recount", time_limit=5)
    assert same.recounted == 0
    assert same.details["dimension"] == 4


# What cannot be asked, of any problem

AGE = Hierarchy("age", (("1", "2", "3"), ("*", "*", "*")))
JOINT = {"problem": "joint", "keys": ["age", "b"], "k": 3, "hierarchies": [AGE]}
COVER = {"problem": "cover", "keys": ["a", "b"]}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"dimension": 1}, "say k, not levels or tables"),
        ({"missing": "safe", "k": 2}, "counts a missing value as own-category or matches-anything, not as"),
        ({"missing": "alpha=0.5", "k": 2}, "not as alpha=0.5"),
        ({"weight": "w", "k": 2}, "knows no weights: leave 'w' out"),
        ({"household": "h", "household_keys": ["a"], "k": 2}, "knows no households: leave 'h' out"),
        ({"k": 5, "dimension": 1}, "fewer than 5 records"),
        ({"keys": ["a", "b"], "k": 2, "dimension": 1, "untouched": ["a"]}, "not to be touched"),
        ({"risk": 0.1}, "say k, not levels or tables"),
        ({**JOINT, "hierarchies": []}, "chooses levels of hierarchies: give one of a key variable"),
        ({**JOINT, "hierarchies": [AGE, AGE]}, "a key variable has two"),
        ({**JOINT, "hierarchies": [Hierarchy("job", AGE.levels)]}, "'job' is no key variable; these are"),
        ({**JOINT, "hierarchies": [Hierarchy("age", (("1", "2"), ("*", "*")))]}, "has no category '3'"),
        ({**JOINT, "missing": "matches-anything"}, "counts a missing value as own-category, not as"),
        ({**JOINT, "problem": "recount"}, "hierarchies are for the problem 'joint', not 'recount'"),
        ({**JOINT, "dimension": 2, "k": None}, "say k, not levels or tables"),
        ({**JOINT, "dimension": 1}, "'joint' is about all key variables: leave the dimension out"),
        *(
            ({**COVER, "risk": risk}, f"a risk of {risk:g} is no threshold; give one between 0 and 1")
            for risk in (0.0, 1.0, -1.0)
        ),
        ({**COVER, "risk": 0.1, "k": 2}, "say in one way what is unsafe: by k, risk, levels"),
        ({**COVER, "risk": 0.1, "missing": "alpha=0.5"}, "individual risk is of whole records: a missing"),
    ],
)
def test_what_cannot_be_asked(asked, message):
    frame = pd.DataFrame({"a": [1, 1, 2], "b": [1, 1, 2], "age": [1, 2, 3], "w": [1] * 3, "h": [1] * 3})
    with pytest.raises((UsageError, DataError, FormulationError), match=message):
        suppress(frame, **{"problem": "recount", "keys": ["a"], **asked})


# Gaps and codes that are declared missing: every count of k-anonymity tells them apart, as readers do


KEYS = ["town", "status"]
CODED = {
    "attributes": [
        {"name": "town", "role": "key", "scale": "nominal"},
        {"name": "status", "role": "key", "scale": "nominal", "missing": ["-1", "-2"]},
    ]
}


def towns():
    """The only A with status 2 finds like records where it loses its status, and another one does."""
    rows = [*[("A", 1)] * 2, *[("A", -1)] * 3, ("A", 2), *[("B", 1)] * 2, *[("B", 2)] * 2, *[("B", -1)] * 2]
    return pd.DataFrame(rows, columns=KEYS).astype({"status": str})


def survey(tmp_path):
    """An SPSS file with two missing codes and gaps."""
    random, n = np.random.default_rng(2), 200
    status = random.choice([1.0, 2.0, -1.0, -2.0, np.nan], n, p=[0.4, 0.3, 0.1, 0.1, 0.1])
    frame = pd.DataFrame({"town": random.integers(1, 9, n).astype(float), "status": status})
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(frame, path, missing_ranges={"status": [-1, -2]})
    return frame, str(path)


def rare(frame, k, keys=KEYS):
    """What a reader of the file counts, who sees a gap and every code."""
    size = frame.astype(object).fillna("gap").groupby(keys)[keys[0]].transform("size")
    return int((size < k).sum())


@pytest.mark.parametrize("problem", ["recount", "joint"])
def test_a_gap_is_not_a_declared_code(problem, tmp_path):
    frame = towns()
    frame.to_csv(tmp_path / "towns.csv", index=False)
    hierarchy = Hierarchy("status", (("1", "2"), ("any", "any")))
    more = {"hierarchies": [hierarchy], "untouched": ["town"]} if problem == "joint" else {}
    found = suppress(str(tmp_path / "towns.csv"), schema=CODED, k=2, problem=problem, **more)
    found.write(tmp_path / "safe.csv")
    assert (found.cells, found.proven, found.recounted, found.after["own-category"]) == (2, True, 0, 0)
    assert rare(pd.read_csv(tmp_path / "safe.csv"), 2) == 0


def test_declared_codes_stay_at_every_level():
    frame = pd.DataFrame({"town": ["A"] * 8, "status": [*"1234", "-1", "-1", "-2", "-2"]})
    hierarchy = Hierarchy("status", (("1", "2", "3", "4"), ("low", "low", "high", "high")))
    found = suppress(frame, schema=CODED, k=2, problem="joint", hierarchies=[hierarchy])
    assert found.levels == {"town": 0, "status": 1}
    assert found.table.status.tolist() == ["low", "low", "high", "high", "-1", "-1", "-2", "-2"]
    at = unsafe(frame, schema=CODED, k=2, hierarchies=[hierarchy]).levels
    assert [(one.variable, one.level, one.records) for one in at] == [("status", 0, 4), ("status", 1, 0)]


@pytest.mark.parametrize("missing", ["own-category", "matches-anything"])
def test_the_codes_of_an_spss_file(tmp_path, missing):
    frame, path = survey(tmp_path)
    found = suppress(path, keys=KEYS, k=3, problem="recount", missing=missing, time_limit=None)
    found.write(tmp_path / "safe.sav")
    safe, meta = pyreadstat.read_sav(tmp_path / "safe.sav", user_missing=True)
    assert meta.missing_ranges["status"] == [{"lo": -1.0, "hi": -1.0}, {"lo": -2.0, "hi": -2.0}]
    gone = safe.isna() & frame.notna()
    assert int(gone.to_numpy().sum()) == found.cells
    assert safe.mask(gone, frame).equals(frame)
    if missing == "own-category":
        assert rare(frame, 3) > rare(safe, 3) == 0
        assert unsafe(path, keys=KEYS, k=3).before.records == rare(frame, 3)
    else:
        like = [((safe == row) | safe.isna() | row.isna()).all(axis=1).sum() for _, row in safe.iterrows()]
        assert min(like) >= 3


def test_measures_of_keys_count_codes_as_they_are_written(tmp_path):
    frame, path = survey(tmp_path)
    measured = risk(
        path, path, row_by_row=True, nominal=KEYS,
        measures="uniqueness", aggregator="weighted-mean", work_limit=1,
    )["uniqueness"]  # fmt: skip
    size = frame.fillna(99.0).groupby(KEYS)["town"].transform("size").to_numpy()
    np.testing.assert_array_equal(measured.to_frame().frequency.to_numpy(), size)


def test_local_suppression_of_an_spss_file_may_take_a_code_out(tmp_path):
    frame, path = survey(tmp_path)
    made = mask(path, "local-suppression k=4 attributes=town,status importance=town").table
    assert ((made == frame) | made.isna()).to_numpy().all()
    like = [((made == row) | made.isna() | row.isna()).all(axis=1).sum() for _, row in made.iterrows()]
    assert min(like) >= 4
    assert (made.status.isna() & (frame.status < 0)).any()


# A code that is written


@pytest.mark.parametrize(("code", "cells"), [("-1", 1), ("-9", 2), ("ZZ", 2)])
def test_what_is_taken_out_can_be_written_as_a_code(code, cells, tmp_path):
    towns().to_csv(tmp_path / "towns.csv", index=False)
    path = str(tmp_path / "towns.csv")
    found = suppress(path, schema=CODED, k=2, problem="recount", missing=f"code={code}")
    found.write(tmp_path / "safe.csv")
    safe = pd.read_csv(tmp_path / "safe.csv", dtype=str)
    assert (found.cells, found.proven, found.recounted) == (cells, True, 0)
    assert (safe.status == code).sum() == (towns().status == code).sum() + cells
    assert not safe.isna().any(axis=None)
    assert rare(safe, 2) == 0


def test_a_gap_is_a_category_beside_the_code():
    """The gap of the input is alone, and its record is alike to others once it is the code."""
    frame = pd.DataFrame({"a": [1.0, 1.0, 9.0, 9.0, np.nan]})
    found = suppress(frame, keys=["a"], k=2, problem="recount", missing="code=9")
    assert found.table["a"].tolist() == [1.0, 1.0, 9.0, 9.0, 9.0]
    assert (found.cells, found.recounted) == (1, 0)


def test_a_column_of_numbers_takes_no_other_code():
    frame = pd.DataFrame({"a": [1, 1, 2]})
    with pytest.raises(DataError, match="column 'a' has numbers, and no place for the code 'X': give one"):
        suppress(frame, keys=["a"], k=2, problem="recount", missing="code=X")
