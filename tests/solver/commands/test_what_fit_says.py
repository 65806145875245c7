"""What `fit` says of its answer: headline, baselines of other families, weights that break ties, reasons."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames
from hypothesis import given
from hypothesis import strategies as st
from report_cases import said

from linkrisk import fit
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import system_of
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.pair import LinkagePair, make_pair
from linkrisk.solver.app.answers import interval_of
from linkrisk.solver.documents.short import short
from linkrisk.solver.documents.terminal import bar, terminal
from linkrisk.solver.documents.wording import proof, weight
from linkrisk.solver.engines.base import EngineOptions, EngineResult
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.baselines import baselines
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.clock import Clock, Limits, Status
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.intervals import ends_said, worst_sentence
from linkrisk.solver.worst_case.answers import answer
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.result import FitResult
from linkrisk.solver.worst_case.search_state import Run

FAMILIES = ["weighted-mean", "owa", "choquet", "mahalanobis"]


def changed(result: FitResult, **details: object) -> FitResult:
    return FitResult.of(replace(result.worst, details={**result.details, **details}))


def exact_columns(seed: int, n: int = 60) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two columns that masking left as they are, two that are little but noise."""
    random = np.random.default_rng(seed)
    exact = np.column_stack([random.integers(0, 12, n), random.integers(0, 12, n)]).astype(float)
    noisy = random.normal(size=(n, 2))
    names = ["A", "B", "C", "D"]
    masked = np.hstack([exact, noisy + 3.0 * random.normal(size=(n, 2))])
    return pd.DataFrame(np.hstack([exact, noisy]), columns=names), pd.DataFrame(masked, columns=names)


@pytest.mark.parametrize("aggregator", FAMILIES)
@pytest.mark.parametrize("limit", [1e-9, 1.0])
def test_no_run_reports_less_than_a_baseline_of_its_family(aggregator, limit):
    result = fit(*exact_columns(1), aggregator=aggregator, time_limit=limit)
    own = ["euclid", "mahalanobis"] if aggregator == "mahalanobis" else ["euclid"]
    counts = result.details["baselines"]
    for name in own:
        assert counts[name] is None or result.linked >= counts[name]
    assert counts["mahalanobis"] is None or counts["mahalanobis"] > 30


@pytest.mark.parametrize("aggregator", FAMILIES)
@pytest.mark.usefixtures("virtual_time")
def test_baselines_are_the_same_whatever_the_family(aggregator):
    """Records that one family can never link count for the distances of another."""
    files = rotated(30)
    result = fit(*files, aggregator=aggregator, standardisation="none", time_limit=2.0)
    pair = make_pair(*(frame.to_numpy() for frame in files), standardisation=Standardisation.NONE)
    assert result.details["baselines"] == baselines(Evaluator(pair))


def rotated(n: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Masking has moved amounts from one column to the other: their sum is exact, neither of them is."""
    random = np.random.default_rng(2)
    original = random.normal(size=(n, 2))
    moved = 2.0 * random.normal(size=n)
    masked = original + np.column_stack([moved, -moved])
    return pd.DataFrame(original, columns=["A", "B"]), pd.DataFrame(masked, columns=["A", "B"])


@pytest.mark.usefixtures("virtual_time")
def test_a_distance_of_another_family_that_links_more_is_named():
    files = rotated()
    options = {"standardisation": "none"}
    result = fit(*files, **options)
    known = result.details["best_known"]
    assert known["attack"] == "mahalanobis"
    assert known["linked"] == result.details["baselines"]["mahalanobis"] > result.linked_upper_bound
    assert (known["above_bound"], known["options"]) == (True, "aggregator='mahalanobis'")
    text = str(result)
    linked = known["linked"]
    assert f"more than any weighted mean: the classical Mahalanobis distance links {linked}\n" in text
    assert "the bound is about this family only; try aggregator='mahalanobis'\n" in text
    page = said(result.to_dict())
    more = f"the classical Mahalanobis distance, re-identifies more: {linked} of {result.records} ("
    assert f"A distance of another family, {more}" in page
    assert "The upper end is about the families searched only." in page
    better = fit(*files, **options, aggregator="mahalanobis", time_limit=2.0)
    assert better.linked >= linked
    assert better.details["best_known"] is None
    assert "more than" not in str(better)


def test_what_is_more_than_found_but_within_the_bound_is_told_as_such():
    result = fit(*frames(3, 20))
    known = {"attack": "mahalanobis", "linked": result.linked + 1, "above_bound": False, "options": None}
    text = str(changed(result, best_known=known))
    more = f"more than the weighted mean found: the classical Mahalanobis distance links {result.linked + 1}"
    assert f"{more}; no family of aggregator contains it\n" in text
    assert "this family only" not in text


def one_binary_column(n: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ties of an exact column with two values, broken by a noisy one."""
    random = np.random.default_rng(4)
    sex = random.integers(0, 2, n).astype(float)
    noisy = random.normal(size=n)
    masked = noisy + 0.05 * random.normal(size=n)
    return (
        pd.DataFrame({"sex": sex, "age": noisy, "idle": random.normal(size=n)}),
        pd.DataFrame({"sex": sex, "age": masked, "idle": random.normal(size=n)}),
    )


THETAS = {
    "weighted-mean": ([1.0 - 2e-6, 2e-6, 0.0], {}),
    "choquet": ([1.0 - 2e-6, 2e-6, 0.0], {}),
    "2-additive": ([1.0 - 2e-6, 2e-6, 0.0], {"k_additive": 2}),
    "mahalanobis": ([1.0 - 2e-6, 2e-6, 0.0], {}),
}


def evaluated(name: str, weights: list[float], options: dict[str, int]) -> FitResult:
    aggregator = "choquet" if name == "2-additive" else name
    problem = make_problem(*one_binary_column(), ProblemOptions(aggregator=aggregator, **options))
    family, pair = problem.aggregator, problem.pair
    relative = family.simpler()
    theta = np.array(weights) if relative is None else relative[1](np.array(weights))
    nothing, lost = np.empty(0, dtype=np.intp), np.zeros(pair.blocks, dtype=bool)
    evaluator = Evaluator(pair)
    linked = evaluator.count(family.form(theta)).linked_weight
    run = Run(
        Incumbent(Clock(None), theta, linked, float(pair.blocks)),
        evaluator,
        system_of(pair, family, nothing, nothing, lost, complete=False),
        EngineResult(Status.FEASIBLE, limit=None, margin=None, phases={}, model=None, versions={}),
        baselines={"euclid": 0, "mahalanobis": 0},
    )
    request = FitRequest(ExactEngine(), EngineOptions(), Limits(), command="fit")
    return FitResult.of(answer(problem, request, run))


@pytest.mark.parametrize("name", THETAS)
def test_attributes_that_print_as_zero_and_break_ties_are_named(name):
    weights, options = THETAS[name]
    result = evaluated(name, weights, options)
    breaking = result.details["tie_breaking"]
    assert breaking["attributes"] == ["age"]
    # Without it, all that is left is the column of two values: nobody is linked.
    assert breaking["linked_without"] == 0 < result.linked
    text = str(result)
    assert "    sex   1.0000\n" in text
    assert f"    age   0.0000 (2.0e-06: breaks ties; without it, 0 of {result.linked} are linked)\n" in text
    assert "    idle  0\n" in text
    page = said(result.to_dict())
    assert "What looks like 0 and breaks ties: age." in page
    assert f"Without it, 0 records are re-identified instead of {result.linked}." in page


def test_what_prints_as_zero_and_is_idle_prints_as_plain_zero():
    result = evaluated("weighted-mean", [1.0 - 2e-6, 2e-6 - 1e-15, 1e-15], {})
    assert result.parameters["weights"]["idle"] > 0.0
    assert result.details["tie_breaking"]["attributes"] == ["age"]
    assert "    idle  0\n" in str(result)


def fit_count(pair: LinkagePair, weights: list[float]) -> int:
    form = make_aggregator("owa", pair.attributes).form(np.array(weights))
    return int(Evaluator(pair).count(form).linked.sum())


def test_ranks_that_break_ties():
    result = evaluated("owa", [1e-6, 1.0 - 1e-6, 0.0], {})
    pair = make_problem(*one_binary_column(), ProblemOptions(aggregator="owa")).pair
    left = fit_count(pair, [0.0, 1.0, 0.0])
    expected = None if left == result.linked else {"ranks": ["1"], "linked_without": left}
    assert result.details["tie_breaking"] == expected
    told = {"ranks": ["1"], "linked_without": 3}
    weights = {"weights": {"1": 1e-6, "2": 1.0 - 1e-6, "3": 0.0}}
    shown = FitResult.of(replace(result.worst, parameters=weights))
    text = str(changed(shown, tie_breaking=told))
    assert f"    1  0.0000 (1.0e-06: breaks ties; without it, 3 of {result.linked} are linked)\n" in text


def test_where_there_is_no_time_to_count_so_it_is_said():
    files = frames(5, 10)
    result = changed(fit(*files), tie_breaking={"attributes": ["A"], "linked_without": None})
    assert "may break ties; no time was left to count" in str(result)
    assert "There was no time to count without it." in said(json.loads(result.to_json()))


@pytest.mark.parametrize("kind", ["weighted-mean", "choquet", "2-additive", "many-2-additive", "mahalanobis"])
def test_the_distance_without_attributes_is_that_of_records_that_agree_on_them(kind):
    n = 13 if kind == "many-2-additive" else 4
    names = tuple(f"V{k}" for k in range(n))
    name = "choquet" if "additive" in kind else kind
    aggregator = make_aggregator(name, names, k_additive=2 if "additive" in kind else None)
    random = np.random.default_rng(6)
    signed = aggregator.differences is Differences.SIGNED
    c = random.normal(size=(50, n)) if signed else random.uniform(size=(50, n))
    theta = aggregator.domain.sample(1, random)[0]
    agree = c.copy()
    agree[:, [0, 2]] = 0.0
    form = aggregator.form(theta)
    np.testing.assert_allclose(form.without([0, 2])(c), form(agree), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("value", "idle", "breaking"),
    [
        (0.0, "0", "0.0000"),
        (-4.9e-5, "0", "0.0000"),
        (6e-5, "0.0001", "0.0001"),
        (-0.25, "\N{MINUS SIGN}0.2500", "\N{MINUS SIGN}0.2500"),
    ],
)
def test_numbers_that_print_as_zero(value, idle, breaking):
    assert weight(value) == idle
    assert weight(value, breaks_ties=True) == breaking


# Reasons

REASONS = {
    ("feasible", "time"): ("the time limit was reached", "time limit"),
    ("feasible", "memory"): ("memory ran out", "memory limit"),
    ("interrupted", "user"): ("stopped before the end", "stopped"),
    ("feasible", "ties"): ("differences that count as ties", "ties"),
    ("feasible", None): ("the engine could not narrow the interval further", "open"),
}


@pytest.mark.parametrize(("status", "limit"), REASONS)
def test_the_reason_is_that_of_status_and_limit(status, limit):
    told, word = REASONS[status, limit]
    result = fit(*frames(7, 10), time_limit=1e-9)
    one = replace(result.worst, status=status, limit=limit, linked_upper_bound=result.linked + 1)
    other = FitResult.of(one)
    assert f"  not proven: {told}" in str(other)
    assert proof(other.to_dict()) == word
    assert f"Weighted mean: {told}" in said(other.to_dict())


def test_ties_that_no_other_rule_counts_are_not_said_to_be_counted_by_it():
    """Record 1 has two candidates at the same distance on either side, and no two records are the same."""
    original = pd.DataFrame({"A": [0.0, 10.0, 20.0, 30.0]})
    masked = pd.DataFrame({"A": [1.0, 10.0, 20.0, 29.0]})
    masked.loc[0, "A"], original.loc[0, "A"] = -10.0, 0.0
    result = fit(original, masked, standardisation="none")
    assert result.details["tied"] == {"records": 1, "with_twins": 0}
    line = next(line for line in str(result).splitlines() if "partner tied" in line)
    assert line == "  partner tied, so not counted     1 of 4 (25.0 %)"


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_twins_are_what_the_other_rule_counts(direction):
    original = pd.DataFrame({"A": [0.0, 1.0, 20.0, 30.0]})
    masked = pd.DataFrame({"A": [0.5, 0.5, 20.0, 31.0]})
    if direction == "masked-to-original":
        original, masked = masked, original
    result = fit(original, masked, direction=direction, standardisation="none")
    assert result.details["tied"] == {
        "records": 2,
        "with_twins": 2,
        "expected_links": 3,
        "guessed_at_most": 1,
    }
    assert "partner tied, so not counted     2 of 4 (50.0 %); see ties='share'\n" in str(result)
    shared = fit(original, masked, direction=direction, standardisation="none", ties="share")
    assert shared.details["tied"] == {"records": 0, "with_twins": 0}
    assert "partner tied" not in str(shared)
    assert "nearest up to identical ones 4 of 4" in " ".join(str(shared).split())


def test_partners_that_are_tied_and_farther_than_another_are_not_kept_out_by_the_tie():
    original = pd.DataFrame({"A": [0.0, 1.0, 50.0, 90.0]})
    masked = pd.DataFrame({"A": [-10.0, 10.0, 51.0, 91.0]})
    masked.loc[1, "A"], original.loc[1, "A"] = 2.0, 10.0
    result = fit(original, masked, standardisation="none")
    pair = make_pair(original.to_numpy(), masked.to_numpy(), standardisation=Standardisation.NONE)
    table = Evaluator(pair).rank(make_aggregator("weighted-mean", ("A",)).form(np.ones(1)))
    alone = int(((table.ties > 0) & (table.rank == 1)).sum())
    assert result.details["tied"] == {"records": alone, "with_twins": 0}


KIND = "can be re-identified by a distance of this kind"


def stream_of(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("ends", "options", "said"),
    [
        ((352, 354, 400), {}, f"At worst between 352 and 354 of 400 records (88.0 % to 88.5 %) {KIND}."),
        ((381, 381, 400), {}, f"At worst 381 of 400 records (95.2 %) {KIND}."),
        ((0, 0, 0), {}, f"At worst 0 of 0 records (0.0 %) {KIND}."),
        (
            (10, 20, 40),
            {"weighted": True, "confidence": 0.95},
            "At worst records that stand for between 10 and 20 of 40 (25.0 % to 50.0 %) "
            f"{KIND}, with 95 % confidence.",
        ),
        ((0, 120, 120), {}, f"At least 0 of 120 records (0.0 %) {KIND}; no bound was found in time."),
        (
            (53343.2, 72134.9, 72134.9),
            {"weighted": True, "confidence": 0.95},
            f"Records that stand for at least 53,343 of 72,135 (73.9 %) {KIND}; no bound was found in time.",
        ),
        (
            (2278.1, 2278.2, 72134.9),
            {"weighted": True},
            f"At worst records that stand for 2,278 of 72,135 (3.2 %) {KIND}.",
        ),
        (
            (0, 0, 240),
            {"guessed": (32.83, 40)},
            f"At worst between 32.83 and 40 of 240 records (13.7 % to 16.7 %) {KIND} where equal records are "
            "guessed among (0.0 % without).",
        ),
    ],
)
def test_the_sentence(ends, options, said):
    assert worst_sentence(*ends, **options) == said


@pytest.mark.parametrize(
    ("ends", "certain", "said"),
    [
        ((0.1 + 0.2, 0.3), True, "proven"),
        ((0.2, 0.3), True, "20.0 % to 30.0 %, sure"),
        ((0.739, 1.0), True, "or more, no bound in time"),
        ((1.0, 1.0), True, "proven"),
        ((0.2, None), False, "20.0 % or more, sure"),
        ((None, 0.2), False, "20.0 % or less, sure"),
        ((0.2, 1.0), False, "20.0 % to 100.0 %, sure"),
    ],
)
def test_what_stands_beside_a_number(ends, certain, said):
    assert ends_said(*ends, "sure", percent, certain=certain, share=True) == said


def test_a_file_of_equal_groups_is_not_said_to_be_safe():
    """Of three equal records one is guessed right, and none is nearest alone."""
    values = np.repeat(np.arange(6.0), 3)
    masked = pd.DataFrame({"x": values, "y": values**2})
    original = masked + np.tile([0.0, 0.01, 0.02], 6)[:, None]
    found = fit(original, masked, aggregator="weighted-mean", row_by_row=True)
    assert found.interval == (0, 0)
    assert found.guessed == pytest.approx((6, 6))
    said = found.in_short().headline.verdict
    assert (
        said
        == f"At worst 6 of 18 records (33.3 %) {KIND} where equal records are guessed among (0.0 % without)."
    )
    assert said in found._repr_html_()
    assert said in " ".join(str(found).split())
    assert document_of(found.to_dict()).headline.worst == said
    assert interval_of(found.to_dict()).proven


@given(st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted), st.integers(1, 200))
def test_every_part_that_is_there_is_seen(ends, width):
    low, high = ends
    drawn = bar(low, high, width, "#=.")
    cells = drawn.removeprefix("  0 % ").removesuffix(" 100 %")
    assert len(cells) >= 10
    assert len(drawn) <= max(width, 22)
    assert cells == "#" * cells.count("#") + "=" * cells.count("=") + "." * cells.count(".")
    for mark, part in (("#", low), ("=", high - low), (".", 1.0 - high)):
        share = cells.count(mark) / len(cells)
        assert share > 0 if part > 0 else share <= 1 / len(cells)
        assert abs(share - part) <= 2.1 / len(cells)


@pytest.fixture(scope="module")
def result():
    return fit(*frames(0), aggregator="weighted-mean")


def headline(result):
    return short(said=result.in_short().headline)


@pytest.mark.parametrize(("encoding", "full"), [("utf-8", "█"), ("ascii", "#"), ("latin-1", "#")])
def test_blocks_where_they_can_be_written(result, encoding, full):
    stream = stream_of(encoding)
    lines = terminal(headline(result), stream).splitlines()
    assert full in lines[-1]
    stream.write("\n".join(lines))  # which is what would fail
    assert " ".join(lines[:-1]) == worst_sentence(*result.interval, result.total)


@pytest.mark.parametrize("width", [30, 80])
def test_lines_fit_the_terminal(result, width, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda _: SimpleNamespace(columns=width))
    stream = SimpleNamespace(fileno=lambda: 1, encoding="utf-8")
    assert max(map(len, terminal(headline(result), stream).splitlines())) < width
