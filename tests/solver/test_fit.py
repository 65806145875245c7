"""`fit` end to end: exact where it says so, never below Euclid, true to its own JSON, honest about limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import brute_force as plain
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from hypothesis import given, settings
from hypothesis import strategies as st

from solver import evaluate, fit
from solver.engines.base import EngineOptions, EngineProgress
from solver.errors import UsageError
from solver.fitting import most_blocks
from solver.results import TABLE_COLUMNS

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
DIRECTIONS = ("original-to-masked", "masked-to-original")
ROOT = Path(__file__).resolve().parents[2]

KEYS = {
    "aggregator", "aggregator_options", "attributes", "backend", "baselines", "candidates", "command",
    "differences", "direction", "engine", "importance", "interaction", "limit", "linked",
    "linked_upper_bound", "linkrisk", "lost", "margin", "model", "name", "notes", "parameters", "phases",
    "records", "records_table", "seconds", "seed", "standardisation", "status", "threads", "ties",
    "time_limit", "trace", "versions",
}  # fmt: skip


EXACT_PHASES = {"rows", "first attack", "tree", "attack", "hitting sets"}


def frames(seed, n=7, attributes=3, noise=1.2, twins=False):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    masked = original + noise * random.normal(size=(n, attributes))
    if twins:
        masked[1] = masked[0]
    names = list("ABCDEF"[:attributes])
    return pd.DataFrame(original, columns=names), pd.DataFrame(masked, columns=names)


def solve(case, files, **options):
    return fit(*files, aggregator=case.name, **{**case.options, **options})


def check(result, files):
    """What holds for every result, whatever it says of its proof."""
    content = json.loads(result.to_json())
    assert content == result.to_dict() or json.loads(json.dumps(result.to_dict())) == content
    assert set(content) >= KEYS
    again = evaluate(*files, parameters=content)
    assert again.linked == result.linked
    assert content["linked"] == sum(row[1] for row in content["records_table"]["rows"])
    assert [row[1:3] for row in again.table.rows] == [row[1:3] for row in result.table.rows]
    assert 0 <= result.linked <= result.linked_upper_bound <= result.records - content["lost"]
    linked = content.get("expected_links", result.linked)
    assert linked >= content["baselines"]["euclid"] - 1e-9
    if result.status == "optimal" and "expected_links" not in content:
        assert result.linked == result.linked_upper_bound
    seconds, attacks, bounds = zip(*content["trace"], strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(attacks) == sorted(attacks)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert attacks[-1] == pytest.approx(linked)
    return content


def exact(case, files, direction, ties):
    original, masked = (frame.to_numpy() for frame in files)
    reference = plain.records(original, masked, direction, share=ties == "share")
    family = case.family(original.shape[1])
    return plain.optimum(reference, family, 1e-4), plain.optimum(reference, family, 1e-9)


# ---------------------------------------------------------------- against brute force


@everywhere
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_a_proven_result_is_the_exact_optimum(case, direction, seed):
    """Together with the engine's own tests: some sixty tiny pairs, every aggregator, both directions."""
    ties = ("strict", "share")[seed % 2]
    attributes = 2 + seed % 2
    files = frames(seed + 50, 7, attributes, twins=seed == 1)
    result = solve(case, files, direction=direction, ties=ties)
    content = check(result, files)
    low, high = exact(case, files, direction, ties)
    assert low == pytest.approx(high)  # no margin decides
    assert result.status == "optimal"
    assert result.proven
    assert content.get("expected_links", result.linked) == pytest.approx(high)
    if case.name == "mahalanobis":
        matrix = np.array(result.parameters["matrix"])
        np.testing.assert_array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-15
        assert np.trace(matrix) == pytest.approx(1.0)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    label=st.sampled_from(["weighted-mean", "owa", "choquet", "2-additive"]),
    direction=st.sampled_from(DIRECTIONS),
    ties=st.sampled_from(["strict", "share"]),
    values=st.lists(st.integers(0, 6), min_size=24, max_size=24),
)
def test_small_whole_numbers(label, direction, ties, values):
    """Ties, twins and lost blocks everywhere; columns that happen to be constant are not asked about."""
    table = np.array(values, dtype=float).reshape(2, 6, 2)
    if (np.ptp(table, axis=1) == 0).any():
        return
    files = tuple(pd.DataFrame(part, columns=["A", "B"]) for part in table)
    result = solve(BY_LABEL[label], files, direction=direction, ties=ties)
    content = check(result, files)
    low, high = exact(BY_LABEL[label], files, direction, ties)
    linked = content.get("expected_links", result.linked)
    assert low - 1e-9 <= linked <= high + 1e-9
    assert content.get("expected_links_upper_bound", result.linked_upper_bound) >= low - 1e-9


# ---------------------------------------------------------------- between aggregators


def test_richer_aggregators_link_at_least_as_much():
    for seed in range(2):
        files = frames(seed, 14, 3, noise=0.8)
        linked = {}
        for case in CASES:
            result = solve(case, files, time_limit=20.0)
            assert result.proven
            linked[case.label] = result.linked
            check(result, files)
        assert linked["weighted-mean"] <= linked["2-additive"] <= linked["3-additive"] == linked["choquet"]
        assert linked["owa"] <= linked["choquet"]
        assert linked["weighted-mean"] <= linked["mahalanobis"]


def test_attribute_and_record_order_and_units_do_not_change_a_proven_count():
    original, masked = frames(4, 10, 3, noise=1.0)
    order = np.random.default_rng(0).permutation(10)
    shuffled = ["C", "A", "B"]
    for case in (CASES[0], CASES[1], CASES[2], CASES[5]):
        counts = {
            solve(case, files).linked
            for files in (
                (original, masked),
                (original.iloc[order], masked.iloc[order]),
                (original[shuffled], masked[shuffled]),
                (original * [3.0, 0.1, 7.0] + 5.0, masked * [1e3, 2.0, 1.0] - 1.0),
            )
        }
        assert len(counts) == 1


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
    result = fit(original, shuffled, id_column="person", attributes=["C", "A"])
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
    assert set(model["phases"]) == {"rows", "first attack", "build", "solve"}


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
def test_the_same_seed_gives_the_same_result(case):
    files = frames(9, 15)
    first, second = (solve(case, files, options=EngineOptions(seed=7)) for _ in range(2))
    assert first.parameters == second.parameters
    assert first.table == second.table
    assert first.details["seed"] == 7


@pytest.mark.parametrize(
    ("engine", "phases"),
    [
        ("exact", {"attack", "branch and bound", "pairs", "cores", "hitting sets"}),
        ("milp", {"attack", "build", "solve"}),
    ],
)
def test_progress_is_told(engine, phases):
    seen: list[EngineProgress] = []
    fit(*frames(10, 30), aggregator="choquet", engine=engine, report=seen.append)
    assert seen
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)
    assert all(p.linked <= p.bound for p in seen)
    assert {p.phase for p in seen} <= phases


def test_the_embedded_pair_is_the_default():
    result = fit(time_limit=0.5)
    assert result.records == 400
    assert result.details["name"] == "wdbc, first 400 records, microaggregated"
    assert result.linked >= result.details["baselines"]["euclid"]


# ---------------------------------------------------------------- limits


@everywhere
def test_a_tiny_time_limit_gives_a_valid_interval(case):
    files = frames(11, 60, 4, noise=1.0)
    result = solve(case, files, time_limit=1e-6)
    check(result, files)
    assert (result.status, result.limit) == ("feasible", "time")
    assert result.linked < result.linked_upper_bound
    assert result.details["seconds"] < 5.0
    assert result.details["time_limit"] == 1e-6


INTERRUPT = """
import os, signal, sys, threading, time
from solver.cli import main

def press():
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        time.sleep(0.01)
    time.sleep(float(sys.argv.pop(1)))
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
time.sleep(0.05)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs the signals of a Unix system")
@pytest.mark.parametrize(
    ("choice", "late", "wait"),
    [
        (["--engine", "exact"], "hitting sets", 0.05),
        (["--engine", "exact"], "hitting sets", 4.0),
        (["--backend", "highs"], "solve", 0.05),
        (["--backend", "highs"], "solve", 4.0),
        (["--backend", "scipy"], "solve", 4.0),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else None,
)
def test_ctrl_c_gives_what_is_known(tmp_path, choice, late, wait):
    """During the attack and later; with a backend in this process and with one in a child."""
    files = frames(12, 120, 4, noise=1.2)
    names = [str(tmp_path / name) for name in ("original.csv", "masked.csv", "fit.json")]
    for frame, name in zip(files, names[:2], strict=True):
        frame.to_csv(name, index=False)
    arguments = [
        "fit", "--original", names[0], "--masked", names[1], "--aggregator", "choquet",
        "--time-limit", "10", *choice, "--json", names[2],
    ]  # fmt: skip
    script = INTERRUPT.replace("float(sys.argv.pop(1))", str(wait))
    answer = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    content = json.loads(Path(names[2]).read_text(encoding="utf-8"))
    assert (content["status"], content["limit"]) == ("interrupted", "user")
    assert content["baselines"]["euclid"] <= content["linked"] < content["linked_upper_bound"]
    assert content["seconds"] < 9.0
    assert (content["phases"].get(late, 0.0) > 0.4) == (wait > 1.0)
    assert evaluate(*files, parameters=content).linked == content["linked"]


@pytest.mark.parametrize("limit", [0.0, -1.0, float("inf"), float("nan")])
def test_time_limits_that_leave_no_time(limit):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), time_limit=limit)
    assert str(error.value) == f"the time limit must be a positive number of seconds, not {limit:g}"


@pytest.mark.parametrize("limit", ["5", True, [5.0]])
def test_time_limits_that_are_no_numbers(limit):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), time_limit=limit)
    assert str(error.value) == f"the time limit must be a positive number of seconds, not {limit!r}"


@pytest.mark.parametrize("k", ["2", 2.5, True])
def test_k_additivity_that_is_no_whole_number(k):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), aggregator="choquet", k_additive=k)
    assert str(error.value) == f"k_additive must be a whole number, not {k!r}"


def test_no_time_limit():
    result = fit(*frames(0), time_limit=None)
    assert result.proven
    assert result.details["time_limit"] is None


def test_a_constant_that_is_too_small_is_noted():
    files = frames(13, 14, 2, noise=0.9)
    files[0].loc[0, "A"] = 40.0
    result = fit(*files, engine="milp", options=EngineOptions(big_c=0.5))
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
        wide = fit(*files, engine="milp", options=EngineOptions(margin=0.3))
        check(wide, files)
        assert wide.linked == fit(*files).linked
        noted += any(
            note.startswith("the attack links more than the model allows") for note in wide.details["notes"]
        )
        assert wide.details["margin"] == 0.3
    assert noted > 0


def test_most_blocks_takes_the_lightest_first():
    assert most_blocks(np.ones(9), 7.0) == 7
    assert most_blocks(np.array([1.0, 1 / 3, 1 / 3, 1 / 3, 0.5]), 1.0) == 3
    assert most_blocks(np.array([1.0, 1 / 3, 1 / 3, 1 / 3, 0.5]), 1.5) == 4
    assert most_blocks(np.full(10, 0.1), 1.0) == 10
    assert most_blocks(np.full(10, 0.1), 0.3) == 3
    assert most_blocks(np.ones(4), 0.0) == 0
    assert most_blocks(np.empty(0), 0.0) == 0


# ---------------------------------------------------------------- bad requests


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"direction": "both"},
            "unknown direction 'both': choose one of original-to-masked, masked-to-original",
        ),
        ({"ties": "split"}, "unknown tie rule 'split': choose one of strict, share"),
        (
            {"standardisation": "z"},
            "unknown standardisation 'z': choose one of own, original, pooled, none",
        ),
        (
            {"differences": "cubed"},
            "unknown kind of differences 'cubed': choose one of squared, absolute, signed",
        ),
        ({"engine": "magic"}, "unknown engine 'magic': choose one of exact, milp"),
    ],
)
def test_unknown_choices(options, message):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), **options)
    assert str(error.value) == message


@pytest.mark.parametrize("missing", ["original", "masked"])
def test_half_a_pair(missing):
    files = dict(zip(("original", "masked"), frames(0), strict=True))
    del files[missing]
    with pytest.raises(UsageError) as error:
        fit(**files)
    assert str(error.value) == f"the {missing} file is missing: give both --original and --masked, or neither"


@pytest.mark.parametrize(
    ("limit", "aggregator"), [("LARGEST_SYSTEM", "choquet"), ("LARGEST_UNREDUCED", "mahalanobis")]
)
def test_a_pair_too_large_for_the_model(monkeypatch, limit, aggregator):
    monkeypatch.setattr(f"solver.fitting.{limit}", 100)
    with pytest.raises(UsageError) as error:
        fit(*frames(0, 11), aggregator=aggregator, engine="milp")
    assert str(error.value) == (
        "11 records and 11 candidates make 121 comparisons, more than the 100 that the big-C model can hold: "
        "take a sample of the records, fit with --engine exact, or judge given parameters with `evaluate`"
    )


# ---------------------------------------------------------------- the bench pairs

DATA = os.environ.get("LINKRISK_DATA")
BENCH = None if DATA is None else Path(DATA).parent / "bench"
needs_bench = pytest.mark.skipif(
    BENCH is None or not BENCH.is_dir(), reason="the bench pairs lie beside LINKRISK_DATA, which is not set"
)


def bench(name, aggregator, direction):
    """The pair's files, and its best known interval."""
    files = [BENCH / "pairs" / f"{name}_{kind}.csv" for kind in ("original", "masked")]
    known = pd.read_csv(BENCH / "best_known.csv").set_index(["pair", "direction", "aggregator"])
    return files, known.loc[(name, direction, aggregator)]


def agree_with_bench(name, aggregator, direction):
    files, known = bench(name, aggregator, direction)
    result = fit(*files, aggregator=aggregator, direction=direction, time_limit=400.0)
    content = check(result, files)
    assert content["baselines"]["euclid"] == known["euclid"]
    assert result.linked_upper_bound >= known["linked"]
    assert result.linked <= known["linked_upper_bound"]
    assert result.status == "optimal"
    assert known["linked"] <= result.linked


@needs_bench
def test_a_bench_pair_is_proven():
    agree_with_bench("M4-33_400_s0", "weighted-mean", "masked-to-original")


@needs_bench
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "aggregator"),
    [
        ("M4-28_400_s0", "weighted-mean"),
        ("M6-385_400_s0", "weighted-mean"),
        ("M6-853_400_s0", "weighted-mean"),
        ("M4-33_400_s0", "choquet"),
        ("M6-385_400_s0", "choquet"),
        ("M6-853_400_s0", "choquet"),
    ],
)
def test_more_bench_pairs_are_proven(name, aggregator):
    agree_with_bench(name, aggregator, "masked-to-original")


@needs_bench
def test_the_euclidean_column_of_the_bench_is_ours():
    """Every pair of 400 records, both directions: the evaluator alone."""
    known = pd.read_csv(BENCH / "best_known.csv")
    seen = known[known["records"] == 400].groupby(["pair", "direction"])["euclid"].first()
    for (name, direction), euclid in seen.items():
        files, _ = bench(name, "weighted-mean", direction)
        weights = dict.fromkeys(pd.read_csv(files[0], nrows=1).columns, 1.0)
        total = len(weights)
        parameters = {"parameters": {"weights": {name: w / total for name, w in weights.items()}}}
        assert evaluate(*files, parameters=parameters, direction=direction).linked == euclid
