"""What `fit` takes, returns, tells on its way, notes and refuses."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from aggregator_cases import CASES, LABELS
from fit_runs import KEYS, check, frames, solve

from linkrisk import fit
from linkrisk.solver.linkage.records_table import TABLE_COLUMNS
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


EXACT_PHASES = {"baselines", "rows", "first attack", "tree", "attack", "hitting sets"}


# ---------------------------------------------------------------- input and output


def test_paths_pandas_and_polars_give_the_same(tmp_path):
    original, masked = frames(5, 12)
    original.to_csv(tmp_path / "original.csv", index=False)
    masked.to_csv(tmp_path / "masked.csv", index=False)
    results = [
        fit(original, masked, aggregator="choquet"),
        fit(pl.from_pandas(original), pl.from_pandas(masked), aggregator="choquet"),
        fit(tmp_path / "original.csv", str(tmp_path / "masked.csv"), aggregator="choquet"),
    ]
    assert len({result.linked for result in results}) == 1
    assert len({result.table.rows for result in results}) == 1
    assert len({json.dumps(result.parameters) for result in results}) == 1


def test_attributes_and_ids_choose_what_is_compared():
    original, masked = frames(6, 10)
    original.insert(0, "person", [f"p{i}" for i in range(10)])
    masked.insert(0, "person", [f"p{i}" for i in range(10)])
    shuffled = masked.sample(frac=0.8, random_state=1)
    result = fit(original, shuffled, id="person", attributes=["C", "A"])
    assert result.records == 8
    assert result.to_dict()["attributes"] == ["C", "A"]
    assert set(result.parameters["weights"]) == {"C", "A"}
    assert [row[0] for row in result.table.rows] == [
        label for label in original["person"] if label in set(shuffled["person"])
    ]


def test_the_json_has_everything_that_the_design_promises():
    files = frames(7, 12)
    strict = check(fit(*files), files)
    assert set(strict) == KEYS
    assert strict["records_table"]["columns"] == list(TABLE_COLUMNS)
    assert (strict["engine"], strict["backend"], strict["margin"]) == ("exact", None, None)
    assert strict["trace"][0][0] >= 0.0
    assert {"rows", "first attack"} <= set(strict["phases"]) <= EXACT_PHASES
    assert strict["versions"]["numpy"] == np.__version__
    share = check(fit(*files, ties="share"), files)
    assert set(share) == KEYS | {"expected_links", "expected_links_upper_bound"}
    choquet = check(fit(*files, aggregator="choquet", k_additive=2), files)
    assert choquet["aggregator_options"] == {"k_additive": 2}
    assert set(choquet["parameters"]) == {"moebius", "measure"}
    assert list(choquet["parameters"]["measure"]) == ["A", "B", "A,B", "C", "A,C", "B,C", "A,B,C"]
    owa = check(fit(*files, aggregator="owa"), files)
    assert list(owa["parameters"]["weights"]) == ["1", "2", "3"]
    model = check(fit(*files, engine="milp"), files)
    assert set(model) == KEYS
    assert (model["engine"], model["backend"], model["margin"]) == ("milp", "highs", 1e-5)
    assert set(model["phases"]) == {"baselines", "rows", "first attack", "build", "solve"}


def test_the_result_reads_well():
    result = fit(*frames(8, 12))
    share = f"{100 * result.linked / 12:.1f}"
    assert repr(result) == (
        f"FitResult(weighted-mean, original-to-masked: {result.linked} of 12 linked ({share} %), proven)"
    )
    frame = result.table.to_frame()
    assert list(frame.columns) == list(TABLE_COLUMNS)
    assert int(frame["linked"].sum()) == result.linked


@everywhere
@pytest.mark.usefixtures("still_time")
def test_the_same_seed_gives_the_same_result(case):
    files = frames(9, 15)
    first, second = (solve(case, files, seed=7) for _ in range(2))
    assert first.parameters == second.parameters
    assert first.table == second.table
    assert first.details["seed"] == 7


@pytest.mark.usefixtures("still_time")
@pytest.mark.parametrize(
    ("engine", "phases"),
    [
        ("exact", {"compare", "attack", "branch and cut", "pairs"}),
        ("milp", {"compare", "attack", "build", "solve"}),
    ],
)
def test_progress_is_told(engine, phases):
    seen: list[Progress] = []
    fit(*frames(10, 30), aggregator="choquet", engine=engine, on_progress=seen.append)
    assert seen
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)
    assert all(p.value <= p.bound for p in seen)
    assert {p.phase for p in seen} <= phases


def test_the_embedded_pair_is_the_default():
    result = fit(time_limit=None)
    assert result.records == 400
    assert result.details["name"] == "wdbc, first 400 records, microaggregated"
    assert result.linked >= result.details["baselines"]["euclid"]


# ---------------------------------------------------------------- notes


def test_a_constant_that_is_too_small_is_noted():
    files = frames(13, 14, 2, noise=0.9)
    files[0].loc[0, "A"] = 40.0
    result = fit(*files, engine="milp", big_c=0.5)
    check(result, files)
    assert len(result.details["notes"]) == 1
    assert result.details["notes"][0].startswith(
        "the constant C = 0.5 cuts off parameters of this aggregator"
    )
    assert not result.proven


def test_a_wide_margin_is_noted():
    noted = 0
    for seed in range(4):
        files = frames(seed, 12, 3, noise=0.8)
        wide = fit(*files, engine="milp", margin=0.3)
        check(wide, files)
        assert wide.linked == fit(*files).linked
        noted += any(
            note.startswith("the attack links more than the model allows") for note in wide.details["notes"]
        )
        assert wide.details["margin"] == 0.3
    assert noted > 0


# ---------------------------------------------------------------- bad requests


@pytest.mark.parametrize("k", ["2", 2.5, True])
def test_k_additivity_that_is_no_whole_number(k):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), aggregator="choquet", k_additive=k)
    assert str(error.value) == f"k_additive must be a whole number, not {k!r}"


@pytest.mark.parametrize("missing", ["original", "masked"])
def test_half_a_pair(missing):
    files = dict(zip(("original", "masked"), frames(0), strict=True))
    del files[missing]
    with pytest.raises(UsageError) as error:
        fit(**files)
    assert str(error.value) == f"the {missing} file is missing: give both original and masked, or neither"


@pytest.mark.parametrize(
    ("limit", "aggregator"), [("LARGEST_SYSTEM", "choquet"), ("LARGEST_UNREDUCED", "mahalanobis")]
)
def test_a_pair_too_large_for_the_model(monkeypatch, limit, aggregator):
    monkeypatch.setattr(f"linkrisk.solver.worst_case.search_state.{limit}", 100)
    with pytest.raises(UsageError) as error:
        fit(*frames(0, 11), aggregator=aggregator, engine="milp")
    assert str(error.value) == (
        "11 records and 11 candidates make 121 comparisons, more than the 100 that the big-C model can hold: "
        "take a sample of the records, fit with engine='exact', or judge given parameters with `evaluate`"
    )
