"""`fit` end to end: exact where it says so, by brute force, between aggregators and on the bench pairs."""

from __future__ import annotations

import os
from pathlib import Path

import brute_force as plain
import brute_optimum
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CASES
from fit_runs import check, frames, solve
from pairwise import pairwise

from linkrisk import evaluate, fit
from linkrisk.solver.worst_case.answers import most_blocks

DIRECTIONS = ("original-to-masked", "masked-to-original")


def exact(case, files, direction, ties):
    original, masked = (frame.to_numpy() for frame in files)
    reference = plain.records(original, masked, direction, share=ties == "share")
    family = case.family(original.shape[1])
    return brute_optimum.optimum(reference, family, 1e-4), brute_optimum.optimum(reference, family, 1e-9)


# ---------------------------------------------------------------- against brute force


@pairwise(case=CASES, direction=DIRECTIONS, seed=range(3))
def test_a_proven_result_is_the_exact_optimum(case, direction, seed):
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


def test_most_blocks_takes_the_lightest_first():
    assert most_blocks(np.ones(9), 7.0) == 7
    assert most_blocks(np.array([1.0, 1 / 3, 1 / 3, 1 / 3, 0.5]), 1.0) == 3
    assert most_blocks(np.array([1.0, 1 / 3, 1 / 3, 1 / 3, 0.5]), 1.5) == 4
    assert most_blocks(np.full(10, 0.1), 1.0) == 10
    assert most_blocks(np.full(10, 0.1), 0.3) == 3
    assert most_blocks(np.ones(4), 0.0) == 0
    assert most_blocks(np.empty(0), 0.0) == 0


# ---------------------------------------------------------------- between aggregators


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


# ---------------------------------------------------------------- the bench pairs

DATA = os.environ.get("LINKRISK_DATA")
BENCH = None if DATA is None else Path(DATA).parent / "bench"
needs_bench = pytest.mark.skipif(
    BENCH is None or not BENCH.is_dir(), reason="the bench pairs lie beside LINKRISK_DATA, which is not set"
)


def bench(name):
    return [BENCH / "pairs" / f"{name}_{kind}.csv" for kind in ("original", "masked")]


@needs_bench
@pytest.mark.parametrize(
    ("name", "aggregator"),
    [
        ("M4-33_400_s0", "weighted-mean"),
        *(
            pytest.param(f"{name}_400_s0", aggregator, marks=pytest.mark.slow)
            for aggregator, names in (
                ("weighted-mean", ("M4-28", "M6-385", "M6-853")),
                ("choquet", ("M4-33", "M6-385", "M6-853")),
            )
            for name in names
        ),
    ],
)
def test_bench_pairs_are_proven(name, aggregator):
    known = pd.read_csv(BENCH / "best_known.csv").set_index(["pair", "direction", "aggregator"])
    known = known.loc[(name, "masked-to-original", aggregator)]
    result = fit(*bench(name), aggregator=aggregator, direction="masked-to-original", time_limit=None)
    assert check(result, bench(name))["baselines"]["euclid"] == known["euclid"]
    assert result.status == "optimal"
    assert known["linked"] <= result.linked <= known["linked_upper_bound"]


@needs_bench
def test_the_euclidean_column_of_the_bench_is_ours():
    """Every pair of 400 records, both directions: the evaluator alone."""
    known = pd.read_csv(BENCH / "best_known.csv")
    seen = known[known["records"] == 400].groupby(["pair", "direction"])["euclid"].first()
    for (name, direction), euclid in seen.items():
        files = bench(name)
        weights = dict.fromkeys(pd.read_csv(files[0], nrows=1).columns, 1.0)
        total = len(weights)
        parameters = {"parameters": {"weights": {name: w / total for name, w in weights.items()}}}
        assert evaluate(*files, parameters=parameters, direction=direction).linked == euclid
